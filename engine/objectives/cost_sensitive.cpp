// Cost-sensitive classification: every sample says what each prediction would cost. Its cost tuple is that
// row of costs, the loss of a tuple its least entry: the leaf predicts the class of lowest total cost. A cost
// matrix and weights are special cases; misclassification is the one of cost one for all classes but the
// sample's own.
//
// Predictions that no tree needs (dominated.hpp) are left out of the tuples; what is reported is computed
// from all costs.
//
// A tree that loses less than a ceiling pays no cost above it, so such costs may be lowered to it
// (Objective::within): a forbidding cost ("never predict this") need not spoil sums of small ones.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "objectives/cost_tuple.hpp"
#include "objectives/dominated.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"
#include "scans/least_cost_scan.hpp"
#include "scans/tuple_scan.hpp"
#include "scans/weighted_two_class_scan.hpp"

namespace codt {

namespace {

struct ClassCost {
    std::vector<double> costs;  // rows x classes, whole numbers, see whole_units.hpp
    std::uint32_t classes;      // predictions

    const double* of(std::uint32_t row) const {
        return costs.data() + static_cast<std::size_t>(row) * classes;
    }
    std::size_t size() const { return classes; }
    void add(std::uint32_t row, double* c) const {
        const double* const cost = of(row);
        for (std::uint32_t i = 0; i < classes; ++i) c[i] += cost[i];
    }
    double loss(const double* c) const { return *std::min_element(c, c + classes); }
    // For costs of one per error the tuple is n - n_i, its sum divided by one less than the number of classes
    // is n, and the purity is n times one less the Gini impurity. For other costs the same formula is only a
    // heuristic.
    double purity(const double* c) const {
        const double size = classes > 1 ? std::accumulate(c, c + classes, 0.0) / (classes - 1) : 0.0;
        if (!(size > 0)) return 0.0;
        double squares = 0;
        for (std::uint32_t i = 0; i < classes; ++i) squares += (size - c[i]) * (size - c[i]);
        return squares / size;
    }
};

// Keeps some of the columns of a table, which has as many as given.
void keep_columns(std::vector<double>& table, std::size_t columns, std::span<const std::uint32_t> kept) {
    if (kept.size() == columns) return;
    std::size_t size = 0;
    for (std::size_t row = 0; row < table.size(); row += columns)
        for (const std::uint32_t column : kept) table[size++] = table[row + column];
    table.resize(size);
}

class CostSensitive final : public CostTupleObjective<ClassCost> {
 public:
    // The costs and weights as given, from which everything reported is computed.
    struct Given {
        std::vector<std::uint16_t> labels;
        std::vector<double> weights, costs;
        std::uint32_t classes;
    };

    // `whole`: the costs of the predictions that are needed.
    CostSensitive(const WholeNumbers& whole, std::span<const std::uint32_t> needed, Given given)
        : CostTupleObjective(ClassCost{whole.values, static_cast<std::uint32_t>(needed.size())}),
          unit_(whole.unit),
          distortion_(whole.distortion),
          given_(std::move(given)) {
        for (std::uint32_t row = 0; row < given_.labels.size(); ++row) {
            largest_.push_back(*std::max_element(cost().of(row), cost().of(row) + needed.size()));
            for (const std::uint32_t prediction : needed)
                largest_given_ =
                    std::max(largest_given_, given_.costs[std::size_t{row} * given_.classes + prediction]);
        }
        if (needed.size() != 2) return;
        for (std::uint32_t row = 0; row < given_.labels.size(); ++row) {
            const double* const costs = this->cost().of(row);
            cheaper_.push_back(costs[1] < costs[0]);
            difference_.push_back(std::abs(costs[0] - costs[1]));
            least_.push_back(std::min(costs[0], costs[1]));
        }
    }

    static std::unique_ptr<Objective> make(Given given, double ceiling) {
        std::vector<double> costs = lowered_to(ceiling, given.costs);
        const auto needed = undominated_predictions(costs, given.classes);
        keep_columns(costs, given.classes, needed);
        double most = 0;
        for (auto first = costs.begin(); first < costs.end(); first += std::ssize(needed))
            most += *std::max_element(first, first + std::ssize(needed));
        const WholeNumbers whole = in_whole_units(costs, most, needed.size());
        return std::make_unique<CostSensitive>(whole, needed, std::move(given));
    }

    std::unique_ptr<Objective> within(double ceiling) const override {
        if (largest_given_ <= ceiling) return nullptr;
        return make(given_, ceiling);
    }

    // One group costs what a leaf does. More groups cannot do better than the cheapest prediction for every
    // sample; finding the best k predictions for k groups would be a facility location problem.
    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        double unavoidable = 0;
        for (const std::uint32_t row : subset.samples()) unavoidable += cost().loss(cost().of(row));
        std::vector<double> losses(unavoidable > 0 ? count : std::min(count, 2u), unavoidable);
        losses[0] = leaf_loss(subset);
        return losses;
    }

    // A sample adds at most its largest cost. (That it adds at least its least cost would sharpen the bounds
    // on one side only, and not at all if the right prediction costs nothing.)
    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        fill_by_sample(subset, worst, [&](std::uint32_t row) { return largest_[row]; });
    }

    std::unique_ptr<Scanner> make_lane_scanner(KernelPath path, const LeafLimits& limits) const override {
        if (limits.any())
            return make_tuple_scanner({TupleLoss::least, cost().classes, cost().costs, {}}, limits, path);
        if (cost().classes == 2)
            return make_weighted_two_class_scanner({cheaper_, difference_, least_}, path);
        return make_least_cost_scanner({cost().costs, largest_, cost().classes}, path);
    }
    std::unique_ptr<BracketScanner> make_lane_brackets(KernelPath path) const override {
        if (cost().classes == 2) return nullptr;  // the scan of weighted classes is as fast
        return make_least_cost_brackets({cost().costs, largest_, cost().classes}, path);
    }

    // The scan and the one for brackets have copies of all costs.
    std::size_t scan_bytes_of_sample() const override {
        return cost().classes == 2 ? 0 : cost().classes * (sizeof(double) + sizeof(std::int32_t));
    }

    bool integral() const override { return true; }
    double unit() const override { return unit_; }
    double distortion() const override { return distortion_; }

    double reported_loss(std::span<const std::uint32_t>, const std::vector<double>& value) const override {
        return *std::min_element(value.begin() + given_.classes, value.end());
    }
    // The weight of every class, then the cost of every prediction.
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        const std::size_t classes = given_.classes;
        std::vector<long double> sums(2 * classes, 0);
        for (const std::uint32_t row : rows) {
            sums[given_.labels[row]] += given_.weights.empty() ? 1.0 : given_.weights[row];
            for (std::size_t c = 0; c < classes; ++c) sums[classes + c] += given_.costs[row * classes + c];
        }
        return {sums.begin(), sums.end()};
    }

 private:
    double unit_, distortion_;
    Given given_;
    std::vector<double> largest_;  // cost of every row
    double largest_given_ = 0;     // of all rows, as given
    // With two predictions: the cheaper one, the extra cost of the other one, and the cost of the cheaper
    // one.
    std::vector<std::uint16_t> cheaper_;
    std::vector<double> difference_, least_;
};

}  // namespace

// The costs already include the weights; `weights` are only used for reporting.
std::unique_ptr<Objective> make_cost_sensitive(const Targets& targets) {
    return CostSensitive::make({class_codes(targets),
                                {targets.weights.begin(), targets.weights.end()},
                                {targets.costs.begin(), targets.costs.end()},
                                targets.classes},
                               std::numeric_limits<double>::infinity());
}

}  // namespace codt
