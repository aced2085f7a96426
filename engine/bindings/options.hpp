// The options of a search and of a run of it, other than arrays and functions. The two tables in options.cpp
// are the only place that knows names, types, ranges and fields: a new row there is a new option.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "bindings/convert.hpp"
#include "bindings/rows.hpp"
#include "objectives/registry.hpp"
#include "search/search.hpp"

namespace codt::bindings {

struct SearchRequest {
    std::string task;
    std::uint32_t n_classes = 0;  // of a classification task
    ObjectiveChoice objective;
    std::string kernel = "auto";
    std::uint32_t min_leaf_samples = 1;
    double min_leaf_weight = 0;
    bool merge_rows = true;                                       // see ProblemOptions
    double time_limit = std::numeric_limits<double>::infinity();  // to sort the data and prepare the root
    SearchOptions search{.rules = {.budget = {.depth = 3}}};      // except what is computed from the above
    HeldFunctions held;                                           // by the strategies
};

struct RunRequest {
    double time_limit = std::numeric_limits<double>::infinity();  // seconds
    RunLimits limits;
};

const Table<SearchRequest>& search_options();
const Table<RunRequest>& run_options();

}  // namespace codt::bindings
