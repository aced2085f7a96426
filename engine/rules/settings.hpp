// What is fixed for a whole search.
#pragma once

#include <cmath>
#include <limits>

#include "rules/prices.hpp"
#include "rules/ties.hpp"
#include "rules/tree_rules.hpp"

namespace codt {

// A proof should distinguish trees whose objectives differ by more than this fraction of the best one,
// despite the rounding of sums and of the numbers themselves. Where the numbers of a problem are too far
// apart for that, the search is repeated with numbers of a smaller range (Search::refine).
inline constexpr double wanted_precision = 1e-9;
inline constexpr double wanted_precision_of_numbers = 1e-13;

// The bounds that can be switched off one by one; that never changes the optimum.
struct BoundSwitches {
    bool clustering = true;
    bool neighborhood = true;
    bool interval_shrinking = true;
    bool sub_interval = true;
    bool cross_feature = true;

    bool similarity() const { return neighborhood || interval_shrinking || sub_interval; }
};

struct SearchSettings {
    Prices prices;  // of branching nodes, with the tie price, in the objective's internal unit
    TiePrice ties;
    double tolerance = 0;  // bounds closer than this count as equal
    bool whole = false;    // all objectives are whole numbers, but for exact tie prices
    BoundSwitches bounds;

    // Which trees are allowed; the least decrease is in the objective's internal unit. A node may be split
    // only if the objective of its subtree, loss and penalties, is lower than the loss of the node as a leaf
    // by at least the least decrease. (If penalties did not count, the best subtree of a node could forbid
    // the split above it where a worse subtree would not.)
    //
    // Let U be the optimum of a subproblem without this rule and V the one with it: V is the least of
    // price + V_left + V_right if that is allowed, else the loss of the leaf, and U <= V. Taking a sample
    // away can make a split worth less, adding one can too, so V neither falls nor rises with the samples and
    // no similarity bound (bounds/similarity.hpp) holds for it. All of them hold for U; so every subproblem
    // has a bound on U ("free": without the rule) as well as on V, neighbours are bounded by the former, and
    // what bounds U bounds V. Look-ahead and clustering bound all trees, so they bound U as well. Where
    // leaves must hold enough (leaf_limits.hpp), U is the optimum without that limit, too; where all trees
    // are allowed, U = V.
    TreeRules rules;

    // A split that misses the decrease by less than the tolerance is allowed; whole numbers are compared
    // exactly. Tie prices do not count.
    bool allows(double leaf_loss, double split) const {
        if (rules.min_decrease <= 0) return true;
        return whole ? leaf_loss - std::floor(split) >= rules.min_decrease
                     : leaf_loss - split >= rules.min_decrease - tolerance - ties.most;
    }
    // The optimum of a node, given that of the trees that split.
    double best_allowed(double leaf_loss, double split) const {
        return allows(leaf_loss, split) ? split : leaf_loss;
    }
    // A split whose lower bound reaches this value (less the tolerance) is not allowed.
    double split_cutoff(double leaf_loss) const {
        const double least = rules.min_decrease;
        if (least <= 0) return std::numeric_limits<double>::infinity();
        return whole ? leaf_loss - std::ceil(least) + 1 : leaf_loss - least + 3 * tolerance + ties.most;
    }
    // What a bound on the trees that split implies for the node's optimum, apart from its leaf.
    double bound_by_splits(double leaf_loss, double splits) const {
        return splits >= split_cutoff(leaf_loss) - tolerance ? leaf_loss : splits;
    }
};

}  // namespace codt
