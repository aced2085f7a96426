// For every prediction one other is remembered that has cost no sample more so far. Where a sample
// contradicts that, the next one is sought that has cost no sample more up to there; as a rule that takes a
// few samples. So the costs are read once, with one comparison for each of them.
#include "objectives/dominated.hpp"

#include <algorithm>
#include <numeric>

namespace codt {

std::vector<std::uint32_t> undominated_predictions(std::span<const double> costs, std::uint32_t predictions) {
    const std::size_t rows = costs.size() / predictions;
    const auto cost = [&](std::size_t row, std::uint32_t prediction) {
        return costs[row * predictions + prediction];
    };
    // Whether `other` costs none of the first samples more.
    const auto dominates = [&](std::uint32_t other, std::uint32_t prediction, std::size_t first) {
        for (std::size_t row = 0; row < first; ++row)
            if (cost(row, other) > cost(row, prediction)) return false;
        return true;
    };
    // `predictions` stands for none.
    std::vector<std::uint32_t> dominator(predictions, 0);
    const auto next = [&](std::uint32_t prediction, std::size_t first) {
        std::uint32_t& other = dominator[prediction];
        while (other < predictions && (other == prediction || !dominates(other, prediction, first))) ++other;
        return other < predictions;
    };
    std::vector<std::uint32_t> in_question;
    for (std::uint32_t prediction = 0; prediction < predictions; ++prediction)
        if (next(prediction, 0)) in_question.push_back(prediction);
    for (std::size_t row = 0; row < rows && !in_question.empty(); ++row)
        std::erase_if(in_question, [&](std::uint32_t prediction) {
            return cost(row, dominator[prediction]) > cost(row, prediction) && !next(prediction, row + 1);
        });

    // Whoever follows the dominators from one prediction to the next ends at one that has none, or in a
    // circle of predictions that cost the same, of which the first remains.
    std::vector<std::uint32_t> remaining;
    for (std::uint32_t prediction = 0; prediction < predictions; ++prediction) {
        std::uint32_t other = dominator[prediction];
        bool is_first = true;
        for (std::uint32_t steps = 0; other != prediction && other < predictions && steps < predictions;
             ++steps) {
            is_first = is_first && prediction < other;
            other = dominator[other];
        }
        const bool in_circle = other == prediction;
        if (dominator[prediction] == predictions || (in_circle && is_first)) remaining.push_back(prediction);
    }
    return remaining;
}

}  // namespace codt
