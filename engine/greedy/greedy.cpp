#include "greedy/greedy.hpp"

#include <utility>
#include <vector>

namespace codt {

GreedyTree grow_greedy(const Dataset& data, const Objective& objective, const Subset& subset,
                       const FeatureOrder& order, std::uint32_t depth, double lambda, StopCondition* stop) {
    GreedyTree leaf{objective.leaf_loss(subset), leaf_solution()};
    if (depth == 0 || leaf.objective <= lambda || !order.splits) return leaf;
    GreedyTree trees[2] = {{0, leaf_solution()}, {0, leaf_solution()}};
    if (depth == 1) {
        objective.leaf_losses(subset, order.best_feature, order.best_threshold, trees[0].objective,
                              trees[1].objective);
    } else {
        Subset sides[2];
        std::vector<std::uint32_t> scratch;
        subset.split(order.best_feature, order.best_threshold, sides[0], sides[1], scratch);
        for (int s = 0; s < 2; ++s)
            trees[s] = grow_greedy(data, objective, sides[s],
                                   order_features(objective, sides[s], false, stop), depth - 1, lambda, stop);
    }
    const double total = trees[0].objective + trees[1].objective + lambda;
    if (total >= leaf.objective) return leaf;
    const double threshold = subset.threshold_value(data, order.best_feature, order.best_threshold);
    return {total, split_solution(order.best_feature, threshold, std::move(trees[0].solution),
                                  std::move(trees[1].solution))};
}

}  // namespace codt
