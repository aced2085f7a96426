#include "tree/read_out.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tree/stumps.hpp"

namespace codt {

namespace {

class Reader {
 public:
    Reader(const Dataset& data, const Objective& objective, const SearchSettings& settings)
        : data_(data), objective_(objective), settings_(settings) {}

    std::int32_t read(const SolutionNode& node, const std::vector<std::uint32_t>& rows) {
        switch (node.kind) {
            case SolutionNode::Kind::leaf:
                return add(rows);
            case SolutionNode::Kind::split:
                return split(node.split, rows, node.left.get(), node.right.get());
            case SolutionNode::Kind::stump: {
                const auto stump = best_allowed_stump(objective_, data_, rows, settings_, node.objective);
                if (!stump.splits) return add(rows);
                return split(stump.split, rows, leaf_solution().get(), leaf_solution().get());
            }
        }
        return -1;
    }

    FlatTree tree;

 private:
    std::int32_t add(const std::vector<std::uint32_t>& rows) {
        tree.split.emplace_back();
        for (auto* values : {&tree.below, &tree.above})
            values->push_back(std::numeric_limits<double>::quiet_NaN());
        tree.left.push_back(-1);
        tree.right.push_back(-1);
        tree.samples.push_back(static_cast<std::int64_t>(data_.count(rows)));
        tree.value.push_back(objective_.reported_value(rows));
        tree.loss.push_back(objective_.reported_loss(rows, tree.value.back()));
        return static_cast<std::int32_t>(tree.split.size() - 1);
    }

    std::int32_t split(const Split& test, const std::vector<std::uint32_t>& rows, const SolutionNode* left,
                       const SolutionNode* right) {
        const auto parted = data_.part(test, rows);
        if (parted.left.empty() || parted.right.empty())
            throw std::logic_error("codt internal error: a split that separates nothing");
        const auto ranks = data_.ranks(test.feature);
        std::uint32_t below = 0;
        std::uint32_t above = std::numeric_limits<std::uint32_t>::max();
        for (const std::uint32_t row : parted.left) below = std::max(below, ranks[row]);
        for (const std::uint32_t row : parted.right) above = std::min(above, ranks[row]);
        const std::int32_t index = add(rows);
        const auto i = static_cast<std::size_t>(index);
        tree.split[i] = test;
        tree.below[i] = data_.values(test.feature)[below];
        tree.above[i] = data_.values(test.feature)[above];
        const std::int32_t left_index = read(*left, parted.left);
        const std::int32_t right_index = read(*right, parted.right);
        tree.left[i] = left_index;
        tree.right[i] = right_index;
        return index;
    }

    const Dataset& data_;
    const Objective& objective_;
    const SearchSettings& settings_;
};

}  // namespace

std::size_t FlatTree::splits() const {
    return static_cast<std::size_t>(
        std::count_if(split.begin(), split.end(), [](const auto& test) { return test.has_value(); }));
}

double FlatTree::total_loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < split.size(); ++i)
        if (!split[i]) sum += loss[i];
    return sum;
}

double FlatTree::objective(const Prices& prices) const {
    if (prices.uniform()) return total_loss() + static_cast<double>(splits()) * prices.least();
    double sum = total_loss();
    for (const auto& test : split)
        if (test) sum += prices.of(test->feature);
    return sum;
}

FlatTree read_out(const Solution& solution, const Dataset& data, const Objective& objective,
                  const SearchSettings& settings) {
    std::vector<std::uint32_t> rows(data.samples());
    std::iota(rows.begin(), rows.end(), 0u);
    Reader reader(data, objective, settings);
    reader.read(*solution, rows);
    return std::move(reader.tree);
}

Solution spelled_out(const FlatTree& tree) {
    // Children come after their parents.
    std::vector<Solution> built(tree.split.size(), leaf_solution());
    for (std::size_t i = built.size(); i-- > 0;)
        if (const std::optional<Split>& test = tree.split[i])
            built[i] = split_solution(*test, built[static_cast<std::size_t>(tree.left[i])],
                                      built[static_cast<std::size_t>(tree.right[i])]);
    return built[0];
}

KeptTree without_idle_splits(const FlatTree& tree, const Prices& prices, double decrease) {
    // Children come after their parents.
    std::vector<KeptTree> kept(tree.split.size());
    for (std::size_t i = kept.size(); i-- > 0;) {
        kept[i] = {leaf_solution(), tree.loss[i]};
        const std::optional<Split>& test = tree.split[i];
        if (!test) continue;
        const KeptTree& left = kept[static_cast<std::size_t>(tree.left[i])];
        const KeptTree& right = kept[static_cast<std::size_t>(tree.right[i])];
        const double split = prices.of(test->feature) + left.objective + right.objective;
        if (tree.loss[i] - split < decrease * (1 - 1e-12)) continue;
        kept[i] = {split_solution(*test, left.solution, right.solution), split};
    }
    return kept[0];
}

}  // namespace codt
