#include "bounds/lower_bounds.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace codt {

namespace {

// The clustering bound on the trees of at most `leaves` leaves that split at least once. `losses`, those of k
// = 1, 2, ... groups, may stop early, at zero or because more groups cost too much to compute; trees with
// more leaves than that are then bounded by their penalty alone.
double clustering_bound(std::span<const double> losses, std::uint32_t leaves, double lambda) {
    // Trees with one leaf more than there are losses, and no loss at all.
    double split = leaves > losses.size()
                       ? static_cast<double>(std::max<std::size_t>(1, losses.size())) * lambda
                       : std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < losses.size(); ++k)
        split = std::min(split, static_cast<double>(k) * lambda + losses[k]);
    return split;
}

}  // namespace

NodeBound node_bound(const Objective& objective, const Subset& subset, const Budget& budget, double leaf_loss,
                     const SearchSettings& settings, double useful) {
    const double lambda = settings.prices.least();
    if (budget.depth == 0) return {leaf_loss, leaf_loss + lambda};
    NodeBound bound{std::min(leaf_loss, lambda), lambda};
    // No split can beat a leaf this good, so no better bound is needed.
    if (!settings.bounds.clustering || leaf_loss <= lambda) return bound;
    const std::uint32_t leaves = budget.most_leaves(subset.size());
    if (objective.clustering_limit(subset, leaves) + (leaves - 1) * lambda < useful) return bound;
    const auto losses = objective.clustering_losses(subset, leaves);
    bound.split = std::max(bound.split, clustering_bound(losses, leaves, lambda));
    bound.any = std::min(leaf_loss, bound.split);
    return bound;
}

}  // namespace codt
