// The loop of the search (paper, Alg. 1), on one thread or on several, and the limits that end it.
#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "common/block_pool.hpp"
#include "search/search.hpp"

namespace codt {

namespace {

// Memory is short once the search tree takes the first of these shares of its room, until it takes less than
// the second. Its room is what the data and the workspaces leave of the memory limit.
constexpr double short_of_memory = 0.85;
constexpr double enough_memory = 0.70;

// Bounds, in seconds, on the time that one move of the primal heuristics gets.
constexpr double shortest_move = 0.005;
constexpr double longest_move = 2.0;

// How long, in seconds, the other threads wait for the tree of the first move.
constexpr double longest_wait = 0.1;

// std::jthread, which the standard library of macOS lacks.
class JoiningThread {
 public:
    template <class Work>
    explicit JoiningThread(Work work) : thread_(std::move(work)) {}
    JoiningThread(JoiningThread&&) = default;
    ~JoiningThread() {
        if (thread_.joinable()) thread_.join();
    }

 private:
    std::thread thread_;
};

}  // namespace

RunStatus Search::run(StopCondition& stop, const RunLimits& limits) {
    if (failed_) throw std::runtime_error("the search ended with an exception and cannot go on");
    const Stopwatch stopwatch(*this);
    {
        const Lock lock(mutex_);
        limits_ = limits;
        limits_.threads = std::max(1u, limits_.threads);
        expansion_limit_ = limits.expansions > UINT64_MAX - root_.expansions
                               ? UINT64_MAX
                               : root_.expansions + limits.expansions;
        set_target();
    }
    do {
        run_once(stop);
    } while (refine() || seek_smaller() || missed_target());
    const Lock lock(mutex_);
    // Whoever reads the tree needs some memory, too.
    if (status_ == RunStatus::memory_limit) give_back_workspaces();
    return complete_ ? RunStatus::optimal : status_;
}

// Between runs.
void Search::give_back_workspaces() {
    for (const auto& worker : workers_) earlier_counters_.add(worker->depth_two.counters());
    workers_.clear();
    unused_expansions_.clear();
    expansions_under_way_.clear();
    memory_.add(-workspace_memory_);
    fixed_memory_ -= std::exchange(workspace_memory_, 0);
}

// Until the root is complete or the run is over.
void Search::run_once(StopCondition& stop) {
    {
        const Lock lock(mutex_);
        status_ = RunStatus::optimal;
        error_ = nullptr;
        stopping_ = false;
        if (root_.complete) return;
    }
    while (workers_.size() < limits_.threads) {
        workers_.push_back(std::make_unique<Worker>(settings_, options_.depth_two_strategy, *objective_,
                                                    options_.kernel, options_.seed + workers_.size() + 1));
        // A thread that waits for units only prepares them.
        const auto bytes = static_cast<std::int64_t>(
            hands_out() ? root_.subset.size() * sizeof(std::uint32_t)
                        : Worker::bytes(root_.subset.size(), root_.subset.features(), *objective_));
        memory_.add(bytes);
        fixed_memory_ += bytes;
        workspace_memory_ += bytes;
        expansions_under_way_.push_back(std::make_unique<Expansion>());
        unused_expansions_.push_back(expansions_under_way_.back().get());
    }

    if (terminal_root()) {
        run_terminal_root(stop);
    } else {
        std::vector<JoiningThread> threads;
        const auto guarded = [this](Worker& worker, StopCondition* outer) {
            StopCondition own(outer, &stopping_);
            try {
                work(worker, outer ? *outer : own, own, outer != nullptr);
            } catch (const std::bad_alloc&) {
                stop_keeping_blocks();
                // The search tree is left half changed: its bounds are valid, but the search cannot continue.
                const Lock lock(mutex_);
                failed_ = true;
                end_run(RunStatus::memory_limit);
            } catch (...) {
                const Lock lock(mutex_);
                failed_ = true;
                if (!error_) error_ = std::current_exception();
                end_run(RunStatus::interrupted);
            }
        };
        try {
            for (std::uint32_t i = 1; i < limits_.threads; ++i)
                threads.emplace_back([&, i] { guarded(*workers_[i], nullptr); });
        } catch (...) {  // no more threads available: continue with those started
            if (threads.empty() && limits_.threads == 1) throw;
        }
        guarded(*workers_[0], &stop);
        threads.clear();  // joins
        if (error_) std::rethrow_exception(error_);
    }
}

// A root within the terminal case is one expansion.
void Search::run_terminal_root(StopCondition& stop) {
    RunStatus status = RunStatus::expansion_limit;
    bool solved = false;
    if (root_.expansions < expansion_limit_) {
        StopCondition own(&stop, &stopping_);
        solved = !own.reached() && solve_terminal_root(own);
        status = stop.reason() == StopReason::time_limit ? RunStatus::time_limit : RunStatus::interrupted;
    }
    StopCondition moment(0.03, {});  // a stop should be noticed at once
    if (!solved) start_greedy(&moment);
    const Lock lock(mutex_);
    // The greedy tree may lose no more than was known to be unavoidable.
    if (root_.lower.allowed >= root_.incumbent - settings_.tolerance) root_.complete = true;
    end_run(status);
}

// The loop of Alg. 1 on one thread. The leading thread checks the caller's stop condition, `outer`; `own`
// ends the work of every thread when the run is over.
void Search::work(Worker& worker, StopCondition& outer, StopCondition& own, bool leads) {
    const auto is_over = [&] { return stopping_ || (leads && outer.reached()); };
    Lock lock(mutex_);
    bool asked = false;  // whether it should stop, without the lock
    bool moved = false;  // a primal heuristic, in the last turn
    while (!stopping_) {
        if (leads) {
            if (!std::exchange(asked, false)) {
                lock.unlock();
                outer.reached();
                lock.lock();
                if (stopping_) break;
            }
            if (root_.complete) return end_run(RunStatus::optimal);
            if (outer.reason() != StopReason::none)
                return end_run(outer.reason() == StopReason::time_limit ? RunStatus::time_limit
                                                                        : RunStatus::interrupted);
        }
        if (const auto status = over()) return end_run(*status);
        // On small data most of the time goes into what is around a move, which is not counted as its time.
        // So the search has a turn after every move, or it might never have one.
        moved = !moved && improve(worker, own, lock);
        if (moved) continue;

        std::optional<Selection> selection;
        const bool dual = dual_turn();
        if (has_seat() && !awaits_first_move() &&
            (root_.children.selectable() || (may_guess() && release_interval(root_)))) {
            selection = select(dual);
            if (!selection) {  // nodes were closed
                add_trace_point();
                continue;
            }
        }
        if (selection && !may_begin(*selection)) {
            if (!economy_) {
                economy_ = true;
                ++fallbacks_;
                continue;
            }
            if (in_flight_ == 0) return end_run(RunStatus::memory_limit);
            selection.reset();
        }
        if (!selection) {
            // Most threads of a search that hands out units have nothing to do most of the time.
            rest(lock, StopCondition::poll_interval * (hands_out() && !leads ? 10 : 1));
            lock.unlock();
            while (!is_over() && help(worker, own, leads, lock)) {
            }
            lock.lock();
            continue;
        }

        Expansion& expansion = begin(*selection, worker, dual);
        if (has_seat() && root_.children.selectable()) wake();
        lock.unlock();
        // It does not look for sides of others next: their data are in the caches of other cores. That is for
        // threads that find nothing to begin. Who has ended an expansion begins another one before others get
        // the lock.
        solve(expansion, worker, own, leads, lock);
        asked = lock.owns_lock();
        if (!asked) lock.lock();
    }
}

// Whether another expansion may begin. Those under way should have room for half as many threads more than
// there are, so that none waits for the end of a side; with still more of them, expansions would only begin
// before the bounds and trees of others are known.
bool Search::has_seat() const {
    if (root_.expansions + in_flight_ >= expansion_limit_) return false;
    if (hands_out()) return in_flight_ < desk_.seats;
    return in_flight_ < 2 || 2 * room_ < 3 * std::uint64_t{limits_.threads};
}

// Whether the first move of the primal heuristics is under way. As on one thread its tree, which is much
// better than the greedy one, comes before all expansions, unless it takes long.
bool Search::awaits_first_move() const {
    return primal_busy_ && primal_seconds_ == 0 && elapsed() < longest_wait;
}

// Sleeps until there may be something to do.
void Search::rest(Lock& lock, std::chrono::milliseconds longest) {
    ++idle_;
    // Whoever leaves a side after this sees that a thread is idle, and wakes it.
    if (waiting_sides_.load() == 0) changed_.wait_for(lock, longest);
    --idle_;
}

// There is something to do for one more thread, which may find something for the next.
void Search::wake() {
    if (idle_.load() == 0) return;
    if (hands_out())
        changed_.notify_all();
    else
        changed_.notify_one();
}

void Search::end_run(RunStatus status) {
    if (!stopping_) {
        add_trace_point();
        status_ = root_.complete ? RunStatus::optimal : status;
    }
    stopping_ = true;
    changed_.notify_all();
    desk_.wake();
}

// Why the run is over, if it is, apart from the caller's stop condition.
std::optional<RunStatus> Search::over() const {
    if (root_.complete) return RunStatus::optimal;
    if (within_gap(lower_bound_) || at_target_) return RunStatus::gap_limit;
    if (root_.expansions >= expansion_limit_) return RunStatus::expansion_limit;
    if (proven_ && (prices_wait() || ties_took_enough())) return RunStatus::optimal;
    return std::nullopt;
}

// Near the limit the children of OR nodes are taken in the order of dfs-prio, which opens few nodes, until
// there is room again (paper, appendix "Select").
void Search::watch_memory() {
    if (options_.memory_limit == no_memory_limit) return;
    const auto used = static_cast<double>(memory_.used() - fixed_memory_);
    const auto room = static_cast<double>(options_.memory_limit - fixed_memory_);
    if (!economy_ && used > short_of_memory * room) {
        economy_ = true;
        ++fallbacks_;
    } else if (economy_ && used < enough_memory * room) {
        economy_ = false;
        ++returns_;
    }
}

// Whether there is memory for the two subproblems of a split.
bool Search::may_begin(const Selection& selection) const {
    if (options_.memory_limit == no_memory_limit) return true;
    const OrNode& node = *selection.node;
    // The node's own table of children grows by three, and may be reallocated at twice its size.
    std::size_t bytes = node.children.bytes() / 2 + 1024;
    if (node.budget.depth - 1 > terminal_depth(options_.terminal)) {
        const std::size_t cells = static_cast<std::size_t>(node.subset.size()) * node.subset.features();
        bytes += cells * 2 * sizeof(std::uint32_t) * (options_.strategy.needs_discrepancy() ? 2 : 1) +
                 node.subset.size() * sizeof(std::uint32_t) + 2 * node.children.bytes() + 2 * sizeof(OrNode);
        bytes *= 1 + in_flight_;
    }
    return memory_.used() + static_cast<std::int64_t>(bytes) <= options_.memory_limit;
}

double Search::primal_share() const {
    return options_.primal_share == SearchOptions::by_depth ? default_primal_share(root_.budget.depth)
                                                            : options_.primal_share;
}

// One move of the primal heuristics, if it is their turn. Their share is one of the time of all threads
// together, and so is the first second.
bool Search::improve(Worker& worker, StopCondition& own, Lock& lock) {
    if (!primal_ || primal_busy_) return false;
    const double spent = elapsed() * (hands_out() ? 1 : limits_.threads);
    const double due = primal_share() * (spent + std::min(spent, 1.0));
    if (primal_seconds_ > 0 && primal_seconds_ + shortest_move > due) return false;
    primal_busy_ = true;
    if (primal_seconds_ > 0) wake();  // another thread takes this one's place
    const GreedyTree incumbent{root_.incumbent, root_.solution};
    lock.unlock();
    const auto start = StopCondition::Clock::now();
    const double seconds = std::clamp(due - primal_seconds_, shortest_move, longest_move);
    std::optional<GreedyTree> found;
    std::exception_ptr error;
    try {
        found = primal_->step(incumbent, worker, own, seconds);
    } catch (const std::bad_alloc&) {  // the search may still succeed without it
        stop_keeping_blocks();
    } catch (...) {
        error = std::current_exception();
    }
    const double took = std::chrono::duration<double>(StopCondition::Clock::now() - start).count();
    lock.lock();
    primal_busy_ = false;
    if (primal_seconds_ == 0) changed_.notify_all();  // see awaits_first_move
    primal_seconds_ += took;
    if (error) std::rethrow_exception(error);
    if (found)
        take(found->objective, found->solution);
    else
        add_trace_point();
    return true;
}

}  // namespace codt
