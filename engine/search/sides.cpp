// The slow part of an expansion: solving or opening the two sides of its split, without the lock. The sides
// of a split are different data, so two threads can solve them at once and make no work that one thread
// would not: the right side waits for a thread that is free, and whoever has begun the expansion takes it
// back if there was none. The thread that is done last ends the expansion, so none waits for another.
//
// What is lost is that the right side, if solved at the same time, does not know the bound of the left one.
#include <algorithm>
#include <utility>

#include "common/block_pool.hpp"
#include "common/check.hpp"
#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

void Expansion::reset() {
    result = AndNode{};
    for (int side = 0; side < 2; ++side) {
        depth_two[side] = false;
        found[side] = DepthTwoResult{};
        outcome[side] = Outcome{};
    }
    right.store(Right::own, std::memory_order_relaxed);
    threads.store(1, std::memory_order_relaxed);
    abandoned.store(false, std::memory_order_relaxed);
}

namespace {

// Where the sides of a split have fewer cells together, waking a thread takes longer than solving one.
constexpr std::uint64_t least_cells_to_share = 2'000;

// Runs a part of an expansion's work. What goes wrong is left to the thread that ends the expansion.
template <class Part>
void attempt(Expansion::Outcome& outcome, const Worker& worker, const Part& part) {
    if (!outcome.done()) return;
    const std::uint64_t scanned = worker.depth_two.counters().scanned_samples;
    try {
        if (!part()) outcome.stopped = true;
    } catch (const std::bad_alloc&) {
        stop_keeping_blocks();
        outcome.out_of_memory = true;
    } catch (...) {
        outcome.error = std::current_exception();
    }
    outcome.scanned += worker.depth_two.counters().scanned_samples - scanned;
}

}  // namespace

// By the thread that has begun it, which does not have the lock. It has it afterwards if it has ended the
// expansion.
void Search::solve(Expansion& expansion, Worker& worker, StopCondition& own, bool leads, Lock& lock) {
    StopCondition stop(&own, &expansion.abandoned);
    Expansion::Outcome& outcome = expansion.outcome[0];
    attempt(outcome, worker, [&] { return open_sides(expansion, worker, stop); });
    const bool shares = outcome.done() && expansion.depth_two[0] && expansion.depth_two[1] && shares_sides();
    if (shares) offer_right_side(expansion);
    if (expansion.depth_two[0])
        attempt(outcome, worker,
                [&] { return solve_side(expansion, 0, expansion.job.lower[1], worker, stop); });
    if (shares && !take_back(expansion)) {
        if (!expansion.leave()) return;
    } else if (expansion.depth_two[1]) {
        // The left side is already solved, or was none to solve.
        attempt(outcome, worker, [&] {
            return solve_side(expansion, 1, expansion.result.sides[0].lower.allowed, worker, stop);
        });
    }
    conclude(expansion, worker, own, leads, lock);
}

// Solves the right side of an expansion that another thread has begun, if one waits.
bool Search::help(Worker& worker, StopCondition& own, bool leads, Lock& lock) {
    Expansion* const expansion = take_right_side();
    if (!expansion) return false;
    StopCondition stop(&own, &expansion->abandoned);
    attempt(expansion->outcome[1], worker,
            [&] { return solve_side(*expansion, 1, expansion->job.lower[0], worker, stop); });
    if (expansion->leave()) {
        conclude(*expansion, worker, own, leads, lock);
        lock.unlock();
    }
    return true;
}

void Search::offer_right_side(Expansion& expansion) {
    expansion.threads.store(2, std::memory_order_relaxed);
    ++waiting_sides_;
    expansion.right.store(Expansion::Right::waiting);
    if (expansion.job.room > 1) call_helpers();
}

void Search::call_helpers() {
    if (idle_.load() == 0) return;
    // A thread that is about to sleep holds the lock until it does.
    {
        const Lock lock(mutex_);
    }
    changed_.notify_one();
}

// How many threads can work on an expansion of this node.
std::uint32_t Search::room_in(const OrNode& node) const {
    const bool two_solves = node.budget.depth == 3 && options_.terminal == Terminal::depth_two;
    if (!shares_sides() || !two_solves || node.subset.cells() < least_cells_to_share) return 1;
    return 2;
}

// False if another thread has taken it.
bool Search::take_back(Expansion& expansion) {
    Expansion::Right state = Expansion::Right::waiting;
    if (!expansion.right.compare_exchange_strong(state, Expansion::Right::own)) return false;
    --waiting_sides_;
    expansion.threads.store(1, std::memory_order_relaxed);
    return true;
}

Expansion* Search::take_right_side() {
    if (waiting_sides_.load() == 0) return nullptr;
    for (const auto& expansion : expansions_under_way_) {
        Expansion::Right state = Expansion::Right::waiting;
        if (expansion->right.load(std::memory_order_relaxed) != state ||
            !expansion->right.compare_exchange_strong(state, Expansion::Right::taken))
            continue;
        --waiting_sides_;
        return expansion.get();
    }
    return nullptr;
}

// Ends the expansions below a node that was closed: nobody needs their results.
void Search::abandon_expansions(const OrNode& top) {
    for (const auto& expansion : expansions_under_way_) {
        if (!expansion->under_way) continue;
        const OrNode* above = expansion->job.node;
        while (above && above != &top) above = above->parent;
        if (above) expansion->abandoned.store(true, std::memory_order_relaxed);
    }
}

// By the last thread that works on it, which has the lock afterwards.
void Search::conclude(Expansion& expansion, Worker& worker, StopCondition& own, bool leads, Lock& lock) {
    StopCondition stop(&own, &expansion.abandoned);
    if (expansion.done())
        attempt(expansion.outcome[0], worker, [&] {
            return confirm_sides(expansion, worker, stop) &&
                   (!hands_out() || hand_out(expansion.job, expansion.result, own, leads));
        });
    own.reached();  // asks the caller, which takes too long with the lock
    lock.lock();
    expansion.under_way = false;
    const Job& job = expansion.job;
    const std::uint64_t took = expansion.outcome[0].scanned + expansion.outcome[1].scanned + job.cells;
    work_ += took;
    if (job.dual) dual_work_ += took;
    if (expansion.done())
        commit(expansion);
    else
        cancel(job);
    expansion.result = AndNode{};  // nodes that nobody needs give their memory back
    unused_expansions_.push_back(&expansion);
    for (const Expansion::Outcome& outcome : expansion.outcome)
        if (outcome.error) std::rethrow_exception(outcome.error);
    for (const Expansion::Outcome& outcome : expansion.outcome)
        if (outcome.out_of_memory) return end_run(RunStatus::memory_limit);
    watch_memory();
    add_trace_point();
    if (hands_out()) wake();  // this thread itself goes on with what there is to do
}

// The data of the two sides. Sides that are not left to Solve-D2 are solved or opened at once. False if
// stopped.
bool Search::open_sides(Expansion& expansion, Worker& worker, StopCondition& stop) const {
    const Job& job = expansion.job;
    const OrNode& node = *job.node;
    AndNode& result = expansion.result;
    if (node.budget.depth == 1 || (node.budget.depth == 2 && options_.terminal == Terminal::left_right))
        return solve_sides(job, worker, result, stop);

    // Sides within the terminal case are solved on the spot. So are sides of depth one, which only a limit on
    // leaves makes here, unless the terminal case is `leaf`.
    const std::uint32_t deepest = terminal_depth(options_.terminal);
    const std::uint32_t size = node.subset.group_end(job.feature)[job.threshold];
    const Budget budgets[2] = {node.budget.of_side(0, job.left_leaves).on(size),
                               node.budget.of_side(1, job.left_leaves).on(node.subset.size() - size)};
    const bool terminal[2] = {budgets[0].depth <= deepest, budgets[1].depth <= deepest};
    Subset own[2];
    Subset& left = terminal[0] ? expansion.side_data[0] : own[0];
    Subset& right = terminal[1] ? expansion.side_data[1] : own[1];
    node.subset.split(job.feature, job.threshold, left, right, worker.splitter);
    for (int side = 0; side < 2; ++side) {
        Branch& branch = result.sides[side];
        if (!terminal[side]) {
            prepare_branch(std::move(own[side]), budgets[side], job.lower[side], branch);
            continue;
        }
        const Subset& subset = expansion.side_data[side];
        expansion.depth_two[side] = budgets[side].depth == 2;
        expansion.leaves[side] = budgets[side].leaves;
        if (budgets[side].depth < 2)
            budgets[side].depth == 0 ? leave(subset, branch) : solve_stump(subset, branch);
    }
    return true;
}

// One side by Solve-D2, given a lower bound on the other one. False if stopped.
bool Search::solve_side(Expansion& expansion, int side, double other, Worker& worker,
                        StopCondition& stop) const {
    const Job& job = expansion.job;
    const double relaxed = job.relaxed - other;
    const DepthTwoSolver::Limits limits{job.lower[side], std::min(relaxed, job.enough[side]),
                                        job.feature_lower[side], false, relaxed};
    expansion.found[side] = worker.depth_two.solve(expansion.side_data[side], job.node->order,
                                                   expansion.leaves[side], limits, stop);
    if (expansion.found[side].stopped) return false;
    take_found(expansion, side);
    if (shares_feature_bounds(*job.node))
        expansion.result.sides[side].feature_lower = worker.depth_two.feature_lower();
    return true;
}

// What Solve-D2 has found for one side.
void Search::take_found(Expansion& expansion, int side) const {
    const DepthTwoResult& found = expansion.found[side];
    Branch& branch = expansion.result.sides[side];
    branch.lower = found.lower;
    branch.incumbent = found.upper;
    branch.solution = found.solution(*data_, expansion.side_data[side]);
}

// Where this split may give the node a better tree, both sides must be known exactly. False if stopped.
bool Search::confirm_sides(Expansion& expansion, Worker& worker, StopCondition& stop) const {
    const Job& job = expansion.job;
    for (int side = 0; side < 2; ++side) {
        const Branch* const sides = expansion.result.sides;
        const double lower =
            settings_.prices.of(job.feature) + sides[0].lower.allowed + sides[1].lower.allowed;
        if (expansion.found[side].exact() || lower >= job.incumbent) continue;
        if (!worker.depth_two.confirm(expansion.side_data[side], job.node->order, expansion.found[side],
                                      stop))
            return false;
        take_found(expansion, side);
    }
    compute_implied(expansion);
    return true;
}

// Both sides of a split at once: leaves, or trees of depth one (the left/right terminal case).
bool Search::solve_sides(const Job& job, Worker& worker, AndNode& result, StopCondition& stop) const {
    const OrNode& node = *job.node;
    double leaves[2] = {0, 0}, free[2] = {0, 0}, enough[2] = {0, 0};
    bool stump[2] = {false, false};
    if (node.budget.depth == 1) {
        objective_->leaf_losses(node.subset, job.feature, job.threshold, leaves[0], leaves[1]);
    } else {
        if (!worker.depth_two.solve_split(node.subset, node.order, node.id, job.feature, job.threshold, free,
                                          enough, stop))
            return false;
        for (int side = 0; side < 2; ++side)
            stump[side] = node.budget.of_side(side, job.left_leaves).leaves > 1;
        if (node.budget.limited() || settings_.rules.min_decrease > 0)
            objective_->leaf_losses(node.subset, job.feature, job.threshold, leaves[0], leaves[1]);
    }
    for (int side = 0; side < 2; ++side) {
        Branch& branch = result.sides[side];
        branch.lower = stump[side] ? Bound{settings_.best_allowed(leaves[side], enough[side]), free[side]}
                                   : Bound::both(leaves[side]);
        branch.incumbent = branch.lower.allowed;
        branch.solution = stump[side] ? stump_solution(branch.incumbent) : leaf_solution();
    }
    return true;
}

void Search::leave(const Subset& subset, Branch& branch) const {
    branch.incumbent = objective_->leaf_loss(subset);
    branch.lower = Bound::both(branch.incumbent);
    branch.solution = leaf_solution();
}

void Search::solve_stump(const Subset& subset, Branch& branch) const {
    branch.lower = best_stump_value(*objective_, subset, settings_);
    branch.incumbent = branch.lower.allowed;
    branch.solution = stump_solution(branch.incumbent);
}

}  // namespace codt
