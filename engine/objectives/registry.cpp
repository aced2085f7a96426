#include "objectives/registry.hpp"

#include <array>
#include <span>
#include <stdexcept>
#include <utility>

// The table: a name; what the objective takes other than one column of numbers; and the function that makes
// it, in a file of its own, with the types of the parameters that follow the targets.
#define CODT_OBJECTIVES(ROW)                                                              \
    ROW("misclassification", classes, make_misclassification)                             \
    ROW("weighted-misclassification", classes | weights, make_weighted_misclassification) \
    ROW("cost-sensitive", classes | weights | costs, make_cost_sensitive)                 \
    ROW("log-loss", classes | weights, make_log_loss)                                     \
    ROW("gini", classes | weights, make_gini)                                             \
    ROW("squared-error", nothing, make_squared_error)                                     \
    ROW("weighted-squared-error", weights | outputs, make_weighted_squared_error)         \
    ROW("absolute-error", weights, make_absolute_error)                                   \
    ROW("quantile", weights, make_quantile, double)                                       \
    ROW("poisson-deviance", weights, make_poisson_deviance)                               \
    ROW("gamma-deviance", weights, make_gamma_deviance)                                   \
    ROW("tweedie-deviance", weights, make_tweedie_deviance, double)                       \
    ROW("bernoulli-deviance", weights, make_bernoulli_deviance)

namespace codt {

#define CODT_DECLARE(name, takes, make, ...) \
    std::unique_ptr<Objective> make(const Targets& targets __VA_OPT__(, ) __VA_ARGS__);
CODT_OBJECTIVES(CODT_DECLARE)

namespace {

// An objective that takes classes or costs needs them; weights and several outputs are optional.
enum Takes : unsigned { nothing = 0, classes = 1, weights = 2, costs = 4, outputs = 8 };

struct Row {
    std::string name;
    unsigned takes;
    std::size_t parameters;
    std::function<std::unique_ptr<Objective>(const Targets&, std::span<const double>)> make;
};

template <typename... Parameters>
Row row(const char* name, unsigned takes, std::unique_ptr<Objective> (*make)(const Targets&, Parameters...)) {
    return {name, takes, sizeof...(Parameters),
            [make](const Targets& targets, std::span<const double> values) {
                return [&]<std::size_t... I>(std::index_sequence<I...>) {
                    return make(targets, values[I]...);
                }(std::index_sequence_for<Parameters...>{});
            }};
}

const auto& table() {
#define CODT_ROW(name, takes, make, ...) row(name, takes, make),
    static const std::array rows{CODT_OBJECTIVES(CODT_ROW)};
    return rows;
}

const Row& find(const std::string& name, bool of_classes) {
    std::string known;
    for (const Row& row : table()) {
        if (name.empty() ? ((row.takes & classes) != 0) == of_classes : row.name == name) return row;
        known += (known.empty() ? "" : ", ") + row.name;
    }
    throw std::invalid_argument("objective: expected one of " + known + ", got '" + name + "'");
}

void check(const Row& row, bool allowed, const std::string& expected) {
    if (!allowed) throw std::invalid_argument("objective: " + row.name + " takes " + expected);
}

}  // namespace

std::unique_ptr<Objective> make_objective(const ObjectiveChoice& choice, const Targets& targets) {
    const bool of_classes = targets.classes > 0;
    const Row& row = find(choice.name, of_classes);
    const bool takes_classes = (row.takes & classes) != 0;
    const bool takes_costs = (row.takes & costs) != 0;
    check(row, takes_classes == of_classes, takes_classes ? "classes, not numbers" : "numbers, not classes");
    check(row, (row.takes & weights) != 0 || targets.weights.empty(), "no weights");
    check(row, takes_costs != targets.costs.empty(), takes_costs ? "costs, got none" : "no costs");
    check(row, (row.takes & outputs) != 0 || targets.outputs == 1,
          "one column of targets, got " + std::to_string(targets.outputs));
    check(row, row.parameters == choice.parameters.size(),
          std::to_string(row.parameters) + " parameters, got " + std::to_string(choice.parameters.size()));
    return row.make(targets, choice.parameters);
}

}  // namespace codt
