#include "greedy/greedy.hpp"

#include <utility>
#include <vector>

namespace codt {

namespace {

// By which a node chooses among the best splits of all features.
enum class Choice { impurity, price };

struct Cut {
    std::uint32_t feature, threshold;
    double losses[2];  // of the leaves
};

Cut cut_at(const Objective& objective, const Subset& subset, std::uint32_t feature, std::uint32_t threshold) {
    Cut cut{feature, threshold, {}};
    objective.leaf_losses(subset, feature, threshold, cut.losses[0], cut.losses[1]);
    return cut;
}

Cut choose(Choice choice, const Objective& objective, const Subset& subset, const FeatureOrder& order,
           const SearchSettings& settings) {
    Cut best = cut_at(objective, subset, order.best_feature, order.best_threshold);
    if (choice == Choice::impurity) return best;
    const auto worth = [&](const Cut& cut) {
        return cut.losses[0] + cut.losses[1] + settings.prices.of(cut.feature);
    };
    for (std::uint32_t f = 0; f < subset.features(); ++f) {
        const auto possible = settings.rules.leaves.thresholds(subset, f);
        if (possible.first >= possible.end) continue;
        const Cut cut = cut_at(objective, subset, f, order.threshold[f]);
        if (worth(cut) < worth(best)) best = cut;
    }
    return best;
}

GreedyTree grow(Choice choice, const Dataset& data, const Objective& objective, const Subset& subset,
                const FeatureOrder& order, const Budget& budget, const SearchSettings& settings,
                StopCondition* stop) {
    GreedyTree leaf{objective.leaf_loss(subset), leaf_solution()};
    if (budget.depth == 0 || leaf.objective <= settings.prices.least() || !order.splits) return leaf;
    const Cut cut = choose(choice, objective, subset, order, settings);
    GreedyTree trees[2] = {{cut.losses[0], leaf_solution()}, {cut.losses[1], leaf_solution()}};
    if (budget.depth > 1) {
        const std::uint32_t left_leaves = budget.share_by_loss(trees[0].objective, trees[1].objective);
        Subset sides[2];
        Splitter splitter;
        subset.split(cut.feature, cut.threshold, sides[0], sides[1], splitter);
        for (int s = 0; s < 2; ++s)
            trees[s] = grow(choice, data, objective, sides[s],
                            order_features(objective, settings.rules.leaves, sides[s], false, stop),
                            budget.of_side(s, left_leaves).on(sides[s].size()), settings, stop);
    }
    const double total = trees[0].objective + trees[1].objective + settings.prices.of(cut.feature);
    if (total >= leaf.objective || !settings.allows(leaf.objective, total)) return leaf;
    return {total, split_solution(subset.split_at(data, cut.feature, cut.threshold),
                                  std::move(trees[0].solution), std::move(trees[1].solution))};
}

}  // namespace

GreedyTree grow_greedy(const Dataset& data, const Objective& objective, const Subset& subset,
                       const FeatureOrder& order, const Budget& budget, const SearchSettings& settings,
                       StopCondition* stop) {
    GreedyTree tree = grow(Choice::impurity, data, objective, subset, order, budget, settings, stop);
    if (settings.prices.uniform()) return tree;
    GreedyTree priced = grow(Choice::price, data, objective, subset, order, budget, settings, stop);
    return priced.objective < tree.objective ? std::move(priced) : std::move(tree);
}

}  // namespace codt
