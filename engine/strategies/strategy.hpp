// A search strategy (paper, section "Search Strategies"): three independent choices, one for each case of
// Select, and a heuristic that some of them use.
//
//   priority    the order of the children of an OR node, a list of criteria, the first that differs decides
//   left_right  which child of an AND node goes first
//   threshold   where to split an interval of thresholds
//   heuristic   the value H of an unexpanded node
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace codt {

enum class Criterion {
    expanded,        // expanded (AND) nodes first
    lower_bound,     // lowest first
    heuristic,       // lowest first
    feature_rank,    // best feature by impurity first
    interval_size,   // most thresholds first
    interval_start,  // lowest start first
    random,
};

enum class LeftRight { upper_bound, fewest_expansions, heuristic, random };

enum class ThresholdChoice { midpoint, lowest_discrepancy };

// What a heuristic may look at: the state of an unexpanded node.
struct NodeState {
    double lower_bound = 0;
    double support = 0;            // samples of the OR node
    double depth = 0;              // depth budget of the OR node
    double feature_rank = 0;       // zero-based
    double split_discrepancy = 0;  // of the best split in the interval, zero-based
};

struct Heuristic {
    enum class Kind { none, linear, curiosity, random, discrepancy, function };
    Kind kind = Kind::none;
    double lower_bound_weight = 0;  // linear: a * LB + b * |D|
    double support_weight = 0;
    std::function<double(const NodeState&)> function;
};

struct Strategy {
    std::string name;
    std::string description;
    std::vector<Criterion> priority;
    LeftRight left_right = LeftRight::upper_bound;
    ThresholdChoice threshold = ThresholdChoice::midpoint;
    Heuristic heuristic;

    bool uses(Criterion criterion) const;
    bool needs_heuristic() const { return uses(Criterion::heuristic) || left_right == LeftRight::heuristic; }
    bool needs_discrepancy() const;
};

// H of an unexpanded node. `random` is a uniform number drawn once for the node. Throws if a custom function
// returns NaN.
double heuristic_value(const Heuristic& heuristic, const NodeState& state, double random);

// The 18 strategies of the paper, in its order.
const std::vector<Strategy>& strategy_registry();
// The strategy of this name; throws if there is none.
const Strategy& strategy_named(const std::string& name);
// The order of the children of an OR node when memory is short: that of dfs-prio, which opens few nodes
// (paper, appendix "Select").
const std::vector<Criterion>& memory_saving_order();

// Names as users write them.
const char* name_of(Criterion criterion);
const char* name_of(LeftRight choice);
const char* name_of(ThresholdChoice choice);
Criterion criterion_from(const std::string& name);
LeftRight left_right_from(const std::string& name);
ThresholdChoice threshold_choice_from(const std::string& name);

}  // namespace codt
