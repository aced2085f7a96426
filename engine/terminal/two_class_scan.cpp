// With s = +1 for class 1 and -1 for class 0, and d(p) the sum of s over the first p samples (in the order of
// a second feature) that are left of the root split, the best tree of depth one on the left side
// misclassifies
//
//     min(n0, n1, n0 + min_p d(p), n1 - max_p d(p))
//
// where p runs over the boundaries between different values. The right side's sum is the total prefix less
// the left one, so one counter per threshold serves both sides.
//
// Blocks (see blocks.hpp): inside a block d can fall by no more than the block's left samples of class 0 and
// rise by no more than those of class 1, and these two counts do not depend on the order inside the block.
// While neither can pass the extremes found so far, in any lane on either side, only the counts are needed:
// one addition per sample for 32 thresholds.
#include "terminal/two_class_scan.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "common/buffer.hpp"
#include "terminal/dispatch.hpp"

namespace codt {

namespace {

struct Block {
    std::uint32_t middle;  // its samples of class 1 end here in `grouped`
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;  // more than one group of equal values
};

// One second feature's order.
template <class Int>
struct Stream {
    using Id = std::make_unsigned_t<Int>;
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const std::uint8_t* labels;      // class of each id
    const Id* grouped;               // the ids of each block, those of class 1 first
    const Block* blocks;
    std::uint32_t block_count;
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

    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr LaneRows<Int, lanes> plus{1}, minus{-1};

    P d, left_min, left_max, right_min, right_max;

    // Takes the boundary where the left side's sum is `sum` and both sides' `total`.
    CODT_INLINE void offer(const P& sum, Int total) {
        left_min.minimum(sum);
        left_max.maximum(sum);
        P other = sum;
        other.subtract_from(total);
        right_min.minimum(other);
        right_max.maximum(other);
    }

    // Visits the boundaries inside one block, from d and `total` at its start.
    CODT_INLINE void walk(const Stream<Int>& stream, std::uint32_t k, const Block& block,
                          const std::uint8_t* bucket, Int total) {
        P sum = d;
        for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
            for (; k < *group; ++k) {
                const std::uint32_t id = stream.ordered[k];
                const std::uint8_t label = stream.labels[id];
                sum.add_row((label ? plus : minus)[bucket[id]]);
                total = static_cast<Int>(total + 2 * label - 1);
            }
            offer(sum, total);
        }
    }

    CODT_INLINE void run(const Stream<Int>& stream, const std::uint8_t* bucket) {
        d.clear();
        Int total = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            P ones, zeros;
            ones.clear();
            zeros.clear();
            for (std::uint32_t k = begin; k < block.middle; ++k)
                ones.add_row(plus[bucket[stream.grouped[k]]]);
            for (std::uint32_t k = block.middle; k < block.end; ++k)
                zeros.add_row(plus[bucket[stream.grouped[k]]]);
            const Int block_ones = static_cast<Int>(block.middle - begin);
            const Int block_zeros = static_cast<Int>(block.end - block.middle);
            P next = d;
            next.add(ones);
            next.subtract(zeros);
            const Int next_total = static_cast<Int>(total + block_ones - block_zeros);
            offer(next, next_total);
            if (block.several) {
                // Room to the four extremes: negative where the block might pass one of them.
                P low = d, high = left_max, other_low = d, other_high = d;
                low.subtract(zeros);
                low.subtract(left_min);
                high.subtract(d);
                high.subtract(ones);
                other_low.subtract_from(static_cast<Int>(total - block_zeros));
                other_low.add(zeros);
                other_low.subtract(right_min);
                other_high.subtract_from(static_cast<Int>(total + block_ones));
                other_high.subtract(ones);
                other_high.subtract(right_max);
                other_high.subtract_from(0);
                low.minimum(high);
                low.minimum(other_low);
                low.minimum(other_high);
                if (any_negative(low)) walk(stream, begin, block, bucket, total);
            }
            d = next;
            total = next_total;
            begin = block.end;
        }
    }
};

template <class Int>
struct TwoClassKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream<Int>* stream, const std::uint8_t* bucket, Extremes<Int>* x) {
        TwoClassPass<Int, Bytes> pass;
        pass.left_min.load(x->left_min);
        pass.left_max.load(x->left_max);
        pass.right_min.load(x->right_min);
        pass.right_max.load(x->right_max);
        pass.run(*stream, bucket);
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

    TwoClassScan(std::span<const std::uint16_t> labels, KernelPath path)
        : labels_(labels), pass_(kernel(path)) {}

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) {
        subset_ = &subset;
        const std::uint32_t size = subset.size();
        const std::uint32_t features = subset.features();
        const std::size_t cells = static_cast<std::size_t>(size) * features;
        grouped_.ensure(cells);
        label_.resize(size);
        const auto samples = subset.samples();
        total_ones_ = 0;
        for (std::uint32_t id = 0; id < size; ++id) {
            label_[id] = static_cast<std::uint8_t>(labels_[samples[id]]);
            total_ones_ += label_[id];
        }

        blocks_.clear();
        first_block_.clear();
        for (std::uint32_t f = 0; f < features; ++f) fill_stream(f);
        first_block_.push_back(blocks_.size());
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            streams_.push_back({subset.order(f).data(), subset.group_end(f).data(), label_.data(),
                                grouped_.data() + static_cast<std::size_t>(f) * size,
                                blocks_.data() + first_block_[f],
                                static_cast<std::uint32_t>(first_block_[f + 1] - first_block_[f])});
        });
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) {
        Extremes<Int> x{};
        const std::uint32_t size = subset_->size();
        const auto order = subset_->order(f);
        const auto ends = subset_->group_end(f);
        std::uint32_t ones_left[lanes];
        std::uint32_t count = 0;
        std::uint32_t k = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (; k < ends[thresholds[j]]; ++k) count += label_[order[k]];
            ones_left[j] = count;
            const int n1 = static_cast<int>(count);
            const int n = static_cast<int>(k);
            const int d = 2 * n1 - n;
            const int e = static_cast<int>(2 * total_ones_) - static_cast<int>(size) - d;
            const int m1 = static_cast<int>(total_ones_) - n1;
            start(n - n1, n1, d, left[j] - lambda, x.left_min[j], x.left_max[j]);
            start(static_cast<int>(size) - n - m1, m1, e, right[j] - lambda, x.right_min[j], x.right_max[j]);
        }
        // Lanes without a threshold have every sample on their left: their extremes must not ask for a walk.
        for (std::size_t j = thresholds.size(); j < lanes; ++j) {
            x.left_min[j] = static_cast<Int>(static_cast<int>(total_ones_) - static_cast<int>(size));
            x.left_max[j] = static_cast<Int>(total_ones_);
        }
        fill_buckets(*subset_, f, thresholds, buckets_);
        for (const Stream<Int>& stream : streams_) {
            if (stop.reached()) return false;
            pass_(&stream, buckets_.data(), &x);
        }
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n1 = ones_left[j];
            const double n0 = ends[thresholds[j]] - n1;
            const double m1 = total_ones_ - n1;
            const double m0 = size - total_ones_ - n0;
            left[j] = std::min(left[j], best(n0, n1, x.left_min[j], x.left_max[j], lambda));
            right[j] = std::min(right[j], best(m0, m1, x.right_min[j], x.right_max[j], lambda));
        }
        return true;
    }

 private:
    using Id = std::make_unsigned_t<Int>;
    using Kernel = void (*)(const Stream<Int>*, const std::uint8_t*, Extremes<Int>*);

    static Kernel kernel(KernelPath path) {
        return kernel_function<TwoClassKernel<Int>, const Stream<Int>*, const std::uint8_t*, Extremes<Int>*>(
            path);
    }

    void fill_stream(std::uint32_t f) {
        const std::size_t base = static_cast<std::size_t>(f) * subset_->size();
        const auto order = subset_->order(f);
        Id* const grouped = grouped_.data() + base;
        const std::uint8_t* const label = label_.data();
        first_block_.push_back(blocks_.size());
        for_each_block(subset_->group_end(f), [&](std::uint32_t begin, std::uint32_t end,
                                                  std::uint32_t first_group, std::uint32_t groups) {
            std::uint32_t front = begin;
            std::uint32_t back = end;
            for (std::uint32_t k = begin; k < end; ++k) {
                // Class 1 fills the block from the front, class 0 from the back. Both places are free, so
                // both are written: there is nothing to branch on.
                const std::uint32_t id = order[k];
                const std::uint32_t y = label[id];
                grouped[front] = grouped[back - 1] = static_cast<Id>(id);
                front += y;
                back -= 1u - y;
            }
            blocks_.push_back({front, end, first_group, groups > 1});
        });
    }

    // The extremes that a side starts with. A boundary behind the last sample is a leaf, so zero and the
    // side's whole sum are extremes; and so is what it takes to reach `known`, a number of errors that some
    // split attains.
    static void start(int n0, int n1, int sum, double known, Int& low, Int& high) {
        int least = std::min(0, sum);
        int most = std::max(0, sum);
        if (known < std::min(n0, n1)) {
            const int errors = static_cast<int>(std::ceil(known));
            least = std::min(least, errors - n0);
            most = std::max(most, n1 - errors);
        }
        low = static_cast<Int>(least);
        high = static_cast<Int>(most);
    }

    static double best(double n0, double n1, double low, double high, double lambda) {
        return std::min(std::min(n0, n1), std::min(n0 + low, n1 - high) + lambda);
    }

    std::span<const std::uint16_t> labels_;
    Kernel pass_;
    const Subset* subset_ = nullptr;
    Buffer<Id> grouped_;
    std::vector<std::uint8_t> label_, buckets_;
    std::vector<Block> blocks_;
    std::vector<std::size_t> first_block_;  // per feature
    std::vector<Stream<Int>> streams_;
    std::uint32_t total_ones_ = 0;
};

}  // namespace

std::unique_ptr<Scanner> make_two_class_scanner(std::span<const std::uint16_t> labels, KernelPath path) {
    return std::make_unique<NarrowOrWideScanner<TwoClassScan>>(labels, path);
}

}  // namespace codt
