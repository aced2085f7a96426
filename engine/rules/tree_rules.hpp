// Which trees are allowed: within the budget of depth and leaves, with splits that save enough and leaves
// that hold enough.
#pragma once

#include "rules/budget.hpp"
#include "rules/leaf_limits.hpp"

namespace codt {

struct TreeRules {
    Budget budget;            // of the whole tree
    double min_decrease = 0;  // by every split, of the objective (see SearchSettings); no rule if zero
    LeafLimits leaves;        // what every leaf must hold

    // Whether all trees within the budget are allowed.
    bool free() const { return min_decrease <= 0 && !leaves.any(); }
};

}  // namespace codt
