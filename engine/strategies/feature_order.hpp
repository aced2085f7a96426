// Feature rank and split discrepancy (paper, "Limited discrepancy search"): the rank of a feature by the
// impurity of its best split, and of a split among the splits of its feature.
#pragma once

#include <cstdint>
#include <vector>

#include "data/subset.hpp"
#include "objectives/objective.hpp"
#include "rules/leaf_limits.hpp"

namespace codt {

struct FeatureOrder {
    bool splits = false;                                  // whether any feature can be split on
    std::uint32_t best_feature = 0, best_threshold = 0;   // the split of lowest impurity
    std::vector<std::uint32_t> rank;                      // per feature, zero-based
    std::vector<std::uint32_t> threshold;                 // per feature, the one of lowest impurity
    std::vector<std::vector<std::uint32_t>> discrepancy;  // per feature and threshold, if asked for

    // Bytes this object holds in memory.
    std::size_t bytes() const {
        std::size_t cells = rank.capacity() + threshold.capacity();
        for (const auto& row : discrepancy) cells += row.capacity();
        return cells * sizeof(std::uint32_t) + discrepancy.capacity() * sizeof(discrepancy[0]);
    }
};

// Considers only splits whose sides keep to `limits`. `stop`, if given, is checked for every feature and ends
// the computation with Stopped.
FeatureOrder order_features(const Objective& objective, const LeafLimits& limits, const Subset& subset,
                            bool with_discrepancy, StopCondition* stop = nullptr);

}  // namespace codt
