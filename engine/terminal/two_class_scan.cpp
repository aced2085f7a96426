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
// While neither can pass the extremes found so far, in any lane on either side, only the counts are needed.
// They fit bytes, so both classes share one register: one addition per sample for 32 thresholds.
#include "terminal/two_class_scan.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "terminal/dispatch.hpp"

namespace codt {

namespace {

struct Block {
    std::uint32_t end;   // of its samples
    std::uint32_t ones;  // how many of them are of class 1
    std::uint32_t first_group;
    bool several;  // more than one group of equal values
};

// One second feature's order.
struct Stream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const Block* blocks;
    std::uint32_t block_count;
};

// The code of a sample: its bucket (see lane_rows.hpp), and this bit for class 1.
constexpr std::uint8_t class_bit = 64;

// What a sample adds, by its code.
template <class Int>
struct alignas(pack_bytes) CodeRows {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static_assert(lanes < class_bit);

    std::uint8_t count[2 * class_bit][2 * lanes];  // one in its lanes: of the first half for class 1
    Int step[2 * class_bit][lanes];                // 1 or -1 in its lanes

    constexpr CodeRows() : count{}, step{} {
        for (std::uint32_t code = 0; code < 2 * class_bit; ++code) {
            const bool one = code & class_bit;
            for (std::uint32_t lane = code % class_bit; lane < lanes; ++lane) {
                count[code][one ? lane : lanes + lane] = 1;
                step[code][lane] = one ? 1 : -1;
            }
        }
    }
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
    static constexpr std::size_t both_bytes = std::size_t{2} * lanes;
    static constexpr CodeRows<Int> rows{};

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
    CODT_INLINE void walk(const Stream& stream, std::uint32_t k, const Block& block, const std::uint8_t* code,
                          Int total) {
        P sum = d;
        for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
            for (; k < *group; ++k) {
                const std::uint8_t c = code[stream.ordered[k]];
                sum.add_row(rows.step[c]);
                total = static_cast<Int>(c & class_bit ? total + 1 : total - 1);
            }
            offer(sum, total);
        }
    }

    // How many samples from k on, before `end`, are left of each threshold: of class 1 and of class 0.
    CODT_INLINE static void count(const std::uint32_t* ordered, std::uint32_t k, std::uint32_t end,
                                  const std::uint8_t* code, P& ones, P& zeros) {
        constexpr std::uint32_t most = 255;
        ones.clear();
        zeros.clear();
        while (k < end) {
            Pack<std::uint8_t, std::min(Bytes, both_bytes), both_bytes> both;
            both.clear();
            for (const std::uint32_t stop = std::min(end, k + most); k < stop; ++k)
                both.add_row(rows.count[code[ordered[k]]]);
            alignas(pack_bytes) std::uint8_t bytes[both_bytes];
            both.store(bytes);
            ones.add_widened(bytes);
            zeros.add_widened(bytes + lanes);
        }
    }

    CODT_INLINE void run(const Stream& stream, const std::uint8_t* code) {
        d.clear();
        Int total = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            P ones, zeros;
            count(stream.ordered, begin, block.end, code, ones, zeros);
            const Int block_ones = static_cast<Int>(block.ones);
            const Int block_zeros = static_cast<Int>(block.end - begin - block.ones);
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
                if (any_negative(low)) walk(stream, begin, block, code, total);
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
    CODT_INLINE static void run(const Stream* stream, const std::uint8_t* code, Extremes<Int>* x) {
        TwoClassPass<Int, Bytes> pass;
        pass.left_min.load(x->left_min);
        pass.left_max.load(x->left_max);
        pass.right_min.load(x->right_min);
        pass.right_max.load(x->right_max);
        pass.run(*stream, code);
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
        code_.resize(size);
        const auto samples = subset.samples();
        total_ones_ = 0;
        for (std::uint32_t id = 0; id < size; ++id) {
            code_[id] = static_cast<std::uint8_t>(labels_[samples[id]] * class_bit);
            total_ones_ += code_[id] / class_bit;
        }

        blocks_.refill(subset.features(), [&](std::uint32_t f) { add_blocks(f); });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            streams_.push_back(
                {subset.order(f).data(), subset.group_end(f).data(), blocks_.of(f), blocks_.count(f)});
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
        const auto code_until = [&](std::uint32_t end, std::size_t bucket) {
            for (; k < end; ++k) {
                std::uint8_t& code = code_[order[k]];
                code = static_cast<std::uint8_t>((code & class_bit) + bucket);
                count += code / class_bit;
            }
        };
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            code_until(ends[thresholds[j]], j);
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
        code_until(size, thresholds.size());
        for (const Stream& stream : streams_) {
            if (stop.reached_after(size)) return false;
            pass_(&stream, code_.data(), &x);
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
    using Kernel = void (*)(const Stream*, const std::uint8_t*, Extremes<Int>*);

    static Kernel kernel(KernelPath path) {
        return kernel_function<TwoClassKernel<Int>, const Stream*, const std::uint8_t*, Extremes<Int>*>(path);
    }

    void add_blocks(std::uint32_t f) {
        const auto order = subset_->order(f);
        for_each_block(subset_->group_end(f), [&](std::uint32_t begin, std::uint32_t end,
                                                  std::uint32_t first_group, std::uint32_t groups) {
            std::uint32_t ones = 0;
            for (std::uint32_t k = begin; k < end; ++k) ones += code_[order[k]] / class_bit;
            blocks_.items.push_back({end, ones, first_group, groups > 1});
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
    std::vector<std::uint8_t> code_;  // of every id
    PerFeature<Block> blocks_;
    std::vector<Stream> streams_;
    std::uint32_t total_ones_ = 0;
};

}  // namespace

std::unique_ptr<Scanner> make_two_class_scanner(std::span<const std::uint16_t> labels, KernelPath path) {
    return std::make_unique<NarrowOrWideScanner<TwoClassScan>>(labels, path);
}

}  // namespace codt
