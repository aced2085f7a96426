// Select (paper, Alg. 2): from the root down, the first child of an OR node by the strategy's priority, one
// side of an AND node, until an interval of thresholds is reached. On the way down every node learns its
// upper bound, and what can no longer improve the root is closed.
#include "common/check.hpp"
#include "search/search.hpp"

namespace codt {

std::optional<Search::Selection> Search::select() {
    OrNode* node = &root_;
    for (;;) {
        const double cutoff = node->cutoff();
        const double target = cutoff - settings_.tolerance;
        if (node->children.empty() || node->children.min_lower() >= target) {
            finish(*node);
            return std::nullopt;
        }
        const Slot slot = node->children.top();
        const Child& child = node->children[slot];
        if (child.kind == Child::Kind::interval) {
            if (child.lower >= target) {
                node->children.close(slot);
                continue;
            }
            if (node->children.refresh(slot, cutoff)) continue;
            return Selection{node, slot, node->children.select_threshold(slot)};
        }
        // An AND node is worth going on with until it prunes all of its neighbourhood (paper, "When to
        // prune").
        const double relaxed = cutoff + node->children.reach(slot);
        if (child.lower >= relaxed - settings_.tolerance) {
            close_and_node(*node, slot);
            continue;
        }
        AndNode& and_node = node->and_node(slot);
        const int side = select_side(and_node);
        OrNode* below = and_node.sides[side].node.get();
        CODT_CHECK(below != nullptr && below->parent == node && below->depth + 1 == node->depth);
        below->upper = relaxed - settings_.lambda - and_node.sides[1 - side].lower;
        node = below;
    }
}

int Search::select_side(const AndNode& node) {
    const Branch& left = node.sides[0];
    const Branch& right = node.sides[1];
    if (left.complete()) return 1;
    if (right.complete()) return 0;
    switch (options_.strategy.left_right) {
        case LeftRight::upper_bound:
            return right.incumbent > left.incumbent ? 1 : 0;
        case LeftRight::fewest_expansions:
            return right.expansions < left.expansions ? 1 : 0;
        case LeftRight::heuristic:
            return right.heuristic < left.heuristic ? 1 : 0;
        case LeftRight::random:
            return static_cast<int>(random_.next() & 1);
    }
    return 0;
}

}  // namespace codt
