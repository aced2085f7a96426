// The 18 strategies of the paper (sections "Search Strategies" and appendix "Search Strategies"). A
// nineteenth is one more row at the end: Python, the command line, the study and the tests read this table;
// docs/strategies.md describes it.
#include <stdexcept>

#include "strategies/strategy.hpp"

namespace codt {

namespace {

using enum Criterion;
using Kind = Heuristic::Kind;

// Makes the term it multiplies a tie breaker (paper, table of BFS heuristics).
constexpr double epsilon = 1e-6;

const std::vector<Criterion> contree_order{expanded, feature_rank, interval_size, interval_start};
const std::vector<Criterion> prio_order{expanded, lower_bound, feature_rank, interval_size, interval_start};
const std::vector<Criterion> best_first_order{heuristic, expanded, feature_rank, interval_start};

Strategy depth_first(const char* name, const char* description, std::vector<Criterion> priority,
                     LeftRight left_right) {
    return {name, description, std::move(priority), left_right, ThresholdChoice::midpoint, {}};
}

Strategy best_first(const char* name, const char* description, Heuristic heuristic,
                    ThresholdChoice threshold = ThresholdChoice::midpoint) {
    return {name, description, best_first_order, LeftRight::heuristic, threshold, std::move(heuristic)};
}

Heuristic linear(double lower_bound, double support) {
    return {Kind::linear, lower_bound, support, {}};
}

}  // namespace

const std::vector<Strategy>& strategy_registry() {
    static const std::vector<Strategy> registry{
        depth_first("dfs-random", "depth first in random order", {expanded, Criterion::random},
                    LeftRight::random),
        depth_first("dfs-contree", "depth first in ConTree's order: feature rank, then larger intervals",
                    contree_order, LeftRight::upper_bound),
        depth_first("dfs-prio", "depth first, lowest lower bound next", prio_order, LeftRight::upper_bound),
        depth_first("dfs-blossom", "dfs-prio, left and right subtrees expanded in balance", prio_order,
                    LeftRight::fewest_expansions),
        best_first("bfs-random", "best first by a random number", {Kind::random, 0, 0, {}}),
        best_first("bfs-curiosity", "best first by LB / |D|", {Kind::curiosity, 0, 0, {}}),
        best_first("bfs-lb", "best first by LB", linear(1, 0)),
        best_first("bfs-small", "best first by |D|: small nodes first", linear(0, 1)),
        best_first("bfs-large", "best first by -|D|: large nodes first", linear(0, -1)),
        best_first("bfs-large-lb", "best first by LB - |D|, the order of GOSDT", linear(1, -1)),
        best_first("bfs-small-lb", "best first by LB + |D|", linear(1, 1)),
        best_first("bfs-lb-t-large", "best first by LB, ties to larger nodes", linear(1, -epsilon)),
        best_first("bfs-lb-t-small", "best first by LB, ties to smaller nodes", linear(1, epsilon)),
        best_first("bfs-large-t-lb", "best first by -|D|, ties to lower LB", linear(epsilon, -1)),
        best_first("bfs-small-t-lb", "best first by |D|, ties to lower LB", linear(epsilon, 1)),
        best_first("lds", "limited discrepancy, split with the lowest discrepancy first",
                   {Kind::discrepancy, 0, 0, {}}, ThresholdChoice::lowest_discrepancy),
        best_first("lds-mid", "limited discrepancy, intervals halved", {Kind::discrepancy, 0, 0, {}}),
        {"and-or",
         "AND-OR search: lowest lower bound of the current node",
         {lower_bound, expanded, feature_rank, interval_size, interval_start},
         LeftRight::upper_bound,
         ThresholdChoice::midpoint,
         {}},
    };
    return registry;
}

const Strategy& strategy_named(const std::string& name) {
    for (const Strategy& strategy : strategy_registry())
        if (strategy.name == name) return strategy;
    throw std::invalid_argument("there is no strategy '" + name + "'");
}

const std::vector<Criterion>& memory_saving_order() {
    return prio_order;
}

}  // namespace codt
