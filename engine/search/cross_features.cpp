// What evaluated splits imply for splits at other features (bounds/cross_features.hpp). Where the sides of a
// node's splits are all solved on the spot, the bounds are computed by the thread that has solved them,
// without the lock; elsewhere when an AND node is closed, which is rare.
#include <algorithm>

#include "search/search.hpp"

namespace codt {

// Whether they are used at a node. There are bounds on both sides of every threshold, in the node and in a
// workspace.
bool Search::crosses_features(const OrNode& node) const {
    return node.children.crosses_features() &&
           may_keep(std::size_t{node.subset.size()} * node.subset.features() * 4 * sizeof(float));
}

bool Search::solves_sides(const OrNode& node) const {
    return node.budget.depth - 1 <= terminal_depth(options_.terminal);
}

// At the beginning of an expansion.
void Search::prepare_implied(Expansion& expansion) {
    Job& job = expansion.job;
    OrNode& node = *job.node;
    expansion.implied.ranges.clear();
    if (!solves_sides(node) || !crosses_features(node)) return;
    node.children.prepare(job.feature, job.threshold, expansion.implied);
    job.worst_costs = node.children.worst_costs();
}

// Once both sides are solved.
void Search::compute_implied(Expansion& expansion) const {
    if (expansion.implied.ranges.empty()) return;
    const Job& job = expansion.job;
    const Branch& left = expansion.result.sides[0];
    const Branch& right = expansion.result.sides[1];
    const double cutoff =
        std::min(job.cutoff, settings_.prices.of(job.feature) + left.incumbent + right.incumbent);
    expansion.implied.compute(job.node->subset, job.worst_costs, left.lower.free, right.lower.free,
                              cutoff - settings_.tolerance);
}

// When an AND node is closed.
void Search::imply_bounds(OrNode& node, Slot slot) {
    if (solves_sides(node) || !crosses_features(node)) return;
    const Child& child = node.children[slot];
    node.children.prepare(child.feature, child.first, implied_);
    implied_.compute(node.subset, node.children.worst_costs(), child.split.left_lower,
                     child.split.right_lower, node.cutoff() - settings_.tolerance);
    node.children.raise(implied_);
    node.memory.set(&memory_, node.bytes());
}

}  // namespace codt
