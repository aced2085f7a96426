// An incumbent tree as the search keeps it: immutable nodes that are shared between incumbents. The subtrees
// of a terminal case are not spelled out; a `stump` stands for "the best tree of depth at most one on the
// samples that arrive here" and is computed only when the tree is read (see read_out.hpp).
#pragma once

#include <cstdint>
#include <memory>

#include "data/split.hpp"

namespace codt {

struct SolutionNode;
using Solution = std::shared_ptr<const SolutionNode>;

struct SolutionNode {
    enum class Kind : std::uint8_t { leaf, stump, split };
    Kind kind = Kind::leaf;
    Split split;
    double objective = 0;  // of a stump
    Solution left, right;
};

inline Solution leaf_solution() {
    static const Solution leaf = std::make_shared<const SolutionNode>();
    return leaf;
}

inline Solution stump_solution(double objective) {
    return std::make_shared<const SolutionNode>(
        SolutionNode{SolutionNode::Kind::stump, {}, objective, {}, {}});
}

inline Solution split_solution(const Split& split, Solution left, Solution right) {
    return std::make_shared<const SolutionNode>(
        SolutionNode{SolutionNode::Kind::split, split, 0, std::move(left), std::move(right)});
}

}  // namespace codt
