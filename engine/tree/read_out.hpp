// The finished tree as flat arrays, with what users want to know about each node. Everything is computed from
// the tree and the data alone; nothing is taken from the search.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/dataset.hpp"
#include "objectives/objective.hpp"
#include "rules/settings.hpp"
#include "tree/solution.hpp"

namespace codt {

// Nodes in preorder, the root first. A leaf has no split and children -1.
struct FlatTree {
    std::vector<std::optional<Split>> split;
    std::vector<double> below, above;  // the largest value that goes left, the smallest that goes right
    std::vector<std::int32_t> left, right;
    std::vector<std::int64_t> samples;
    std::vector<double> loss;                // of the node as a leaf, in reported units
    std::vector<std::vector<double>> value;  // class counts, or the mean

    std::size_t splits() const;
    double total_loss() const;  // over the leaves
    double objective(const Prices& prices) const;
};

// `settings` decide whether a stump splits.
FlatTree read_out(const Solution& solution, const Dataset& data, const Objective& objective,
                  const SearchSettings& settings);

// The tree with its bottoms spelled out, which are other trees under other numbers or penalties.
Solution spelled_out(const FlatTree& tree);

// A tree without the splits that do not lower the objective by at least `decrease`, and its objective, all
// from reported losses.
struct KeptTree {
    Solution solution;
    double objective = 0;
};
KeptTree without_idle_splits(const FlatTree& tree, const Prices& prices, double decrease);

}  // namespace codt
