#include "tree/read_out.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "terminal/leaf_sides.hpp"

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
                return split(node.feature, node.threshold, rows, node.left.get(), node.right.get());
            case SolutionNode::Kind::stump: {
                const auto stump = best_allowed_stump(objective_, data_, rows, settings_, node.objective);
                if (!stump.splits) return add(rows);
                return split(stump.feature, stump.threshold, rows, leaf_solution().get(),
                             leaf_solution().get());
            }
        }
        return -1;
    }

    FlatTree tree;

 private:
    std::int32_t add(const std::vector<std::uint32_t>& rows) {
        tree.feature.push_back(-1);
        for (auto* values : {&tree.threshold, &tree.below, &tree.above})
            values->push_back(std::numeric_limits<double>::quiet_NaN());
        tree.left.push_back(-1);
        tree.right.push_back(-1);
        tree.samples.push_back(static_cast<std::int64_t>(data_.count(rows)));
        tree.value.push_back(objective_.reported_value(rows));
        tree.loss.push_back(objective_.reported_loss(rows, tree.value.back()));
        return static_cast<std::int32_t>(tree.feature.size() - 1);
    }

    std::int32_t split(std::uint32_t feature, double threshold, const std::vector<std::uint32_t>& rows,
                       const SolutionNode* left, const SolutionNode* right) {
        const auto ranks = data_.ranks(feature);
        const auto values = data_.values(feature);
        // Values are compared by their ranks, of which the lower belongs to the lower value. Without a
        // branch: every row is written to both sides and counted on one.
        const auto lefts = static_cast<std::uint32_t>(
            std::upper_bound(values.begin(), values.end(), threshold) - values.begin());
        std::vector<std::uint32_t> sides[2];
        for (auto& side : sides) side.resize(rows.size());
        std::size_t count[2] = {0, 0};
        std::uint32_t below = 0;
        std::uint32_t above = std::numeric_limits<std::uint32_t>::max();
        for (const std::uint32_t row : rows) {
            const std::uint32_t rank = ranks[row];
            const bool on_left = rank < lefts;
            sides[0][count[0]] = sides[1][count[1]] = row;
            count[0] += on_left;
            count[1] += !on_left;
            below = std::max(below, on_left ? rank : 0u);
            above = std::min(above, on_left ? above : rank);
        }
        if (count[0] == 0 || count[1] == 0)
            throw std::logic_error("codt internal error: a split that separates nothing");
        for (int side = 0; side < 2; ++side) sides[side].resize(count[side]);
        const std::int32_t index = add(rows);
        const auto i = static_cast<std::size_t>(index);
        tree.feature[i] = static_cast<std::int32_t>(feature);
        tree.threshold[i] = threshold;
        tree.below[i] = values[below];
        tree.above[i] = values[above];
        const std::int32_t left_index = read(*left, sides[0]);
        const std::int32_t right_index = read(*right, sides[1]);
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
        std::count_if(feature.begin(), feature.end(), [](std::int32_t f) { return f >= 0; }));
}

double FlatTree::total_loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < feature.size(); ++i)
        if (feature[i] < 0) sum += loss[i];
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

}  // namespace codt
