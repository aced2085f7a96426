// Expand (paper, Alg. 3): an interval is replaced by an AND node at one of its thresholds and by what is left
// of it on both sides. Subproblems of a terminal case are solved on the spot; the others become OR nodes.
//
// An expansion has a beginning and an end, which change the search tree, and between them make_branches,
// which only reads the node's data and can run on many threads at once. One that is stopped in between is
// taken back.
#include <algorithm>

#include "bounds/lower_bounds.hpp"
#include "common/check.hpp"
#include "search/search.hpp"

namespace codt {

Search::Job Search::begin(const Selection& selection) {
    OrNode& node = *selection.node;
    Job job;
    job.node = &node;
    job.feature = node.children[selection.interval].feature;
    job.threshold = selection.threshold;
    node.children.inherited(selection.interval, selection.threshold, job.lower[0], job.lower[1]);
    job.relaxed =
        node.cutoff() + node.children.reach(selection.interval, selection.threshold) - settings_.lambda;
    const std::int32_t index = node.add_and_node({});
    job.slot = node.children.expand(selection.interval, selection.threshold, index);
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

void Search::commit(const Job& job, AndNode result) {
    if (!end(job)) return;
    OrNode& node = *job.node;
    if (options_.log_expansions) record(job);
    node.and_node(job.slot) = std::move(result);
    for (int side = 0; side < 2; ++side) {
        Branch& branch = node.and_node(job.slot).sides[side];
        if (!branch.node) continue;
        branch.node->parent = &node;
        branch.node->parent_slot = job.slot;
        branch.node->parent_side = side;
        enroll(*branch.node);
        branch.heuristic = branch.node->children.min_heuristic();
    }
    for (OrNode* above = &node; above; above = above->parent) ++above->expansions;
    node.children.release(job.slot);
    node.children.release_neighbours(job.slot);
    update(node, job.slot);
    node.memory.set(&memory_, node.bytes());
    back_propagate(&node);
}

void Search::cancel(const Job& job) {
    if (!end(job)) return;
    OrNode& node = *job.node;
    node.release_and_node(node.children[job.slot].and_node);
    node.children.retract(job.slot);
    // There is something to select below these again.
    for (OrNode* above = &node; above->parent; above = above->parent)
        if (above->parent->children.held(above->parent_slot))
            above->parent->children.release(above->parent_slot);
}

bool Search::make_branches(const Job& job, Worker& worker, AndNode& result, StopCondition& stop) const {
    const OrNode& node = *job.node;
    Branch& left = result.sides[0];
    Branch& right = result.sides[1];

    if (node.depth == 1 || (node.depth == 2 && options_.terminal == Terminal::left_right)) {
        if (node.depth == 1)
            objective_->leaf_losses(node.subset, job.feature, job.threshold, left.incumbent, right.incumbent);
        else if (!worker.depth_two.solve_split(node.subset, node.order, node.id, job.feature, job.threshold,
                                               left.incumbent, right.incumbent, stop))
            return false;
        for (Branch& side : result.sides) {
            side.lower = side.incumbent;
            side.solution = node.depth == 1 ? leaf_solution() : stump_solution();
        }
        return true;
    }

    if (node.depth == 3 && options_.terminal == Terminal::depth_two) {
        Subset(&sides)[2] = worker.side_data;
        node.subset.split(job.feature, job.threshold, sides[0], sides[1], worker.scratch);
        const DepthTwoSolver::Limits left_limits{job.lower[0], job.relaxed - job.lower[1]};
        if (!solve_branch(sides[0], node, left_limits, left, worker, stop)) return false;
        const DepthTwoSolver::Limits right_limits{job.lower[1], job.relaxed - left.lower};
        return solve_branch(sides[1], node, right_limits, right, worker, stop);
    }
    Subset sides[2];
    node.subset.split(job.feature, job.threshold, sides[0], sides[1], worker.scratch);
    prepare_branch(std::move(sides[0]), node, job.lower[0], left);
    prepare_branch(std::move(sides[1]), node, job.lower[1], right);
    return true;
}

bool Search::solve_branch(const Subset& subset, const OrNode& parent, const DepthTwoSolver::Limits& limits,
                          Branch& branch, Worker& worker, StopCondition& stop) const {
    const DepthTwoResult result = worker.depth_two.solve(subset, parent.order, limits, stop);
    if (result.stopped) return false;
    branch.lower = result.lower;
    branch.incumbent = result.upper;
    branch.solution = result.solution(*data_, subset);
    return true;
}

void Search::prepare_branch(Subset subset, const OrNode& parent, double lower, Branch& branch) const {
    auto node = std::make_unique<OrNode>();
    node->subset = std::move(subset);
    node->depth = parent.depth - 1;
    node->incumbent = objective_->leaf_loss(node->subset);
    node->solution = leaf_solution();
    node->lower = lower;
    prepare(*node);
    branch.lower = node->lower;
    branch.incumbent = node->incumbent;
    branch.solution = node->solution;
    branch.heuristic = 0.0;
    if (!node->complete) branch.node = std::move(node);
}

// Create-OR-Node: bounds and the order of the features, unless a leaf is the best tree already.
void Search::prepare(OrNode& node) const {
    const double leaf = &node == &root_ ? objective_->leaf_loss(node.subset) : node.incumbent;
    if (node.depth == 0 || !objective_->leaf_limits().can_split(node.subset) ||
        leaf <= settings_.lambda + settings_.tolerance) {
        node.complete = true;
        node.lower = node.incumbent;
        return;
    }
    const NodeBound bound = node_bound(*objective_, node.subset, node.depth, leaf, settings_, 0.0);
    node.split_lower = std::max(bound.split, node.lower);
    node.lower = std::min(node.incumbent, std::max(node.lower, bound.any));
    if (node.lower >= node.incumbent - settings_.tolerance) {
        node.complete = true;
        return;
    }
    if (&node != &root_)
        node.order = order_features(*objective_, node.subset, options_.strategy.needs_discrepancy());
}

// One interval per feature.
void Search::enroll(OrNode& node) {
    node.id = ++last_id_;
    node.children.reset(settings_, options_.strategy, *objective_, node.subset, node.order, node.depth,
                        node.split_lower, random_);
    node.memory.set(&memory_, node.bytes());
}

// A root within the terminal case is one expansion.
bool Search::solve_terminal_root(StopCondition& stop) {
    if (root_.depth == 1) {
        const auto stump = objective_->best_stump(*data_, root_.subset.samples(), settings_.lambda);
        take_incumbent(stump.objective, stump_solution());
    } else {
        const auto take = [&](double lower, const DepthTwoResult& found) {
            const Lock lock(mutex_);
            if (found.upper < root_.incumbent)
                take_incumbent(found.upper, found.solution(*data_, root_.subset));
            root_.lower = std::max(root_.lower, std::min(lower, root_.incumbent));
            add_trace_point();
        };
        const DepthTwoResult result = workers_[0]->depth_two.solve(
            root_.subset, root_.order, {root_.lower, root_.incumbent}, stop, take);
        take(result.lower, result);
        if (result.stopped) return false;
    }
    const Lock lock(mutex_);
    root_.lower = root_.incumbent;
    root_.complete = true;
    ++root_.expansions;
    return true;
}

void Search::record(const Job& job) {
    ExpansionRecord entry;
    entry.feature = job.feature;
    entry.threshold = job.node->subset.threshold_value(*data_, entry.feature, job.threshold);
    for (const OrNode* node = job.node; node->parent; node = node->parent) {
        const Child& child = node->parent->children[node->parent_slot];
        entry.path.push_back({child.feature,
                              node->parent->subset.threshold_value(*data_, child.feature, child.first),
                              node->parent_side == 0});
    }
    std::reverse(entry.path.begin(), entry.path.end());
    log_.push_back(std::move(entry));
}

}  // namespace codt
