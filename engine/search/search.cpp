#include "search/search.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "greedy/greedy.hpp"

namespace codt {

namespace {

SearchSettings make_settings(const SearchOptions& options, const Objective& objective, double root_loss) {
    SearchSettings settings;
    settings.lambda = options.penalty / objective.unit();
    // Where sums of doubles are compared, differences at rounding level are none.
    const bool exact = objective.integral() && settings.lambda == std::floor(settings.lambda);
    settings.tolerance = exact ? 0.0 : 1e-12 * std::max(root_loss, settings.lambda);
    settings.bounds = options.bounds;
    return settings;
}

}  // namespace

Search::Search(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
               SearchOptions options)
    : data_(std::move(data)),
      objective_(std::move(objective)),
      options_(std::move(options)),
      random_(options_.seed),
      depth_two_(settings_, options_.depth_two_strategy, *objective_, options_.kernel, random_) {
    started_ = StopCondition::Clock::now();
    root_.subset = Subset(*data_);
    root_.depth = options_.max_depth;
    root_.incumbent = objective_->leaf_loss(root_.subset);
    root_.solution = leaf_solution();
    settings_ = make_settings(options_, *objective_, root_.incumbent);
    if (root_.depth > 0)
        root_.order = order_features(*objective_, root_.subset, options_.strategy.needs_discrepancy());
    if (!terminal_root()) start_greedy();
    open(root_);
    add_trace_point();
    seconds_before_ = std::chrono::duration<double>(StopCondition::Clock::now() - started_).count();
}

// The CART tree as incumbent. A root that is solved on the spot has no use for it, unless it is stopped.
void Search::start_greedy() {
    if (!options_.greedy || greedy_started_) return;
    greedy_started_ = true;
    GreedyTree greedy =
        grow_greedy(*data_, *objective_, root_.subset, root_.order, root_.depth, settings_.lambda);
    if (greedy.objective < root_.incumbent) {
        root_.incumbent = greedy.objective;
        root_.solution = std::move(greedy.solution);
    }
}

// One turn of Alg. 1; a turn may only close nodes.
void Search::step(StopCondition& stop) {
    failed_ = true;
    if (terminal_root()) {
        solve_terminal_root(stop);
    } else if (const auto selection = select()) {
        if (expand(*selection, stop)) back_propagate(selection->node);
    }
    failed_ = false;
}

RunStatus Search::run(StopCondition& stop, std::uint64_t max_expansions) {
    if (failed_) throw std::runtime_error("the search ended with an exception and cannot go on");
    started_ = StopCondition::Clock::now();
    const std::uint64_t limit =
        max_expansions > UINT64_MAX - root_.expansions ? UINT64_MAX : root_.expansions + max_expansions;
    RunStatus status = RunStatus::optimal;
    while (!root_.complete) {
        if (stop.reached()) {
            status = stop.reason() == StopReason::time_limit ? RunStatus::time_limit : RunStatus::interrupted;
            break;
        }
        if (root_.expansions >= limit) {
            status = RunStatus::expansion_limit;
            break;
        }
        step(stop);
        add_trace_point();
    }
    if (!root_.complete && terminal_root()) {
        start_greedy();
        add_trace_point();
    }
    seconds_before_ += std::chrono::duration<double>(StopCondition::Clock::now() - started_).count();
    return status;
}

// While the search goes on its bound may be off by rounding: what is reported leaves room for that, so that
// it is valid and never falls.
double Search::lower_bound() const {
    if (root_.complete) return upper_bound();
    return std::max(0.0, std::min(root_.lower, root_.incumbent) - settings_.tolerance) * objective_->unit();
}

double Search::upper_bound() const {
    return root_.incumbent * objective_->unit();
}

FlatTree Search::tree() const {
    FlatTree tree = read_out(root_.solution, *data_, *objective_, settings_.lambda);
    const double objective = tree.total_loss() + static_cast<double>(tree.splits()) * options_.penalty;
    // Internal sums of squares carry rounding errors of the order of the whole data's error.
    const double scale = std::max(1.0, std::abs(objective)) + tree.loss[0];
    if (!(std::abs(objective - upper_bound()) <= 1e-8 * scale))
        throw std::logic_error("codt internal error: the tree's objective " + std::to_string(objective) +
                               " is not the reported " + std::to_string(upper_bound()));
    return tree;
}

bool Search::terminal_root() const {
    if (options_.terminal == Terminal::leaf) return false;
    return root_.depth == 1 || (root_.depth == 2 && options_.terminal == Terminal::depth_two);
}

void Search::add_trace_point() {
    const double lower = lower_bound();
    const double upper = upper_bound();
    if (!trace_.empty() && trace_.back().lower == lower && trace_.back().upper == upper) return;
    const double seconds =
        seconds_before_ + std::chrono::duration<double>(StopCondition::Clock::now() - started_).count();
    trace_.push_back({seconds, root_.expansions, lower, upper});
}

}  // namespace codt
