#include "tree/stumps.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace codt {

Bound best_stump_value(const Objective& objective, const Subset& subset, const SearchSettings& settings) {
    const double leaf = objective.leaf_loss(subset);
    double free = leaf, best = leaf;
    std::vector<double> left, right;
    for (std::uint32_t f = 0; f < subset.features() && best > settings.prices.least(); ++f) {
        const double price = settings.prices.of(f);
        if (subset.groups(f) < 2 || best <= price) continue;
        const auto possible = settings.rules.leaves.thresholds(subset, f);
        objective.all_leaf_losses(subset, f, left, right);
        for (std::uint32_t t = 0; t < subset.thresholds(f); ++t) {
            const double loss = left[t] + right[t] + price;
            free = std::min(free, loss);
            if (possible.contain(t)) best = std::min(best, loss);
        }
    }
    return {settings.best_allowed(leaf, best), free};
}

double leaf_loss_of_rows(const Objective& objective, const Dataset& data,
                         std::span<const std::uint32_t> rows) {
    // With an infinite penalty nothing is better than a leaf.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return objective.best_stump(data, rows, no_leaf_limits, Prices(infinity), infinity).objective;
}

Objective::Stump best_allowed_stump(const Objective& objective, const Dataset& data,
                                    std::span<const std::uint32_t> rows, const SearchSettings& settings,
                                    double enough) {
    const Objective::Stump stump =
        objective.best_stump(data, rows, settings.rules.leaves, settings.prices, enough);
    if (!stump.splits || settings.rules.min_decrease <= 0) return stump;
    const double leaf = leaf_loss_of_rows(objective, data, rows);
    if (settings.allows(leaf, stump.objective)) return stump;
    return {leaf, false, {}};
}

std::size_t count_splits(const SolutionNode& tree, const Dataset& data, std::span<const std::uint32_t> rows,
                         const Objective& objective, const SearchSettings& settings) {
    if (tree.kind == SolutionNode::Kind::leaf) return 0;
    if (tree.kind == SolutionNode::Kind::stump)
        return best_allowed_stump(objective, data, rows, settings, tree.objective).splits ? 1 : 0;
    const auto parted = data.part(tree.split, rows);
    return 1 + count_splits(*tree.left, data, parted.left, objective, settings) +
           count_splits(*tree.right, data, parted.right, objective, settings);
}

double objective_of(const SolutionNode& tree, const Dataset& data, std::span<const std::uint32_t> rows,
                    const Objective& objective, const SearchSettings& settings) {
    switch (tree.kind) {
        case SolutionNode::Kind::leaf:
            return leaf_loss_of_rows(objective, data, rows);
        case SolutionNode::Kind::stump:
            return best_allowed_stump(objective, data, rows, settings, tree.objective).objective;
        case SolutionNode::Kind::split:
            break;
    }
    const auto parted = data.part(tree.split, rows);
    return settings.prices.of(tree.split.feature) +
           objective_of(*tree.left, data, parted.left, objective, settings) +
           objective_of(*tree.right, data, parted.right, objective, settings);
}

}  // namespace codt
