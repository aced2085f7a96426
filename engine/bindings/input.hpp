// The data of a search, checked: whatever passes is safe to hand to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bindings/arrays.hpp"
#include "objectives/targets.hpp"

namespace codt::bindings {

// What Python says about the targets other than their values.
struct TargetOptions {
    const std::string& task;
    std::int64_t n_classes;
    const std::optional<Column>& weights;
    const std::optional<Matrix>& costs;
};

void check_features(const Matrix& x);
void check_feature_costs(std::span<const double> costs, std::size_t features);
// The targets refer to the arrays, which have to outlive them. `x` is checked already.
Targets targets_from(const Matrix& x, const Values& y, const TargetOptions& options);

}  // namespace codt::bindings
