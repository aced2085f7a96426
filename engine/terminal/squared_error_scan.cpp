// Splitting a side of n samples with mean m behind its first k samples, whose sum is s, lowers its squared
// error by
//
//     n c^2 / (k (n - k)),   c = s - k m.
//
// The largest c^2 / (k (n - k)) so far is kept as a ratio g; a boundary beats it if c^2 > g k (n - k), so the
// loop divides only where a lane improves.
//
// Blocks (see blocks.hpp) are grouped by the sign of y. With P and N the sums of the block's positive and
// negative targets on the side, s stays within [s0 - N, s0 + P] inside the block, k between its values at the
// ends, and k (n - k) is at least its smaller end. While c^2 built from these cannot beat g, in any lane on
// either side, the block is only added up.
//
// Where it can, a sharper bound is asked. No sample adds more to s than the block's largest target, y+, and
// none takes away more than its least one, y- with its sign reversed. So inside the block (k, s) stays in the
// hexagon of
//
//     (k0, s0)   (k0 + P / y+, s0 + P)   (k1 - N / y-, s0 + P)
//     (k1, s1)   (k0 + N / y-, s0 - N)   (k1 - P / y+, s0 - N)
//
// and n c^2 / (k (n - k)) = c^2 / k + c^2 / (n - k) is convex in both, so that it is largest at a corner. The
// first and the last are boundaries that were evaluated. Places with k < 1 or k > n - 1 are moved there,
// which makes the hexagon no smaller where boundaries are. Only the sides for which this fails are walked.
#include "terminal/squared_error_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/buffer.hpp"
#include "terminal/dispatch.hpp"

namespace codt {

namespace {

// Two registers' worth of lanes on the widest path: a chain of additions alone would leave it half idle.
constexpr std::size_t total_bytes = 2 * pack_bytes;
constexpr std::uint32_t lanes_of_doubles = total_bytes / sizeof(double);

struct Block {
    std::uint32_t middle;  // its samples with y > 0 end here in `grouped`
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;               // more than one group of equal values
    double positive, negative;  // sum of its targets above zero, and of the others with their sign reversed
    double per_rise, per_fall;  // 1 / y+ and 1 / y-, zero where there is none
};

struct Stream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* grouped;    // the same ids, within each block those with y > 0 first
    const double* values;            // the targets of these: in a row, as many samples do not fit a cache
    const std::uint32_t* group_end;  // where its groups of equal values end
    const Block* blocks;
    std::uint32_t block_count;
};

// Per lane and side: samples, mean, and the best ratio so far.
struct alignas(pack_bytes) Side {
    double count[lanes_of_doubles], mean[lanes_of_doubles], ratio[lanes_of_doubles];
};

template <std::size_t Bytes>
struct SquaredErrorPass {
    using P = Pack<double, Bytes, total_bytes>;
    using Register = typename P::Register;
    static constexpr std::size_t registers = P::registers;

    CODT_INLINE static Register smaller(const Register& a, const Register& b) { return a < b ? a : b; }
    CODT_INLINE static Register larger(const Register& a, const Register& b) { return a > b ? a : b; }

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
            bottom = larger(k * (count.r[i] - k), Register{} + 0.5);
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
            ratio.r[i] = larger(ratio.r[i], top / bottom);
        }

        // A block as this side sees it: k from k0 to k1, s from s0 by at most `rise` up and `fall` down.
        struct Inside {
            Register s0, rise, fall, k0, k1;
        };

        // Negative where a boundary inside a block might beat the best. The bounds are rounded numbers: a
        // hair is added so that they never hide a better boundary.
        static constexpr double hair = 1.0 + 1e-9;

        CODT_INLINE Register block_room(std::size_t i, const Inside& in) const {
            const Register one = Register{} + 1.0;
            const Register a = larger(in.k0, one);
            const Register b = smaller(in.k1, count.r[i] - one);
            const Register shift_a = a * mean.r[i];
            const Register shift_b = b * mean.r[i];
            const Register up = in.s0 + in.rise - smaller(shift_a, shift_b);
            const Register down = larger(shift_a, shift_b) - (in.s0 - in.fall);
            const Register reach = larger(up, down);
            const Register bottom = smaller(a * (count.r[i] - a), b * (count.r[i] - b));
            const Register result = ratio.r[i] * bottom - reach * reach * hair;
            return a <= b ? result : one;
        }

        // The same by the corners of the hexagon.
        CODT_INLINE Register sharp_block_room(std::size_t i, const Inside& in, const Block& block) const {
            const Register one = Register{} + 1.0;
            const Register a = larger(in.k0, one);
            const Register b = smaller(in.k1, count.r[i] - one);
            const Register up = in.rise * block.per_rise;
            const Register down = in.fall * block.per_fall;
            const auto room_at = [&](const Register& s, const Register& place) {
                const Register k = smaller(larger(place, a), b);
                const Register c = s - k * mean.r[i];
                return ratio.r[i] * (k * (count.r[i] - k)) - c * c * hair;
            };
            const Register top = in.s0 + in.rise;
            const Register low = in.s0 - in.fall;
            const Register result = smaller(smaller(room_at(top, in.k0 + up), room_at(top, in.k1 - down)),
                                            smaller(room_at(low, in.k0 + down), room_at(low, in.k1 - up)));
            return a <= b ? result : one;
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
                room.r[i] = smaller(left.room(i, sum.r[i], count.r[i]),
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
                const auto on_left = [&](std::size_t i) ->
                    typename SideState::Inside { return {s.r[i], rise.r[i], fall.r[i], k.r[i], next.r[i]}; };
                const auto on_right = [&](std::size_t i) -> typename SideState::Inside {
                    return {total - s.r[i], block.positive - rise.r[i], block.negative - fall.r[i],
                            passed - k.r[i], next_passed - next.r[i]};
                };
                P room, other;
                for (std::size_t i = 0; i < registers; ++i)
                    room.r[i] = smaller(left.block_room(i, on_left(i)), right.block_room(i, on_right(i)));
                if (any_negative(room)) {
                    for (std::size_t i = 0; i < registers; ++i) {
                        room.r[i] = left.sharp_block_room(i, on_left(i), block);
                        other.r[i] = right.sharp_block_room(i, on_right(i), block);
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
        const std::uint32_t size = subset.size();
        const std::uint32_t features = subset.features();
        const std::size_t cells = static_cast<std::size_t>(size) * features;
        grouped_.ensure(cells);
        values_.ensure(cells);
        centre_targets(subset);

        blocks_.refill(subset.features(), [&](std::uint32_t f) { fill_stream(f); });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            const std::size_t base = static_cast<std::size_t>(f) * size;
            streams_.push_back({subset.order(f).data(), grouped_.data() + base, values_.data() + base,
                                subset.group_end(f).data(), blocks_.of(f), blocks_.count(f)});
        });
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
    void fill_stream(std::uint32_t f) {
        const std::size_t base = static_cast<std::size_t>(f) * subset_->size();
        const auto order = subset_->order(f);
        std::uint32_t* const grouped = grouped_.data() + base;
        double* const values = values_.data() + base;
        const double* const target = target_.data();
        for_each_block(subset_->group_end(f), [&](std::uint32_t begin, std::uint32_t end,
                                                  std::uint32_t first_group, std::uint32_t groups) {
            std::uint32_t front = begin;
            std::uint32_t back = end;
            double positive = 0, negative = 0, largest = 0, least = 0;
            for (std::uint32_t p = begin; p < end; ++p) {
                // Both places are free, so both are written: there is nothing to branch on.
                const std::uint32_t id = order[p];
                const double y = target[id];
                grouped[front] = grouped[back - 1] = id;
                values[front] = values[back - 1] = y;
                front += y > 0;
                back -= !(y > 0);
                positive += std::max(y, 0.0);
                negative -= std::min(y, 0.0);
                largest = std::max(largest, y);
                least = std::min(least, y);
            }
            blocks_.items.push_back({front, end, first_group, groups > 1, positive, negative,
                                     largest > 0 ? 1 / largest : 0.0, least < 0 ? -1 / least : 0.0});
        });
    }

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
    Buffer<std::uint32_t> grouped_;
    Buffer<double> values_;
    std::vector<std::uint8_t> buckets_;
    PerFeature<Block> blocks_;
    std::vector<Stream> streams_;
};

}  // namespace

std::unique_ptr<Scanner> make_squared_error_scanner(std::span<const double> y, KernelPath path) {
    return std::make_unique<SquaredErrorScanner>(y, path);
}

}  // namespace codt
