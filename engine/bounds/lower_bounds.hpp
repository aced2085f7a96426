// Lower bounds of a node from its own data (paper, "Lower bounds": trivial, one-step look-ahead, clustering).
//
// Clustering: the loss if the samples could be partitioned freely into k groups, ignoring which splits exist.
// A tree with k leaves has k - 1 branching nodes, so with a penalty the bound for it is (k - 1) lambda +
// loss_k. (The paper prints k lambda, which counts leaves; with |T| branching nodes, as in its problem
// definition, that would overestimate a leaf.) Where features have costs, lambda is the least price of a
// node.
#pragma once

#include <cstdint>

#include "data/subset.hpp"
#include "objectives/objective.hpp"
#include "rules/budget.hpp"
#include "rules/settings.hpp"

namespace codt {

struct NodeBound {
    double any = 0;    // on the node's optimum
    double split = 0;  // on its best tree that splits
};

// One-step look-ahead: a leaf, or at least one penalty. Clustering raises both bounds if it is switched on
// and might raise them to `useful`.
NodeBound node_bound(const Objective& objective, const Subset& subset, const Budget& budget, double leaf_loss,
                     const SearchSettings& settings, double useful);

}  // namespace codt
