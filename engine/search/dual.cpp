// Steps that raise the lower bound. The strategies of the paper look after incumbents and proof alike, and at
// depth five and more that leaves the root's bound at zero for a long time. As the primal heuristics look
// after incumbents, a share of the work can go where the bound is least.
//
// In every OR node the child with the least lower bound is taken. If that is an interval between two
// evaluated thresholds p < q, its bound is lambda + L(p) + R(q) (bounds/similarity.hpp). It is raised either
// by a threshold in the middle, or by a better bound on L(p) or R(q), where p or q are still open; that
// serves the whole interval, and others, too. The middle is taken only if the incumbents of the two sides say
// that better bounds cannot bring the interval far enough, `enough` of the way from the node's bound to its
// cutoff. On both sides of an AND node, and between L(p) and R(q), the one with more room between bound and
// incumbent goes first.
#include "search/search.hpp"

namespace codt {

namespace {

// By the depth limit. Up to depth four the proof takes about as long either way.
double default_share(std::uint32_t max_depth) {
    return max_depth <= 4 ? 0.0 : 0.9;
}

constexpr double enough = 0.15;

}  // namespace

// Whether the next step is one. They open more nodes than others, so not while memory is short.
bool Search::dual_turn() const {
    const double share = options_.dual_share == SearchOptions::by_depth ? default_share(root_.budget.depth)
                                                                        : options_.dual_share;
    return !economy_ && static_cast<double>(dual_work_) < share * static_cast<double>(work_ + 1);
}

// -1 if other threads are working on everything that is left of both sides.
int Search::wider_side(const AndNode& node) const {
    const Branch& left = node.sides[0];
    const Branch& right = node.sides[1];
    if (!left.selectable()) return right.selectable() ? 1 : -1;
    if (!right.selectable()) return 0;
    return right.room() > left.room() ? 1 : 0;
}

std::optional<Search::Side> Search::neighbour_to_raise(const OrNode& node, Slot interval) const {
    const Children& children = node.children;
    const Slot beside[2] = {children[interval].previous, children[interval].next};
    double reachable = settings_.prices.of(children[interval].feature);
    double most = 0;
    std::optional<Side> chosen;
    for (int side = 0; side < 2; ++side) {
        if (beside[side] == Children::none) continue;
        const Child& neighbour = children[beside[side]];
        if (neighbour.kind != Child::Kind::expanded) {
            reachable += side == 0 ? neighbour.split.left_lower : neighbour.split.right_lower;
            continue;
        }
        const Branch& branch = node.and_node(beside[side]).sides[side];
        reachable += branch.incumbent;
        if (children.held(beside[side]) || !branch.selectable() || !(branch.room() > most)) continue;
        most = branch.room();
        chosen = {beside[side], side};
    }
    const double least = children.min_lower();
    return reachable < least + enough * (node.cutoff() - least) ? std::nullopt : chosen;
}

}  // namespace codt
