#include "objectives/registry.hpp"

#include <numeric>
#include <stdexcept>

#include "objectives/whole_units.hpp"

// The table: a name, and the function that makes the objective, in a file of its own.
#define CODT_OBJECTIVES(ROW)                                           \
    ROW("misclassification", make_misclassification)                   \
    ROW("weighted-misclassification", make_weighted_misclassification) \
    ROW("cost-sensitive", make_cost_sensitive)                         \
    ROW("squared-error", make_squared_error)                           \
    ROW("weighted-squared-error", make_weighted_squared_error)         \
    ROW("absolute-error", make_absolute_error)                         \
    ROW("poisson-deviance", make_poisson_deviance)

namespace codt {

#define CODT_DECLARE(name, make) std::unique_ptr<Objective> make(const Targets& targets);
CODT_OBJECTIVES(CODT_DECLARE)

namespace {

std::unique_ptr<Objective> make_unlimited(const std::string& name, const Targets& targets) {
    std::string known;
#define CODT_MAKE(entry, make)                 \
    if (name == (entry)) return make(targets); \
    known += (known.empty() ? "" : ", ") + std::string(entry);
    CODT_OBJECTIVES(CODT_MAKE)
    throw std::invalid_argument("objective: expected one of " + known + ", got '" + name + "'");
}

// Weights are summed as whole numbers, so that it does not depend on the order whether a leaf holds enough.
// What is short of the limit by rounding alone is enough.
LeafLimits leaf_limits(const Targets& targets) {
    LeafLimits limits;
    limits.samples = targets.min_leaf_samples;
    if (targets.min_leaf_weight > 0) {
        std::vector<double> weights(targets.rows());
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = targets.weight(i);
        WholeNumbers whole = in_whole_units(weights, std::accumulate(weights.begin(), weights.end(), 0.0));
        limits.weight = targets.min_leaf_weight / whole.unit * (1 - 1e-12);
        limits.weights = std::move(whole.values);
    }
    return limits;
}

}  // namespace

std::unique_ptr<Objective> make_objective(const std::string& name, const Targets& targets) {
    auto objective = make_unlimited(name, targets);
    objective->set_leaf_limits(leaf_limits(targets));
    return objective;
}

}  // namespace codt
