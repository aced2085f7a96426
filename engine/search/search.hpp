// The search (paper, Alg. 1): Select, Expand and BackPropagate until the root is complete. Each of the three
// has a file of its own: select.cpp, expand.cpp, backpropagate.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/random.hpp"
#include "common/stop.hpp"
#include "data/dataset.hpp"
#include "objectives/objective.hpp"
#include "search/or_node.hpp"
#include "search/settings.hpp"
#include "strategies/strategy.hpp"
#include "terminal/depth_two.hpp"
#include "tree/read_out.hpp"

namespace codt {

// Where the search tree ends (paper, appendix "Terminal Case").
enum class Terminal {
    leaf,        // depth budget zero
    left_right,  // an AND node of depth two: both sides are solved at once
    depth_two,   // an OR node of depth two
};

struct SearchOptions {
    std::uint32_t max_depth = 3;
    double penalty = 0;  // lambda, in reported units
    Strategy strategy;
    Strategy depth_two_strategy;
    Terminal terminal = Terminal::depth_two;
    bool greedy = true;  // start from the CART tree
    BoundSwitches bounds;
    KernelChoice kernel;
    std::uint64_t seed = 0;
    bool log_expansions = false;
};

struct TracePoint {
    double seconds;
    std::uint64_t expansions;
    double lower, upper;
};

// One call of Expand, for those who want to watch: the splits from the root to the OR node, and the new one.
struct ExpansionRecord {
    struct Step {
        std::uint32_t feature;
        double threshold;
        bool left;
    };
    std::vector<Step> path;
    std::uint32_t feature = 0;
    double threshold = 0;
};

enum class RunStatus { optimal, time_limit, expansion_limit, interrupted };

class Search {
 public:
    Search(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
           SearchOptions options);

    // Goes on until the root is complete, a limit is reached or the stop condition holds. Can be called
    // again, but not after an exception (from a custom heuristic): the incumbent is then still there, the
    // search is over.
    RunStatus run(StopCondition& stop, std::uint64_t max_expansions);

    bool complete() const { return root_.complete; }
    double lower_bound() const;
    double upper_bound() const;
    std::uint64_t expansions() const { return root_.expansions; }
    const ScanCounters& scan_counters() const { return depth_two_.counters(); }
    const std::vector<TracePoint>& trace() const { return trace_; }
    const std::vector<ExpansionRecord>& expansion_log() const { return log_; }

    // The incumbent. Checks that its loss, computed from the tree alone, is the upper bound.
    FlatTree tree() const;

 private:
    using Slot = Children::Slot;

    struct Selection {
        OrNode* node;
        Slot interval;
        std::uint32_t threshold;
    };

    // select.cpp
    std::optional<Selection> select();
    int select_side(const AndNode& node);

    // expand.cpp
    bool expand(const Selection& selection, StopCondition& stop);
    bool solve_terminal_root(StopCondition& stop);
    void open(OrNode& node);
    bool make_branches(const Selection& selection, AndNode& result, StopCondition& stop);
    bool solve_branch(const Subset& subset, const OrNode& parent, const DepthTwoSolver::Limits& limits,
                      Branch& branch, StopCondition& stop);
    void open_branch(Subset subset, const Selection& selection, double lower, Branch& branch);
    void record(const Selection& selection);

    // backpropagate.cpp
    void back_propagate(OrNode* node);
    void update(OrNode& node, Slot slot);
    void finish(OrNode& node);
    void close_and_node(OrNode& node, Slot slot);
    void refresh_bound(OrNode& node);

    void start_greedy();
    void step(StopCondition& stop);
    bool terminal_root() const;
    void add_trace_point();

    std::shared_ptr<const Dataset> data_;
    std::shared_ptr<const Objective> objective_;
    SearchOptions options_;
    SearchSettings settings_;
    Random random_;
    OrNode root_;
    DepthTwoSolver depth_two_;
    std::vector<TracePoint> trace_;
    std::vector<ExpansionRecord> log_;
    std::vector<std::uint32_t> scratch_;
    Subset side_data_[2];  // data of terminal subproblems, refilled for every expansion
    std::uint64_t last_id_ = 0;
    bool greedy_started_ = false;
    bool failed_ = false;  // an exception left the search tree half changed
    double seconds_before_ = 0;
    StopCondition::Clock::time_point started_{};
};

}  // namespace codt
