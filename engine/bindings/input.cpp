#include "bindings/input.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace codt::bindings {

namespace {

// Row numbers are 31 bits: one bit of a 32-bit word marks the side of a split.
constexpr std::size_t most_rows = 0x7fffffff;
constexpr std::int64_t most_classes = 65535;

void check_finite(std::span<const double> values, const char* name) {
    for (const double value : values)
        if (!std::isfinite(value))
            refuse(std::string(name) + ": expected finite numbers, got " + std::to_string(value));
}

void check_targets(const Values& y, std::size_t rows) {
    if (y.ndim() < 1 || y.ndim() > 2 || y.size() == 0)
        refuse("y: expected a vector or a matrix, one row for each row of X");
    if (y.shape(0) != rows)
        refuse("y: expected " + std::to_string(rows) + " entries, one for each row of X, got " +
               std::to_string(y.shape(0)));
    check_finite({y.data(), y.size()}, "y");
}

std::span<const double> weights_from(const Column& weights, std::size_t rows) {
    if (weights.shape(0) != rows)
        refuse("weights: expected " + std::to_string(rows) + " entries, got " +
               std::to_string(weights.shape(0)));
    const std::span<const double> values{weights.data(), rows};
    for (const double weight : values)
        if (!(weight > 0) || !std::isfinite(weight))
            refuse("weights: expected finite numbers above 0, got " + std::to_string(weight));
    return values;
}

std::span<const double> costs_from(const Matrix& costs, std::size_t rows, std::uint32_t classes) {
    if (costs.shape(0) != rows || costs.shape(1) != classes)
        refuse("costs: expected one row for each row of X and one column for each class");
    const std::span<const double> values{costs.data(), costs.size()};
    for (const double cost : values)
        if (!(cost >= 0) || !std::isfinite(cost))
            refuse("costs: expected finite numbers of at least 0, got " + std::to_string(cost));
    return values;
}

}  // namespace

void check_features(const Matrix& x) {
    if (x.shape(0) < 1 || x.shape(0) > most_rows)
        refuse("X: expected 1 to 2147483647 rows, got " + std::to_string(x.shape(0)));
    if (x.shape(1) < 1 || x.shape(1) > most_rows)
        refuse("X: expected at least one column, got " + std::to_string(x.shape(1)));
    // Infinite values stand for missing ones, below or above all others.
    for (const double value : std::span<const double>(x.data(), x.size()))
        if (std::isnan(value)) refuse("X: expected numbers, got NaN");
}

void check_feature_costs(std::span<const double> costs, std::size_t features) {
    if (!costs.empty() && costs.size() != features)
        refuse("feature_costs: expected one for each column of X, got " + std::to_string(costs.size()));
    for (const double cost : costs)
        if (!(cost >= 0) || !std::isfinite(cost))
            refuse("feature_costs: expected finite numbers of at least 0, got " + std::to_string(cost));
}

Targets targets_from(const Matrix& x, const Values& y, const TargetOptions& options) {
    const std::size_t rows = x.shape(0);
    check_targets(y, rows);
    const bool classification = options.task == "classification";
    if (!classification && options.task != "regression")
        refuse("task: expected one of classification, regression, got '" + options.task + "'");
    if (classification && (options.n_classes < 1 || options.n_classes > most_classes))
        refuse("n_classes: expected 1 to 65535, got " + std::to_string(options.n_classes));
    Targets targets;
    targets.y = {y.data(), y.size()};
    targets.classes = static_cast<std::uint32_t>(classification ? options.n_classes : 0);
    targets.outputs = static_cast<std::uint32_t>(y.size() / rows);
    if (classification && targets.outputs != 1) refuse("y: expected one column of classes");
    if (options.weights) targets.weights = weights_from(*options.weights, rows);
    if (options.costs) targets.costs = costs_from(*options.costs, rows, targets.classes);
    return targets;
}

}  // namespace codt::bindings
