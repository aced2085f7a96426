// Knowledge from outside: trees, and lower bounds that other searches have proven. Any thread may offer it at
// any time, before, between and during runs; the primal heuristics offer their trees here as well. The slow
// part, evaluating a tree, is done outside the lock. What was offered survives a restart with other numbers
// (refine.cpp): the best tree is the incumbent, and the bound is kept in reported units.
#include "search/knowledge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "rules/settings.hpp"
#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

namespace {

// Whether every leaf holds as much as it must.
bool holds_enough(const SolutionNode& node, const std::vector<std::uint32_t>& rows, const Dataset& data,
                  const LeafLimits& limits) {
    if (node.kind != SolutionNode::Kind::split) return limits.enough(limits.load(rows));
    const auto parted = data.part(node.split, rows);
    return holds_enough(*node.left, parted.left, data, limits) &&
           holds_enough(*node.right, parted.right, data, limits);
}

// Throws if `rules`, in reported units, forbid a tree.
void check_rules(const Solution& solution, const FlatTree& tree, const Dataset& data,
                 const std::vector<std::uint32_t>& rows, double unit, const SearchSettings& settings,
                 const TreeRules& rules) {
    std::vector<std::uint32_t> depth(tree.split.size(), 0);
    for (std::size_t i = 0; i < depth.size(); ++i) {
        if (!tree.split[i]) continue;
        if (depth[i] == rules.budget.depth)
            throw std::invalid_argument("the tree is deeper than the depth limit of " +
                                        std::to_string(rules.budget.depth));
        for (const std::int32_t child : {tree.left[i], tree.right[i]})
            depth[static_cast<std::size_t>(child)] = depth[i] + 1;
    }
    if (tree.splits() >= rules.budget.leaves)
        throw std::invalid_argument("the tree has more leaves than the limit of " +
                                    std::to_string(rules.budget.leaves));
    if (solution->kind == SolutionNode::Kind::split && !holds_enough(*solution, rows, data, rules.leaves))
        throw std::invalid_argument("the tree has a leaf that holds less than the limits on leaves ask for");
    // Objectives from the leaves up: children come after their parents.
    std::vector<double> objectives(tree.split.size());
    for (std::size_t i = objectives.size(); i-- > 0;) {
        const double leaf = tree.loss[i] / unit;
        objectives[i] = leaf;
        const std::optional<Split>& split = tree.split[i];
        if (!split) continue;
        objectives[i] = settings.prices.of(split->feature) +
                        objectives[static_cast<std::size_t>(tree.left[i])] +
                        objectives[static_cast<std::size_t>(tree.right[i])];
        if (!settings.allows(leaf, objectives[i]))
            throw std::invalid_argument(
                "the tree has a split that lowers the loss by less than the limit of " +
                std::to_string(rules.min_decrease));
    }
}

void expect_finite(double value, const char* name) {
    if (!(value >= 0) || !std::isfinite(value))
        throw std::invalid_argument(std::string(name) + ": expected a finite number of at least 0, got " +
                                    std::to_string(value));
}

}  // namespace

bool OutsideBound::reached_by(double objective, double own_tolerance) const {
    if (lower <= 0) return false;
    // Sums in another order may differ in their last few digits.
    constexpr double last_digits = 1e-14;
    const double slack = std::min(tolerance + own_tolerance, wanted_precision * objective);
    return objective <= lower * (1 + last_digits) + slack;
}

OutsideBound OutsideBound::rounded_up(double unit) const {
    const double count = lower / unit;
    // A value meant to be a multiple of the unit may be slightly above it.
    return {std::max(std::floor(count), std::ceil(count * (1 - wanted_precision))) * unit, tolerance};
}

void Search::offer(const Solution& solution) {
    std::vector<std::uint32_t> rows(data_->samples());
    std::iota(rows.begin(), rows.end(), 0u);
    for (;;) {
        Lock lock(mutex_);
        const std::shared_ptr<const Objective> objective = objective_;
        const SearchSettings settings = settings_;
        lock.unlock();
        const FlatTree tree = read_out(solution, *data_, *objective, settings);
        check_rules(solution, tree, *data_, rows, objective->unit(), settings, options_.rules);
        const double value = objective_of(*solution, *data_, rows, *objective, settings);
        lock.lock();
        if (objective_ != objective) continue;  // the search has restarted with other numbers
        // Where the search's numbers cannot tell two trees apart, the better one must still win.
        if (!complete_ && !tells_apart(root_.incumbent) && value >= root_.incumbent &&
            tree.objective(options_.prices()) < real_incumbent().objective)
            root_.solution = solution;
        return take(value, solution);
    }
}

void Search::offer(double objective, const Solution& solution) {
    const Lock lock(mutex_);
    take(objective, solution);
}

void Search::raise_lower_bound(double bound, double tolerance) {
    expect_finite(bound, "bound");
    expect_finite(tolerance, "tolerance");
    const Lock lock(mutex_);
    if (bound <= outside_.lower) return;
    outside_ = {bound, tolerance};
    tell_run();
}

// A tree from outside or from a heuristic. Needs the lock, as do all functions below.
void Search::take(double objective, const Solution& solution) {
    if (complete_) return;  // it can only seem better, by rounding
    take_incumbent(objective, solution);
    root_.lower.allowed = std::min(root_.lower.allowed, root_.incumbent);
    // A root that is already complete is waiting for other numbers.
    if (!root_.complete && !failed_) {
        if (terminal_root())
            root_.complete = root_.lower.allowed >= root_.incumbent - settings_.tolerance;
        else
            refresh_bound(root_);
    }
    tell_run();
}

void Search::take_incumbent(double objective, const Solution& solution) {
    if (objective >= root_.incumbent) return;
    root_.incumbent = objective;
    root_.solution = solution;
}

// Publishes the bounds, and ends a run that has nothing left to do.
void Search::tell_run() {
    add_trace_point();
    if (root_.complete) end_run(RunStatus::optimal);
}

// The bound that others have proven; rounded up to a multiple of the unit where all objectives are exact
// multiples.
OutsideBound Search::outside_bound() const {
    return settings_.whole && margin() == 0 ? outside_.rounded_up(objective_->unit()) : outside_;
}

// Whether the incumbent reaches the bound that others have proven. Better numbers (refine.cpp) are not needed
// then: the bound is reached to the wanted precision.
bool Search::reaches_outside_bound() {
    if (outside_.lower <= 0 || complete_) return false;
    const bool apart = tells_apart(root_.incumbent);
    const double objective = apart ? incumbent_objective() * objective_->unit() : real_incumbent().objective;
    const double own_tolerance = apart ? tolerance_.load() : 0;
    const OutsideBound outside = outside_bound();
    if (!outside.reached_by(objective, own_tolerance)) return false;
    tolerance_ = std::max(own_tolerance, objective - outside.lower);
    return true;
}

// Closes the root if nothing is left to do: unless a smaller tree with the same objective is wanted.
void Search::close_by_outside_bound() {
    if (options_.ties != Ties::any || !reaches_outside_bound()) return;
    root_.complete = settled_ = true;
    next_objective_ = nullptr;
}

}  // namespace codt
