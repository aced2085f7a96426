// Select (paper, Alg. 2): from the root down, the first child of an OR node by the strategy's priority, one
// side of an AND node, until an interval of thresholds is reached. On the way down every node learns its
// upper bound, and what can no longer improve the root is closed. Where other threads are working on
// everything that is open, the AND node above is held until one of them is done.
//
// Steps that raise the lower bound (dual.cpp) take the child with the least lower bound instead.
#include "common/check.hpp"
#include "search/search.hpp"

namespace codt {

namespace {

// Expansions under way at a node beyond which none is guessed, for every feature.
constexpr std::uint32_t most_guesses = 2;

}  // namespace

// Nothing if nodes were only closed or held: the caller asks again.
std::optional<Search::Selection> Search::select(bool dual) {
    OrNode* node = &root_;
    for (;;) {
        const double cutoff = node->cutoff();
        const double target = cutoff - settings_.tolerance;
        if (node->children.empty() || node->children.min_lower() >= target) {
            finish(*node);
            return std::nullopt;
        }
        if (!node->children.selectable()) return std::nullopt;
        node->children.order_by(economy_ ? &memory_saving_order() : nullptr);
        Slot slot = dual ? node->children.weakest() : node->children.top();
        std::optional<int> side;
        if (node->children[slot].kind == Child::Kind::interval) {
            if (node->children[slot].lower.allowed >= target) {
                node->children.close(slot);
                continue;
            }
            if (node->children.refresh(slot, cutoff)) continue;
            const auto neighbour = dual ? neighbour_to_raise(*node, slot) : std::nullopt;
            if (!neighbour)
                return Selection{
                    node, slot,
                    dual ? node->children.nearest_open(slot, balanced_threshold(*node, slot), cutoff)
                         : node->children.select_threshold(slot, cutoff)};
            slot = neighbour->slot;
            side = neighbour->side;
        }
        const Child& child = node->children[slot];
        // An AND node is worth pursuing until it prunes all of its neighbourhood (paper, "When to prune").
        const double relaxed = cutoff + node->children.reach(slot);
        if (child.lower.allowed >= relaxed - settings_.tolerance) {
            close_and_node(*node, slot);
            continue;
        }
        AndNode& and_node = node->and_node(slot);
        if (!side) side = dual ? wider_side(and_node) : select_side(and_node);
        if (*side < 0) {
            node->children.hold(slot);
            node->children.hold_neighbours(slot);
            if (node->children.selectable()) continue;
            return std::nullopt;
        }
        OrNode* below = and_node.sides[*side].node.get();
        CODT_CHECK(below != nullptr && below->parent == node && below->budget.depth < node->budget.depth);
        below->upper = relaxed - settings_.prices.of(child.feature) - and_node.sides[1 - *side].lower.allowed;
        node = below;
    }
}

// Whether threads that have nothing else to do should begin expansions that are probably superfluous. Units
// take so long, and so many threads wait for them, that some of these pay.
bool Search::may_guess() const {
    return hands_out() || in_flight_ == 0;
}

// For threads that have nothing else to do: releases the largest interval that is held because of a
// neighbour, in the topmost node that has one. Where expansions take long because they are units, too many of
// such guesses at a node would make more work than they save.
bool Search::release_interval(OrNode& node) {
    const bool enough = hands_out() && node.active >= most_guesses * node.subset.features();
    const Slot interval = enough ? Children::none : node.children.largest_held_interval();
    if (interval != Children::none) {
        node.children.let_go(interval);
        return true;
    }
    for (const Slot slot : node.children.open()) {
        if (node.children[slot].kind != Child::Kind::expanded) continue;
        for (Branch& side : node.and_node(slot).sides) {
            if (!side.node || !release_interval(*side.node)) continue;
            if (node.children.held(slot)) node.children.let_go(slot);
            return true;
        }
    }
    return false;
}

// The side to descend into; -1 if other threads are working on everything that is left of both sides.
int Search::select_side(const AndNode& node) {
    const Branch& left = node.sides[0];
    const Branch& right = node.sides[1];
    if (!left.selectable()) return right.selectable() ? 1 : -1;
    if (!right.selectable()) return 0;
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
