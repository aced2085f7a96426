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

#include "terminal/dispatch.hpp"
#include "terminal/squared_error_blocks.hpp"

namespace codt {

namespace {

constexpr std::uint32_t lanes_of_floats = lane_count<float>;
constexpr float blur = 0x1p-20F;  // 16 u

// Whole numbers up to here are exact in floats, and rounding so many targets is still small.
constexpr std::uint32_t most_samples = 1U << 20U;
constexpr double sum_of_targets = 0x1p30;

// Sums of a block cost half of what they do elsewhere.
constexpr std::uint32_t short_block = 48;

using Block = SignedBlock<std::int32_t>;
using Stream = SignedStream<std::int32_t>;

// Per lane and side: samples, mean, slack, and the best ratio so far from above and from below.
struct alignas(pack_bytes) Side {
    float count[lanes_of_floats], mean[lanes_of_floats], slack[lanes_of_floats], upper[lanes_of_floats],
        lower[lanes_of_floats];
};

template <std::size_t Bytes>
struct BracketPass {
    using F = Pack<float, Bytes>;
    using I = Pack<std::int32_t, Bytes>;
    using Register = typename F::Register;
    using Whole = typename I::Register;
    static constexpr std::size_t registers = F::registers;
    static constexpr LaneRows<std::int32_t, lanes_of_floats> masks{-1};

    CODT_INLINE static Register size_of(const Register& a) { return (Register)((Whole)a & 0x7FFFFFFF); }
    CODT_INLINE static Register to_float(const Whole& a) { return __builtin_convertvector(a, Register); }

    struct SideState {
        F count, mean, slack, least, filter, upper, lower;

        CODT_INLINE void load(const Side& side) {
            count.load(side.count);
            mean.load(side.mean);
            slack.load(side.slack);
            upper.load(side.upper);
            lower.load(side.lower);
            for (std::size_t i = 0; i < registers; ++i) {
                // Half a sample where there is nothing to split.
                least.r[i] = larger<Register>(count.r[i] - 1.0F, Register{} + 0.5F);
                filter.r[i] = upper.r[i] * (1 - blur);
            }
        }

        // |c| and k (n - k) where k samples with sum s lie before the boundary.
        CODT_INLINE void terms(std::size_t i, const Register& s, const Register& k, Register& size,
                               Register& bottom) const {
            size = size_of(s - k * mean.r[i]);
            bottom = larger<Register>(k * (count.r[i] - k), least.r[i]);
        }

        // Negative where the boundary might beat the best.
        CODT_INLINE Register room(std::size_t i, const Register& s, const Register& k) const {
            Register size, bottom;
            terms(i, s, k, size, bottom);
            const Register reach = size + slack.r[i];
            return filter.r[i] * bottom - reach * reach;
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

        // Negative where a boundary inside a block, or at its end, might beat the best.
        CODT_INLINE Register block_room(std::size_t i, const BlockSide<Register>& in) const {
            return box_room(in, [&](const Register& most, const Register& bottom) CODT_INLINE_LAMBDA {
                const Register reach = most + slack.r[i];
                return filter.r[i] * bottom - reach * reach;
            });
        }

        // The same for a block whose ends have been evaluated. It lifts s by `rise` in all and lowers it by
        // `fall`.
        CODT_INLINE Register sharp_block_room(std::size_t i, const BlockSide<Register>& in,
                                              const Register& rise, const Register& fall,
                                              const Block& block) const {
            const Register off = count.r[i] * count.r[i] * blur;
            return hexagon_room<Register>(in, rise * block.per_rise, fall * block.per_fall,
                                          [&](const Register& c, const Register& k) CODT_INLINE_LAMBDA {
                                              const Register reach = size_of(c) + slack.r[i];
                                              const Register bottom =
                                                  larger<Register>(k * (count.r[i] - k) - off, least.r[i]);
                                              return filter.r[i] * bottom - reach * reach;
                                          });
        }
    };

    SideState left, right;

    // Takes the boundary behind `passed` samples with sum `total`, of which `count` with sum `sum` are left,
    // for one side or both.
    template <bool Left, bool Right>
    CODT_INLINE void offer(const I& sum, const I& count, std::int32_t total, std::int32_t passed) {
        F room;
        for (std::size_t i = 0; i < registers; ++i) {
            if constexpr (Left) room.r[i] = left.room(i, to_float(sum.r[i]), to_float(count.r[i]));
            if constexpr (Right) {
                const Register other =
                    right.room(i, to_float(total - sum.r[i]), to_float(passed - count.r[i]));
                room.r[i] = Left ? smaller<Register>(room.r[i], other) : other;
            }
        }
        if (!any_negative(room)) return;
        for (std::size_t i = 0; i < registers; ++i) {
            if constexpr (Left) left.take(i, to_float(sum.r[i]), to_float(count.r[i]));
            if constexpr (Right) right.take(i, to_float(total - sum.r[i]), to_float(passed - count.r[i]));
        }
    }

    // A block with what lies before it, and in it on the left side.
    struct Counted {
        const Block* block;
        std::uint32_t begin;
        std::int32_t total;
        I s, k, rise, fall, next;
    };
    template <bool Left, bool Right>
    CODT_INLINE void walk(const Stream& stream, const std::uint8_t* bucket, const std::int32_t* y,
                          const Counted& in) {
        I sum = in.s, count = in.k;
        std::int32_t total = in.total;
        std::uint32_t p = in.begin;
        for (const std::uint32_t* group = stream.group_end + in.block->first_group; p < in.block->end;
             ++group) {
            for (; p < *group; ++p) {
                const std::uint32_t id = stream.ordered[p];
                sum.add_masked(masks[bucket[id]], y[id]);
                count.subtract_row(masks[bucket[id]]);
                total += y[id];
            }
            offer<Left, Right>(sum, count, total, static_cast<std::int32_t>(p));
        }
    }

    static constexpr std::uint32_t ahead = 32;

    // Blocks are counted some at a time before any of them is walked: their ends make good ratios.
    CODT_INLINE void run(const Stream& stream, const std::uint8_t* bucket, const std::int32_t* y) {
        Counted doubtful[ahead];
        Counted now;
        now.begin = 0;
        now.total = 0;
        now.s.clear();
        now.k.clear();
        for (std::uint32_t number = 0; number < stream.block_count;) {
            std::uint32_t count_doubtful = 0;
            const std::uint32_t end = std::min(number + ahead, stream.block_count);
            for (; number < end; ++number) {
                const Block& block = stream.blocks[number];
                now.block = &block;
                count(stream, bucket, now);
                I sum = now.s;
                sum.add(now.rise);
                sum.add(now.fall);
                const std::int32_t total = now.total + (block.positive - block.negative);
                if (!block.several || is_doubtful(now)) {
                    offer<true, true>(sum, now.next, total, static_cast<std::int32_t>(block.end));
                    doubtful[count_doubtful] = now;
                    count_doubtful += block.several;
                }
                now.begin = block.end;
                now.total = total;
                now.s = sum;
                now.k = now.next;
            }
            for (std::uint32_t d = 0; d < count_doubtful; ++d) look_into(stream, bucket, y, doubtful[d]);
        }
    }

    CODT_INLINE static void count(const Stream& stream, const std::uint8_t* bucket, Counted& now) {
        I rise, fall, next = now.k;
        rise.clear();
        fall.clear();
        for (std::uint32_t p = now.begin; p < now.block->middle; ++p) {
            const std::int32_t* const row = masks[bucket[stream.grouped[p]]];
            rise.add_masked(row, stream.values[p]);
            next.subtract_row(row);
        }
        for (std::uint32_t p = now.block->middle; p < now.block->end; ++p) {
            const std::int32_t* const row = masks[bucket[stream.grouped[p]]];
            fall.add_masked(row, stream.values[p]);
            next.subtract_row(row);
        }
        now.rise = rise;
        now.fall = fall;
        now.next = next;
    }

    CODT_INLINE BlockSide<Register> on_left(std::size_t i, const Counted& in) const {
        return {to_float(in.s.r[i] + in.fall.r[i]),
                to_float(in.s.r[i] + in.rise.r[i]),
                to_float(in.k.r[i]),
                to_float(in.next.r[i]),
                left.count.r[i],
                left.mean.r[i]};
    }
    CODT_INLINE BlockSide<Register> on_right(std::size_t i, const Counted& in) const {
        return {to_float(in.total - in.block->negative - in.s.r[i] - in.fall.r[i]),
                to_float(in.total + in.block->positive - in.s.r[i] - in.rise.r[i]),
                to_float(static_cast<std::int32_t>(in.begin) - in.k.r[i]),
                to_float(static_cast<std::int32_t>(in.block->end) - in.next.r[i]),
                right.count.r[i],
                right.mean.r[i]};
    }

    // Whether one of a block's boundaries might beat the best, at a first glance.
    CODT_INLINE bool is_doubtful(const Counted& in) const {
        F room;
        for (std::size_t i = 0; i < registers; ++i)
            room.r[i] =
                smaller<Register>(left.block_room(i, on_left(i, in)), right.block_room(i, on_right(i, in)));
        return any_negative(room);
    }

    // Walks a block if one of its inner boundaries might.
    CODT_INLINE void look_into(const Stream& stream, const std::uint8_t* bucket, const std::int32_t* y,
                               const Counted& in) {
        const Block& block = *in.block;
        F room, other;
        for (std::size_t i = 0; i < registers; ++i) {
            room.r[i] = left.sharp_block_room(i, on_left(i, in), to_float(in.rise.r[i]),
                                              to_float(0 - in.fall.r[i]), block);
            other.r[i] = right.sharp_block_room(i, on_right(i, in), to_float(block.positive - in.rise.r[i]),
                                                to_float(block.negative + in.fall.r[i]), block);
        }
        const bool walk_left = any_negative(room);
        const bool walk_right = any_negative(other);
        if (walk_left && walk_right)
            walk<true, true>(stream, bucket, y, in);
        else if (walk_left)
            walk<true, false>(stream, bucket, y, in);
        else if (walk_right)
            walk<false, true>(stream, bucket, y, in);
    }
};

struct BracketKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream* stream, const std::uint8_t* bucket, const std::int32_t* y,
                                Side* sides) {
        BracketPass<Bytes> pass;
        pass.left.load(sides[0]);
        pass.right.load(sides[1]);
        pass.run(*stream, bucket, y);
        pass.left.upper.store(sides[0].upper);
        pass.left.lower.store(sides[0].lower);
        pass.right.upper.store(sides[1].upper);
        pass.right.lower.store(sides[1].lower);
    }
};

class SquaredErrorBrackets final : public BracketScanner {
 public:
    SquaredErrorBrackets(std::span<const double> y, KernelPath path)
        : y_(y),
          pass_(
              kernel_function<BracketKernel, const Stream*, const std::uint8_t*, const std::int32_t*, Side*>(
                  path)) {}

    std::uint32_t lanes() const override { return lanes_of_floats; }

    bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        if (subset.size() > most_samples || !round_targets(subset)) return false;
        streams_.prepare(subset, feature_rank, rounded_.data());
        return true;
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda,
              const Brackets (&out)[2], StopCondition& stop) override {
        alignas(pack_bytes) Side sides[2] = {};
        double error[2][lanes_of_floats] = {};
        sum_sides(f, thresholds, sides, error);
        const double squares = unit_ * unit_;
        for (int s = 0; s < 2; ++s)
            for (std::size_t j = 0; j < thresholds.size(); ++j) {
                const double known = (error[s][j] - (out[s].upper[j] - lambda)) / sides[s].count[j];
                sides[s].upper[j] = static_cast<float>(std::max(0.0, known * squares * (1 + 1e-6)));
            }
        for (const Stream& stream : streams_) {
            if (stop.reached_after(subset_->size())) return false;
            pass_(&stream, buckets_.data(), rounded_.data(), sides);
        }
        for (int s = 0; s < 2; ++s) {
            for (std::size_t j = 0; j < thresholds.size(); ++j) {
                const auto value = [&](float ratio) {
                    const double gain = sides[s].count[j] * (ratio / squares);
                    return std::min(error[s][j], std::max(0.0, error[s][j] - gain) + lambda);
                };
                out[s].upper[j] = std::min(out[s].upper[j], value(sides[s].lower[j]));
                out[s].lower[j] = std::min(out[s].upper[j], value(sides[s].upper[j]));
            }
        }
        return true;
    }

 private:
    struct Sums {
        double y = 0, squares = 0;
        std::int64_t rounded = 0, sizes = 0;
    };
    void add(Sums& sums, std::uint32_t id) const {
        sums.y += target_[id];
        sums.squares += target_[id] * target_[id];
        sums.rounded += rounded_[id];
        sums.sizes += std::abs(rounded_[id]);
    }
    static Sums difference(const Sums& a, const Sums& b) {
        return {a.y - b.y, a.squares - b.squares, a.rounded - b.rounded, a.sizes - b.sizes};
    }

    // Targets less the subset's mean, as they are and as whole numbers; false if these do not exist.
    bool round_targets(const Subset& subset) {
        const auto samples = subset.samples();
        target_.resize(subset.size());
        rounded_.resize(subset.size());
        double mean = 0;
        for (const std::uint32_t row : samples) mean += y_[row];
        mean /= subset.size();
        double sum = 0;
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            target_[id] = y_[samples[id]] - mean;
            sum += std::abs(target_[id]);
        }
        unit_ = sum_of_targets / sum;
        if (!std::isfinite(unit_ * unit_)) return false;
        all_ = {};
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            rounded_[id] = static_cast<std::int32_t>(target_[id] * unit_ + std::copysign(0.5, target_[id]));
            add(all_, id);
        }
        return true;
    }

    // Buckets of the samples; count, mean, slack and squared error of both sides of every threshold, which
    // are ascending.
    void sum_sides(std::uint32_t f, std::span<const std::uint32_t> thresholds, Side* sides,
                   double (*error)[lanes_of_floats]) {
        const auto order = subset_->order(f);
        const auto ends = subset_->group_end(f);
        const auto set = [&](int s, std::size_t j, double n, const Sums& sums) {
            sides[s].count[j] = static_cast<float>(n);
            sides[s].mean[j] = static_cast<float>(static_cast<double>(sums.rounded) / n);
            sides[s].slack[j] = static_cast<float>(0.26 * n + blur * static_cast<double>(sums.sizes));
            error[s][j] = std::max(0.0, sums.squares - sums.y * sums.y / n);
        };
        buckets_.resize(subset_->size());
        Sums left;
        std::uint32_t p = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (; p < ends[thresholds[j]]; ++p) {
                buckets_[order[p]] = static_cast<std::uint8_t>(j);
                add(left, order[p]);
            }
            set(0, j, p, left);
            set(1, j, subset_->size() - p, difference(all_, left));
        }
        for (; p < subset_->size(); ++p) buckets_[order[p]] = static_cast<std::uint8_t>(thresholds.size());
        // Lanes without a threshold: nothing there beats so much.
        for (std::size_t j = thresholds.size(); j < lanes_of_floats; ++j)
            sides[0].upper[j] = sides[1].upper[j] = 0x1p80F;
    }

    std::span<const double> y_;
    void (*pass_)(const Stream*, const std::uint8_t*, const std::int32_t*, Side*);
    const Subset* subset_ = nullptr;
    double unit_ = 1;  // rounded targets by targets
    std::vector<double> target_;
    std::vector<std::int32_t> rounded_;
    Sums all_;
    std::vector<std::uint8_t> buckets_;
    SignedStreams<std::int32_t, short_block> streams_;
};

}  // namespace

std::unique_ptr<BracketScanner> make_squared_error_brackets(std::span<const double> y, KernelPath path) {
    return std::make_unique<SquaredErrorBrackets>(y, path);
}

}  // namespace codt
