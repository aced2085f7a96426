#include "search/problem.hpp"

#include <stdexcept>

#include "data/equal_rows.hpp"
#include "terminal/worker.hpp"

namespace codt {

namespace {

// A search on fewer rows takes no noticeable time anyway.
constexpr std::uint32_t least_rows = 200;

bool may_merge(const Objective& objective, const Targets& targets, const LeafLimits& limits) {
    return objective.maker_for_merged_rows() && !limits.any() && targets.rows() >= least_rows;
}

void check_memory(std::int64_t limit, std::size_t rows, std::size_t columns, const Objective& objective) {
    // The sorted data, the view of all rows, and one thread's workspace.
    const std::size_t least =
        3 * rows * columns * sizeof(std::uint32_t) + 8 * rows + Worker::bytes(rows, columns, objective);
    if (limit < static_cast<std::int64_t>(least))
        throw std::invalid_argument("memory_limit: " + std::to_string(limit) + " bytes are less than the " +
                                    std::to_string(least) + " that a search on these data needs to begin");
}

}  // namespace

Problem make_problem(const ObjectiveChoice& choice, std::span<const double> x, const Targets& targets,
                     const ProblemOptions& options, StopCondition* stop) {
    const auto rows = static_cast<std::uint32_t>(targets.rows());
    const auto columns = static_cast<std::uint32_t>(x.size() / rows);
    auto objective = make_objective(choice, targets);
    check_memory(options.memory_limit, rows, columns, *objective);
    auto data = std::make_shared<const Dataset>(x, rows, columns, stop);
    if (options.merge_rows && may_merge(*objective, targets, options.leaf_limits)) {
        // Scans with weights take up to 1.5 times as long per row: with more different rows there is no gain.
        if (const auto equal = find_equal_rows(*data, targets.y, rows / 2)) {
            std::vector<double> labels, weights;
            for (std::size_t i = 0; i < equal->first.size(); ++i) {
                labels.push_back(targets.y[equal->first[i]]);
                weights.push_back(equal->count[i]);
            }
            Targets merged = targets;
            merged.y = labels;
            merged.weights = weights;
            return {std::make_shared<const Dataset>(*data, equal->first, equal->count),
                    objective->maker_for_merged_rows()(merged)};
        }
    }
    return {std::move(data), std::move(objective)};
}

}  // namespace codt
