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
//
// Missing values (see dataset.hpp): with these first instead of last, every d(p) is larger by their own sum
// m. The extremes over both orders are those of one order, shifted by min(0, m) and max(0, m): one pass over
// the other samples serves both.
#include "scans/two_class_scan.hpp"

#include <algorithm>
#include <vector>

#include "scans/fitting_scanner.hpp"
#include "scans/two_class_counts.hpp"
#include "scans/two_class_extremes.hpp"

namespace codt {

namespace {

// What a sample adds to d, by its code: 1 or -1 in its lanes.
template <class Int>
struct alignas(pack_bytes) StepRows {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int rows[2 * class_bit][lanes];

    StepRows() : rows{} {
        for (std::uint32_t bucket = 0; bucket < lanes; ++bucket) set(bucket, ~std::uint64_t{0} << bucket);
    }

    // The samples of this bucket go left in these lanes.
    void set(std::uint32_t bucket, std::uint64_t left) {
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            const Int here = left >> lane & 1U ? 1 : 0;
            rows[bucket + class_bit][lane] = here;
            rows[bucket][lane] = static_cast<Int>(-here);
        }
    }
};

template <class Int>
struct TwoClassKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr bool joins_orders = true, takes_two_orders = true, bounds_second_features = true;

    struct Block : BlockRange {
        std::uint32_t ones;  // how many of its samples are of class 1
    };
    using Sums = std::uint32_t;  // samples of class 1

    explicit TwoClassKernel(std::span<const std::uint16_t> labels) : labels_(labels) {}

    bool read(const Subset& subset) {
        const auto samples = subset.samples();
        size_ = subset.size();
        bit_.resize(size_);
        ones_ = 0;
        for (std::uint32_t id = 0; id < size_; ++id) {
            bit_[id] = static_cast<std::uint8_t>(labels_[samples[id]] * class_bit);
            ones_ += bit_[id] / class_bit;
        }
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t, std::uint32_t begin, Block& block) const {
        block.ones = 0;
        for (std::uint32_t k = begin; k < block.end; ++k) add(block.ones, order[k]);
    }

    Sums nothing() const { return 0; }
    void add(Sums& ones, std::uint32_t id) const { ones += bit_[id] / class_bit; }
    std::uint8_t code(std::uint32_t id, std::size_t bucket) const {
        return static_cast<std::uint8_t>(bit_[id] + bucket);
    }

    void rest(Sums left, Sums& right) const { right = ones_ - left; }
    void start(std::size_t side, std::size_t lane, std::uint32_t n, Sums ones, double known) {
        sides_.start(side, lane, n - ones, ones, known);
    }
    void pad(std::size_t lane) { sides_.pad(lane, size_ - ones_, ones_); }
    void missing_left(std::uint64_t left) {
        steps_.set(missing_bucket<lanes>, left);
        counts_.set(missing_bucket<lanes>, left);
    }
    double value(std::size_t side, std::size_t lane, double price) const {
        return sides_.value(side, lane, price);
    }
    double at_least(std::size_t side, std::size_t lane, double price) const {
        return value(side, lane, price);
    }

    template <std::size_t Bytes>
    struct Samples {
        using P = Pack<Int, Bytes>;

        const StepRows<Int>& steps;
        const ClassCounts<lanes>& counts;
        const std::uint32_t* ordered;
        const std::uint8_t* code;

        CODT_INLINE static Int ones(std::uint32_t, const Block& block) {
            return static_cast<Int>(block.ones);
        }
        CODT_INLINE static Int zeros(std::uint32_t begin, const Block& block) {
            return static_cast<Int>(block.end - begin - block.ones);
        }
        CODT_INLINE void step(std::uint32_t id, P& sum, Int& total) const {
            const std::uint8_t c = code[id];
            sum.add_row(steps.rows[c]);
            total = static_cast<Int>(c & class_bit ? total + 1 : total - 1);
        }
        CODT_INLINE void count(std::uint32_t k, const Block& block, P& ones, P& zeros) const {
            counts.template count<Bytes>(ordered, code, k, block.end, ones, zeros);
        }
    };

    template <std::size_t Bytes>
    CODT_INLINE static void run(TwoClassKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* code) {
        TwoClassPass<Int, Bytes> pass;
        pass.run(*stream, Samples<Bytes>{kernel->steps_, kernel->counts_, stream->ordered, code},
                 kernel->sides_);
    }

 private:
    std::span<const std::uint16_t> labels_;
    std::vector<std::uint8_t> bit_;  // of every id
    std::uint32_t size_ = 0, ones_ = 0;
    StepRows<Int> steps_;
    ClassCounts<lanes> counts_;
    TwoClassSides<Int> sides_;
};

}  // namespace

std::unique_ptr<Scanner> make_two_class_scanner(std::span<const std::uint16_t> labels, KernelPath path) {
    return make_counting_scanner<TwoClassKernel>(path, labels);
}

}  // namespace codt
