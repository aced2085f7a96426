// With s = +1 for class 1 and -1 for class 0, and d(p) the sum of s over the first p samples (in the order of
// a second feature) that are left of the root split, the best tree of depth one on the left side misclassifies
//
//     min(n0, n1, n0 + min_p d(p), n1 - max_p d(p))
//
// where p runs over the boundaries between different values. The right side's sum is the total prefix less
// the left one, so one counter per threshold serves both sides.
//
// Blocks: the order is cut into blocks of 64 samples. Inside a block d can fall by no more than the block's
// left samples of class 0 and rise by no more than those of class 1, and these two counts do not depend on
// the order inside the block. While neither can pass the extremes found so far, in any lane on either side,
// only the counts are needed: one comparison and one subtraction per sample for 32 thresholds.
#include "terminal/two_class_scan.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "terminal/dispatch.hpp"

namespace codt {

namespace {

// One second feature's order, cut into blocks.
template <class Int>
struct Stream {
    using Id = std::make_unsigned_t<Int>;
    const Id* ordered;             // ids in sorted order
    const std::uint8_t* marks;     // per position: bit 0 the label, bit 1 set if a boundary follows
    const Id* grouped;             // the same ids, within each block those of class 1 first
    const std::uint8_t* ones;      // per block: how many of them
    std::uint32_t size;
};

// The running extremes of every lane: of d on the left, of e on the right.
template <class Int>
struct alignas(pack_bytes) Extremes {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int left_min[lanes], left_max[lanes], right_min[lanes], right_max[lanes];
};

template <class Int, std::size_t Bytes>
struct TwoClassPass {
    using P = Pack<Int, Bytes>;

    P limits, d, left_min, left_max, right_min, right_max;

    // Visits the boundaries inside one block, from d and `total` at its start.
    CODT_INLINE void walk(const Stream<Int>& stream, std::uint32_t begin, std::uint32_t end, const Int* rank, Int total) {
        P running = d;
        for (std::uint32_t k = begin; k < end; ++k) {
            P step;
            step.fill(0);
            step.count_left(limits, rank[stream.ordered[k]]);
            const std::uint8_t mark = stream.marks[k];
            if (mark & 1) {
                running.add(step);
                ++total;
            } else {
                running.subtract(step);
                --total;
            }
            if (mark & 2) {
                left_min.minimum(running);
                left_max.maximum(running);
                P other = running;
                other.subtract_from(total);
                right_min.minimum(other);
                right_max.maximum(other);
            }
        }
    }

    CODT_INLINE void run(const Stream<Int>& stream, const Int* rank) {
        d.fill(0);
        Int total = 0;
        for (std::uint32_t begin = 0, block = 0; begin < stream.size; begin += block_size, ++block) {
            const std::uint32_t end = std::min(begin + block_size, stream.size);
            const std::uint32_t middle = begin + stream.ones[block];
            P ones, zeros;
            ones.fill(0);
            zeros.fill(0);
            for (std::uint32_t k = begin; k < middle; ++k) ones.count_left(limits, rank[stream.grouped[k]]);
            for (std::uint32_t k = middle; k < end; ++k) zeros.count_left(limits, rank[stream.grouped[k]]);
            const Int block_ones = static_cast<Int>(middle - begin);
            const Int block_zeros = static_cast<Int>(end - middle);

            // Slack of the four extremes: negative where the block might pass one of them.
            P low = d, high = left_max, other_low = d, other_high = right_max;
            low.subtract(zeros);
            low.subtract(left_min);
            high.subtract(d);
            high.subtract(ones);
            other_low.subtract_from(static_cast<Int>(total - block_zeros));
            other_low.add(zeros);
            other_low.subtract(right_min);
            P other_top = d;
            other_top.subtract_from(static_cast<Int>(total + block_ones));
            other_top.subtract(ones);
            other_high.subtract(other_top);
            low.minimum(high);
            low.minimum(other_low);
            low.minimum(other_high);
            if (any_negative(low)) walk(stream, begin, end, rank, total);

            d.add(ones);
            d.subtract(zeros);
            total = static_cast<Int>(total + block_ones - block_zeros);
        }
    }
};

template <class Int>
struct TwoClassKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream<Int>* stream, const Int* rank, const Int* limits, Extremes<Int>* x) {
        TwoClassPass<Int, Bytes> pass;
        pass.limits.load(limits);
        pass.left_min.load(x->left_min);
        pass.left_max.load(x->left_max);
        pass.right_min.load(x->right_min);
        pass.right_max.load(x->right_max);
        pass.run(*stream, rank);
        pass.left_min.store(x->left_min);
        pass.left_max.store(x->left_max);
        pass.right_min.store(x->right_min);
        pass.right_max.store(x->right_max);
    }
};

// The scan for counters of one width.
template <class Int>
class TwoClassScan {
  public:
    static constexpr std::uint32_t lanes = lane_count<Int>;

    TwoClassScan(std::span<const std::uint16_t> labels, KernelPath path) : labels_(labels), pass_(kernel(path)) {}

    void prepare(const Subset& subset) {
        subset_ = &subset;
        const std::uint32_t size = subset.size();
        const std::uint32_t features = subset.features();
        const std::size_t cells = static_cast<std::size_t>(size) * features;
        const std::uint32_t blocks = (size + block_size - 1) / block_size;
        copy_ranks(subset, ranks_);
        if (ordered_.size() < cells) {
            ordered_.resize(cells);
            grouped_.resize(cells);
            marks_.resize(cells);
            ones_left_.resize(cells);
        }
        if (ones_.size() < static_cast<std::size_t>(blocks) * features) ones_.resize(static_cast<std::size_t>(blocks) * features);
        streams_.clear();

        label_.resize(size);
        const auto samples = subset.samples();
        for (std::uint32_t id = 0; id < size; ++id) label_[id] = static_cast<std::uint8_t>(labels_[samples[id]]);

        for (std::uint32_t f = 0; f < features; ++f) {
            const std::size_t base = static_cast<std::size_t>(f) * size;
            const auto order = subset.order(f);
            const auto ends = subset.group_end(f);
            Id* ordered = ordered_.data() + base;
            Id* grouped = grouped_.data() + base;
            std::uint8_t* marks = marks_.data() + base;
            std::uint8_t* ones = ones_.data() + static_cast<std::size_t>(f) * blocks;
            for (std::uint32_t begin = 0, block = 0; begin < size; begin += block_size, ++block) {
                const std::uint32_t end = std::min(begin + block_size, size);
                std::uint32_t front = begin;
                std::uint32_t back = end;
                for (std::uint32_t k = begin; k < end; ++k) {
                    const std::uint32_t id = order[k];
                    const std::uint8_t y = label_[id];
                    ordered[k] = static_cast<Id>(id);
                    marks[k] = y;
                    // Class 1 fills the block from the front, class 0 from the back.
                    grouped[y ? front : back - 1] = static_cast<Id>(id);
                    front += y;
                    back -= 1u - y;
                }
                ones[block] = static_cast<std::uint8_t>(front - begin);
            }
            std::uint32_t k = 0;
            std::uint32_t count = 0;
            std::uint32_t* ones_left = ones_left_.data() + base;
            for (std::size_t r = 0; r < ends.size(); ++r) {
                for (; k < ends[r]; ++k) count += marks[k] & 1;
                ones_left[r] = count;
                marks[ends[r] - 1] |= 2;
            }
            total_ones_ = count;
            if (ends.size() > 1) streams_.push_back({ordered, marks, grouped, ones, size});
        }
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left, double* right,
              StopCondition& stop) {
        alignas(pack_bytes) Int limits[lanes] = {};
        Extremes<Int> x{};
        const std::uint32_t size = subset_->size();
        const std::uint32_t* ones_left = ones_left_.data() + static_cast<std::size_t>(f) * size;
        const auto ends = subset_->group_end(f);
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            limits[j] = static_cast<Int>(thresholds[j] + 1);
            // A boundary behind the last sample is a leaf, so the side's whole sum is an extreme from the start.
            const int n1 = static_cast<int>(ones_left[thresholds[j]]);
            const int n = static_cast<int>(ends[thresholds[j]]);
            const int d = 2 * n1 - n;
            const int e = static_cast<int>(2 * total_ones_) - static_cast<int>(size) - d;
            x.left_min[j] = static_cast<Int>(std::min(0, d));
            x.left_max[j] = static_cast<Int>(std::max(0, d));
            x.right_min[j] = static_cast<Int>(std::min(0, e));
            x.right_max[j] = static_cast<Int>(std::max(0, e));
        }
        // Lanes without a threshold send every sample right: their extremes must not ask for a walk.
        for (std::size_t j = thresholds.size(); j < lanes; ++j) {
            x.right_min[j] = static_cast<Int>(-static_cast<int>(size));
            x.right_max[j] = static_cast<Int>(size);
        }
        const Int* rank = ranks_.data() + static_cast<std::size_t>(f) * size;
        for (const Stream<Int>& stream : streams_) {
            if (stop.reached()) return false;
            pass_(&stream, rank, limits, &x);
        }
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n1 = ones_left[thresholds[j]];
            const double n0 = ends[thresholds[j]] - n1;
            const double m1 = total_ones_ - n1;
            const double m0 = size - total_ones_ - n0;
            left[j] = best(n0, n1, x.left_min[j], x.left_max[j], lambda);
            right[j] = best(m0, m1, x.right_min[j], x.right_max[j], lambda);
        }
        return true;
    }

  private:
    using Id = std::make_unsigned_t<Int>;
    using Kernel = void (*)(const Stream<Int>*, const Int*, const Int*, Extremes<Int>*);

    static Kernel kernel(KernelPath path) {
        return kernel_function<TwoClassKernel<Int>, const Stream<Int>*, const Int*, const Int*, Extremes<Int>*>(path);
    }

    static double best(double n0, double n1, double low, double high, double lambda) {
        return std::min(std::min(n0, n1), std::min(n0 + low, n1 - high) + lambda);
    }

    std::span<const std::uint16_t> labels_;
    Kernel pass_;
    const Subset* subset_ = nullptr;
    std::vector<Int> ranks_;
    std::vector<Id> ordered_, grouped_;
    std::vector<std::uint8_t> marks_, ones_, label_;
    std::vector<std::uint32_t> ones_left_;  // per feature and rank: samples of class 1 up to there
    std::vector<Stream<Int>> streams_;
    std::uint32_t total_ones_ = 0;
};

}  // namespace

std::unique_ptr<Scanner> make_two_class_scanner(std::span<const std::uint16_t> labels, KernelPath path) {
    return std::make_unique<NarrowOrWideScanner<TwoClassScan>>(labels, path);
}

}  // namespace codt
