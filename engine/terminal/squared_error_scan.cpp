// Lanes over thresholds for the squared error, in doubles; the derivation is in squared_error_blocks.hpp. The
// largest ratio c^2 / (k (n - k)) so far is g; a boundary beats it if c^2 > g k (n - k), so the loop divides
// only where a lane improves. A block is only added up while no lane on either side can improve in it. Where
// one might, the sharper bound tells which sides have to be walked.
#include "terminal/squared_error_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "terminal/dispatch.hpp"
#include "terminal/squared_error_blocks.hpp"

namespace codt {

namespace {

// Two registers' worth of lanes on the widest path: a chain of additions alone would leave it half idle.
constexpr std::size_t total_bytes = 2 * pack_bytes;
constexpr std::uint32_t lanes_of_doubles = total_bytes / sizeof(double);

using Block = SignedBlock<double>;
using Stream = SignedStream<double>;

// Per lane and side: samples, mean, and the best ratio so far.
struct alignas(pack_bytes) Side {
    double count[lanes_of_doubles], mean[lanes_of_doubles], ratio[lanes_of_doubles];
};

template <std::size_t Bytes>
struct SquaredErrorPass {
    using P = Pack<double, Bytes, total_bytes>;
    using Register = typename P::Register;
    static constexpr std::size_t registers = P::registers;

    struct SideState {
        P count, mean, ratio;

        CODT_INLINE void load(const Side& side) {
            count.load(side.count);
            mean.load(side.mean);
            ratio.load(side.ratio);
        }

        // c^2 and k (n - k) where k samples with sum s lie before the boundary. At k = 0 and k = n nothing is
        // split and c is zero up to rounding: half a sample keeps the ratio harmless there.
        CODT_INLINE void terms(std::size_t i, const Register& s, const Register& k, Register& top,
                               Register& bottom) const {
            const Register c = s - k * mean.r[i];
            top = c * c;
            bottom = larger<Register>(k * (count.r[i] - k), Register{} + 0.5);
        }

        // Negative where the boundary beats the best.
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

        // Negative where a boundary inside a block might beat the best. The bounds are rounded numbers: a
        // hair is added so that they never hide a better boundary.
        static constexpr double hair = 1.0 + 1e-9;

        CODT_INLINE Register block_room(std::size_t i, const BlockSide<Register>& in) const {
            return box_room(in, [&](const Register& reach, const Register& bottom) CODT_INLINE_LAMBDA {
                return ratio.r[i] * bottom - reach * reach * hair;
            });
        }

        // The same for a block that lifts s by `rise` in all and lowers it by `fall`.
        CODT_INLINE Register sharp_block_room(std::size_t i, const BlockSide<Register>& in,
                                              const Register& rise, const Register& fall,
                                              const Block& block) const {
            return hexagon_room<Register>(in, rise * block.per_rise, fall * block.per_fall,
                                          [&](const Register& c, const Register& k) CODT_INLINE_LAMBDA {
                                              return ratio.r[i] * (k * (count.r[i] - k)) - c * c * hair;
                                          });
        }
    };

    static constexpr LaneRows<double, lanes_of_doubles> ones{1.0};
    // Samples of a block are counted in half the bytes.
    using Counts = Pack<std::int32_t, Bytes / 2, total_bytes / 2>;
    static constexpr LaneRows<std::int32_t, lanes_of_doubles> whole_ones{1};

    P s, k;
    SideState left, right;

    // y times one or zero: exact, and the same on every path.
    CODT_INLINE static void add_left(P& sum, P& count, std::uint8_t bucket, double y) {
        P row;
        row.load(ones[bucket]);
        for (std::size_t i = 0; i < registers; ++i) {
            sum.r[i] += row.r[i] * y;
            count.r[i] += row.r[i];
        }
    }

    // Takes the boundary behind `passed` samples with sum `total`, of which `count` with sum `sum` are left,
    // for one side or both.
    template <bool Left, bool Right>
    CODT_INLINE void offer(const P& sum, const P& count, double total, double passed) {
        P room;
        for (std::size_t i = 0; i < registers; ++i) {
            if constexpr (Left && Right)
                room.r[i] = smaller<Register>(left.room(i, sum.r[i], count.r[i]),
                                              right.room(i, total - sum.r[i], passed - count.r[i]));
            else if constexpr (Left)
                room.r[i] = left.room(i, sum.r[i], count.r[i]);
            else
                room.r[i] = right.room(i, total - sum.r[i], passed - count.r[i]);
        }
        if (!any_negative(room)) return;
        for (std::size_t i = 0; i < registers; ++i) {
            if constexpr (Left) left.take(i, sum.r[i], count.r[i]);
            if constexpr (Right) right.take(i, total - sum.r[i], passed - count.r[i]);
        }
    }

    template <bool Left, bool Right>
    CODT_INLINE void walk(const Stream& stream, std::uint32_t p, const Block& block,
                          const std::uint8_t* bucket, const double* y, double total) {
        P sum = s, count = k;
        for (const std::uint32_t* group = stream.group_end + block.first_group; p < block.end; ++group) {
            for (; p < *group; ++p) {
                const std::uint32_t id = stream.ordered[p];
                add_left(sum, count, bucket[id], y[id]);
                total += y[id];
            }
            offer<Left, Right>(sum, count, total, p);
        }
    }

    CODT_INLINE void run(const Stream& stream, const std::uint8_t* bucket, const double* y) {
        s.clear();
        k.clear();
        double total = 0.0;
        std::uint32_t begin = 0;
        for (std::uint32_t number = 0; number < stream.block_count; ++number) {
            const Block& block = stream.blocks[number];
            P rise, fall, next, sum;
            rise.clear();
            fall.clear();
            Counts counts;
            counts.clear();
            for (std::uint32_t p = begin; p < block.middle; ++p) {
                const std::uint8_t b = bucket[stream.grouped[p]];
                rise.add_scaled(ones[b], stream.values[p]);
                counts.add_row(whole_ones[b]);
            }
            for (std::uint32_t p = block.middle; p < block.end; ++p) {
                const std::uint8_t b = bucket[stream.grouped[p]];
                fall.add_scaled(ones[b], -stream.values[p]);
                counts.add_row(whole_ones[b]);
            }
            for (std::size_t i = 0; i < registers; ++i)
                next.r[i] = k.r[i] + __builtin_convertvector(counts.r[i], Register);
            for (std::size_t i = 0; i < registers; ++i) sum.r[i] = s.r[i] + (rise.r[i] - fall.r[i]);
            const double next_total = total + (block.positive - block.negative);
            const double passed = begin;
            const double next_passed = block.end;
            offer<true, true>(sum, next, next_total, next_passed);
            if (block.several) {
                const auto on_left = [&](std::size_t i) -> BlockSide<Register> {
                    return {s.r[i] - fall.r[i], s.r[i] + rise.r[i], k.r[i],
                            next.r[i],          left.count.r[i],    left.mean.r[i]};
                };
                const auto on_right = [&](std::size_t i) -> BlockSide<Register> {
                    const Register before = total - s.r[i];
                    return {before - (block.negative - fall.r[i]),
                            before + (block.positive - rise.r[i]),
                            passed - k.r[i],
                            next_passed - next.r[i],
                            right.count.r[i],
                            right.mean.r[i]};
                };
                P room, other;
                for (std::size_t i = 0; i < registers; ++i)
                    room.r[i] =
                        smaller<Register>(left.block_room(i, on_left(i)), right.block_room(i, on_right(i)));
                if (any_negative(room)) {
                    for (std::size_t i = 0; i < registers; ++i) {
                        room.r[i] = left.sharp_block_room(i, on_left(i), rise.r[i], fall.r[i], block);
                        other.r[i] = right.sharp_block_room(i, on_right(i), block.positive - rise.r[i],
                                                            block.negative - fall.r[i], block);
                    }
                    const bool walk_left = any_negative(room);
                    const bool walk_right = any_negative(other);
                    if (walk_left && walk_right)
                        walk<true, true>(stream, begin, block, bucket, y, total);
                    else if (walk_left)
                        walk<true, false>(stream, begin, block, bucket, y, total);
                    else if (walk_right)
                        walk<false, true>(stream, begin, block, bucket, y, total);
                }
            }
            s = sum;
            k = next;
            total = next_total;
            begin = block.end;
        }
    }
};

struct SquaredErrorKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream* stream, const std::uint8_t* bucket, const double* y,
                                Side* sides) {
        SquaredErrorPass<Bytes> pass;
        pass.left.load(sides[0]);
        pass.right.load(sides[1]);
        pass.run(*stream, bucket, y);
        pass.left.ratio.store(sides[0].ratio);
        pass.right.ratio.store(sides[1].ratio);
    }
};

class SquaredErrorScanner final : public Scanner {
 public:
    SquaredErrorScanner(std::span<const double> y, KernelPath path)
        : y_(y),
          pass_(kernel_function<SquaredErrorKernel, const Stream*, const std::uint8_t*, const double*, Side*>(
              path)) {}

    std::uint32_t lanes() const override { return lanes_of_doubles; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        centre_targets(subset);
        streams_.prepare(subset, feature_rank, target_.data());
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        alignas(pack_bytes) Side sides[2] = {};
        double error[2][lanes_of_doubles] = {};
        sum_sides(f, thresholds, sides, error);
        fill_buckets(*subset_, f, thresholds, buckets_);
        double* const out[2] = {left, right};
        for (int s = 0; s < 2; ++s)
            for (std::size_t j = 0; j < thresholds.size(); ++j)
                sides[s].ratio[j] = std::max(0.0, (error[s][j] - (out[s][j] - lambda)) / sides[s].count[j]);
        for (const Stream& stream : streams_) {
            if (stop.reached_after(subset_->size())) return false;
            pass_(&stream, buckets_.data(), target_.data(), sides);
        }
        for (int s = 0; s < 2; ++s) {
            for (std::size_t j = 0; j < thresholds.size(); ++j) {
                const double gain = sides[s].count[j] * sides[s].ratio[j];
                out[s][j] = std::min({out[s][j], error[s][j], std::max(0.0, error[s][j] - gain) + lambda});
            }
        }
        return true;
    }

 private:
    // Targets less the subset's mean: sums stay small and lose few digits.
    void centre_targets(const Subset& subset) {
        const auto samples = subset.samples();
        target_.resize(subset.size());
        double mean = 0;
        for (const std::uint32_t row : samples) mean += y_[row];
        mean /= subset.size();
        for (std::uint32_t id = 0; id < subset.size(); ++id) target_[id] = y_[samples[id]] - mean;
    }

    // Count, mean and squared error of both sides of every threshold; thresholds are ascending.
    void sum_sides(std::uint32_t f, std::span<const std::uint32_t> thresholds, Side* sides,
                   double (*error)[lanes_of_doubles]) const {
        const auto order = subset_->order(f);
        const auto ends = subset_->group_end(f);
        const double n = subset_->size();
        double all = 0, all_squares = 0;
        for (const double y : target_) {
            all += y;
            all_squares += y * y;
        }
        double sum = 0, squares = 0;
        std::uint32_t p = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (; p < ends[thresholds[j]]; ++p) {
                const double y = target_[order[p]];
                sum += y;
                squares += y * y;
            }
            const double k = ends[thresholds[j]];
            sides[0].count[j] = k;
            sides[0].mean[j] = sum / k;
            error[0][j] = std::max(0.0, squares - sum * sum / k);
            sides[1].count[j] = n - k;
            sides[1].mean[j] = (all - sum) / (n - k);
            error[1][j] = std::max(0.0, (all_squares - squares) - (all - sum) * (all - sum) / (n - k));
        }
        // Lanes without a threshold: nothing there beats infinity.
        for (std::size_t j = thresholds.size(); j < lanes_of_doubles; ++j)
            sides[0].ratio[j] = sides[1].ratio[j] = std::numeric_limits<double>::infinity();
    }

    std::span<const double> y_;
    void (*pass_)(const Stream*, const std::uint8_t*, const double*, Side*);
    const Subset* subset_ = nullptr;
    std::vector<double> target_;
    std::vector<std::uint8_t> buckets_;
    SignedStreams<double, block_size> streams_;
};

}  // namespace

std::unique_ptr<Scanner> make_squared_error_scanner(std::span<const double> y, KernelPath path) {
    return std::make_unique<SquaredErrorScanner>(y, path);
}

}  // namespace codt
