#include "strategies/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace codt {

bool Strategy::uses(Criterion criterion) const {
    return std::find(priority.begin(), priority.end(), criterion) != priority.end();
}

bool Strategy::needs_discrepancy() const {
    return threshold == ThresholdChoice::lowest_discrepancy ||
           (needs_heuristic() &&
            (heuristic.kind == Heuristic::Kind::discrepancy || heuristic.kind == Heuristic::Kind::function));
}

double heuristic_value(const Heuristic& heuristic, const NodeState& state, double random) {
    switch (heuristic.kind) {
        case Heuristic::Kind::none:
            return 0.0;
        case Heuristic::Kind::linear:
            return heuristic.lower_bound_weight * state.lower_bound +
                   heuristic.support_weight * state.support;
        case Heuristic::Kind::curiosity:
            return state.lower_bound / state.support;
        case Heuristic::Kind::random:
            return random;
        case Heuristic::Kind::discrepancy: {
            // M (r + s) + s - m d (paper, appendix "BFS Variants"): M exceeds any s, m d stays below one, and
            // all three terms fit the 53 bits of a double.
            constexpr double large = 0x1.0p24;
            constexpr double small = 0x1.0p-6;
            const double r = state.feature_rank;
            const double s = state.split_discrepancy;
            return large * (r + s) + s - small * std::min(state.depth, 63.0);
        }
        case Heuristic::Kind::function: {
            const double value = heuristic.function(state);
            if (std::isnan(value)) throw std::invalid_argument("heuristic: expected a number, got NaN");
            return value;
        }
    }
    return 0.0;
}

namespace {

template <class Enum>
struct Named {
    Enum value;
    const char* name;
};

constexpr Named<Criterion> criteria[] = {
    {Criterion::expanded, "expanded"},
    {Criterion::lower_bound, "lower-bound"},
    {Criterion::heuristic, "heuristic"},
    {Criterion::feature_rank, "feature-rank"},
    {Criterion::interval_size, "interval-size"},
    {Criterion::interval_start, "interval-start"},
    {Criterion::random, "random"},
};
constexpr Named<LeftRight> left_rights[] = {
    {LeftRight::upper_bound, "upper-bound"},
    {LeftRight::fewest_expansions, "fewest-expansions"},
    {LeftRight::heuristic, "heuristic"},
    {LeftRight::random, "random"},
};
constexpr Named<ThresholdChoice> threshold_choices[] = {
    {ThresholdChoice::midpoint, "midpoint"},
    {ThresholdChoice::lowest_discrepancy, "lowest-discrepancy"},
};

template <class Enum, std::size_t N>
const char* find_name(const Named<Enum> (&table)[N], Enum value) {
    for (const auto& row : table)
        if (row.value == value) return row.name;
    return "";
}

template <class Enum, std::size_t N>
Enum find_value(const Named<Enum> (&table)[N], const std::string& name, const char* parameter) {
    std::string known;
    for (const auto& row : table) {
        if (name == row.name) return row.value;
        known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    throw std::invalid_argument(std::string(parameter) + ": expected one of " + known + ", got '" + name +
                                "'");
}

}  // namespace

const char* name_of(Criterion criterion) {
    return find_name(criteria, criterion);
}
const char* name_of(LeftRight choice) {
    return find_name(left_rights, choice);
}
const char* name_of(ThresholdChoice choice) {
    return find_name(threshold_choices, choice);
}
Criterion criterion_from(const std::string& name) {
    return find_value(criteria, name, "priority");
}
LeftRight left_right_from(const std::string& name) {
    return find_value(left_rights, name, "left_right");
}
ThresholdChoice threshold_choice_from(const std::string& name) {
    return find_value(threshold_choices, name, "threshold");
}

}  // namespace codt
