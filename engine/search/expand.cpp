// Expand (paper, Alg. 3): an interval is replaced by an AND node at one of its thresholds and by what is left
// of it on both sides. Subproblems of a terminal case are solved on the spot; the others become OR nodes.
//
// An expansion has a beginning and an end, which change the search tree, and between them make_branches,
// which only reads the node's data and can run on many threads at once. An expansion that is stopped in
// between is undone.
#include <algorithm>

#include "bounds/lower_bounds.hpp"
#include "common/check.hpp"
#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

Search::Job Search::begin(const Selection& selection, Worker& worker) {
    OrNode& node = *selection.node;
    Job job;
    job.node = &node;
    job.feature = node.children[selection.interval].feature;
    job.threshold = selection.threshold;
    job.left_leaves = node.children.left_leaves(selection.interval);
    job.cells = static_cast<std::uint64_t>(node.subset.size()) * node.subset.features();
    node.children.inherited(selection.interval, selection.threshold, job.lower[0], job.lower[1]);
    job.relaxed = node.cutoff() + node.children.reach(selection.interval, selection.threshold) -
                  settings_.prices.of(job.feature);
    job.cutoff = node.cutoff();
    job.incumbent = node.incumbent;
    if (shares_feature_bounds(node))
        for (int side = 0; side < 2; ++side)
            job.feature_lower[side] =
                node.children.inherited(node.feature_bounds, selection.interval, selection.threshold, side);
    const std::int32_t index = node.add_and_node({});
    job.slot = node.children.expand(selection.interval, selection.threshold, index);
    prepare_implied(job, worker);
    node.children.hold(job.slot);
    if (limits_.threads > 1) node.children.hold_neighbours(job.slot);
    for (OrNode* above = &node; above; above = above->parent) ++above->active;
    ++in_flight_;
    return job;
}

// False if the node has been closed meanwhile; its memory may be gone.
bool Search::end(const Job& job) {
    --in_flight_;
    OrNode* top = nullptr;
    for (OrNode* above = job.node; above; above = above->parent) {
        --above->active;
        top = above;
    }
    if (top == &root_) return !root_.complete;
    if (top->active == 0)
        std::erase_if(detached_, [&](const std::unique_ptr<OrNode>& node) { return node.get() == top; });
    return false;
}

void Search::commit(const Job& job, AndNode result, Worker& worker) {
    if (!end(job)) return;
    OrNode& node = *job.node;
    if (options_.log_expansions) record(job);
    node.and_node(job.slot) = std::move(result);
    for (int side = 0; side < 2; ++side) {
        Branch& branch = node.and_node(job.slot).sides[side];
        if (!branch.feature_lower.empty())
            keep_feature_bounds(node, job.slot, side, std::move(branch.feature_lower));
        if (!branch.node) continue;
        branch.node->parent = &node;
        branch.node->parent_slot = job.slot;
        branch.node->parent_side = side;
        enroll(*branch.node, job.feature_lower[side]);
        branch.heuristic = branch.node->children.min_heuristic();
    }
    for (OrNode* above = &node; above; above = above->parent) ++above->expansions;
    node.children.release(job.slot);
    node.children.release_neighbours(job.slot);
    update(node, job.slot);
    node.children.raise(worker.implied);
    node.memory.set(&memory_, node.bytes());
    back_propagate(&node);
}

void Search::cancel(const Job& job) {
    if (!end(job)) return;
    OrNode& node = *job.node;
    node.release_and_node(node.children[job.slot].and_node);
    node.children.retract(job.slot);
    // The nodes above have something to select below them again.
    for (OrNode* above = &node; above->parent; above = above->parent)
        if (above->parent->children.held(above->parent_slot))
            above->parent->children.release(above->parent_slot);
}

// Whether feature bounds of the sides of a node's splits hold for their neighbours (see FeatureBounds): only
// if all trees are allowed. Sides of depth one need none, because they are solved at once.
bool Search::shares_feature_bounds(const OrNode& node) const {
    return node.budget.depth > 2 && !node.budget.limited() && settings_.rules.free() &&
           settings_.bounds.neighborhood;
}

// Whether there is memory for bounds that are kept. Nodes need it more.
bool Search::may_keep(std::size_t bytes) const {
    const std::int64_t limit = options_.memory_limit;
    return limit == no_memory_limit ||
           memory_.used() - fixed_memory_ + static_cast<std::int64_t>(bytes) <= (limit - fixed_memory_) / 8;
}

void Search::keep_feature_bounds(OrNode& node, Slot slot, int side, FeatureBounds::Lower lower) {
    if (!may_keep(lower.size() * sizeof(double))) return;
    const Child& child = node.children[slot];
    node.feature_bounds.add(child.feature, child.first, side, std::move(lower));
}

bool Search::make_branches(const Job& job, Worker& worker, AndNode& result, StopCondition& stop) const {
    const OrNode& node = *job.node;
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
    Subset& left = terminal[0] ? worker.side_data[0] : own[0];
    Subset& right = terminal[1] ? worker.side_data[1] : own[1];
    node.subset.split(job.feature, job.threshold, left, right, worker.scratch);
    DepthTwoResult found[2];
    const auto take = [&](int side) {
        Branch& branch = result.sides[side];
        branch.lower = found[side].lower;
        branch.incumbent = found[side].upper;
        branch.solution = found[side].solution(*data_, worker.side_data[side]);
    };
    for (int side = 0; side < 2; ++side) {
        Branch& branch = result.sides[side];
        if (!terminal[side]) {
            prepare_branch(std::move(own[side]), budgets[side], job.lower[side], branch);
            continue;
        }
        const Subset& subset = worker.side_data[side];
        if (budgets[side].depth < 2) {
            budgets[side].depth == 0 ? leave(subset, branch) : solve_stump(subset, branch);
            continue;
        }
        // A lower bound on the other side; the left side is already solved when the right one is.
        const double other = side == 0 ? job.lower[1] : result.sides[0].lower.allowed;
        const DepthTwoSolver::Limits limits{job.lower[side], job.relaxed - other, job.feature_lower[side],
                                            false};
        found[side] = worker.depth_two.solve(subset, node.order, budgets[side].leaves, limits, stop);
        if (found[side].stopped) return false;
        take(side);
        if (shares_feature_bounds(node)) branch.feature_lower = worker.depth_two.feature_lower();
    }
    // Where this split may give the node a better tree, both sides must be known exactly.
    for (int side = 0; side < 2; ++side) {
        const double lower =
            settings_.prices.of(job.feature) + result.sides[0].lower.allowed + result.sides[1].lower.allowed;
        if (found[side].exact() || lower >= job.incumbent) continue;
        if (!worker.depth_two.confirm(worker.side_data[side], node.order, found[side], stop)) return false;
        take(side);
    }
    compute_implied(job, result, worker);
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

void Search::prepare_branch(Subset subset, const Budget& budget, double lower, Branch& branch) const {
    auto node = std::make_unique<OrNode>();
    node->subset = std::move(subset);
    node->budget = budget;
    node->leaf_loss = node->incumbent = objective_->leaf_loss(node->subset);
    node->solution = leaf_solution();
    node->lower.allowed = lower;
    prepare(*node);
    branch.lower = node->lower;
    branch.incumbent = node->incumbent;
    branch.solution = node->solution;
    branch.heuristic = 0.0;
    if (!node->complete) branch.node = std::move(node);
}

// Create-OR-Node: bounds and the order of the features, unless a leaf is already known to be the best tree.
void Search::prepare(OrNode& node) const {
    if (node.budget.depth == 0 || !node.subset.has_thresholds() ||
        node.leaf_loss <= settings_.prices.least() + settings_.tolerance) {
        node.complete = true;
        node.lower = Bound::both(node.incumbent);
        return;
    }
    if (!settings_.rules.leaves.can_split(node.subset)) {
        node.complete = true;
        node.lower = {node.incumbent,
                      std::min(node.leaf_loss, std::max(node.lower.allowed, settings_.prices.least()))};
        return;
    }
    node.split_cutoff = settings_.split_cutoff(node.leaf_loss);
    const NodeBound bound = node_bound(*objective_, node.subset, node.budget, node.leaf_loss, settings_, 0.0);
    node.split_lower = std::max(bound.split, node.lower.allowed);
    node.lower.free = std::min(node.leaf_loss, std::max(node.lower.allowed, bound.any));
    node.lower.allowed = std::min(node.incumbent, settings_.bound_by_splits(node.leaf_loss, node.lower.free));
    if (node.lower.allowed >= node.incumbent - settings_.tolerance) {
        node.complete = true;
        return;
    }
    if (&node != &root_)
        node.order = order_features(*objective_, settings_.rules.leaves, node.subset,
                                    options_.strategy.needs_discrepancy());
}

// One interval per feature and share of the leaves.
void Search::enroll(OrNode& node, std::span<const double> feature_lower) {
    node.id = ++last_id_;
    node.children.reset(settings_, options_.strategy, *objective_, node.subset, node.order, node.budget,
                        node.split_lower, random_, feature_lower);
    node.memory.set(&memory_, node.bytes());
}

// False if it was stopped. Meanwhile other threads may offer trees and bounds, which may complete the root.
bool Search::solve_terminal_root(StopCondition& stop) {
    bool stopped = false;
    if (root_.budget.depth == 1) {
        const auto stump = best_allowed_stump(*objective_, *data_, root_.subset.samples(), settings_, 0.0);
        const Lock lock(mutex_);
        if (!root_.complete) take_incumbent(stump.objective, stump_solution(stump.objective));
    } else {
        const auto take_best = [&](double lower, const DepthTwoResult& found) {
            const Lock lock(mutex_);
            if (root_.complete) return;
            if (found.upper < root_.incumbent)
                take_incumbent(found.upper, found.solution(*data_, root_.subset));
            root_.lower.allowed = std::max(root_.lower.allowed, std::min(lower, root_.incumbent));
            tell_run();
        };
        Lock lock(mutex_);
        const DepthTwoSolver::Limits limits{root_.lower.allowed, root_.incumbent};
        lock.unlock();
        const DepthTwoResult result = workers_[0]->depth_two.solve(
            root_.subset, root_.order, root_.budget.leaves, limits, stop, take_best);
        take_best(result.lower.allowed, result);
        stopped = result.stopped;
    }
    const Lock lock(mutex_);
    if (root_.complete || stopped) return root_.complete;
    root_.lower.allowed = root_.incumbent;
    root_.complete = true;
    ++root_.expansions;
    add_trace_point();
    return true;
}

void Search::record(const Job& job) {
    ExpansionRecord entry;
    entry.split = job.node->subset.split_at(*data_, job.feature, job.threshold);
    entry.path = path_to(*job.node);
    log_.push_back(std::move(entry));
}

}  // namespace codt
