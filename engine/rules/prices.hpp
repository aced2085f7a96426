// What a branching node adds to the objective: the penalty of every node, and the cost of the feature that it
// tests. Both are sums over the branching nodes, so the objective of a tree is the price of its root's
// feature plus the objectives of its two subtrees. A bound that does not know which features a tree tests
// uses the least price for every node that the tree must have, or the largest for every node that it may
// have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace codt {

class Prices {
 public:
    Prices() = default;
    // `costs` by feature; empty if all features cost nothing.
    explicit Prices(double penalty, std::span<const double> costs = {}) : least_(penalty), most_(penalty) {
        if (std::all_of(costs.begin(), costs.end(), [](double cost) { return cost == 0; })) return;
        for (const double cost : costs) by_feature_.push_back(penalty + cost);
        const auto [least, most] = std::minmax_element(by_feature_.begin(), by_feature_.end());
        least_ = *least;
        most_ = *most;
    }

    // Of a node that tests feature f.
    double of(std::uint32_t f) const { return by_feature_.empty() ? least_ : by_feature_[f]; }
    double least() const { return least_; }
    double most() const { return most_; }
    // Whether there are no costs.
    bool uniform() const { return by_feature_.empty(); }

    // These prices, changed one by one.
    template <class Change>
    Prices with(const Change& change) const {
        Prices changed = *this;
        for (double& price : changed.by_feature_) price = change(price);
        changed.least_ = change(least_);
        changed.most_ = change(most_);
        return changed;
    }

 private:
    std::vector<double> by_feature_;  // empty if all are the same
    double least_ = 0, most_ = 0;
};

}  // namespace codt
