// Expand (paper, Alg. 3): an interval is replaced by an AND node at one of its thresholds and by what is left
// of it on both sides. Subproblems of a terminal case are solved on the spot; the others become OR nodes.
#include <algorithm>

#include "bounds/lower_bounds.hpp"
#include "search/search.hpp"

namespace codt {

bool Search::expand(const Selection& selection, StopCondition& stop) {
    // The sides come first: if the search is stopped inside them, the tree is as it was.
    AndNode and_node;
    if (!make_branches(selection, and_node, stop)) return false;
    if (options_.log_expansions) record(selection);
    OrNode& node = *selection.node;
    const std::int32_t index = node.add_and_node(std::move(and_node));
    const Slot slot = node.children.expand(selection.interval, selection.threshold, index);
    for (Branch& side : node.and_nodes[static_cast<std::size_t>(index)].sides)
        if (side.node) side.node->parent_slot = slot;
    for (OrNode* above = &node; above; above = above->parent) ++above->expansions;
    update(node, slot);
    return true;
}

bool Search::make_branches(const Selection& selection, AndNode& result, StopCondition& stop) {
    OrNode& node = *selection.node;
    const std::uint32_t feature = node.children[selection.interval].feature;
    Branch& left = result.sides[0];
    Branch& right = result.sides[1];

    if (node.depth == 1 || (node.depth == 2 && options_.terminal == Terminal::left_right)) {
        if (node.depth == 1)
            objective_->leaf_losses(node.subset, feature, selection.threshold, left.incumbent,
                                    right.incumbent);
        else if (!depth_two_.solve_split(node.subset, node.order, node.id, feature, selection.threshold,
                                         left.incumbent, right.incumbent, stop))
            return false;
        for (Branch& side : result.sides) {
            side.lower = side.incumbent;
            side.solution = node.depth == 1 ? leaf_solution() : stump_solution();
        }
        return true;
    }

    double lower[2];
    node.children.inherited(selection.interval, selection.threshold, lower[0], lower[1]);
    if (node.depth == 3 && options_.terminal == Terminal::depth_two) {
        node.subset.split(feature, selection.threshold, side_data_[0], side_data_[1], scratch_);
        const double relaxed =
            node.cutoff() + node.children.reach(selection.interval, selection.threshold) - settings_.lambda;
        const DepthTwoSolver::Limits left_limits{lower[0], relaxed - lower[1]};
        if (!solve_branch(side_data_[0], node, left_limits, left, stop)) return false;
        const DepthTwoSolver::Limits right_limits{lower[1], relaxed - left.lower};
        return solve_branch(side_data_[1], node, right_limits, right, stop);
    }
    Subset sides[2];
    node.subset.split(feature, selection.threshold, sides[0], sides[1], scratch_);
    open_branch(std::move(sides[0]), selection, lower[0], left);
    open_branch(std::move(sides[1]), selection, lower[1], right);
    if (right.node) right.node->parent_side = 1;
    return true;
}

bool Search::solve_branch(const Subset& subset, const OrNode& parent, const DepthTwoSolver::Limits& limits,
                          Branch& branch, StopCondition& stop) {
    const DepthTwoResult result = depth_two_.solve(subset, parent.order, limits, stop);
    if (result.stopped) return false;
    branch.lower = result.lower;
    branch.incumbent = result.upper;
    branch.solution =
        result.splits
            ? split_solution(result.feature, subset.threshold_value(*data_, result.feature, result.threshold),
                             stump_solution(), stump_solution())
            : leaf_solution();
    return true;
}

void Search::open_branch(Subset subset, const Selection& selection, double lower, Branch& branch) {
    auto node = std::make_unique<OrNode>();
    node->id = ++last_id_;
    node->subset = std::move(subset);
    node->depth = selection.node->depth - 1;
    node->parent = selection.node;
    node->incumbent = objective_->leaf_loss(node->subset);
    node->solution = leaf_solution();
    node->lower = lower;
    open(*node);
    branch.lower = node->lower;
    branch.incumbent = node->incumbent;
    branch.solution = node->solution;
    branch.heuristic = node->complete ? 0.0 : node->children.min_heuristic();
    if (!node->complete) branch.node = std::move(node);
}

// Create-OR-Node: bounds, and one interval per feature, unless a leaf is the best tree already.
void Search::open(OrNode& node) {
    const double leaf = &node == &root_ ? objective_->leaf_loss(node.subset) : node.incumbent;
    if (node.depth == 0 || !node.subset.has_thresholds() || leaf <= settings_.lambda + settings_.tolerance) {
        node.complete = true;
        node.lower = node.incumbent;
        return;
    }
    const NodeBound bound = node_bound(*objective_, node.subset, node.depth, leaf, settings_, 0.0);
    const double split_lower = std::max(bound.split, node.lower);
    node.lower = std::min(node.incumbent, std::max(node.lower, bound.any));
    if (node.lower >= node.incumbent - settings_.tolerance) {
        node.complete = true;
        return;
    }
    if (&node == &root_ && terminal_root() && root_.depth == 1) return;
    if (&node != &root_)
        node.order = order_features(*objective_, node.subset, options_.strategy.needs_discrepancy());
    node.children.reset(settings_, options_.strategy, *objective_, node.subset, node.order, node.depth,
                        split_lower, random_);
}

// A root within the terminal case is one expansion.
bool Search::solve_terminal_root(StopCondition& stop) {
    if (root_.depth == 1) {
        const auto stump = objective_->best_stump(*data_, root_.subset.samples(), settings_.lambda);
        root_.incumbent = stump.objective;
        root_.solution = stump_solution();
    } else {
        const auto take = [&](double lower, const DepthTwoResult& found) {
            if (found.upper < root_.incumbent) {
                root_.incumbent = found.upper;
                root_.solution =
                    found.splits
                        ? split_solution(found.feature,
                                         root_.subset.threshold_value(*data_, found.feature, found.threshold),
                                         stump_solution(), stump_solution())
                        : leaf_solution();
            }
            root_.lower = std::max(root_.lower, std::min(lower, root_.incumbent));
            add_trace_point();
        };
        const DepthTwoResult result =
            depth_two_.solve(root_.subset, root_.order, {root_.lower, root_.incumbent}, stop, take);
        take(result.lower, result);
        if (result.stopped) return false;
    }
    root_.lower = root_.incumbent;
    root_.complete = true;
    ++root_.expansions;
    return true;
}

void Search::record(const Selection& selection) {
    ExpansionRecord entry;
    entry.feature = selection.node->children[selection.interval].feature;
    entry.threshold = selection.node->subset.threshold_value(*data_, entry.feature, selection.threshold);
    for (const OrNode* node = selection.node; node->parent; node = node->parent) {
        const Child& child = node->parent->children[node->parent_slot];
        entry.path.push_back({child.feature,
                              node->parent->subset.threshold_value(*data_, child.feature, child.first),
                              node->parent_side == 0});
    }
    std::reverse(entry.path.begin(), entry.path.end());
    log_.push_back(std::move(entry));
}

}  // namespace codt
