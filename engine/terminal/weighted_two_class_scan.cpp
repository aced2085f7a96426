// The scan of two_class_scan.cpp, which has the derivation, with weights instead of ones: a sample of weight
// w counts as w samples. Weights are whole numbers, so integers hold them: of 16 bits where the weight of all
// samples of the subset fits, else of 32, else of 64 (any weights there are), with 32, 16 or 8 thresholds at
// once.
#include "terminal/weighted_two_class_scan.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "common/buffer.hpp"
#include "terminal/dispatch.hpp"

namespace codt {

namespace {

template <class Int>
struct Block {
    std::uint32_t middle;  // its samples of class 1 end here in `grouped`
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;     // more than one group of equal values
    Int ones, zeros;  // weights
};

// One second feature's order.
template <class Int>
struct Stream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const Int* weights;              // of each id: above zero for class 1, below for class 0
    const std::uint32_t* grouped;    // the ids of each block, those of class 1 first
    const Block<Int>* blocks;
    std::uint32_t block_count;
};

// The running extremes of every lane: of d on the left, of e on the right.
template <class Int>
struct alignas(pack_bytes) Extremes {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int left_min[lanes], left_max[lanes], right_min[lanes], right_max[lanes];
};

template <class Int, std::size_t Bytes>
struct WeightedPass {
    using P = Pack<Int, Bytes>;

    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr LaneRows<Int, lanes> mask{-1};

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
    CODT_INLINE void walk(const Stream<Int>& stream, std::uint32_t k, const Block<Int>& block,
                          const std::uint8_t* bucket, Int total) {
        P sum = d;
        for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
            for (; k < *group; ++k) {
                const std::uint32_t id = stream.ordered[k];
                sum.add_masked(mask[bucket[id]], stream.weights[id]);
                total = static_cast<Int>(total + stream.weights[id]);
            }
            offer(sum, total);
        }
    }

    CODT_INLINE void run(const Stream<Int>& stream, const std::uint8_t* bucket) {
        d.clear();
        Int total = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block<Int> block = stream.blocks[b];
            P ones, zeros;  // of class 0 with their sign
            ones.clear();
            zeros.clear();
            for (std::uint32_t k = begin; k < block.middle; ++k) {
                const std::uint32_t id = stream.grouped[k];
                ones.add_masked(mask[bucket[id]], stream.weights[id]);
            }
            for (std::uint32_t k = block.middle; k < block.end; ++k) {
                const std::uint32_t id = stream.grouped[k];
                zeros.add_masked(mask[bucket[id]], stream.weights[id]);
            }
            P next = d;
            next.add(ones);
            next.add(zeros);
            const Int next_total = static_cast<Int>(total + block.ones - block.zeros);
            offer(next, next_total);
            if (block.several) {
                // Room to the four extremes: negative where the block might pass one of them.
                P low = d, high = left_max, other_low = d, other_high = d;
                low.add(zeros);
                low.subtract(left_min);
                high.subtract(d);
                high.subtract(ones);
                other_low.subtract_from(static_cast<Int>(total - block.zeros));
                other_low.subtract(zeros);
                other_low.subtract(right_min);
                other_high.subtract_from(static_cast<Int>(total + block.ones));
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
struct WeightedKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream<Int>* stream, const std::uint8_t* bucket, Extremes<Int>* x) {
        WeightedPass<Int, Bytes> pass;
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
class WeightedScan final : public Scanner {
 public:
    static constexpr std::uint32_t width = lane_count<Int>;

    WeightedScan(const TwoClassWeights& data, KernelPath path)
        : data_(data),
          pass_(kernel_function<WeightedKernel<Int>, const Stream<Int>*, const std::uint8_t*, Extremes<Int>*>(
              path)) {}

    std::uint32_t lanes() const override { return width; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        const std::uint32_t size = subset.size();
        const std::uint32_t features = subset.features();
        grouped_.ensure(static_cast<std::size_t>(size) * features);
        weight_.resize(size);
        const auto samples = subset.samples();
        total_[0] = total_[1] = 0;
        total_unavoidable_ = 0;
        for (std::uint32_t id = 0; id < size; ++id) {
            const std::uint32_t row = samples[id];
            const auto weight = static_cast<std::int64_t>(data_.weights[row]);
            const bool one = data_.labels[row] != 0;
            weight_[id] = static_cast<Int>(one ? weight : -weight);
            total_[one] += weight;
            if (!data_.unavoidable.empty()) total_unavoidable_ += data_.unavoidable[row];
        }
        blocks_.refill(subset.features(), [&](std::uint32_t f) { fill_stream(f); });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            streams_.push_back({subset.order(f).data(), subset.group_end(f).data(), weight_.data(),
                                grouped_.data() + static_cast<std::size_t>(f) * size, blocks_.of(f),
                                blocks_.count(f)});
        });
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        Extremes<Int> x{};
        const auto order = subset_->order(f);
        const auto samples = subset_->samples();
        const auto ends = subset_->group_end(f);
        std::int64_t n[2][width];  // weights on the left, by class
        double unavoidable[width];
        std::int64_t seen[2] = {0, 0};
        double lost = 0;
        std::uint32_t k = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (; k < ends[thresholds[j]]; ++k) {
                const Int weight = weight_[order[k]];
                seen[weight > 0] += std::abs(static_cast<std::int64_t>(weight));
                if (!data_.unavoidable.empty()) lost += data_.unavoidable[samples[order[k]]];
            }
            n[0][j] = seen[0];
            n[1][j] = seen[1];
            unavoidable[j] = lost;
            start(seen[0], seen[1], left[j] - lambda - lost, x.left_min[j], x.left_max[j]);
            start(total_[0] - seen[0], total_[1] - seen[1], right[j] - lambda - (total_unavoidable_ - lost),
                  x.right_min[j], x.right_max[j]);
        }
        // Lanes without a threshold have every sample on their left: their extremes must not ask for a walk.
        for (std::size_t j = thresholds.size(); j < width; ++j) {
            x.left_min[j] = static_cast<Int>(-total_[0]);
            x.left_max[j] = static_cast<Int>(total_[1]);
        }
        fill_buckets(*subset_, f, thresholds, buckets_);
        for (const Stream<Int>& stream : streams_) {
            if (stop.reached_after(subset_->size())) return false;
            pass_(&stream, buckets_.data(), &x);
        }
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double found_left = best(n[0][j], n[1][j], x.left_min[j], x.left_max[j], lambda);
            const double found_right =
                best(total_[0] - n[0][j], total_[1] - n[1][j], x.right_min[j], x.right_max[j], lambda);
            left[j] = std::min(left[j], found_left + unavoidable[j]);
            right[j] = std::min(right[j], found_right + (total_unavoidable_ - unavoidable[j]));
        }
        return true;
    }

 private:
    void fill_stream(std::uint32_t f) {
        const auto order = subset_->order(f);
        std::uint32_t* const grouped = grouped_.data() + static_cast<std::size_t>(f) * subset_->size();
        for_each_block(subset_->group_end(f), [&](std::uint32_t begin, std::uint32_t end,
                                                  std::uint32_t first_group, std::uint32_t groups) {
            std::uint32_t front = begin;
            std::uint32_t back = end;
            Int sums[2] = {0, 0};
            for (std::uint32_t k = begin; k < end; ++k) {
                const std::uint32_t id = order[k];
                const Int weight = weight_[id];
                const bool one = weight > 0;
                grouped[front] = grouped[back - 1] = id;
                front += one;
                back -= !one;
                sums[one] = static_cast<Int>(sums[one] + weight);
            }
            blocks_.items.push_back(
                {front, end, first_group, groups > 1, sums[1], static_cast<Int>(-sums[0])});
        });
    }

    // The extremes that a side starts with: those of no sample and of all, and what it takes to reach
    // `known`, a loss that some split attains.
    static void start(std::int64_t n0, std::int64_t n1, double known, Int& low, Int& high) {
        std::int64_t least = std::min<std::int64_t>(0, n1 - n0);
        std::int64_t most = std::max<std::int64_t>(0, n1 - n0);
        if (known < static_cast<double>(std::min(n0, n1))) {
            const auto errors = static_cast<std::int64_t>(std::ceil(known));
            least = std::min(least, errors - n0);
            most = std::max(most, n1 - errors);
        }
        low = static_cast<Int>(least);
        high = static_cast<Int>(most);
    }

    static double best(std::int64_t n0, std::int64_t n1, std::int64_t low, std::int64_t high, double lambda) {
        return std::min(static_cast<double>(std::min(n0, n1)),
                        static_cast<double>(std::min(n0 + low, n1 - high)) + lambda);
    }

    TwoClassWeights data_;
    void (*pass_)(const Stream<Int>*, const std::uint8_t*, Extremes<Int>*);
    const Subset* subset_ = nullptr;
    Buffer<std::uint32_t> grouped_;
    std::vector<Int> weight_;
    std::vector<std::uint8_t> buckets_;
    PerFeature<Block<Int>> blocks_;
    std::vector<Stream<Int>> streams_;
    std::int64_t total_[2] = {0, 0};
    double total_unavoidable_ = 0;
};

}  // namespace

std::unique_ptr<Scanner> make_weighted_two_class_scanner(const TwoClassWeights& data, KernelPath path) {
    return make_weighted_scanner<WeightedScan>(data.weights, data, path);
}

}  // namespace codt
