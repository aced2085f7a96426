// Steps that raise the lower bound. The strategies of the paper look after incumbents and proof alike, and at
// depth five and more that leaves the root's bound at zero for a long time. As the primal heuristics look
// after incumbents, a share of the work can go where the bound is least.
//
// In every OR node the child with the least lower bound is taken. If that is an interval between two
// evaluated thresholds p < q, its bound is lambda + L(p) + R(q) (bounds/similarity.hpp). It is raised either
// by a threshold in the middle, or by a better bound on L(p) or R(q), where p or q are still open; that
// serves the whole interval, and others, too. The middle is taken only if the incumbents of the two sides say
// that better bounds cannot bring the interval far enough, `enough` of the way from the node's bound to its
// cutoff; it is the middle by the losses of the two sides, not by their samples. On both sides of an AND
// node, and between L(p) and R(q), the one with more room between bound and incumbent goes first.
#include <vector>

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

// The threshold t of an interval between p and q that raises its bound most: the two halves that it leaves
// have the bounds lambda + L(p) + R(t) and lambda + L(t) + R(q), of which the lesser is greatest where L(t) -
// L(p) and R(t) - R(q) are equal. L and R are not known, but as they are, the loss of a leaf never falls with
// the samples; it takes their place. The middle of the interval would often leave nearly all that is hard to
// predict on one side, and thus a bound of zero on the other.
std::uint32_t Search::balanced_threshold(const OrNode& node, Slot interval) const {
    const Child& child = node.children[interval];
    std::vector<double> left, right;
    objective_->all_leaf_losses(node.subset, child.feature, left, right);
    const double before = child.first > 0 ? left[child.first - 1] : 0;
    const double behind = child.last + 1 < right.size() ? right[child.last + 1] : 0;
    std::uint32_t low = child.first, high = child.last;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (left[middle] - before < right[middle] - behind)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
