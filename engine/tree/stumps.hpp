// The best trees of depth at most one, and the objective of a tree in which such trees stand at the bottom
// (see solution.hpp): as the search computes them, from the data alone.
#pragma once

#include <cstdint>
#include <span>

#include "data/subset.hpp"
#include "objectives/objective.hpp"
#include "rules/bound.hpp"
#include "rules/settings.hpp"
#include "tree/solution.hpp"

namespace codt {

// The objectives of the best trees of depth at most one on a subproblem.
Bound best_stump_value(const Objective& objective, const Subset& subset, const SearchSettings& settings);

// The loss of a leaf that holds some rows, in internal units, as the search computes it: the reported loss
// may differ from it by rounding, which must not make two trees seem different.
double leaf_loss_of_rows(const Objective& objective, const Dataset& data,
                         std::span<const std::uint32_t> rows);

// The best allowed tree of depth at most one on some rows; `enough` as in Objective::best_stump.
Objective::Stump best_allowed_stump(const Objective& objective, const Dataset& data,
                                    std::span<const std::uint32_t> rows, const SearchSettings& settings,
                                    double enough);

// The number of splits of a tree on some rows.
std::size_t count_splits(const SolutionNode& tree, const Dataset& data, std::span<const std::uint32_t> rows,
                         const Objective& objective, const SearchSettings& settings);

// The objective of a tree on some rows, in internal units, as the search computes it.
double objective_of(const SolutionNode& tree, const Dataset& data, std::span<const std::uint32_t> rows,
                    const Objective& objective, const SearchSettings& settings);

}  // namespace codt
