#include "search/problem.hpp"

#include "data/equal_rows.hpp"
#include "objectives/registry.hpp"

namespace codt {

namespace {

// Fewer are searched in no time.
constexpr std::uint32_t least_rows = 200;

bool may_merge(const std::string& objective, const Targets& targets) {
    return objective == "misclassification" && targets.min_leaf_samples <= 1 &&
           targets.min_leaf_weight <= 0 && targets.rows() >= least_rows;
}

}  // namespace

Problem make_problem(const std::string& objective, std::span<const double> x, const Targets& targets,
                     bool merge, StopCondition* stop) {
    const auto rows = static_cast<std::uint32_t>(targets.rows());
    auto data = std::make_shared<const Dataset>(x, rows, static_cast<std::uint32_t>(x.size() / rows), stop);
    if (merge && may_merge(objective, targets)) {
        // Scans with weights take up to half as long again for each row: where more are different, no gain.
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
                    make_objective("weighted-misclassification", merged)};
        }
    }
    return {std::move(data), make_objective(objective, targets)};
}

}  // namespace codt
