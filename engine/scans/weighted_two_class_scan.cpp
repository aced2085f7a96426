// The scan of two_class_scan.cpp, which has the derivation, with weights: a sample of weight w counts as w
// samples. Weights are whole numbers, so they are held in integers: of 16 bits if the total weight of the
// subset fits, else of 32, else of 64, which always suffice, with 32, 16 or 8 thresholds at once.
#include "scans/weighted_two_class_scan.hpp"

#include <cstdlib>
#include <vector>

#include "common/buffer.hpp"
#include "scans/fitting_scanner.hpp"
#include "scans/lane_rows.hpp"
#include "scans/two_class_extremes.hpp"

namespace codt {

namespace {

template <class Int>
struct WeightedTwoClassKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr bool joins_orders = true, takes_two_orders = true, bounds_second_features = true;

    struct Block : BlockRange {
        std::uint32_t middle;  // its samples of class 1 end here in `grouped`
        Int ones, zeros;       // weights
    };
    struct Sums {
        std::int64_t weight[2] = {0, 0};  // by class
        double unavoidable = 0;
    };

    explicit WeightedTwoClassKernel(const TwoClassWeights& data) : data_(data) {}

    bool read(const Subset& subset) {
        const std::uint32_t size = subset.size();
        grouped_.ensure(static_cast<std::size_t>(size) * subset.features());
        weight_.resize(size);
        samples_ = subset.samples();
        all_ = {};
        for (std::uint32_t id = 0; id < size; ++id) {
            const auto weight = static_cast<std::int64_t>(data_.weights[samples_[id]]);
            weight_[id] = static_cast<Int>(data_.labels[samples_[id]] != 0 ? weight : -weight);
            add(all_, id);
        }
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        std::uint32_t* const grouped = grouped_.data() + cell;
        std::uint32_t front = begin;
        std::uint32_t back = block.end;
        Int sums[2] = {0, 0};
        for (std::uint32_t k = begin; k < block.end; ++k) {
            const std::uint32_t id = order[k];
            const Int weight = weight_[id];
            const bool one = weight > 0;
            grouped[front] = grouped[back - 1] = id;
            front += one;
            back -= !one;
            sums[one] = static_cast<Int>(sums[one] + weight);
        }
        block.middle = front;
        block.ones = sums[1];
        block.zeros = static_cast<Int>(-sums[0]);
    }

    Sums nothing() const { return {}; }
    void add(Sums& sums, std::uint32_t id) const {
        const Int weight = weight_[id];
        sums.weight[weight > 0] += std::abs(static_cast<std::int64_t>(weight));
        if (!data_.unavoidable.empty()) sums.unavoidable += data_.unavoidable[samples_[id]];
    }

    void rest(const Sums& left, Sums& right) const {
        right = {{all_.weight[0] - left.weight[0], all_.weight[1] - left.weight[1]},
                 all_.unavoidable - left.unavoidable};
    }
    void start(std::size_t side, std::size_t lane, std::uint32_t, const Sums& sums, double known) {
        unavoidable_[side][lane] = sums.unavoidable;
        // What is unavoidable may be more than is known already; nothing is better than that then.
        sides_.start(side, lane, sums.weight[0], sums.weight[1], std::max(0.0, known - sums.unavoidable));
    }
    void pad(std::size_t lane) { sides_.pad(lane, all_.weight[0], all_.weight[1]); }
    void missing_left(std::uint64_t left) { mask_.missing_left(left); }
    double value(std::size_t side, std::size_t lane, double price) const {
        return sides_.value(side, lane, price) + unavoidable_[side][lane];
    }
    double at_least(std::size_t side, std::size_t lane, double price) const {
        return value(side, lane, price);
    }

    template <std::size_t Bytes>
    struct Samples {
        using P = Pack<Int, Bytes>;

        const LaneRows<Int, lanes>& mask;
        const std::uint32_t* grouped;  // the ids of each block, those of class 1 first
        const Int* weights;            // of each id: positive for class 1, negative for class 0
        const std::uint8_t* bucket;

        CODT_INLINE static Int ones(std::uint32_t, const Block& block) { return block.ones; }
        CODT_INLINE static Int zeros(std::uint32_t, const Block& block) { return block.zeros; }
        CODT_INLINE void step(std::uint32_t id, P& sum, Int& total) const {
            sum.add_masked(mask[bucket[id]], weights[id]);
            total = static_cast<Int>(total + weights[id]);
        }
        CODT_INLINE void count(std::uint32_t begin, const Block& block, P& ones, P& zeros) const {
            ones.clear();
            zeros.clear();
            for (std::uint32_t k = begin; k < block.middle; ++k)
                ones.add_masked(mask[bucket[grouped[k]]], weights[grouped[k]]);
            for (std::uint32_t k = block.middle; k < block.end; ++k)
                zeros.subtract_masked(mask[bucket[grouped[k]]], weights[grouped[k]]);
        }
    };

    template <std::size_t Bytes>
    CODT_INLINE static void run(WeightedTwoClassKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        const Samples<Bytes> samples{kernel->mask_, kernel->grouped_.data() + stream->cell,
                                     kernel->weight_.data(), bucket};
        TwoClassPass<Int, Bytes> pass;
        pass.run(*stream, samples, kernel->sides_);
    }

 private:
    TwoClassWeights data_;
    std::span<const std::uint32_t> samples_;
    Buffer<std::uint32_t> grouped_;
    std::vector<Int> weight_;
    Sums all_;
    LaneRows<Int, lanes> mask_{-1};
    double unavoidable_[2][lanes];
    TwoClassSides<Int> sides_;
};

}  // namespace

std::unique_ptr<Scanner> make_weighted_two_class_scanner(const TwoClassWeights& data, KernelPath path) {
    return make_weighing_scanner<WeightedTwoClassKernel>(path, data.weights, data);
}

}  // namespace codt
