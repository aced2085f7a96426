// Which trees are allowed, beside what the data and the objective say: no deeper and with no more leaves than
// the budget, with splits that save enough and leaves that hold enough.
#pragma once

#include "rules/budget.hpp"
#include "rules/leaf_limits.hpp"

namespace codt {

struct TreeRules {
    Budget budget;            // of the whole tree
    double min_decrease = 0;  // of the objective by every split, see SearchSettings; none if zero
    LeafLimits leaves;        // what every leaf must hold

    // Whether all trees within the budget are allowed.
    bool free() const { return min_decrease <= 0 && !leaves.any(); }
};

}  // namespace codt
