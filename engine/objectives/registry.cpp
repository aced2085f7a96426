#include "objectives/registry.hpp"

#include <stdexcept>

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

std::unique_ptr<Objective> make_objective(const std::string& name, const Targets& targets) {
    std::string known;
#define CODT_MAKE(entry, make)                 \
    if (name == (entry)) return make(targets); \
    known += (known.empty() ? "" : ", ") + std::string(entry);
    CODT_OBJECTIVES(CODT_MAKE)
    throw std::invalid_argument("objective: expected one of " + known + ", got '" + name + "'");
}

}  // namespace codt
