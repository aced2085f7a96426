// The scan of squared_error_scan.cpp in half the bits. Most thresholds only have to be ruled out, and for
// that a lower and an upper bound on the value suffice.
//
// Targets less the subset's mean are rounded to whole numbers, in units that keep the sum of their absolute
// values at 2^30, so that 32-bit sums of them are exact in any order. The terms formed from such sums, c and
// k (n - k), are 32-bit floats. Two errors add up for a side of n samples whose absolute rounded targets sum
// to A, with u = 2^-24 the rounding of a float:
//
//   - rounding the targets, each by at most 1/2 (and a hair for the rounding of doubles), moves
//     c = s - (k/n) s_n by at most k (n - k) / n <= n / 4;
//   - s and k m with m = s_n / n are both at most A; converting and rounding them, forming the places of the
//     corners below and subtracting takes less than 16 u A.
//
// So c is known up to the side's `slack`, the sum of both. k (n - k) is known up to a factor of 1 + 2 u where
// k is a whole number, and is at least n - 1 where the boundary splits the side. A best ratio c^2 / (k (n -
// k)) is kept from above, with |c| + slack, and from below, with |c| - slack; both are widened by 16 u for
// the roundings of products and the quotient. A boundary is evaluated only where (|c| + slack)^2 exceeds the
// upper ratio times k (n - k).
//
// Blocks are ruled out by the two bounds of squared_error_blocks.hpp, with the slack added to the reach. In
// the hexagon k is not a whole number: it is off by up to 5 u n, so that k (n - k) is off by less than 16 u
// n^2.
#include "scans/squared_error_scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "scans/lane_bits.hpp"
#include "scans/lane_rows.hpp"
#include "scans/squared_error_blocks.hpp"
#include "scans/squared_error_lane_walk.hpp"

namespace codt {

namespace {

constexpr std::uint32_t lanes_of_floats = lane_count<float>;
constexpr float blur = 0x1p-20F;  // 16 u

// Whole numbers up to this are exact in floats, and the rounding of this many targets is still small.
constexpr std::uint32_t most_samples = 1U << 20U;
constexpr double sum_of_targets = 0x1p30;

// Per lane: samples, mean, slack, the best ratio so far from above and from below, and the squared error of a
// leaf.
struct alignas(pack_bytes) SideLanes {
    float count[lanes_of_floats], mean[lanes_of_floats], slack[lanes_of_floats], upper[lanes_of_floats],
        lower[lanes_of_floats];
    double error[lanes_of_floats];
};

// With Total = Bytes a single lane, in a whole register.
template <std::size_t Bytes, std::size_t Total = pack_bytes>
struct BracketSide {
    using Pack = codt::Pack<float, Bytes, Total>;
    using Register = typename Pack::Register;

    Pack count, mean, slack, least, filter, upper, lower;

    CODT_INLINE static Register size_of(const Register& a) {
        using Bits = typename codt::Pack<std::int32_t, Bytes>::Register;
        return (Register)((Bits)a & 0x7FFFFFFF);
    }

    CODT_INLINE void load(const SideLanes& side) {
        count.load(side.count);
        mean.load(side.mean);
        slack.load(side.slack);
        upper.load(side.upper);
        lower.load(side.lower);
        finish();
    }
    CODT_INLINE void load_lane(const SideLanes& side, std::uint32_t lane) {
        count.r[0] = Register{} + side.count[lane];
        mean.r[0] = Register{} + side.mean[lane];
        slack.r[0] = Register{} + side.slack[lane];
        upper.r[0] = Register{} + side.upper[lane];
        lower.r[0] = Register{} + side.lower[lane];
        finish();
    }
    CODT_INLINE void store_lane(SideLanes& side, std::uint32_t lane) const {
        side.upper[lane] = upper.r[0][0];
        side.lower[lane] = lower.r[0][0];
    }
    CODT_INLINE void store(SideLanes& side) const {
        upper.store(side.upper);
        lower.store(side.lower);
    }

    // |c| and k (n - k) where k samples with sum s lie before the boundary.
    CODT_INLINE void terms(std::size_t i, const Register& s, const Register& k, Register& size,
                           Register& bottom) const {
        size = size_of(s - k * mean.r[i]);
        bottom = larger<Register>(k * (count.r[i] - k), least.r[i]);
    }
    CODT_INLINE Register room(std::size_t i, const Register& s, const Register& k) const {
        Register size, bottom;
        terms(i, s, k, size, bottom);
        return box_room(i, size, bottom);
    }
    // The ratio of a boundary from above and from below.
    CODT_INLINE void ratios(std::size_t i, const Register& s, const Register& k, Register& above,
                            Register& below) const {
        Register size, bottom;
        terms(i, s, k, size, bottom);
        const Register most = size + slack.r[i];
        const Register sure = larger<Register>(size - slack.r[i], Register{});
        const Register per_bottom = 1 / bottom;
        above = most * most * (per_bottom * (1 + blur));
        below = sure * sure * (per_bottom * (1 - blur));
    }
    CODT_INLINE void raise(std::size_t i, const Register& above, const Register& below) {
        upper.r[i] = larger<Register>(upper.r[i], above);
        lower.r[i] = larger<Register>(lower.r[i], below);
        filter.r[i] = upper.r[i] * (1 - blur);
    }
    CODT_INLINE void take(std::size_t i, const Register& s, const Register& k) {
        Register above, below;
        ratios(i, s, k, above, below);
        raise(i, above, below);
    }
    CODT_INLINE Register box_room(std::size_t i, const Register& size, const Register& bottom) const {
        const Register reach = size + slack.r[i];
        return filter.r[i] * bottom - reach * reach;
    }
    CODT_INLINE Register corner_room(std::size_t i, const Register& c, const Register& k) const {
        const Register off = count.r[i] * count.r[i] * blur;
        return box_room(i, size_of(c), larger<Register>(k * (count.r[i] - k) - off, least.r[i]));
    }

 private:
    CODT_INLINE void finish() {
        for (std::size_t i = 0; i < Pack::registers; ++i) {
            // Half a sample if there is nothing to split.
            least.r[i] = larger<Register>(count.r[i] - 1.0F, Register{} + 0.5F);
            filter.r[i] = upper.r[i] * (1 - blur);
        }
    }
};

template <std::size_t Bytes>
struct RoundedNumbers {
    using Side = BracketSide<Bytes>;
    using Sum = BitPack<Bytes>;
    using Counts = Sum;
    using Code = LaneBits;

    CODT_INLINE void add(Sum& sum, LaneBits lanes, std::int32_t y) const { sum.add_where(lanes, y); }
    CODT_INLINE void subtract(Sum& sum, LaneBits lanes, std::int32_t y) const {
        sum.subtract_where(lanes, y);
    }
    CODT_INLINE void count(Sum& counts, LaneBits lanes) const { counts.count_where(lanes); }
};

// With the places behind which groups of equal values end, as bits.
struct BracketBlock : SignedBlock<std::int32_t> {
    std::uint64_t ends;
};

struct BracketKernel : SignedSamples<std::int32_t> {
    using Block = BracketBlock;
    static constexpr std::uint32_t lanes = lanes_of_floats;
    static constexpr bool joins_orders = true, bounds_second_features = true;
    // Shorter than in other scans, because summing a block costs half as much.
    static constexpr std::uint32_t longest_block_of(std::uint32_t) { return 48; }
    // Up to so many sides in doubt are walked one by one.
    static constexpr int most_few = 6;
    struct Sums {
        double y = 0, squares = 0;
        std::int64_t rounded = 0, sizes = 0;
    };

    BracketKernel(std::span<const double> y, KernelPath path)
        : SignedSamples(y), groups_widely_(groups_signs_widely(path)) {}

    // Reads the targets as they are and as whole numbers; false if they cannot be rounded to these.
    bool read(const Subset& subset) {
        if (subset.size() > most_samples) return false;
        subset_ = &subset;
        original_.resize(subset.size());
        double sum = 0;
        read_targets(subset, [&](std::uint32_t id, double y) {
            original_[id] = y;
            sum += std::abs(y);
        });
        unit_ = sum_of_targets / sum;
        if (!std::isfinite(unit_ * unit_)) return false;
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            const double y = original_[id];
            target[id] = static_cast<std::int32_t>(y * unit_ + std::copysign(0.5, y));
        }
        all_ = {};
        add_in_parts(all_, subset.size(), [](std::size_t k) { return static_cast<std::uint32_t>(k); });
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        block.ends = ends_in(cell / subset_->size(), begin, block);
        if (!groups_widely_) return SignedSamples::summarise(order, cell, begin, block);
        describe(begin,
                 group_signs_widely(order + begin, block.end - begin, target.data(), grouped(cell) + begin),
                 block);
    }

    Sums nothing() const { return {}; }
    void add(Sums& sums, std::uint32_t id) const {
        sums.y += original_[id];
        sums.squares += original_[id] * original_[id];
        sums.rounded += target[id];
        sums.sizes += std::abs(target[id]);
    }
    void add_many(Sums& sums, std::span<const std::uint32_t> ids) const {
        add_in_parts(sums, ids.size(), [&](std::size_t k) { return ids[k]; });
    }

    void rest(const Sums& left, Sums& right) const {
        right = {all_.y - left.y, all_.squares - left.squares, all_.rounded - left.rounded,
                 all_.sizes - left.sizes};
    }
    void start(std::size_t s, std::size_t lane, double n, const Sums& sums, double known) {
        SideLanes& side = sides_[s];
        side.count[lane] = static_cast<float>(n);
        side.mean[lane] = static_cast<float>(static_cast<double>(sums.rounded) / n);
        side.slack[lane] = static_cast<float>(0.26 * n + blur * static_cast<double>(sums.sizes));
        side.error[lane] = leaf_error(n, sums.y, sums.squares);
        const double ratio = (side.error[lane] - known) / side.count[lane];
        side.upper[lane] = static_cast<float>(std::max(0.0, ratio * (unit_ * unit_) * (1 + 1e-6)));
        side.lower[lane] = 0;
    }
    // Nothing beats a ratio this large.
    void pad(std::size_t lane) {
        for (SideLanes& side : sides_) {
            side.count[lane] = side.mean[lane] = side.slack[lane] = side.lower[lane] = 0;
            side.upper[lane] = 0x1p80F;
        }
    }
    using Code = LaneBits;
    void missing_left(std::uint64_t left) { missing_left_ = static_cast<LaneBits>(left) & 0xFFFFU; }
    LaneBits code(std::uint32_t, std::size_t bucket) const {
        if (bucket == missing_bucket<lanes>) return missing_left_;
        return 0xFFFFU << bucket & 0xFFFFU;
    }
    void bracket(std::size_t s, std::size_t lane, double price, double& lower, double& upper) const {
        const SideLanes& side = sides_[s];
        const auto value = [&](float ratio) {
            return best_value(side.error[lane], side.count[lane] * (ratio / (unit_ * unit_)), price);
        };
        upper = std::min(upper, value(side.lower[lane]));
        lower = std::min(upper, value(side.upper[lane]));
    }
    double at_least(std::size_t s, std::size_t lane, double price) const {
        const SideLanes& side = sides_[s];
        return best_value(side.error[lane], side.count[lane] * (side.upper[lane] / (unit_ * unit_)), price);
    }

    // This many blocks are counted before any of them is walked: the boundaries at their ends give good
    // ratios.
    static constexpr std::uint32_t ahead = 32;

    template <std::size_t Bytes>
    CODT_INLINE static void run(BracketKernel* kernel, const Stream<Block>* stream,
                                const LaneBits* lanes_left) {
        SquaredErrorPass<RoundedNumbers<Bytes>, Block> pass{{}, *kernel, *stream, lanes_left, {}, {}};
        pass.left.load(kernel->sides_[0]);
        pass.right.load(kernel->sides_[1]);
        typename decltype(pass)::Counted doubtful[ahead];
        typename decltype(pass)::Counted now;
        now.start();
        for (std::uint32_t number = 0; number < stream->block_count;) {
            std::uint32_t count_doubtful = 0;
            const std::uint32_t end = std::min(number + ahead, stream->block_count);
            for (; number < end; ++number) {
                const Block& block = stream->blocks[number];
                pass.count(block, now);
                const auto sum = now.end_sum();
                const std::int32_t total = now.end_total();
                if (!block.several || pass.is_doubtful(now)) {
                    pass.template offer<true, true>(sum, now.next, total,
                                                    static_cast<std::int32_t>(block.end));
                    doubtful[count_doubtful] = now;
                    count_doubtful += block.several;
                }
                now.go_on(sum, total);
            }
            for (std::uint32_t d = 0; d < count_doubtful; ++d) look_into(*kernel, pass, doubtful[d]);
        }
        pass.left.store(kernel->sides_[0]);
        pass.right.store(kernel->sides_[1]);
    }

 private:
    // Adds the samples id(0), ..., id(count - 1), in four parts side by side, because each sum waits for the
    // one before.
    template <class Id>
    void add_in_parts(Sums& sums, std::size_t count, const Id& id) const {
        Sums part[4];
        std::size_t k = 0;
        for (; k + 4 <= count; k += 4)
            for (std::size_t p = 0; p < 4; ++p) add(part[p], id(k + p));
        for (; k < count; ++k) add(part[0], id(k));
        for (const Sums& one : part) {
            sums.y += one.y;
            sums.squares += one.squares;
            sums.rounded += one.rounded;
            sums.sizes += one.sizes;
        }
    }

    // Those within a block of several groups.
    std::uint64_t ends_in(std::size_t feature, std::uint32_t begin, const Block& block) const {
        if (!block.several) return 0;
        const auto group_end =
            subset_->group_end(static_cast<std::uint32_t>(feature)).subspan(block.first_group);
        const std::uint32_t size = block.end - begin;
        if (size <= group_end.size() && group_end[size - 1] == block.end)  // groups of one sample each
            return (std::uint64_t{1} << size) - 1;
        std::uint64_t ends = 0;
        for (std::size_t g = 0; group_end[g] < block.end; ++g)
            ends |= std::uint64_t{1} << (group_end[g] - begin - 1);
        return ends;
    }

    // Walks a block for the sides on which an inner boundary might beat the best.
    template <class Pass, class Counted>
    CODT_INLINE static void look_into(BracketKernel& kernel, Pass& pass, const Counted& in) {
        typename Pass::Room rooms[2];
        pass.rooms(in, rooms[0], rooms[1]);
        std::uint32_t sides[2] = {negative_lanes(rooms[0]), negative_lanes(rooms[1])};
        const int doubts = std::popcount(sides[0]) + std::popcount(sides[1]);
        if (doubts > most_few) return pass.walk_sides(in, sides[0] != 0, sides[1] != 0);
        if (doubts == 0) return;
        constexpr std::size_t bytes = sizeof(typename Pass::Register);
        const Block& block = *in.block;
        static_assert(longest_block_of(0) <= LaneWalk<bytes>::longest);
        LaneWalk<bytes> walk;
        walk.read(pass.stream.ordered + in.begin, block.end - in.begin, block.ends, pass.code,
                  kernel.target.data());
        std::int32_t sum[2 * lanes], count[2 * lanes];
        in.s.store(sum);
        in.k.store(count);
        auto rest = in.s, others = in.k;
        rest.subtract_from(in.total);
        others.subtract_from(static_cast<std::int32_t>(in.begin));
        rest.store(sum + lanes);
        others.store(count + lanes);
        pass.left.store(kernel.sides_[0]);
        pass.right.store(kernel.sides_[1]);
        bool any = false;
        for (std::uint32_t which = sides[0] | sides[1] << lanes; which != 0; which &= which - 1) {
            const auto place = static_cast<std::uint32_t>(std::countr_zero(which));
            const std::uint32_t lane = place % lanes, s = place / lanes;
            BracketSide<bytes, bytes> side;
            side.load_lane(kernel.sides_[s], lane);
            if (!walk.offer(lane, s == 0, sum[place], count[place], side)) continue;
            side.store_lane(kernel.sides_[s], lane);
            any = true;
        }
        if (!any) return;
        pass.left.load(kernel.sides_[0]);
        pass.right.load(kernel.sides_[1]);
    }

    const Subset* subset_ = nullptr;
    LaneBits missing_left_ = 0;  // the lanes in which samples that miss a value go left
    bool groups_widely_;
    double unit_ = 1;               // rounded targets per target
    std::vector<double> original_;  // targets before rounding
    Sums all_;
    SideLanes sides_[2];
};

}  // namespace

std::unique_ptr<BracketScanner> make_squared_error_brackets(std::span<const double> y, KernelPath path) {
    return std::make_unique<LaneBracketScanner<BracketKernel>>(path, y, path);
}

}  // namespace codt
