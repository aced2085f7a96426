// The scan of squared_error_scan.cpp in half the bits. Most thresholds are only to be ruled out, and for that
// a value between two bounds is as good as the exact one.
//
// Targets less the subset's mean are rounded to whole numbers, in units that keep the sum of their absolute
// values at 2^30, so that 32-bit sums of them are exact in any order. What is formed of such sums, c and
// k (n - k), is formed in 32-bit floats. Two errors come together for a side of n samples whose absolute
// rounded targets sum to A, with u = 2^-24 the rounding of a float:
//
//   - rounding the targets, each by at most 1/2 (and a hair for the rounding of doubles), moves
//     c = s - (k/n) s_n by at most k (n - k) / n <= n / 4;
//   - s and k m with m = s_n / n are both at most A; converting and rounding them, forming the places of the
//     corners below and subtracting takes less than 16 u A.
//
// So c is known up to the side's `slack`, the sum of both. k (n - k) is known up to a factor of 1 + 2 u where
// k is a whole number, and nowhere below n - 1 where the boundary splits the side. A best ratio
// c^2 / (k (n - k)) is kept from above, with |c| + slack, and from below, with |c| - slack; both are widened
// by 16 u for the roundings of products and the quotient. A boundary is looked at only where
// (|c| + slack)^2 passes the ratio from above times k (n - k).
//
// Blocks are ruled out by the two bounds of squared_error_blocks.hpp, the slack added to the reach. In the
// hexagon k is no whole number: it is off by up to 5 u n, so that k (n - k) is off by less than 16 u n^2.
#include "terminal/squared_error_brackets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "terminal/lane_rows.hpp"
#include "terminal/squared_error_blocks.hpp"

namespace codt {

namespace {

constexpr std::uint32_t lanes_of_floats = lane_count<float>;
constexpr float blur = 0x1p-20F;  // 16 u

// Whole numbers up to here are exact in floats, and rounding so many targets is still small.
constexpr std::uint32_t most_samples = 1U << 20U;
constexpr double sum_of_targets = 0x1p30;

// Per lane: samples, mean, slack, the best ratio so far from above and from below, and the squared error of a
// leaf.
struct alignas(pack_bytes) SideLanes {
    float count[lanes_of_floats], mean[lanes_of_floats], slack[lanes_of_floats], upper[lanes_of_floats],
        lower[lanes_of_floats];
    double error[lanes_of_floats];
};

template <std::size_t Bytes>
struct BracketSide {
    using Numbers = Pack<float, Bytes>;
    using Register = typename Numbers::Register;

    Numbers count, mean, slack, least, filter, upper, lower;

    CODT_INLINE static Register size_of(const Register& a) {
        using Bits = typename Pack<std::int32_t, Bytes>::Register;
        return (Register)((Bits)a & 0x7FFFFFFF);
    }

    CODT_INLINE void load(const SideLanes& side) {
        count.load(side.count);
        mean.load(side.mean);
        slack.load(side.slack);
        upper.load(side.upper);
        lower.load(side.lower);
        for (std::size_t i = 0; i < Numbers::registers; ++i) {
            // Half a sample where there is nothing to split.
            least.r[i] = larger<Register>(count.r[i] - 1.0F, Register{} + 0.5F);
            filter.r[i] = upper.r[i] * (1 - blur);
        }
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
    CODT_INLINE void take(std::size_t i, const Register& s, const Register& k) {
        Register size, bottom;
        terms(i, s, k, size, bottom);
        const Register most = size + slack.r[i];
        const Register sure = larger<Register>(size - slack.r[i], Register{});
        const Register per_bottom = 1 / bottom;
        upper.r[i] = larger<Register>(upper.r[i], most * most * (per_bottom * (1 + blur)));
        lower.r[i] = larger<Register>(lower.r[i], sure * sure * (per_bottom * (1 - blur)));
        filter.r[i] = upper.r[i] * (1 - blur);
    }
    CODT_INLINE Register box_room(std::size_t i, const Register& size, const Register& bottom) const {
        const Register reach = size + slack.r[i];
        return filter.r[i] * bottom - reach * reach;
    }
    CODT_INLINE Register corner_room(std::size_t i, const Register& c, const Register& k) const {
        const Register off = count.r[i] * count.r[i] * blur;
        return box_room(i, size_of(c), larger<Register>(k * (count.r[i] - k) - off, least.r[i]));
    }
};

struct BracketKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lanes_of_floats;
    // Sums of a block cost half of what they do elsewhere.
    static constexpr std::uint32_t longest_block = 48;
    using Block = SignedBlock<std::int32_t>;
    struct Sums {
        double y = 0, squares = 0;
        std::int64_t rounded = 0, sizes = 0;
    };

    explicit BracketKernel(std::span<const double> y) : y_(y) {}

    // Targets less the subset's mean, as they are and as whole numbers; false if these do not exist.
    bool read(const Subset& subset) {
        const std::uint32_t size = subset.size();
        if (size > most_samples) return false;
        const auto samples = subset.samples();
        samples_.reset(subset);
        target_.resize(size);
        double mean = 0;
        for (const std::uint32_t row : samples) mean += y_[row];
        mean /= size;
        double sum = 0;
        for (std::uint32_t id = 0; id < size; ++id) {
            target_[id] = y_[samples[id]] - mean;
            sum += std::abs(target_[id]);
        }
        unit_ = sum_of_targets / sum;
        if (!std::isfinite(unit_ * unit_)) return false;
        all_ = {};
        for (std::uint32_t id = 0; id < size; ++id) {
            samples_.target[id] =
                static_cast<std::int32_t>(target_[id] * unit_ + std::copysign(0.5, target_[id]));
            add(all_, id);
        }
        return true;
    }
    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        samples_.summarise(order, cell, begin, block);
    }

    Sums nothing() const { return {}; }
    void add(Sums& sums, std::uint32_t id) const {
        sums.y += target_[id];
        sums.squares += target_[id] * target_[id];
        sums.rounded += samples_.target[id];
        sums.sizes += std::abs(samples_.target[id]);
    }

    void start(std::size_t lane, std::uint32_t n, const Sums& left, const double (&known)[2]) {
        start_side(sides_[0], lane, n, left, known[0]);
        start_side(sides_[1], lane, static_cast<double>(target_.size()) - n,
                   {all_.y - left.y, all_.squares - left.squares, all_.rounded - left.rounded,
                    all_.sizes - left.sizes},
                   known[1]);
    }
    // Nothing beats so much.
    void pad(std::size_t lane) {
        for (SideLanes& side : sides_) {
            side.count[lane] = side.mean[lane] = side.slack[lane] = side.lower[lane] = 0;
            side.upper[lane] = 0x1p80F;
        }
    }
    void bracket(std::size_t s, std::size_t lane, double lambda, double& lower, double& upper) const {
        const SideLanes& side = sides_[s];
        const auto value = [&](float ratio) {
            const double gain = side.count[lane] * (ratio / (unit_ * unit_));
            return std::min(side.error[lane], std::max(0.0, side.error[lane] - gain) + lambda);
        };
        upper = std::min(upper, value(side.lower[lane]));
        lower = std::min(upper, value(side.upper[lane]));
    }

    // Blocks are counted some at a time before any of them is walked: their ends make good ratios.
    static constexpr std::uint32_t ahead = 32;

    template <std::size_t Bytes>
    CODT_INLINE static void run(BracketKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        using I = Pack<std::int32_t, Bytes>;
        static constexpr LaneRows<std::int32_t, lanes> masks{-1};

        const SignedSamples<std::int32_t>& samples = kernel->samples_;
        SquaredErrorSides<BracketSide<Bytes>, I> sides;
        sides.left.load(kernel->sides_[0]);
        sides.right.load(kernel->sides_[1]);
        const auto step = [&](std::uint32_t id, I& s, I& k, std::int32_t& total) CODT_INLINE_LAMBDA {
            const std::int32_t y = samples.target[id];
            s.add_masked(masks[bucket[id]], y);
            k.subtract_row(masks[bucket[id]]);
            total += y;
        };
        typename decltype(sides)::Counted doubtful[ahead];
        typename decltype(sides)::Counted now;
        now.s.clear();
        now.k.clear();
        for (std::uint32_t number = 0; number < stream->block_count;) {
            std::uint32_t count_doubtful = 0;
            const std::uint32_t end = std::min(number + ahead, stream->block_count);
            for (; number < end; ++number) {
                const Block& block = stream->blocks[number];
                now.block = &block;
                I rise, fall, next = now.k;
                rise.clear();
                fall.clear();
                samples.for_each_grouped(stream->cell, now.begin, block.middle,
                                         [&](std::uint32_t id, std::int32_t y) CODT_INLINE_LAMBDA {
                                             rise.add_masked(masks[bucket[id]], y);
                                             next.subtract_row(masks[bucket[id]]);
                                         });
                samples.for_each_grouped(stream->cell, block.middle, block.end,
                                         [&](std::uint32_t id, std::int32_t y) CODT_INLINE_LAMBDA {
                                             fall.subtract_masked(masks[bucket[id]], y);
                                             next.subtract_row(masks[bucket[id]]);
                                         });
                now.rise = rise;
                now.fall = fall;
                now.next = next;
                I sum = now.s;
                sum.add(rise);
                sum.subtract(fall);
                const std::int32_t total = now.total + (block.positive - block.negative);
                if (!block.several || sides.is_doubtful(now)) {
                    sides.template offer<true, true>(sum, next, total, static_cast<std::int32_t>(block.end));
                    doubtful[count_doubtful] = now;
                    count_doubtful += block.several;
                }
                now.s = sum;
                now.k = next;
                now.total = total;
                now.begin = block.end;
            }
            for (std::uint32_t d = 0; d < count_doubtful; ++d) sides.look_into(*stream, doubtful[d], step);
        }
        sides.left.store(kernel->sides_[0]);
        sides.right.store(kernel->sides_[1]);
    }

 private:
    void start_side(SideLanes& side, std::size_t lane, double n, const Sums& sums, double known) const {
        side.count[lane] = static_cast<float>(n);
        side.mean[lane] = static_cast<float>(static_cast<double>(sums.rounded) / n);
        side.slack[lane] = static_cast<float>(0.26 * n + blur * static_cast<double>(sums.sizes));
        side.error[lane] = std::max(0.0, sums.squares - sums.y * sums.y / n);
        const double ratio = (side.error[lane] - known) / side.count[lane];
        side.upper[lane] = static_cast<float>(std::max(0.0, ratio * (unit_ * unit_) * (1 + 1e-6)));
        side.lower[lane] = 0;
    }

    std::span<const double> y_;
    double unit_ = 1;  // rounded targets by targets
    std::vector<double> target_;
    SignedSamples<std::int32_t> samples_;  // with rounded targets
    Sums all_;
    SideLanes sides_[2];
};

}  // namespace

std::unique_ptr<BracketScanner> make_squared_error_brackets(std::span<const double> y, KernelPath path) {
    return std::make_unique<LaneBracketScanner<BracketKernel>>(path, y);
}

}  // namespace codt
