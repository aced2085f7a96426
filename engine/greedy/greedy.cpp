#include "greedy/greedy.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace codt {

GreedyTree grow_greedy(const Dataset& data, const Objective& objective, const Subset& subset,
                       std::uint32_t depth, double lambda) {
    GreedyTree leaf{objective.leaf_loss(subset), leaf_solution()};
    if (depth == 0 || leaf.objective <= lambda) return leaf;

    double best = std::numeric_limits<double>::infinity();
    std::uint32_t feature = 0, threshold = 0;
    std::vector<double> scores;
    for (std::uint32_t f = 0; f < subset.features(); ++f) {
        objective.split_scores(subset, f, scores);
        for (std::uint32_t i = 0; i < scores.size(); ++i) {
            if (scores[i] < best) {
                best = scores[i];
                feature = f;
                threshold = i;
            }
        }
    }
    if (best == std::numeric_limits<double>::infinity()) return leaf;  // all rows are equal

    Subset left, right;
    std::vector<std::uint32_t> scratch;
    subset.split(feature, threshold, left, right, scratch);
    GreedyTree l = grow_greedy(data, objective, left, depth - 1, lambda);
    GreedyTree r = grow_greedy(data, objective, right, depth - 1, lambda);
    const double total = l.objective + r.objective + lambda;
    if (total >= leaf.objective) return leaf;
    return {total, split_solution(feature, subset.threshold_value(data, feature, threshold),
                                  std::move(l.solution), std::move(r.solution))};
}

}  // namespace codt
