#include "bounds/lower_bounds.hpp"

#include <algorithm>

#include "bounds/clustering.hpp"

namespace codt {

NodeBound node_bound(const Objective& objective, const Subset& subset, const Budget& budget, double leaf_loss,
                     const SearchSettings& settings, double useful) {
    const double lambda = settings.lambda;
    if (budget.depth == 0) return {leaf_loss, leaf_loss + lambda};
    NodeBound bound{std::min(leaf_loss, lambda), lambda};
    // A leaf this good cannot be beaten by any split: no need for more.
    if (!settings.bounds.clustering || leaf_loss <= lambda) return bound;
    const std::uint32_t leaves = budget.most_leaves(subset.size());
    if (objective.clustering_limit(subset, leaves) + (leaves - 1) * lambda < useful) return bound;
    const auto losses = objective.clustering_losses(subset, leaves);
    const ClusteringBound clustering = clustering_bound(losses, leaves, lambda);
    bound.split = std::max(bound.split, clustering.split);
    bound.any = std::min(leaf_loss, bound.split);
    return bound;
}

}  // namespace codt
