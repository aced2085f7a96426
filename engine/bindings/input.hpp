// The data of a search, checked: whatever passes is safe to hand to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bindings/arrays.hpp"
#include "objectives/targets.hpp"
#include "rules/tree_rules.hpp"

namespace codt::bindings {

// What Python says of the targets beside their values.
struct TargetOptions {
    const std::string& task;
    std::int64_t n_classes;
    const std::optional<Column>& weights;
    const std::optional<Matrix>& costs;
};

// What Python says of the trees that are allowed.
struct RuleOptions {
    std::int64_t max_depth;
    const std::optional<std::int64_t>& max_leaves;
    double min_decrease;
    std::int64_t min_leaf_samples;
    double min_leaf_weight;
};

void check_features(const Matrix& x);
// The targets refer to the arrays, which have to outlive them. `x` is checked already.
Targets targets_from(const Matrix& x, const Values& y, const TargetOptions& options);
TreeRules rules_from(const Targets& targets, const RuleOptions& options);

}  // namespace codt::bindings
