// Nodes of the AND-OR search tree (paper, Definition "Search tree"). An OR node owns its data, its children
// and, behind each expanded AND node, the OR nodes of the two sides that are not solved yet. Of a solved side
// only its value and its tree are kept, so a node that is complete gives its memory back at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "bounds/feature_bounds.hpp"
#include "common/memory.hpp"
#include "data/subset.hpp"
#include "frontier/children.hpp"
#include "rules/bound.hpp"
#include "rules/budget.hpp"
#include "tree/solution.hpp"

namespace codt {

struct OrNode;

// One side of an AND node, as the AND node sees it.
struct Branch {
    Bound lower;
    double incumbent = 0;
    Solution solution;
    double heuristic = std::numeric_limits<double>::infinity();
    std::uint64_t expansions = 0;
    FeatureBounds::Lower feature_lower;  // of a side just solved, for its neighbours
    std::unique_ptr<OrNode> node;        // null once complete

    bool complete() const { return node == nullptr; }
    // Whether there is anything below for a thread to work on.
    bool selectable() const;
    // What is still open: the optimum lies between the lower bound and the incumbent.
    double room() const { return incumbent - lower.allowed; }
};

struct AndNode {
    Branch sides[2];

    bool complete() const { return sides[0].complete() && sides[1].complete(); }
    // The least heuristic value of the open sides.
    double heuristic() const;
};

struct OrNode {
    std::uint64_t id = 0;  // unique within a search
    Budget budget;         // in normal form
    Subset subset;
    FeatureOrder order;
    Children children;
    std::vector<AndNode> and_nodes;
    std::vector<std::int32_t> unused_and_nodes;
    FeatureBounds feature_bounds;  // of solved sides

    double leaf_loss = 0;
    Bound lower;
    double split_lower = 0;                                         // bound on every tree that splits
    double split_cutoff = std::numeric_limits<double>::infinity();  // at and above it splits are not allowed
    double incumbent = 0;  // objective of the best tree found for this node
    Solution solution;
    // No value at or above this improves the root (paper, Definition "Upper bound"), relaxed by what the
    // neighbouring thresholds can still gain from a higher bound (paper, "When to prune").
    double upper = std::numeric_limits<double>::infinity();
    std::uint64_t expansions = 0;
    bool complete = false;

    std::uint32_t active = 0;  // expansions under way in this node and below
    // With this many of them other threads turn to other nodes.
    std::uint32_t most_active = std::numeric_limits<std::uint32_t>::max();
    MemoryShare memory;

    OrNode* parent = nullptr;
    Children::Slot parent_slot = Children::none;
    int parent_side = 0;

    double cutoff() const { return std::min({incumbent, upper, split_cutoff}); }
    AndNode& and_node(Children::Slot slot) {
        return and_nodes[static_cast<std::size_t>(children[slot].and_node)];
    }
    const AndNode& and_node(Children::Slot slot) const {
        return and_nodes[static_cast<std::size_t>(children[slot].and_node)];
    }
    std::int32_t add_and_node(AndNode node);
    // Removes an AND node and returns it, with everything below it.
    AndNode release_and_node(std::int32_t index);
    std::size_t bytes() const;
};

}  // namespace codt
