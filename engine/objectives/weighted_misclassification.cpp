// Misclassification with weights: the cost tuple of a sample holds its weight at its class, the loss of a
// tuple is the weight of all classes but the heaviest. A sample of weight k counts exactly as k samples of
// weight one.
#include <algorithm>
#include <numeric>

#include "bounds/clustering.hpp"
#include "objectives/class_tuple.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"
#include "terminal/many_class_scan.hpp"
#include "terminal/tuple_scan.hpp"
#include "terminal/weighted_two_class_scan.hpp"

namespace codt {

namespace {

struct ClassWeight : ClassTuple {
    std::vector<double> weights;  // whole numbers, see whole_units.hpp

    void add(std::uint32_t row, double* c) const { c[labels[row]] += weights[row]; }
};

class WeightedMisclassification final : public CostTupleObjective<ClassWeight> {
 public:
    WeightedMisclassification(ClassWeight cost, std::vector<double> original, double unit)
        : CostTupleObjective(std::move(cost)), original_(std::move(original)), unit_(unit) {}

    // However the samples are grouped, k leaves predict at most k classes: the weight of the others is lost.
    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        std::vector<double> total(cost().size());
        total_cost(cost(), subset, total.data());
        return frequent_class_losses(std::move(total), count);
    }

    // A sample adds at most its weight to the loss of a tree that was fitted without it.
    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        fill_by_sample(subset, worst, [&](std::uint32_t row) { return cost().weights[row]; });
    }

    std::unique_ptr<Scanner> make_lane_scanner(KernelPath path, const LeafLimits& limits) const override {
        if (limits.any())
            return make_tuple_scanner(
                {TupleLoss::all_but_largest, cost().classes, cost().weights, cost().labels}, limits, path);
        if (cost().classes <= 2)
            return make_weighted_two_class_scanner({cost().labels, cost().weights, {}}, path);
        return make_weighted_many_class_scanner(cost().labels, cost().weights, cost().classes, path);
    }

    bool integral() const override { return true; }
    double unit() const override { return unit_; }

    double reported_loss(std::span<const std::uint32_t>, const std::vector<double>& weights) const override {
        const auto heaviest = std::max_element(weights.begin(), weights.end());
        // Not the sum less the largest: that would lose what is small beside it.
        return std::accumulate(weights.begin(), heaviest, 0.0) +
               std::accumulate(heaviest + 1, weights.end(), 0.0);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        std::vector<long double> sums(cost().size(), 0);
        for (const std::uint32_t row : rows) sums[cost().labels[row]] += original_[row];
        return {sums.begin(), sums.end()};
    }

 private:
    std::vector<double> original_;
    double unit_;
};

}  // namespace

std::unique_ptr<Objective> make_weighted_misclassification(const Targets& targets) {
    std::vector<double> weights(targets.rows());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = targets.weight(i);
    WholeNumbers whole = in_whole_units(weights, std::accumulate(weights.begin(), weights.end(), 0.0));
    return std::make_unique<WeightedMisclassification>(
        ClassWeight{{class_codes(targets), targets.classes}, std::move(whole.values)}, std::move(weights),
        whole.unit);
}

}  // namespace codt
