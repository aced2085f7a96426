// Lanes over thresholds for the squared error, in doubles; the derivation is in squared_error_blocks.hpp. The
// largest ratio c^2 / (k (n - k)) so far is g; a boundary beats it if c^2 > g k (n - k), so the loop divides
// only where a lane improves. While no lane on either side can improve inside a block, its samples are only
// summed up. Where one might, the sharper bound decides which sides have to be walked.
#include "scans/squared_error_scan.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "scans/lane_rows.hpp"
#include "scans/squared_error_blocks.hpp"

namespace codt {

namespace {

// Two registers of lanes on the widest path: a single chain of additions would leave it half idle.
constexpr std::size_t total_bytes = 2 * pack_bytes;
constexpr std::uint32_t lanes_of_doubles = total_bytes / sizeof(double);

// Per lane: samples, mean, the best ratio so far, and the squared error of a leaf.
struct alignas(pack_bytes) SideLanes {
    double count[lanes_of_doubles], mean[lanes_of_doubles], ratio[lanes_of_doubles], error[lanes_of_doubles];
};

template <std::size_t Bytes>
struct ExactSide {
    using Pack = codt::Pack<double, Bytes, total_bytes>;
    using Register = typename Pack::Register;

    Pack count, mean, ratio;

    CODT_INLINE void load(const SideLanes& side) {
        count.load(side.count);
        mean.load(side.mean);
        ratio.load(side.ratio);
    }

    // c^2 and k (n - k) where k samples with sum s lie before the boundary. At k = 0 and k = n nothing is
    // split and c is zero up to rounding: using half a sample there keeps the ratio harmless.
    CODT_INLINE void terms(std::size_t i, const Register& s, const Register& k, Register& top,
                           Register& bottom) const {
        const Register c = s - k * mean.r[i];
        top = c * c;
        bottom = larger<Register>(k * (count.r[i] - k), Register{} + 0.5);
    }
    CODT_INLINE Register room(std::size_t i, const Register& s, const Register& k) const {
        Register top, bottom;
        terms(i, s, k, top, bottom);
        return ratio.r[i] * bottom - top;
    }
    CODT_INLINE void take(std::size_t i, const Register& s, const Register& k) {
        Register top, bottom;
        terms(i, s, k, top, bottom);
        ratio.r[i] = larger<Register>(ratio.r[i], top / bottom);
    }

    // Bounds are rounded: this factor makes sure that they never hide a better boundary.
    static constexpr double hair = 1.0 + 1e-9;

    CODT_INLINE Register box_room(std::size_t i, const Register& reach, const Register& bottom) const {
        return ratio.r[i] * bottom - reach * reach * hair;
    }
    CODT_INLINE Register corner_room(std::size_t i, const Register& c, const Register& k) const {
        return ratio.r[i] * (k * (count.r[i] - k)) - c * c * hair;
    }
};

template <std::size_t Bytes>
struct Doubles {
    using Side = ExactSide<Bytes>;
    using Sum = typename Side::Pack;
    // Samples of a block are counted in registers of half the size.
    using Counts = Pack<std::int32_t, Bytes / 2, total_bytes / 2>;
    using Code = std::uint8_t;

    const LaneRows<double, lanes_of_doubles>& ones;
    const LaneRows<std::int32_t, lanes_of_doubles>& whole_ones;

    // y times one or zero: exact, and the same on every path.
    CODT_INLINE void add(Sum& sum, std::uint8_t bucket, double y) const { sum.add_scaled(ones[bucket], y); }
    CODT_INLINE void subtract(Sum& sum, std::uint8_t bucket, double y) const {
        sum.add_scaled(ones[bucket], -y);
    }
    CODT_INLINE void count(Counts& counts, std::uint8_t bucket) const { counts.add_row(whole_ones[bucket]); }
    CODT_INLINE void count(Sum& counts, std::uint8_t bucket) const { counts.add_row(ones[bucket]); }
};

struct SquaredErrorKernel : SignedSamples<double> {
    static constexpr std::uint32_t lanes = lanes_of_doubles;
    static constexpr bool joins_orders = true, bounds_second_features = true;
    struct Sums {
        double y = 0, squares = 0;
    };

    using SignedSamples::SignedSamples;

    bool read(const Subset& subset) {
        all_ = {};
        read_targets(subset, [&](std::uint32_t id, double y) {
            target[id] = y;
            add(all_, id);
        });
        return true;
    }

    Sums nothing() const { return {}; }
    void add(Sums& sums, std::uint32_t id) const {
        const double y = target[id];
        sums.y += y;
        sums.squares += y * y;
    }

    void rest(const Sums& left, Sums& right) const { right = {all_.y - left.y, all_.squares - left.squares}; }
    void start(std::size_t s, std::size_t lane, double n, const Sums& sums, double known) {
        SideLanes& side = sides_[s];
        side.count[lane] = n;
        side.mean[lane] = sums.y / n;
        side.error[lane] = leaf_error(n, sums.y, sums.squares);
        side.ratio[lane] = std::max(0.0, (side.error[lane] - known) / n);
    }
    // Nothing beats infinity.
    void pad(std::size_t lane) {
        for (SideLanes& side : sides_) {
            side.count[lane] = side.mean[lane] = 0;
            side.ratio[lane] = std::numeric_limits<double>::infinity();
        }
    }
    void missing_left(std::uint64_t left) {
        ones_.missing_left(left);
        whole_ones_.missing_left(left);
    }
    double value(std::size_t s, std::size_t lane, double price) const {
        const SideLanes& side = sides_[s];
        return best_value(side.error[lane], side.count[lane] * side.ratio[lane], price);
    }
    // Less the most by which values are rounded, and more.
    double at_least(std::size_t s, std::size_t lane, double price) const {
        return value(s, lane, price) - 1e-9 * sides_[s].error[lane];
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(SquaredErrorKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        SquaredErrorPass<Doubles<Bytes>, Block> pass{
            {kernel->ones_, kernel->whole_ones_}, *kernel, *stream, bucket, {}, {}};
        pass.left.load(kernel->sides_[0]);
        pass.right.load(kernel->sides_[1]);
        typename decltype(pass)::Counted now;
        now.start();
        for (std::uint32_t number = 0; number < stream->block_count; ++number) {
            const Block& block = stream->blocks[number];
            pass.count(block, now);
            const auto sum = now.end_sum();
            const double total = now.end_total();
            pass.template offer<true, true>(sum, now.next, total, block.end);
            if (block.several && pass.is_doubtful(now)) pass.look_into(now);
            now.go_on(sum, total);
        }
        pass.left.ratio.store(kernel->sides_[0].ratio);
        pass.right.ratio.store(kernel->sides_[1].ratio);
    }

 private:
    LaneRows<double, lanes> ones_{1.0};
    LaneRows<std::int32_t, lanes> whole_ones_{1};
    Sums all_;
    SideLanes sides_[2];
};

}  // namespace

std::unique_ptr<Scanner> make_squared_error_scanner(std::span<const double> y, KernelPath path) {
    return std::make_unique<LaneScanner<SquaredErrorKernel>>(path, y);
}

}  // namespace codt
