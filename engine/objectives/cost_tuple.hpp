// Generic implementation of an objective from its cost tuples (paper, appendix "Expansion"). A `Cost`
// type describes one task:
//
//   std::size_t size() const;                             // length of the cost tuple
//   void add(std::uint32_t row, double* c) const;         // c += cost(x, y)
//   double loss(const double* c) const;                   // loss of the best single label
//   double purity(const double* c) const;                 // what CART maximises, summed over both sides
//
// All tuples are element-wise additive, so the right side of a split is the total less the left side.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "objectives/block_scanner.hpp"
#include "objectives/objective.hpp"

namespace codt {

// Costs whose entries are whole numbers say so by `whole_entries`: their sums do not depend on the order.
// They are added up in several tables, used in turn, so that no entry is read right after it was written.
template <class Cost>
void total_cost(const Cost& cost, const Subset& subset, double* total) {
    const std::size_t width = cost.size();
    const auto samples = subset.samples();
    std::fill_n(total, width, 0.0);
    std::size_t k = 0;
    if constexpr (requires { requires Cost::whole_entries; }) {
        constexpr std::size_t tables = 4;
        std::vector<double> sums(tables * width, 0.0);
        for (; k + tables <= samples.size(); k += tables)
            for (std::size_t table = 0; table < tables; ++table)
                cost.add(samples[k + table], sums.data() + table * width);
        for (std::size_t i = 0; i < sums.size(); ++i) total[i % width] += sums[i];
    }
    for (; k < samples.size(); ++k) cost.add(samples[k], total);
}

// Walks the samples in the order of feature f and calls visit(i, left, right) at every threshold i.
template <class Cost, class Visit>
void walk_thresholds(const Cost& cost, const Subset& subset, std::uint32_t f, const double* total,
                     Visit&& visit) {
    const std::size_t width = cost.size();
    std::vector<double> left(width, 0.0);
    std::vector<double> right(width);
    const auto order = subset.order(f);
    const auto samples = subset.samples();
    const auto ends = subset.group_end(f);
    std::uint32_t k = 0;
    for (std::uint32_t i = 0; i + 1 < ends.size(); ++i) {
        for (; k < ends[i]; ++k) cost.add(samples[order[k]], left.data());
        for (std::size_t j = 0; j < width; ++j) right[j] = total[j] - left[j];
        visit(i, left.data(), right.data());
    }
}

// values[id] = of(row) for every sample.
template <class Function>
void fill_by_sample(const Subset& subset, std::vector<double>& values, Function&& of) {
    const auto samples = subset.samples();
    values.resize(samples.size());
    for (std::size_t id = 0; id < samples.size(); ++id) values[id] = of(samples[id]);
}

// The loop of Alg. 4 as printed in the paper, one threshold after another. It is the reference for the vector
// kernels and the only scanner a new objective needs.
template <class Cost>
class GenericScanner final : public SingleScanner {
 public:
    GenericScanner(const Cost& cost, const LeafLimits& limits)
        : cost_(cost), limits_(limits), limited_(limits.any()) {}

 private:
    bool scan_one(std::uint32_t f, std::uint32_t threshold, const Prices& prices, double& left, double& right,
                  StopCondition& stop) override {
        const std::size_t width = cost_.size();
        const auto samples = this->subset().samples();
        const std::uint32_t left_size = this->subset().group_end(f)[threshold];
        is_right_.assign(this->subset().size(), 1);
        for (std::uint32_t k = 0; k < left_size; ++k) is_right_[this->subset().order(f)[k]] = 0;
        totals_.assign(2 * width, 0.0);
        for (std::uint32_t id = 0; id < this->subset().size(); ++id)
            cost_.add(samples[id], totals_.data() + is_right_[id] * width);
        LeafLimits::Load loads[2];
        if (limited_)
            for (std::uint32_t id = 0; id < this->subset().size(); ++id)
                limits_.add(samples[id], loads[is_right_[id]]);
        double best[2] = {cost_.loss(totals_.data()), cost_.loss(totals_.data() + width)};

        for (std::uint32_t g = 0; g < this->subset().features(); ++g) {
            if (stop.reached()) return false;
            if (best[0] <= prices.least() && best[1] <= prices.least()) break;
            const double price = prices.of(g);
            const auto order = this->subset().order(g);
            const auto ends = this->subset().group_end(g);
            prefix_.assign(2 * width, 0.0);
            rest_.resize(width);
            LeafLimits::Load before[2];
            std::uint32_t k = 0;
            for (std::size_t group = 0; group + 1 < ends.size(); ++group) {
                bool moved[2] = {false, false};
                for (; k < ends[group]; ++k) {
                    const std::uint32_t id = order[k];
                    const std::size_t side = is_right_[id];
                    moved[side] = true;
                    cost_.add(samples[id], prefix_.data() + side * width);
                    if (limited_) limits_.add(samples[id], before[side]);
                }
                for (std::size_t side = 0; side < 2; ++side) {
                    if (!moved[side]) continue;
                    if (limited_ &&
                        !(limits_.enough(before[side]) && limits_.enough(loads[side] - before[side])))
                        continue;
                    const double* prefix = prefix_.data() + side * width;
                    const double* total = totals_.data() + side * width;
                    for (std::size_t c = 0; c < width; ++c) rest_[c] = total[c] - prefix[c];
                    best[side] = std::min(best[side], cost_.loss(prefix) + cost_.loss(rest_.data()) + price);
                }
            }
        }
        left = best[0];
        right = best[1];
        return true;
    }

    const Cost& cost_;
    const LeafLimits& limits_;
    bool limited_;
    std::vector<std::uint8_t> is_right_;
    std::vector<double> totals_, prefix_, rest_;
};

template <class Cost>
class CostTupleObjective : public Objective {
 public:
    explicit CostTupleObjective(Cost cost) : cost_(std::move(cost)) {}

    double leaf_loss(const Subset& subset) const override {
        std::vector<double> total(cost_.size());
        total_cost(cost_, subset, total.data());
        return cost_.loss(total.data());
    }

    void leaf_losses(const Subset& subset, std::uint32_t f, std::uint32_t i, double& left,
                     double& right) const override {
        const std::size_t width = cost_.size();
        std::vector<double> totals(2 * width, 0.0);
        const auto order = subset.order(f);
        const auto samples = subset.samples();
        const std::uint32_t left_size = subset.group_end(f)[i];
        for (std::uint32_t k = 0; k < subset.size(); ++k)
            cost_.add(samples[order[k]], totals.data() + (k < left_size ? 0 : width));
        left = cost_.loss(totals.data());
        right = cost_.loss(totals.data() + width);
    }

    void all_leaf_losses(const Subset& subset, std::uint32_t f, std::vector<double>& left,
                         std::vector<double>& right) const override {
        std::vector<double> total(cost_.size());
        total_cost(cost_, subset, total.data());
        left.clear();
        right.clear();
        walk_thresholds(cost_, subset, f, total.data(),
                        [&](std::uint32_t, const double* before, const double* after) {
                            left.push_back(cost_.loss(before));
                            right.push_back(cost_.loss(after));
                        });
    }

    void split_scores(const Subset& subset, const ScoreVisitor& visit) const override {
        std::vector<double> total(cost_.size()), scores;
        total_cost(cost_, subset, total.data());
        for (std::uint32_t f = 0; f < subset.features(); ++f) {
            scores.clear();
            walk_thresholds(cost_, subset, f, total.data(),
                            [&](std::uint32_t, const double* left, const double* right) {
                                scores.push_back(-(cost_.purity(left) + cost_.purity(right)));
                            });
            visit(f, scores);
        }
    }

    Stump best_stump(const Dataset& data, std::span<const std::uint32_t> rows, const LeafLimits& limits,
                     const Prices& prices, double enough) const override {
        const std::size_t width = cost_.size();
        std::vector<double> total(width, 0.0), left(width), right(width);
        std::vector<std::uint8_t> here(data.samples(), 0);
        for (const std::uint32_t row : rows) {
            cost_.add(row, total.data());
            here[row] = 1;
        }
        const bool limited = limits.any();
        const LeafLimits::Load load = limited ? limits.load(rows) : LeafLimits::Load{};
        Stump best;
        best.objective = cost_.loss(total.data());
        for (std::uint32_t f = 0; f < data.features(); ++f) {
            if (best.objective <= std::max(prices.least(), enough)) break;
            const double price = prices.of(f);
            if (best.objective <= price) continue;
            const auto ranks = data.ranks(f);
            std::fill(left.begin(), left.end(), 0.0);
            std::uint32_t last = 0;  // rank of the row before
            bool any = false;
            LeafLimits::Load before;
            for (const std::uint32_t row : data.order(f)) {
                if (!here[row]) continue;
                if (any && ranks[row] != last &&
                    (!limited || (limits.enough(before) && limits.enough(load - before)))) {
                    for (std::size_t c = 0; c < width; ++c) right[c] = total[c] - left[c];
                    const double objective = cost_.loss(left.data()) + cost_.loss(right.data()) + price;
                    if (objective < best.objective)
                        best = {objective, true, data.split_between(f, last, ranks[row])};
                }
                cost_.add(row, left.data());
                if (limited) limits.add(row, before);
                last = ranks[row];
                any = true;
            }
        }
        return best;
    }

    void leaf_costs(std::span<const std::uint32_t> fitted, std::span<const std::uint32_t> rows,
                    std::vector<double>& cost) const override {
        std::vector<double> total(cost_.size(), 0.0), with(cost_.size());
        for (const std::uint32_t row : fitted) cost_.add(row, total.data());
        const double loss = cost_.loss(total.data());
        for (const std::uint32_t row : rows) {
            with = total;
            cost_.add(row, with.data());
            cost[row] = cost_.loss(with.data()) - loss;
        }
    }

    std::vector<double> clustering_losses(const Subset&, std::uint32_t) const override { return {}; }

    double clustering_limit(const Subset&, std::uint32_t) const override {
        return std::numeric_limits<double>::infinity();
    }

    // Losses are not negative and a subset's is no larger than the whole's, so an optimum never changes by
    // more than the loss of a single leaf, however many samples change sides. An objective that knows how
    // much a single sample can add should override this.
    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        worst.assign(subset.size(), leaf_loss(subset));
    }

    std::unique_ptr<Scanner> make_scalar_scanner(const LeafLimits& limits) const override {
        return std::make_unique<GenericScanner<Cost>>(cost_, limits);
    }
    // Still one threshold of the root at a time.
    std::unique_ptr<Scanner> make_lane_scanner(KernelPath, const LeafLimits& limits) const override {
        return std::make_unique<BlockScanner<Cost>>(cost_, limits);
    }

 protected:
    const Cost& cost() const { return cost_; }

 private:
    Cost cost_;
};

}  // namespace codt
