// BackPropagate (paper, Definition "Back-propagate" and appendix "Back-Propagation"): after an expansion the
// new incumbents and bounds are passed up from the node to the root, and every node on the way prunes what
// they rule out.
#include <algorithm>

#include "common/check.hpp"
#include "search/search.hpp"

namespace codt {

void Search::back_propagate(OrNode* node) {
    while (node->parent) {
        OrNode& parent = *node->parent;
        const Slot slot = node->parent_slot;
        Branch& branch = parent.and_node(slot).sides[node->parent_side];
        branch.lower = node->lower;
        branch.incumbent = node->incumbent;
        branch.solution = node->solution;
        branch.expansions = node->expansions;
        branch.heuristic = node->children.min_heuristic();
        if (node->complete) bury(parent, slot, node->parent_side);
        // There may be something below to select again.
        parent.children.release(slot);
        update(parent, slot);
        node = &parent;
    }
}

// Updates everything that depends on the AND node at `slot`: its bounds, its neighbours' bounds, the
// incumbent, the node's own bound.
void Search::update(OrNode& node, Slot slot) {
    AndNode& and_node = node.and_node(slot);
    Branch& left = and_node.sides[0];
    Branch& right = and_node.sides[1];
    CODT_CHECK(left.lower.allowed <= left.incumbent + settings_.tolerance);
    CODT_CHECK(right.lower.allowed <= right.incumbent + settings_.tolerance);
    take_split(node, slot, left, right);
    node.children.raise(slot, left.lower, right.lower, and_node.heuristic(), node.cutoff());
    if (hands_out()) node.children.pass_on(slot, node.cutoff());
    if (and_node.complete() ||
        node.children[slot].lower.allowed >= node.cutoff() + node.children.reach(slot) - settings_.tolerance)
        close_and_node(node, slot);
    refresh_bound(node);
}

// The best tree known for the two sides as the node's incumbent, if it is better.
void Search::take_split(OrNode& node, Slot slot, const Branch& left, const Branch& right) {
    const Child& child = node.children[slot];
    const double objective = settings_.prices.of(child.feature) + left.incumbent + right.incumbent;
    if (objective >= node.incumbent || !settings_.allows(node.leaf_loss, objective)) return;
    node.incumbent = objective;
    node.solution = split_solution(node.subset.split_at(*data_, child.feature, child.first), left.solution,
                                   right.solution);
}

void Search::close_and_node(OrNode& node, Slot slot) {
    for (int side = 0; side < 2; ++side)
        if (node.and_node(slot).sides[side].node) bury(node, slot, side);
    const std::int32_t index = node.children[slot].and_node;
    node.children.close(slot);
    node.release_and_node(index);
    imply_bounds(node, slot);
}

// Removes the node of one side of an AND node, but keeps what is known of its features. A node with
// expansions under way stays until they have ended.
void Search::bury(OrNode& parent, Slot slot, int side) {
    std::unique_ptr<OrNode> node = std::move(parent.and_node(slot).sides[side].node);
    if (shares_feature_bounds(parent)) {
        FeatureBounds::Lower lower;
        node->children.feature_lower(lower);
        keep_feature_bounds(parent, slot, side, std::move(lower));
    }
    if (node->active == 0) return;
    for (OrNode* above = &parent; above; above = above->parent) above->active -= node->active;
    node->parent = nullptr;
    abandon_expansions(*node);
    detached_.push_back(std::move(node));
}

// Remaining splits, closed splits and the incumbent together bound the node.
void Search::refresh_bound(OrNode& node) {
    const double splits = std::min(node.children.closed_lower(), node.children.min_lower());
    node.lower.allowed = std::max(
        node.lower.allowed, std::min(node.incumbent, settings_.bound_by_splits(node.leaf_loss, splits)));
    node.lower.free = settings_.rules.free()
                          ? node.lower.allowed
                          : std::max(node.lower.free, std::min(node.leaf_loss, node.children.free_lower()));
    CODT_CHECK(node.lower.allowed <= node.incumbent + settings_.tolerance);
    const double target = node.cutoff() - settings_.tolerance;
    if (node.children.empty() || node.children.min_lower() >= target ||
        node.lower.allowed >= node.incumbent - settings_.tolerance)
        (ends_at_target(node) ? at_target_ : node.complete) = true;
}

void Search::finish(OrNode& node) {
    refresh_bound(node);
    back_propagate(&node);
}

}  // namespace codt
