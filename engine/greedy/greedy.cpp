#include "greedy/greedy.hpp"

#include <utility>
#include <vector>

namespace codt {

GreedyTree grow_greedy(const Dataset& data, const Objective& objective, const Subset& subset,
                       const FeatureOrder& order, const Budget& budget, const SearchSettings& settings,
                       StopCondition* stop) {
    GreedyTree leaf{objective.leaf_loss(subset), leaf_solution()};
    if (budget.depth == 0 || leaf.objective <= settings.prices.least() || !order.splits) return leaf;
    GreedyTree trees[2] = {{0, leaf_solution()}, {0, leaf_solution()}};
    objective.leaf_losses(subset, order.best_feature, order.best_threshold, trees[0].objective,
                          trees[1].objective);
    if (budget.depth > 1) {
        const std::uint32_t left_leaves = budget.share_by_loss(trees[0].objective, trees[1].objective);
        Subset sides[2];
        std::vector<std::uint32_t> scratch;
        subset.split(order.best_feature, order.best_threshold, sides[0], sides[1], scratch);
        for (int s = 0; s < 2; ++s)
            trees[s] = grow_greedy(data, objective, sides[s],
                                   order_features(objective, settings.rules.leaves, sides[s], false, stop),
                                   budget.of_side(s, left_leaves).on(sides[s].size()), settings, stop);
    }
    const double total = trees[0].objective + trees[1].objective + settings.prices.of(order.best_feature);
    if (total >= leaf.objective || !settings.allows(leaf.objective, total)) return leaf;
    return {total, split_solution(subset.split_at(data, order.best_feature, order.best_threshold),
                                  std::move(trees[0].solution), std::move(trees[1].solution))};
}

}  // namespace codt
