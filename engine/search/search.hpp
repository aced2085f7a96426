// The search (paper, Alg. 1): Select, Expand and BackPropagate until the root is complete. Each of the three
// has a file of its own: select.cpp, expand.cpp, backpropagate.cpp; run.cpp is the loop.
//
// Threads share one search tree. Whatever touches it (selecting, the beginning and the end of an expansion,
// back-propagation) holds the mutex; the slow part, solving the subproblems of an expansion, does not. An
// expansion under way is already in the tree, as an AND node that is held: no other thread selects it, and
// its bound counts. Trees and bounds from outside (knowledge.cpp) come under the mutex as well.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/memory.hpp"
#include "common/owned_mutex.hpp"
#include "common/random.hpp"
#include "common/stop.hpp"
#include "data/dataset.hpp"
#include "objectives/objective.hpp"
#include "primal/primal.hpp"
#include "rules/settings.hpp"
#include "search/expansion.hpp"
#include "search/knowledge.hpp"
#include "search/or_node.hpp"
#include "search/units.hpp"
#include "strategies/strategy.hpp"
#include "terminal/worker.hpp"
#include "tree/read_out.hpp"

namespace codt {

// Where the search tree ends (paper, appendix "Terminal Case").
enum class Terminal {
    leaf,        // depth budget zero
    left_right,  // an AND node of depth two: both sides are solved at once
    depth_two,   // an OR node of depth two
};

// Subproblems of this depth or less are solved on the spot.
constexpr std::uint32_t terminal_depth(Terminal terminal) {
    return terminal == Terminal::depth_two ? 2 : terminal == Terminal::left_right ? 1 : 0;
}

struct SearchOptions {
    TreeRules rules;                    // the least decrease in reported units
    double penalty = 0;                 // of every branching node, in reported units
    std::vector<double> feature_costs;  // of a branching node by its feature, on top; none if empty
    Strategy strategy;
    Strategy depth_two_strategy;
    Terminal terminal = Terminal::depth_two;
    Ties ties = Ties::any;
    bool greedy = true;  // start from the CART tree
    bool primal = true;  // look for better trees alongside the search (see primal/primal.hpp)
    // The share of the time that this takes, and of the work that goes into steps that raise the lower bound
    // (see dual.cpp).
    static constexpr double by_depth = -1;
    double primal_share = by_depth;
    double dual_share = by_depth;
    BoundSwitches bounds;
    KernelChoice kernel;
    std::uint64_t seed = 0;
    bool log_expansions = false;
    std::int64_t memory_limit = no_memory_limit;  // bytes
    // Settings of the search that this one is a part of, so that a least decrease and the price of ties mean
    // the same in both.
    const SearchSettings* whole_search = nullptr;
    KnownOfRoot known = {};  // from that search
    bool refine = true;      // see Search::refine

    Prices prices() const { return Prices(penalty, feature_costs); }  // in reported units
};

// Limits of one call of run.
struct RunLimits {
    std::uint64_t expansions = UINT64_MAX;
    double gap = 0;  // stop when (upper - lower) / upper is at most this (see gap.cpp)
    std::uint32_t threads = 1;
};

struct TracePoint {
    double seconds;
    std::uint64_t expansions;
    double lower, upper;
};

// One call of Expand, logged on request: the splits from the root to the OR node, and the new one.
struct ExpansionRecord {
    std::vector<PathStep> path;
    Split split;
};

enum class RunStatus { optimal, time_limit, expansion_limit, gap_limit, memory_limit, interrupted };

class Search {
 public:
    // `stop`, if given, ends the preparation of the root with Stopped; if only the greedy start is stopped,
    // it is left out.
    Search(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
           SearchOptions options, StopCondition* stop = nullptr);
    // A search on some of the rows.
    Search(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
           SearchOptions options, Subset rows, StopCondition* stop = nullptr);

    // Runs until the root is complete, a limit is reached or the stop condition holds. Can be called again,
    // but not after an exception (from a custom heuristic): the incumbent can still be read, but the search
    // is over.
    RunStatus run(StopCondition& stop, const RunLimits& limits);

    // Knowledge from outside (knowledge.cpp): at any time and from any thread, also while the search runs.
    //
    // Takes a tree as incumbent if it is better than the present one; its objective is computed from the
    // data. Throws if it is too large, breaks a rule for leaves or splits, or splits where the data have
    // nothing to separate.
    void offer(const Solution& solution);
    // Takes a tree as incumbent whose objective on these rows (internal unit) is known.
    void offer(double objective, const Solution& solution);
    // No tree has a lower objective than `bound` (reported units), as proven by a search that treats
    // objectives within `tolerance` of each other as equal. Once the incumbent reaches the bound the search
    // is complete. If the bound is wrong, the first tree that reaches it is called optimal.
    void raise_lower_bound(double bound, double tolerance);

    // Units (units.cpp): subproblems that the threads of a run leave here to be solved elsewhere.
    UnitDesk& desk() { return desk_; }
    // Solves a unit of a search with the same data and options; several may be solved at a time. A search
    // that solves units is not run itself.
    UnitReport solve_unit(const Unit& unit, const UnitTalk& talk);

    // These can be read at any time and from any thread, also while the search runs. Where the smallest
    // optimal tree is wanted, the two bounds may meet before the search is complete.
    bool complete() const { return complete_; }
    double lower_bound() const { return lower_bound_; }
    double upper_bound() const { return upper_bound_; }
    // Once complete: no tree is better by more than this. Zero where nothing was rounded.
    double tolerance() const { return tolerance_; }
    std::uint64_t expansions() const { return expansions_; }
    std::int64_t memory() const { return memory_.used(); }
    // How often the order of the children fell back to dfs-prio because memory was short, and how often it
    // returned.
    std::uint64_t fallbacks() const { return fallbacks_; }
    std::uint64_t returns() const { return returns_; }
    std::vector<TracePoint> trace() const;
    // The incumbent. Checks that its objective, computed from the tree alone, is the upper bound.
    FlatTree tree() const;
    // Whether the incumbent has no split; mostly this takes no time.
    bool is_leaf() const;

    // Only while the search does not run.
    GreedyTree incumbent() const { return {root_.incumbent, root_.solution}; }
    ScanCounters scan_counters() const;
    double primal_seconds() const { return primal_seconds_; }
    // How long threads have held the mutex, all together.
    double mutex_seconds() const;
    const std::vector<ExpansionRecord>& expansion_log() const { return log_; }

 private:
    using Slot = Children::Slot;
    using Lock = std::unique_lock<OwnedMutex>;

    // Counts the time of a run, or of the preparation of the root.
    class Stopwatch {
     public:
        explicit Stopwatch(Search& search) : search_(search) {
            const Lock lock(search_.mutex_);
            search_.started_ = StopCondition::Clock::now();
        }
        ~Stopwatch() {
            const Lock lock(search_.mutex_);
            search_.seconds_before_ = search_.elapsed();
            search_.started_.reset();
        }
        Stopwatch(const Stopwatch&) = delete;
        Stopwatch& operator=(const Stopwatch&) = delete;

     private:
        Search& search_;
    };

    struct Selection {
        OrNode* node;
        Slot interval;
        std::uint32_t threshold;
    };

    // refine.cpp
    void set_objective(std::shared_ptr<const Objective> objective);
    double tolerance_of_nodes() const;
    double margin() const;
    double own_tolerance() const;
    bool tells_apart(double objective) const;
    const KeptTree& real_incumbent() const;
    struct Reported {
        Solution solution;
        double objective = 0, slack = 0;
    };
    Reported reported() const;
    std::shared_ptr<const Objective> better_numbers();
    std::shared_ptr<const Objective> next_attempt();
    bool refine();
    void restart(std::shared_ptr<const Objective> objective, const Solution& tree);

    // ties.cpp
    double incumbent_objective() const;
    bool objective_proven() const;
    bool prices_wait() const;
    bool seek_smaller();
    bool lost_proven_tree() const;
    bool ties_took_enough() const;

    // knowledge.cpp
    void take(double objective, const Solution& solution);
    void take_incumbent(double objective, const Solution& solution);
    void tell_run();
    OutsideBound outside_bound() const;
    bool reaches_outside_bound();
    void close_by_outside_bound();

    // gap.cpp
    bool within_gap(double lower) const;
    double gap_target() const;
    void lower_target();
    bool ends_at_target(const OrNode& node) const;
    void set_target();
    bool missed_target();

    // units.cpp
    bool hands_out() const { return desk_.seats > 0; }
    bool hand_out(Job& job, AndNode& result, StopCondition& stop, bool leads);
    Unit unit_of(const Job& job, const Branch& branch, int side) const;
    std::vector<PathStep> path_to(const OrNode& node) const;
    bool attached(const Job& job) const;
    double wanted_below(const Job& job);
    void refresh_upper(OrNode& node);
    void take_report(const Job& job, Branch& branch, UnitReport& seen, UnitReport report);
    bool learn_from_neighbours(const Job& job, AndNode& result) const;
    void raise_split(const Job& job, const AndNode& result);
    void adopt(const Numbers& numbers);
    UnitReport report_on_root();
    void lower_cutoff(double cutoff);

    // run.cpp
    std::optional<RunStatus> over() const;
    void run_once(StopCondition& stop);
    void give_back_workspaces();
    void run_terminal_root(StopCondition& stop);
    void work(Worker& worker, StopCondition& outer, StopCondition& own, bool leads);
    void rest(Lock& lock, std::chrono::milliseconds longest);
    void wake();
    bool has_seat() const;
    bool awaits_first_move() const;
    bool may_begin(const Selection& selection) const;
    double primal_share() const;
    bool improve(Worker& worker, StopCondition& stop, Lock& lock);
    void end_run(RunStatus status);
    void watch_memory();
    double elapsed() const;

    // select.cpp
    std::optional<Selection> select(bool dual);
    int select_side(const AndNode& node);
    bool may_guess() const;
    bool release_interval(OrNode& node);

    // dual.cpp
    bool dual_turn() const;
    int wider_side(const AndNode& node) const;
    struct Side {
        Slot slot;
        int side;
    };
    std::uint32_t balanced_threshold(const OrNode& node, Slot interval) const;
    std::optional<Side> neighbour_to_raise(const OrNode& node, Slot interval) const;

    // cross_features.cpp
    bool crosses_features(const OrNode& node) const;
    bool solves_sides(const OrNode& node) const;
    void prepare_implied(Expansion& expansion);
    void compute_implied(Expansion& expansion) const;
    void imply_bounds(OrNode& node, Slot slot);

    // expand.cpp
    Expansion& unused_expansion(const Worker& worker);
    Expansion& begin(const Selection& selection, const Worker& worker, bool dual);
    bool shares_feature_bounds(const OrNode& node) const;
    bool may_keep(std::size_t bytes) const;
    void keep_feature_bounds(OrNode& node, Slot slot, int side, FeatureBounds::Lower lower);
    void commit(Expansion& expansion);
    void cancel(const Job& job);
    bool end(const Job& job);
    bool solve_terminal_root(StopCondition& stop);
    void prepare(OrNode& node) const;
    void enroll(OrNode& node, std::span<const double> feature_lower = {});
    void prepare_branch(Subset subset, const Budget& budget, double lower, Branch& branch) const;
    void record(const Job& job);

    // sides.cpp
    void solve(Expansion& expansion, Worker& worker, StopCondition& own, bool leads, Lock& lock);
    bool help(Worker& worker, StopCondition& own, bool leads, Lock& lock);
    void conclude(Expansion& expansion, Worker& worker, StopCondition& own, bool leads, Lock& lock);
    void offer_right_side(Expansion& expansion);
    void call_helpers();
    std::uint32_t room_in(const OrNode& node) const;
    bool shares_sides() const { return limits_.threads > 1 && !hands_out(); }
    bool take_back(Expansion& expansion);
    Expansion* take_right_side();
    void abandon_expansions(const OrNode& top);
    bool open_sides(Expansion& expansion, Worker& worker, StopCondition& stop) const;
    bool solve_side(Expansion& expansion, int side, double other, Worker& worker, StopCondition& stop) const;
    void take_found(Expansion& expansion, int side) const;
    bool confirm_sides(Expansion& expansion, Worker& worker, StopCondition& stop) const;
    bool solve_sides(const Job& job, Worker& worker, AndNode& result, StopCondition& stop) const;
    void leave(const Subset& subset, Branch& branch) const;
    void solve_stump(const Subset& subset, Branch& branch) const;

    // backpropagate.cpp
    void back_propagate(OrNode* node);
    void update(OrNode& node, Slot slot);
    void take_split(OrNode& node, Slot slot, const Branch& left, const Branch& right);
    void finish(OrNode& node);
    void close_and_node(OrNode& node, Slot slot);
    void bury(OrNode& parent, Slot slot, int side);
    void refresh_bound(OrNode& node);

    void start(StopCondition* stop);
    void start_greedy(StopCondition* stop);
    SubtreeSearch subtree_search() const;
    bool terminal_root() const;
    double reported_bound(double lower) const;
    void add_trace_point();

    std::shared_ptr<const Dataset> data_;
    std::shared_ptr<const Objective> objective_;
    SearchOptions options_;
    SearchSettings settings_;
    Random random_;
    MemoryAccount memory_;  // declared before the nodes, whose destructors use it
    OrNode root_;
    std::vector<std::unique_ptr<OrNode>> detached_;  // closed while expansions were under way in them
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::unique_ptr<Expansion>> expansions_under_way_;  // one for every worker, some not in use
    std::vector<Expansion*> unused_expansions_;
    std::unique_ptr<PrimalHeuristic> primal_;
    std::vector<TracePoint> trace_;
    std::vector<ExpansionRecord> log_;
    ImpliedBounds implied_;  // see imply_bounds
    std::uint64_t last_id_ = 0;
    bool greedy_started_ = false;
    // Once the root is complete: whether its numbers were examined, and better ones to start again with, if
    // they were not good enough.
    bool settled_ = false;
    std::shared_ptr<const Objective> next_objective_;
    double ceiling_ = std::numeric_limits<double>::infinity();  // see better_numbers
    bool prices_too_coarse_ = false, doubt_settled_ = false;    // see next_attempt
    std::shared_ptr<const Objective> first_objective_;          // see Numbers
    std::vector<double> ceilings_;
    mutable KeptTree real_;  // see real_incumbent
    mutable Solution real_of_;
    // ties.cpp
    bool sizes_ = false;   // the objective was proven without prices, now the size is
    bool proven_ = false;  // the objective, if not the size
    Solution proven_tree_;
    mutable std::size_t counted_splits_ = 0;
    mutable Solution counted_of_;
    // What the search has done, in samples visited, and what it had done when the objective was proven.
    std::uint64_t work_ = 0, work_of_proof_ = 0;
    std::uint64_t dual_work_ = 0;  // of it, in steps that raise the lower bound
    OutsideBound outside_;
    // gap.cpp
    double target_ = std::numeric_limits<double>::infinity();  // the root's cutoff by gap limits
    bool at_target_ = false;                                   // nothing is left open below it
    bool missed_target_ = false;                               // in this run: there is none from then on
    UnitDesk desk_;
    ScanCounters earlier_counters_;  // of searches with other numbers
    bool failed_ = false;            // an exception left the search tree half changed

    // The run under way.
    mutable OwnedMutex mutex_;
    std::condition_variable_any changed_;
    std::atomic<bool> stopping_{false};
    RunStatus status_ = RunStatus::optimal;
    std::exception_ptr error_;
    RunLimits limits_;
    std::uint64_t expansion_limit_ = UINT64_MAX;
    std::uint64_t in_flight_ = 0;
    std::uint64_t room_ = 0;                       // for threads, in the expansions under way
    std::atomic<std::uint32_t> waiting_sides_{0};  // right sides of expansions that nobody works on
    std::atomic<std::uint32_t> idle_{0};           // threads that sleep, or are about to
    std::int64_t fixed_memory_ = 0;                // of the data and the workers
    std::int64_t workspace_memory_ = 0;            // of the workers
    bool economy_ = false;                         // memory is short: children in the order of dfs-prio
    bool primal_busy_ = false;
    double primal_seconds_ = 0;

    std::atomic<bool> complete_{false};
    std::atomic<double> lower_bound_{0}, upper_bound_{std::numeric_limits<double>::infinity()}, tolerance_{0};
    std::atomic<std::uint64_t> expansions_{0}, fallbacks_{0}, returns_{0};

    double seconds_before_ = 0;
    std::optional<StopCondition::Clock::time_point> started_;  // the run, or the preparation, under way
};

}  // namespace codt
