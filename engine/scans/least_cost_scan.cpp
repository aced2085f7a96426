// The loss of a leaf is the least total cost of a prediction; least_cost_pass.hpp says how a pass finds it in
// all leaves.
//
// Costs are whole numbers of up to 52 bits (objectives/whole_units.hpp). A pass in 64 bits adds them up as
// they are; one in 32 bits, which takes half the time, if their sums are small enough. Otherwise it gives
// bounds: each cost is divided by 2^k, with a k that keeps all sums below 2^29, and the fraction is dropped.
// What two leaves with n samples together lose is a sum of n costs for each choice of predictions, and the
// least of these sums: so it is no less than with the numbers rounded down, and less than n more.
//
// Of the predictions those that are hopeless in a subset are left out: where prediction a costs no sample of
// it more than b costs any, no leaf with some of these samples needs b.
//
// A row has as many columns as fill registers; those beyond the last prediction repeat it, which changes no
// least cost.
#include "scans/least_cost_scan.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "scans/fitting_scanner.hpp"
#include "scans/least_cost_pass.hpp"

namespace codt {

namespace {

constexpr double largest_sum = 0x1p29;  // in 32 bits: three of them may be added or subtracted

double sum_of_largest(const PredictionCosts& data, const Subset& subset) {
    double sum = 0;
    for (const std::uint32_t row : subset.samples()) sum += data.largest[row];
    return sum;
}

template <class Number>
struct LeastCostKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = cost_lanes;
    static constexpr bool joins_orders = true;
    // Evaluating the end of a block costs little, walking it much.
    static constexpr std::uint32_t longest_block_of(std::uint32_t) { return 16; }
    using Block = BlockRange;
    using Sums = std::vector<Number>;  // of every column

    explicit LeastCostKernel(const PredictionCosts& data)
        : data_(data), least_(data.predictions), most_(data.predictions) {}

    bool read(const Subset& subset) {
        const std::uint32_t size = subset.size();
        int exponent = 0;
        if constexpr (std::is_same_v<Number, std::int32_t>) {
            std::frexp(sum_of_largest(data_, subset) / largest_sum, &exponent);  // it is below 2^exponent
            exponent = std::max(exponent, 0);
        }
        unit_ = std::ldexp(1.0, exponent);
        const double per_unit = 1 / unit_;
        choose_predictions(subset);
        set_width(columns_for(kept_.size()));
        work_.costs.resize(size, work_.width);
        work_.largest.resize(size);
        const auto rounded = [&](double cost) { return static_cast<Number>(cost * per_unit); };
        for (std::uint32_t id = 0; id < size; ++id) {
            const double* const given = costs_of(subset.samples()[id]);
            Number* const costs = work_.costs[id];
            for (std::size_t c = 0; c < kept_.size(); ++c) costs[c] = rounded(given[kept_[c]]);
            std::fill(costs + kept_.size(), costs + work_.width, costs[kept_.size() - 1]);
            work_.largest[id] = *std::max_element(costs, costs + kept_.size());
            add(all_, id);
        }
        return true;
    }

    void summarise(const std::uint32_t*, std::size_t, std::uint32_t, Block&) const {}

    Sums nothing() const { return Sums(work_.width, Number{0}); }
    void add(Sums& sums, std::uint32_t id) const {
        const Number* const costs = work_.costs[id];
        for (std::size_t c = 0; c < work_.width; ++c) sums[c] += costs[c];
    }
    void rest(const Sums& left, Sums& right) const {
        for (std::size_t c = 0; c < work_.width; ++c) right[c] = all_[c] - left[c];
    }
    void start(std::size_t side, std::size_t lane, std::uint32_t n, const Sums& sums, double known) {
        work_.lanes = static_cast<std::uint32_t>(lane) + 1;
        work_.any_missing = false;
        set_total(side, lane, sums);
        const Number leaf = *std::min_element(sums.begin(), sums.end());
        leaf_[side][lane] = leaf;
        off_[side][lane] = unit_ > 1 ? n : 0;
        // What loses no less than this, rounded down, does not matter.
        work_.best[side][lane] =
            static_cast<Number>(std::min(std::ceil(known / unit_), static_cast<double>(leaf)));
    }
    // No loss is below zero, so a lane whose best is zero never asks for a walk.
    void pad(std::size_t lane) {
        set_total(0, lane, all_);
        set_total(1, lane, nothing());
        work_.best[0][lane] = work_.best[1][lane] = 0;
    }
    void missing_left(std::uint64_t left) {
        work_.missing = left;
        work_.masks.missing_left(left);
        work_.any_missing = true;
    }

    double value(std::size_t side, std::size_t lane, double price) const {
        return std::min(static_cast<double>(leaf_[side][lane]),
                        static_cast<double>(work_.best[side][lane]) + price);
    }
    void bracket(std::size_t side, std::size_t lane, double price, double& lower, double& upper) const {
        const auto bound = [&](double more) {
            return std::min((leaf_[side][lane] + more) * unit_,
                            (work_.best[side][lane] + more) * unit_ + price);
        };
        upper = std::min(upper, bound(off_[side][lane]));
        lower = std::min(upper, bound(0));
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(LeastCostKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        constexpr std::size_t narrow = 4 * sizeof(Number);
        CostWork<Number>& work = kernel->work_;
        if (work.width == 4)
            pass<std::min(narrow, Bytes), Bytes>(work, *stream, bucket);
        else if (work.width == 8)
            pass<std::min(2 * narrow, Bytes), Bytes>(work, *stream, bucket);
        else
            pass<Bytes, Bytes>(work, *stream, bucket);
    }

 private:
    const double* costs_of(std::uint32_t row) const {
        return data_.costs.data() + std::size_t{row} * data_.predictions;
    }

    // Those that are not hopeless.
    void choose_predictions(const Subset& subset) {
        const double* const first = costs_of(subset.samples()[0]);
        std::copy_n(first, data_.predictions, least_.begin());
        std::copy_n(first, data_.predictions, most_.begin());
        for (const std::uint32_t row : subset.samples().subspan(1)) {
            const double* const given = costs_of(row);
            for (std::uint32_t c = 0; c < data_.predictions; ++c) {
                least_[c] = given[c] < least_[c] ? given[c] : least_[c];
                most_[c] = given[c] > most_[c] ? given[c] : most_[c];
            }
        }
        const auto best =
            static_cast<std::uint32_t>(std::min_element(most_.begin(), most_.end()) - most_.begin());
        kept_.clear();
        for (std::uint32_t c = 0; c < data_.predictions; ++c)
            if (c == best || least_[c] < most_[best]) kept_.push_back(c);
        work_.predictions = kept_.size();
    }

    void set_width(std::size_t width) {
        all_.assign(width, Number{0});
        if (width == work_.width) return;
        work_.width = width;
        work_.buckets.resize(lanes + 2, width);
        for (auto& prefix : work_.prefix) prefix.resize(lanes + 1, width);
        for (auto& total : work_.total) total.resize(lanes, width);
        for (auto& columns : work_.columns) columns.resize(width, lanes);
        work_.walked.resize(1, width);
        for (auto& columns : work_.by_column) columns.resize(width, lanes);
    }

    static std::size_t columns_for(std::size_t predictions) {
        if (predictions <= 4) return 4;
        return predictions <= 8 ? 8 : (predictions + 15) / 16 * 16;
    }

    template <std::size_t Bytes, std::size_t LaneBytes>
    CODT_INLINE static void pass(CostWork<Number>& work, const Stream<Block>& stream,
                                 const std::uint8_t* bucket) {
        const std::size_t columns = work.width * sizeof(Number) / Bytes;
        if (columns == 1)
            LeastCostPass<Number, Bytes, 1, LaneBytes>{work, stream, bucket}.run();
        else if (columns == 2)
            LeastCostPass<Number, Bytes, 2, LaneBytes>{work, stream, bucket}.run();
        else if (columns == 4)
            LeastCostPass<Number, Bytes, 4, LaneBytes>{work, stream, bucket}.run();
        else
            LeastCostPass<Number, Bytes, 0, LaneBytes>{work, stream, bucket}.run();
    }

    void set_total(std::size_t side, std::size_t lane, const Sums& sums) {
        std::copy(sums.begin(), sums.end(), work_.total[side][lane]);
        for (std::size_t c = 0; c < work_.width; ++c) work_.columns[side][c][lane] = sums[c];
    }

    PredictionCosts data_;
    std::vector<double> least_, most_;  // costs of every prediction
    std::vector<std::uint32_t> kept_;   // predictions that some leaf may need
    CostWork<Number> work_;
    Sums all_;
    double unit_ = 1;  // costs per rounded cost
    Number leaf_[2][lanes];
    double off_[2][lanes];  // what a side loses may be this much more, because costs are rounded down
};

}  // namespace

std::unique_ptr<Scanner> make_least_cost_scanner(const PredictionCosts& data, KernelPath path) {
    const auto needed = [data](const Subset& subset) {
        return 4 * (sum_of_largest(data, subset) + 1);  // where 32 bits hold it, nothing is rounded
    };
    return make_fitting_scanner<LeastCostKernel, std::int32_t, std::int64_t>(needed, path, data);
}

std::unique_ptr<BracketScanner> make_least_cost_brackets(const PredictionCosts& data, KernelPath path) {
    return std::make_unique<LaneBracketScanner<LeastCostKernel<std::int32_t>>>(path, data);
}

}  // namespace codt
