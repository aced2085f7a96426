#include "search/search.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "greedy/greedy.hpp"

namespace codt {

Search::Search(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
               SearchOptions options, StopCondition* stop)
    : Search(data, std::move(objective), std::move(options), Subset(*data), stop) {}

Search::Search(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
               SearchOptions options, Subset rows, StopCondition* stop)
    : data_(std::move(data)), options_(std::move(options)), random_(options_.seed) {
    const Stopwatch stopwatch(*this);
    // Scans take both orders of a feature in one pass.
    const Prices prices = options_.prices();
    for (std::uint32_t f = 1; f < data_->features(); ++f)
        if (data_->second_order(f) && prices.of(f) != prices.of(f - 1))
            throw std::invalid_argument("feature_costs: expected the same for both orders of a feature");
    root_.subset = std::move(rows);
    root_.lower.allowed = options_.known.lower;
    root_.upper = options_.known.cutoff;
    first_objective_ = objective;
    set_objective(std::move(objective));
    if (const auto better = better_numbers()) set_objective(better);
    start(stop);
    add_trace_point();
}

// The root, from its data and the objective: a leaf, or the best tree known already.
void Search::start(StopCondition* stop) {
    memory_.add(static_cast<std::int64_t>(data_->bytes()));
    root_.memory.set(&memory_, root_.bytes());
    fixed_memory_ = memory_.used();
    if (root_.budget.depth > 0)
        root_.order = order_features(*objective_, settings_.rules.leaves, root_.subset,
                                     options_.strategy.needs_discrepancy(), stop);
    if (options_.primal && primal_share() > 0 && root_.budget.depth >= 4) {
        // Primal heuristics copy parts of the data and search below a node: they are left out where that
        // would take much of the memory limit.
        const auto bytes = 3 * static_cast<std::int64_t>(
                                   Worker::bytes(root_.subset.size(), root_.subset.features(), *objective_));
        if (fixed_memory_ + bytes <= options_.memory_limit / 2) {
            primal_ = std::make_unique<PrimalHeuristic>(data_, objective_, settings_, root_.budget,
                                                        options_.seed, subtree_search());
            memory_.add(bytes);
            fixed_memory_ += bytes;
        }
    }
    if (!terminal_root()) start_greedy(stop);
    prepare(root_);
    if (!root_.complete && !terminal_root()) enroll(root_, options_.known.feature_lower);
}

// For the primal heuristics: searches on some of the rows, with this search's settings for subproblems.
SubtreeSearch Search::subtree_search() const {
    SearchOptions options = options_;
    options.strategy = options.depth_two_strategy = strategy_named("dfs-blossom");
    options.terminal = Terminal::depth_two;
    options.greedy = false;
    options.primal = false;
    options.dual_share = 0;
    options.refine = false;
    options.log_expansions = false;
    options.memory_limit = no_memory_limit;
    options.ties = Ties::any;  // prices, if there are any, come with the settings
    // Their tolerance, too: the rounding of a part's losses depends on the numbers of the whole.
    options.whole_search = &settings_;
    return [data = data_, objective = objective_, options](Subset rows, const Budget& budget,
                                                           const GreedyTree& known, StopCondition& stop) {
        SearchOptions own = options;
        own.rules.budget = budget;
        Search search(data, objective, std::move(own), std::move(rows));
        search.offer(known.objective, known.solution);
        search.run(stop, {});
        return SubtreeResult{search.incumbent(), search.complete()};
    };
}

// The CART tree as incumbent. A root that is solved on the spot needs it only if that is stopped. Called
// without the lock, except by refine, where the tree was grown before and nothing is left to do.
void Search::start_greedy(StopCondition* stop) {
    if (!options_.greedy || greedy_started_) return;
    greedy_started_ = true;
    try {
        const GreedyTree greedy =
            grow_greedy(*data_, *objective_, root_.subset, root_.order, root_.budget, settings_, stop);
        const Lock lock(mutex_);
        if (!root_.complete) take_incumbent(greedy.objective, greedy.solution);
    } catch (const Stopped&) {  // no time for it: the leaf is the incumbent
    }
}

double Search::elapsed() const {
    if (!started_) return seconds_before_;
    return seconds_before_ + std::chrono::duration<double>(StopCondition::Clock::now() - *started_).count();
}

std::vector<TracePoint> Search::trace() const {
    const Lock lock(mutex_);
    return trace_;
}

ScanCounters Search::scan_counters() const {
    ScanCounters sum = earlier_counters_;
    for (const auto& worker : workers_) sum.add(worker->depth_two.counters());
    return sum;
}

// The incumbent as it is reported, with its objective and how far that may be off. The mutex is locked.
Search::Reported Search::reported() const {
    // Internal sums carry rounding errors proportional to the loss of a single leaf.
    const double slack = (1e-8 * root_.leaf_loss + 2 * margin()) * objective_->unit();
    if (lost_proven_tree()) return {proven_tree_, upper_bound_, slack};
    if (options_.rules.min_decrease > 0 && !tells_apart(root_.incumbent))
        return {real_incumbent().solution, real_incumbent().objective, slack};
    return {root_.solution, incumbent_objective() * objective_->unit(), slack};
}

double Search::mutex_seconds() const {
    const Lock lock(mutex_);
    return std::chrono::duration<double>(mutex_.held()).count();
}

FlatTree Search::tree() const {
    Reported incumbent;
    std::shared_ptr<const Objective> objective;
    SearchSettings settings;
    {
        const Lock lock(mutex_);
        objective = objective_;
        settings = settings_;
        incumbent = reported();
    }
    FlatTree tree = read_out(incumbent.solution, *data_, *objective, settings);
    const double found = tree.objective(options_.prices());
    if (!(std::abs(found - incumbent.objective) <= incumbent.slack + 1e-12 * std::abs(found)))
        throw std::logic_error("codt internal error: the tree's objective " + std::to_string(found) +
                               " is not the reported " + std::to_string(incumbent.objective));
    return tree;
}

bool Search::is_leaf() const {
    {
        const Lock lock(mutex_);
        const auto kind = reported().solution->kind;
        if (kind != SolutionNode::Kind::stump) return kind == SolutionNode::Kind::leaf;
    }
    return tree().splits() == 0;  // a stump may turn out to be a leaf
}

bool Search::terminal_root() const {
    return root_.budget.depth > 0 && root_.budget.depth <= terminal_depth(options_.terminal);
}

// What a bound of the root, in the internal unit and with prices of ties, is worth outside.
double Search::reported_bound(double lower) const {
    return std::max(0.0, settings_.ties.removed_from_bound(lower) - margin()) * objective_->unit();
}

// Publishes the present bounds. During the search they may be off by rounding: the published ones leave room
// for that, so that they are valid and move in one direction only.
void Search::add_trace_point() {
    close_by_outside_bound();
    if (root_.complete && !settled_) {
        next_objective_ = next_attempt();
        settled_ = true;
    }
    const bool ended = root_.complete && !next_objective_;
    const bool proven = ended || objective_proven() || reaches_outside_bound();
    if (proven && !std::exchange(proven_, true)) work_of_proof_ = work_;
    const double unit = objective_->unit();
    double upper = incumbent_objective() * unit;
    const double priced_lower = std::min(root_.lower.allowed, root_.incumbent);
    double lower = std::max(reported_bound(priced_lower), outside_bound().lower);
    if (!tells_apart(root_.incumbent))
        upper =
            proven || options_.rules.min_decrease > 0 ? real_incumbent().objective : upper + margin() * unit;
    upper = sizes_ ? upper_bound_.load() : std::min(upper, upper_bound_.load());
    // Rounding, here, in another search or in other numbers, may make a tree seem better than was proven
    // possible.
    if (upper < lower_bound_ && upper >= (1 - wanted_precision) * lower_bound_) upper = lower_bound_;
    // Until the tree is proven optimal, the lower bound stays below the upper one, by however little.
    lower = proven ? upper : std::max(std::min(lower, std::nextafter(upper, 0.0)), lower_bound_.load());
    lower = std::min(lower, upper);
    // In this order a reader on another thread never sees a lower bound above the upper one.
    upper_bound_ = upper;
    lower_bound_ = lower;
    expansions_ = root_.expansions;
    complete_ = ended && !prices_wait() && !lost_proven_tree();
    lower_target();
    if (!trace_.empty() && trace_.back().lower == lower && trace_.back().upper == upper) return;
    trace_.push_back({elapsed(), root_.expansions, lower, upper});
}

}  // namespace codt
