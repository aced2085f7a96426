// Expand (paper, Alg. 3): an interval is replaced by an AND node at one of its thresholds and by what is left
// of it on both sides. Subproblems of a terminal case are solved on the spot; the others become OR nodes.
//
// An expansion has a beginning and an end, which change the search tree. Between them its sides are solved
// (sides.cpp), which only reads the node's data and can run on many threads at once. An expansion that is
// stopped in between is undone.
#include <algorithm>

#include "bounds/lower_bounds.hpp"
#include "common/check.hpp"
#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

namespace {

// Expansions at a time in a node whose sides are solved on the spot. What one of them finds helps the next
// ones of the same node most: its bounds, its trees, and so its cutoff. Expansions in other nodes, below
// other splits of the nodes above, have to be made anyway. Nor do two threads in one node pass its memory
// from core to core. With many threads there are too few such nodes for one expansion each.
std::uint32_t most_at_once(std::uint32_t threads) {
    return threads <= 4 ? 1 : 2;
}

}  // namespace

// Every thread works on one expansion, so there is one that is not in use. If possible it is the one that the
// thread has used before, whose data are still in the cache of its core.
Expansion& Search::unused_expansion(const Worker& worker) {
    CODT_CHECK(!unused_expansions_.empty());
    auto found = std::find_if(unused_expansions_.begin(), unused_expansions_.end(),
                              [&](const Expansion* expansion) { return expansion->worker == &worker; });
    if (found == unused_expansions_.end()) --found;
    Expansion& expansion = **found;
    unused_expansions_.erase(found);
    expansion.worker = &worker;
    return expansion;
}

Expansion& Search::begin(const Selection& selection, const Worker& worker, bool dual) {
    Expansion& expansion = unused_expansion(worker);
    expansion.reset();
    OrNode& node = *selection.node;
    Job& job = expansion.job = Job{};
    job.node = &node;
    job.dual = dual;
    job.feature = node.children[selection.interval].feature;
    job.threshold = selection.threshold;
    job.left_leaves = node.children.left_leaves(selection.interval);
    job.cells = node.subset.cells();
    node.children.inherited(selection.interval, selection.threshold, job.lower[0], job.lower[1]);
    job.relaxed = node.cutoff() + node.children.reach(selection.interval, selection.threshold) -
                  settings_.prices.of(job.feature);
    node.children.enough(selection.interval, selection.threshold, node.cutoff(), job.enough[0],
                         job.enough[1]);
    job.cutoff = node.cutoff();
    job.incumbent = node.incumbent;
    if (shares_feature_bounds(node))
        for (int side = 0; side < 2; ++side)
            job.feature_lower[side] =
                node.children.inherited(node.feature_bounds, selection.interval, selection.threshold, side);
    const std::int32_t index = node.add_and_node({});
    job.slot = node.children.expand(selection.interval, selection.threshold, index);
    prepare_implied(expansion);
    node.children.hold(job.slot);
    if (limits_.threads > 1) node.children.hold_neighbours(job.slot);
    for (OrNode* above = &node; above; above = above->parent) ++above->active;
    ++in_flight_;
    job.room = room_in(node);
    room_ += job.room;
    expansion.under_way = true;
    return expansion;
}

// False if the node has been closed meanwhile; its memory may be gone.
bool Search::end(const Job& job) {
    --in_flight_;
    room_ -= job.room;
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

void Search::commit(Expansion& expansion) {
    const Job& job = expansion.job;
    if (!end(job)) return;
    OrNode& node = *job.node;
    if (options_.log_expansions) record(job);
    node.and_node(job.slot) = std::move(expansion.result);
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
    update(node, job.slot);
    node.children.raise(expansion.implied);
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
    if (solves_sides(node)) node.most_active = most_at_once(limits_.threads);
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
