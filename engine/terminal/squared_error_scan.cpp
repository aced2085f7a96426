// Splitting a side of n samples with mean m behind its first k samples, whose sum is s, lowers its squared error by
//
//     n c^2 / (k (n - k)),   c = s - k m.
//
// The largest c^2 / (k (n - k)) is kept as a fraction and compared by cross-multiplication, so the loop has no
// division.
//
// Blocks: the order is cut into blocks of 64 samples, each grouped by the sign of y. With P and N the sums of the
// block's positive and negative targets on the side, s stays within [s0 - N, s0 + P] inside the block, k between
// its values at the ends, and k (n - k) is at least its smaller end. While the fraction built from these cannot
// beat the best, in any lane on either side, the block is only added up.
#include "terminal/squared_error_scan.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "terminal/dispatch.hpp"

namespace codt {

namespace {

// Two registers' worth of lanes on the widest path: a chain of additions alone would leave it half idle.
constexpr std::size_t total_bytes = 2 * pack_bytes;
constexpr std::uint32_t lanes_of_doubles = total_bytes / sizeof(double);

struct Stream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* grouped;    // the same ids, within each block those with y > 0 first
    const std::uint8_t* boundaries;  // 1 if a boundary follows position k
    const std::uint8_t* positives;   // per block: how many have y > 0
    const double* block_positive;    // per block: sum of its positive targets
    const double* block_negative;    // per block: sum of its other targets, sign reversed
    std::uint32_t size;
};

// Per lane and side: samples, mean, and the best fraction so far.
struct alignas(pack_bytes) Side {
    double count[lanes_of_doubles], mean[lanes_of_doubles];
    double numerator[lanes_of_doubles], denominator[lanes_of_doubles];
};

template <std::size_t Bytes>
struct SquaredErrorPass {
    using P = Pack<double, Bytes, total_bytes>;
    using Register = typename P::Register;
    static constexpr std::size_t registers = P::registers;

    struct SideState {
        P count, mean, numerator, denominator;
        CODT_INLINE void load(const Side& side) {
            count.load(side.count);
            mean.load(side.mean);
            numerator.load(side.numerator);
            denominator.load(side.denominator);
        }
        CODT_INLINE void store(Side& side) const {
            numerator.store(side.numerator);
            denominator.store(side.denominator);
        }

        // Takes the boundary where k samples with sum s lie before it, if it beats the best.
        CODT_INLINE void offer(std::size_t i, const Register& s, const Register& k) {
            const Register c = s - k * mean.r[i];
            const Register top = c * c;
            const Register bottom = k * (count.r[i] - k);
            const auto better = (top * denominator.r[i] > numerator.r[i] * bottom) & (bottom > 0.0);
            numerator.r[i] = better ? top : numerator.r[i];
            denominator.r[i] = better ? bottom : denominator.r[i];
        }

        // Whether a boundary inside the block could beat the best: s from s0 - fall to s0 + rise, k from k0 to k1.
        CODT_INLINE auto promising(std::size_t i, const Register& s0, const Register& rise, const Register& fall,
                                   const Register& k0, const Register& k1) const {
            const Register one = Register{} + 1.0;
            const Register last = count.r[i] - one;
            const Register a = k0 > one ? k0 : one;
            const Register b = k1 < last ? k1 : last;
            const Register low_shift = a * mean.r[i];
            const Register high_shift = b * mean.r[i];
            const Register up = s0 + rise - (low_shift < high_shift ? low_shift : high_shift);
            const Register down = (low_shift > high_shift ? low_shift : high_shift) - (s0 - fall);
            const Register reach = up > down ? up : down;
            const Register at_a = a * (count.r[i] - a);
            const Register at_b = b * (count.r[i] - b);
            const Register bottom = at_a < at_b ? at_a : at_b;
            return (reach * reach * denominator.r[i] * slack >= numerator.r[i] * bottom) & (a <= b);
        }
        // The bound is a rounded number: a hair is added so that it never hides a better boundary.
        static constexpr double slack = 1.0 + 1e-9;
    };

    P limits, s, k;
    SideState left, right;

    CODT_INLINE static void add_left(const P& limits, P& sum, P& count, double rank, double y) {
        for (std::size_t i = 0; i < registers; ++i) {
            const auto is_left = limits.r[i] > rank;
            sum.r[i] += is_left ? Register{} + y : Register{};
            count.r[i] += is_left ? Register{} + 1.0 : Register{};
        }
    }

    CODT_INLINE void walk(const Stream& stream, std::uint32_t begin, std::uint32_t end, const double* rank, const double* y,
                          double total) {
        P sum = s, count = k;
        for (std::uint32_t p = begin; p < end; ++p) {
            const std::uint32_t id = stream.ordered[p];
            add_left(limits, sum, count, rank[id], y[id]);
            total += y[id];
            if (!stream.boundaries[p]) continue;
            const double passed = p + 1;
            for (std::size_t i = 0; i < registers; ++i) {
                left.offer(i, sum.r[i], count.r[i]);
                right.offer(i, total - sum.r[i], passed - count.r[i]);
            }
        }
    }

    CODT_INLINE void run(const Stream& stream, const double* rank, const double* y) {
        s.fill(0.0);
        k.fill(0.0);
        double total = 0.0;
        for (std::uint32_t begin = 0, block = 0; begin < stream.size; begin += block_size, ++block) {
            const std::uint32_t end = std::min(begin + block_size, stream.size);
            const std::uint32_t middle = begin + stream.positives[block];
            P rise, fall, next = k;
            rise.fill(0.0);
            fall.fill(0.0);
            for (std::uint32_t p = begin; p < middle; ++p) {
                const std::uint32_t id = stream.grouped[p];
                add_left(limits, rise, next, rank[id], y[id]);
            }
            for (std::uint32_t p = middle; p < end; ++p) {
                const std::uint32_t id = stream.grouped[p];
                add_left(limits, fall, next, rank[id], -y[id]);
            }
            const double passed = begin;
            const double passed_next = end;
            const double block_rise = stream.block_positive[block];
            const double block_fall = stream.block_negative[block];
            auto any = left.promising(0, s.r[0], rise.r[0], fall.r[0], k.r[0], next.r[0]);
            any ^= any;
            for (std::size_t i = 0; i < registers; ++i) {
                any |= left.promising(i, s.r[i], rise.r[i], fall.r[i], k.r[i], next.r[i]);
                any |= right.promising(i, total - s.r[i], block_rise - rise.r[i], block_fall - fall.r[i], passed - k.r[i],
                                       passed_next - next.r[i]);
            }
            if (any_set<Bytes>(any)) walk(stream, begin, end, rank, y, total);
            for (std::size_t i = 0; i < registers; ++i) s.r[i] += rise.r[i] - fall.r[i];
            k = next;
            total += block_rise - block_fall;
        }
    }
};

struct SquaredErrorKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream* stream, const double* rank, const double* y, const double* limits, Side* sides) {
        SquaredErrorPass<Bytes> pass;
        pass.limits.load(limits);
        pass.left.load(sides[0]);
        pass.right.load(sides[1]);
        pass.run(*stream, rank, y);
        pass.left.store(sides[0]);
        pass.right.store(sides[1]);
    }
};

class SquaredErrorScanner final : public Scanner {
  public:
    SquaredErrorScanner(std::span<const double> y, KernelPath path)
        : y_(y), pass_(kernel_function<SquaredErrorKernel, const Stream*, const double*, const double*, const double*, Side*>(path)) {}

    std::uint32_t lanes() const override { return lanes_of_doubles; }

    void prepare(const Subset& subset) override {
        subset_ = &subset;
        const std::uint32_t size = subset.size();
        const std::uint32_t features = subset.features();
        const std::size_t cells = static_cast<std::size_t>(size) * features;
        const std::uint32_t blocks = (size + block_size - 1) / block_size;
        copy_ranks(subset, ranks_);
        if (grouped_.size() < cells) {
            grouped_.resize(cells);
            boundaries_.resize(cells);
        }
        const std::size_t block_cells = static_cast<std::size_t>(blocks) * features;
        positives_.resize(block_cells);
        block_positive_.resize(block_cells);
        block_negative_.resize(block_cells);
        centre_targets(subset);

        streams_.clear();
        for (std::uint32_t f = 0; f < features; ++f) {
            if (subset.groups(f) < 2) continue;
            const std::size_t base = static_cast<std::size_t>(f) * size;
            const std::size_t block_base = static_cast<std::size_t>(f) * blocks;
            const auto order = subset.order(f);
            std::fill_n(boundaries_.data() + base, size, std::uint8_t{0});
            for (const std::uint32_t end : subset.group_end(f)) boundaries_[base + end - 1] = 1;
            for (std::uint32_t begin = 0, block = 0; begin < size; begin += block_size, ++block) {
                const std::uint32_t end = std::min(begin + block_size, size);
                std::uint32_t front = begin;
                std::uint32_t back = end;
                double positive = 0, negative = 0;
                for (std::uint32_t p = begin; p < end; ++p) {
                    const std::uint32_t id = order[p];
                    if (target_[id] > 0) {
                        grouped_[base + front++] = id;
                        positive += target_[id];
                    } else {
                        grouped_[base + --back] = id;
                        negative -= target_[id];
                    }
                }
                positives_[block_base + block] = static_cast<std::uint8_t>(front - begin);
                block_positive_[block_base + block] = positive;
                block_negative_[block_base + block] = negative;
            }
            streams_.push_back({order.data(), grouped_.data() + base, boundaries_.data() + base, positives_.data() + block_base,
                                block_positive_.data() + block_base, block_negative_.data() + block_base, size});
        }
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left, double* right,
              StopCondition& stop) override {
        alignas(pack_bytes) double limits[lanes_of_doubles] = {};
        alignas(pack_bytes) Side sides[2] = {};
        double error[2][lanes_of_doubles] = {};
        for (Side& side : sides) std::fill_n(side.denominator, lanes_of_doubles, 1.0);
        sum_sides(f, thresholds, limits, sides, error);
        const double* rank = ranks_.data() + static_cast<std::size_t>(f) * subset_->size();
        for (const Stream& stream : streams_) {
            if (stop.reached()) return false;
            pass_(&stream, rank, target_.data(), limits, sides);
        }
        double* const out[2] = {left, right};
        for (int s = 0; s < 2; ++s) {
            for (std::size_t j = 0; j < thresholds.size(); ++j) {
                const double gain = sides[s].count[j] * sides[s].numerator[j] / sides[s].denominator[j];
                out[s][j] = std::min(error[s][j], std::max(0.0, error[s][j] - gain) + lambda);
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
    void sum_sides(std::uint32_t f, std::span<const std::uint32_t> thresholds, double* limits, Side* sides,
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
            limits[j] = thresholds[j] + 1.0;
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
        // Lanes without a threshold have no samples to count: nothing there is promising.
    }

    std::span<const double> y_;
    void (*pass_)(const Stream*, const double*, const double*, const double*, Side*);
    const Subset* subset_ = nullptr;
    std::vector<double> ranks_;
    std::vector<double> target_;
    std::vector<std::uint32_t> grouped_;
    std::vector<std::uint8_t> boundaries_, positives_;
    std::vector<double> block_positive_, block_negative_;
    std::vector<Stream> streams_;
};

}  // namespace

std::unique_ptr<Scanner> make_squared_error_scanner(std::span<const double> y, KernelPath path) {
    return std::make_unique<SquaredErrorScanner>(y, path);
}

}  // namespace codt
