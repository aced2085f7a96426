// The greedy (CART) tree: every node takes the split of lowest impurity, and subtrees that are not worth
// their penalty, or do not lower the loss enough, are cut off again. A limited number of leaves is shared out
// in proportion to the losses. It is the search's first incumbent.
//
// Where features cost something, the split of lowest impurity may not be worth its price. Then a second tree
// is grown, in which every node takes, of the best splits of all features, the one whose two leaves and price
// add up to the least; the better of the two trees is kept.
#pragma once

#include <cstdint>

#include "data/subset.hpp"
#include "objectives/objective.hpp"
#include "rules/budget.hpp"
#include "rules/settings.hpp"
#include "strategies/feature_order.hpp"
#include "tree/solution.hpp"

namespace codt {

struct GreedyTree {
    double objective = 0;  // loss plus the price of every split, internal unit
    Solution solution;
};

// `order` is the feature order of the subset. `stop`, if given, ends the growing with Stopped.
GreedyTree grow_greedy(const Dataset& data, const Objective& objective, const Subset& subset,
                       const FeatureOrder& order, const Budget& budget, const SearchSettings& settings,
                       StopCondition* stop = nullptr);

}  // namespace codt
