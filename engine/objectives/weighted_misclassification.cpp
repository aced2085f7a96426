// Misclassification with weights: the cost tuple of a sample holds its weight at its class, the loss of a
// tuple is the weight of all classes but the heaviest. A sample of weight k counts exactly as k samples of
// weight one.
//
// A tree that loses less than a ceiling classifies every sample heavier than the ceiling correctly, and its
// loss does not depend on how heavy that sample is: so heavy weights may be lowered to the ceiling
// (Objective::within).
#include <algorithm>
#include <limits>
#include <numeric>

#include "objectives/class_tuple.hpp"
#include "objectives/clusters.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"
#include "scans/many_class_scan.hpp"
#include "scans/tuple_scan.hpp"
#include "scans/weighted_two_class_scan.hpp"

namespace codt {

namespace {

struct ClassWeight : ClassTuple {
    std::vector<double> weights;  // whole numbers, see whole_units.hpp

    void add(std::uint32_t row, double* c) const { c[labels[row]] += weights[row]; }
};

class WeightedMisclassification final : public CostTupleObjective<ClassWeight> {
 public:
    WeightedMisclassification(ClassWeight cost, const WholeNumbers& whole, std::vector<double> original)
        : CostTupleObjective(std::move(cost)),
          original_(std::move(original)),
          unit_(whole.unit),
          distortion_(whole.distortion) {}

    static std::unique_ptr<Objective> make(ClassTuple classes, std::vector<double> original, double ceiling) {
        const std::vector<double> weights = lowered_to(ceiling, original);
        const WholeNumbers whole =
            in_whole_units(weights, std::accumulate(weights.begin(), weights.end(), 0.0));
        return std::make_unique<WeightedMisclassification>(ClassWeight{std::move(classes), whole.values},
                                                           whole, std::move(original));
    }

    std::unique_ptr<Objective> within(double ceiling) const override {
        const double heaviest = *std::max_element(original_.begin(), original_.end());
        if (heaviest <= ceiling) return nullptr;
        return make(static_cast<const ClassTuple&>(cost()), original_, ceiling);
    }

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
    double distortion() const override { return distortion_; }

    double reported_loss(std::span<const std::uint32_t>, const std::vector<double>& weights) const override {
        const auto heaviest = std::max_element(weights.begin(), weights.end());
        // Not the sum less the largest: that would lose the digits of small weights.
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
    double unit_, distortion_;
};

}  // namespace

std::unique_ptr<Objective> make_weighted_misclassification(const Targets& targets) {
    std::vector<double> weights(targets.rows());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = targets.weight(i);
    return WeightedMisclassification::make({class_codes(targets), targets.classes}, std::move(weights),
                                           std::numeric_limits<double>::infinity());
}

}  // namespace codt
