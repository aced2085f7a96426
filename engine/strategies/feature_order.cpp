#include "strategies/feature_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace codt {

namespace {

// Position of every element when sorted ascending, ties by index.
std::vector<std::uint32_t> positions(std::span<const double> scores) {
    std::vector<std::uint32_t> sorted(scores.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return scores[a] < scores[b]; });
    std::vector<std::uint32_t> position(scores.size());
    for (std::uint32_t k = 0; k < sorted.size(); ++k) position[sorted[k]] = k;
    return position;
}

}  // namespace

FeatureOrder order_features(const Objective& objective, const LeafLimits& limits, const Subset& subset,
                            bool with_discrepancy, StopCondition* stop) {
    FeatureOrder order;
    if (with_discrepancy) order.discrepancy.resize(subset.features());
    order.threshold.resize(subset.features());
    std::vector<double> best(subset.features(), std::numeric_limits<double>::infinity());
    objective.split_scores(subset, [&](std::uint32_t f, std::span<const double> scores) {
        if (stop) stop->check();
        if (with_discrepancy) order.discrepancy[f] = positions(scores);
        const auto possible = limits.thresholds(subset, f);
        if (possible.first >= possible.end) return;
        const auto least = std::min_element(scores.begin() + possible.first, scores.begin() + possible.end);
        best[f] = *least;
        order.threshold[f] = static_cast<std::uint32_t>(least - scores.begin());
        if (!order.splits || best[f] < best[order.best_feature]) {
            order.splits = true;
            order.best_feature = f;
            order.best_threshold = order.threshold[f];
        }
    });
    order.rank = positions(best);
    return order;
}

}  // namespace codt
