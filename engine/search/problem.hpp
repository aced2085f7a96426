// The problem that a search solves: the data and the objective, made from the caller's arrays and options.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/memory.hpp"
#include "common/stop.hpp"
#include "data/dataset.hpp"
#include "objectives/objective.hpp"
#include "objectives/registry.hpp"
#include "objectives/targets.hpp"
#include "rules/leaf_limits.hpp"

namespace codt {

struct Problem {
    std::shared_ptr<const Dataset> data;
    std::shared_ptr<const Objective> objective;
};

struct ProblemOptions {
    // Merges equal rows into one row with a weight, if there are enough of them to pay off, if the objective
    // has a form for such rows and if there are no limits on what leaves hold. The loss of every tree stays
    // the same.
    bool merge_rows = true;
    LeafLimits leaf_limits = {};
    std::int64_t memory_limit = no_memory_limit;  // bytes
};

// `x` is row-major with as many rows as the targets. Throws if the limit on memory is too low for a search on
// these data to begin. `stop`, if given, ends the sorting with Stopped.
Problem make_problem(const ObjectiveChoice& choice, std::span<const double> x, const Targets& targets,
                     const ProblemOptions& options, StopCondition* stop = nullptr);

}  // namespace codt
