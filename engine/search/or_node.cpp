#include "search/or_node.hpp"

namespace codt {

bool Branch::selectable() const {
    return node && node->children.selectable() && node->active < node->most_active;
}

double AndNode::heuristic() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Branch& side : sides)
        if (!side.complete()) least = std::min(least, side.heuristic);
    return least;
}

std::int32_t OrNode::add_and_node(AndNode node) {
    if (unused_and_nodes.empty()) {
        and_nodes.push_back(std::move(node));
        return static_cast<std::int32_t>(and_nodes.size() - 1);
    }
    const std::int32_t index = unused_and_nodes.back();
    unused_and_nodes.pop_back();
    and_nodes[static_cast<std::size_t>(index)] = std::move(node);
    return index;
}

AndNode OrNode::release_and_node(std::int32_t index) {
    AndNode node = std::move(and_nodes[static_cast<std::size_t>(index)]);
    and_nodes[static_cast<std::size_t>(index)] = AndNode{};
    unused_and_nodes.push_back(index);
    return node;
}

std::size_t OrNode::bytes() const {
    return sizeof(OrNode) + subset.bytes() + order.bytes() + children.bytes() + feature_bounds.bytes() +
           and_nodes.capacity() * sizeof(AndNode) + unused_and_nodes.capacity() * sizeof(std::int32_t);
}

}  // namespace codt
