// Absolute error and pinball loss with weights: a leaf predicts a quantile. There are no additive cost tuples
// for them, so the generic code of cost_tuple.hpp and the vector scans do not apply. The walks of
// quantile_walk.hpp take their place: they find the losses of all thresholds of a feature in one pass
// forwards and one backwards. The conditions for the bounds hold: losses are not negative, a subset's is no
// larger than the whole's, and a sample adds no more than it costs to predict one of the ends of the range of
// targets, in which all quantiles lie.
//
// The search works on targets shifted by their median.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "common/double_double.hpp"
#include "objectives/clusters.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/gaps.hpp"
#include "objectives/objective.hpp"
#include "objectives/pinball.hpp"
#include "objectives/quantile_walk.hpp"
#include "objectives/range.hpp"
#include "objectives/targets.hpp"
#include "scans/pinball_scan.hpp"

namespace codt {

namespace {

struct WeightedTargets {
    Pinball error;
    std::vector<double> y, weights;
    std::vector<std::uint32_t> order;  // all rows by target, if known

    void sort() {
        order.resize(y.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return y[a] < y[b]; });
    }

    std::vector<std::uint32_t> sorted(std::span<const std::uint32_t> rows) const {
        std::vector<std::uint32_t> out(rows.begin(), rows.end());
        // Many of all rows are sooner picked than sorted.
        if (16 * rows.size() < order.size() || order.empty()) {
            std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return y[a] < y[b]; });
            return out;
        }
        std::vector<std::uint8_t> is_here(order.size(), 0);
        for (const std::uint32_t row : rows) is_here[row] = 1;
        std::size_t count = 0;
        for (std::size_t i = 0; count < out.size(); ++i) {
            out[count] = order[i];
            count += is_here[order[i]];
        }
        return out;
    }

    // Halfway between two targets if both are best.
    double quantile(std::span<const std::uint32_t> rows) const {
        const std::vector<std::uint32_t> by_target = sorted(rows);
        DoubleDouble whole, sum;
        for (const std::uint32_t row : by_target) whole = whole + DoubleDouble(weights[row]);
        // The product with a quantile such as 0.9 is meant to be a whole number where it is nearly one.
        const DoubleDouble share(static_cast<double>(DoubleDouble(error.quantile) * whole));
        for (std::size_t k = 0; k < by_target.size(); ++k) {
            sum = sum + DoubleDouble(weights[by_target[k]]);
            if (sum < share && k + 1 < by_target.size()) continue;
            if (sum > share || k + 1 == by_target.size()) return y[by_target[k]];
            return y[by_target[k]] + (y[by_target[k + 1]] - y[by_target[k]]) / 2;
        }
        return 0;
    }

    double cost(std::uint32_t row, double prediction) const {
        return weights[row] * error(y[row], prediction);
    }
};

// Some rows in the order of their targets, ready for walks.
class SortedRows {
 public:
    SortedRows(const WeightedTargets& data, std::size_t rows)
        : data_(data), place_(rows), walk_(data.error), precise_(data.error) {
        const auto [light, heavy] = std::minmax_element(data.weights.begin(), data.weights.end());
        far_apart_ = *heavy > 1e3 * *light;
    }

    void reset(std::span<const std::uint32_t> sorted) {
        targets_.clear();
        weights_.clear();
        for (std::uint32_t k = 0; k < sorted.size(); ++k) {
            place_[sorted[k]] = k;
            targets_.push_back(data_.y[sorted[k]]);
            weights_.push_back(data_.weights[sorted[k]]);
        }
        walk_.reset(targets_, weights_);
        precise_.reset(targets_, weights_);
    }

    double whole() { return far_apart_ ? precise_.whole() : walk_.whole(); }

    // Computes the losses of all prefixes and suffixes of an order of the rows.
    void walk(std::span<const std::uint32_t> rows) {
        order_.clear();
        for (const std::uint32_t row : rows) order_.push_back(place_[row]);
        if (far_apart_) {
            precise_.prefixes(order_, before);
            precise_.suffixes(order_, behind);
        } else {
            walk_.prefixes(order_, before);
            walk_.suffixes(order_, behind);
        }
    }

    std::vector<double> before, behind;

 private:
    const WeightedTargets& data_;
    std::vector<std::uint32_t> place_;  // of every row
    std::vector<double> targets_, weights_;
    std::vector<std::uint32_t> order_;
    QuantileWalk<double> walk_;
    QuantileWalk<DoubleDouble> precise_;
    bool far_apart_;
};

std::vector<std::uint32_t> rows_by(const Subset& subset, std::uint32_t f) {
    std::vector<std::uint32_t> rows;
    rows.reserve(subset.size());
    for (const std::uint32_t id : subset.order(f)) rows.push_back(subset.samples()[id]);
    return rows;
}

// Solve-D1 (paper, Alg. 4), one threshold at a time.
class QuantileScanner final : public SingleScanner {
 public:
    QuantileScanner(const WeightedTargets& data, const LeafLimits& limits)
        : data_(data), limits_(limits), side_(data, data.y.size()) {}

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        SingleScanner::prepare(subset, feature_rank);
        sorted_ = data_.sorted(subset.samples());
        group_.resize(data_.y.size());
        goes_left_.resize(data_.y.size());
    }

 private:
    bool scan_one(std::uint32_t f, std::uint32_t threshold, const Prices& prices, double& left, double& right,
                  StopCondition& stop) override {
        const auto samples = subset().samples();
        const std::uint32_t end = subset().group_end(f)[threshold];
        for (std::uint32_t k = 0; k < subset().size(); ++k)
            goes_left_[samples[subset().order(f)[k]]] = k < end;
        return scan_side(true, prices, left, stop) && scan_side(false, prices, right, stop);
    }

    // `best` holds an upper bound at first, then the result.
    bool scan_side(bool of_left, const Prices& prices, double& best, StopCondition& stop) {
        rows_.clear();
        for (const std::uint32_t row : sorted_)
            if (goes_left_[row] == of_left) rows_.push_back(row);
        side_.reset(rows_);
        best = std::min(best, side_.whole());
        const LeafLimits::Load load = limits_.load(rows_);
        for (std::uint32_t g = 0; g < subset().features() && best > prices.least(); ++g) {
            if (stop.reached()) return false;
            const double price = prices.of(g);
            if (best <= price) continue;
            const auto ends = subset().group_end(g);
            rows_.clear();
            std::uint32_t k = 0;
            for (std::uint32_t group = 0; group < ends.size(); ++group) {
                for (; k < ends[group]; ++k) {
                    const std::uint32_t row = subset().samples()[subset().order(g)[k]];
                    group_[row] = group;
                    if (goes_left_[row] == of_left) rows_.push_back(row);
                }
            }
            side_.walk(rows_);
            LeafLimits::Load before;
            for (std::size_t i = 1; i < rows_.size(); ++i) {
                limits_.add(rows_[i - 1], before);
                if (group_[rows_[i - 1]] == group_[rows_[i]]) continue;
                if (!limits_.enough(before) || !limits_.enough(load - before)) continue;
                best = std::min(best, side_.before[i] + side_.behind[i] + price);
            }
        }
        return true;
    }

    const WeightedTargets& data_;
    const LeafLimits& limits_;
    SortedRows side_;
    std::vector<std::uint32_t> sorted_, rows_, group_;  // the last by row
    std::vector<std::uint8_t> goes_left_;               // by row
};

class PinballLoss final : public Objective {
 public:
    PinballLoss(WeightedTargets data, WeightedTargets original, double rounding)
        : data_(std::move(data)), original_(std::move(original)), rounding_(rounding) {}

    double leaf_loss(const Subset& subset) const override { return loss(subset.samples()); }

    void leaf_losses(const Subset& subset, std::uint32_t f, std::uint32_t i, double& left,
                     double& right) const override {
        const std::vector<std::uint32_t> rows = rows_by(subset, f);
        const std::uint32_t end = subset.group_end(f)[i];
        left = loss(std::span(rows).first(end));
        right = loss(std::span(rows).subspan(end));
    }

    void all_leaf_losses(const Subset& subset, std::uint32_t f, std::vector<double>& left,
                         std::vector<double>& right) const override {
        SortedRows sorted(data_, data_.y.size());
        sorted.reset(data_.sorted(subset.samples()));
        losses_by_threshold(subset, f, sorted, left, right);
    }

    void split_scores(const Subset& subset, const ScoreVisitor& visit) const override {
        SortedRows sorted(data_, data_.y.size());
        sorted.reset(data_.sorted(subset.samples()));
        std::vector<double> left, right;
        for (std::uint32_t f = 0; f < subset.features(); ++f) {
            losses_by_threshold(subset, f, sorted, left, right);
            for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
            visit(f, left);
        }
    }

    Stump best_stump(const Dataset& data, std::span<const std::uint32_t> rows, const LeafLimits& limits,
                     const Prices& prices, double enough) const override {
        std::vector<std::uint8_t> here(data.samples(), 0);
        for (const std::uint32_t row : rows) here[row] = 1;
        SortedRows sorted(data_, data_.y.size());
        sorted.reset(data_.sorted(rows));
        const LeafLimits::Load load = limits.load(rows);
        Stump best;
        best.objective = sorted.whole();
        std::vector<std::uint32_t> order;
        for (std::uint32_t f = 0; f < data.features() && best.objective > std::max(prices.least(), enough);
             ++f) {
            const double price = prices.of(f);
            if (best.objective <= price) continue;
            order.clear();
            for (const std::uint32_t row : data.order(f))
                if (here[row]) order.push_back(row);
            sorted.walk(order);
            const auto ranks = data.ranks(f);
            LeafLimits::Load before;
            for (std::size_t i = 1; i < order.size(); ++i) {
                limits.add(order[i - 1], before);
                const std::uint32_t below = ranks[order[i - 1]], above = ranks[order[i]];
                if (below == above) continue;
                if (!limits.enough(before) || !limits.enough(load - before)) continue;
                const double objective = sorted.before[i] + sorted.behind[i] + price;
                if (objective < best.objective) best = {objective, true, data.split_between(f, below, above)};
            }
        }
        return best;
    }

    void leaf_costs(std::span<const std::uint32_t> fitted, std::span<const std::uint32_t> rows,
                    std::vector<double>& cost) const override {
        const double quantile = data_.quantile(fitted);
        for (const std::uint32_t row : rows) cost[row] = data_.cost(row, quantile);
    }

    // More clusters cost more time than the better bound saves (see squared_error.cpp).
    static constexpr std::uint32_t most_clusters = 16;

    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        std::vector<double> y, weights;
        for (const std::uint32_t row : data_.sorted(subset.samples())) {
            y.push_back(data_.y[row]);
            weights.push_back(data_.weights[row]);
        }
        return k_quantile_losses(y, weights, data_.error, std::min(count, most_clusters));
    }

    // The loss when `count` equal slices of the range are the clusters, and the predictions such that the
    // quantile's share of the slice lies below: one of many clusterings, so no better than the best.
    double clustering_limit(const Subset& subset, std::uint32_t count) const override {
        const Range range = range_of(subset, data_.y);
        const double slices = std::min(count, most_clusters);
        const double width = range.width() / slices;
        if (!(width > 0)) return 0;
        double sum = 0;
        for (const std::uint32_t row : subset.samples()) {
            const double slice = std::min(std::floor((data_.y[row] - range.low) / width), slices - 1);
            sum += data_.cost(row, range.low + (slice + data_.error.quantile) * width);
        }
        return sum;
    }

    bool has_group_losses(std::uint32_t) const override { return true; }
    void group_losses(std::span<const std::uint32_t> rows, std::uint32_t count,
                      std::span<const std::uint32_t> ends, double* losses) const override {
        double y[most_grouped], weights[most_grouped];
        for (std::size_t i = 0; i < rows.size(); ++i) {
            y[i] = data_.y[rows[i]];
            weights[i] = data_.weights[rows[i]];
        }
        k_quantile_losses_of_prefixes({y, rows.size()}, {weights, rows.size()}, data_.error, count, ends,
                                      losses);
    }

    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        const Range range = range_of(subset, data_.y);
        fill_by_sample(subset, worst, [&](std::uint32_t row) {
            return std::max(data_.cost(row, range.low), data_.cost(row, range.high));
        });
    }

    std::unique_ptr<Scanner> make_scalar_scanner(const LeafLimits& limits) const override {
        return std::make_unique<QuantileScanner>(data_, limits);
    }

    std::unique_ptr<Scanner> make_lane_scanner(KernelPath path, const LeafLimits& limits) const override {
        if (limits.any()) return make_scalar_scanner(limits);
        return make_pinball_scanner(samples(), std::make_unique<QuantileScanner>(data_, limits), path);
    }
    std::unique_ptr<BracketScanner> make_lane_brackets(KernelPath path) const override {
        return make_pinball_brackets(samples(), path);
    }

    // The places of ranks and the ranks at places, for values and for brackets.
    std::size_t scan_bytes() const override { return 4 * sizeof(std::uint32_t); }

    double reported_loss(std::span<const std::uint32_t> rows,
                         const std::vector<double>& value) const override {
        long double sum = 0;
        for (const std::uint32_t row : rows) {
            const long double distance = static_cast<long double>(original_.y[row]) - value[0];
            sum += original_.weights[row] *
                   (distance > 0 ? original_.error.above * distance : -original_.error.below * distance);
        }
        return static_cast<double>(sum);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        return {original_.quantile(rows)};
    }

    double rounding() const override { return rounding_; }

    std::unique_ptr<Objective> within(double ceiling) const override {
        const std::vector<double> moved = with_smaller_gaps(
            original_.y, original_.weights, [&, error = original_.error](double below, double above) {
                return ceiling / std::min(error.below * below, error.above * above);
            });
        return moved.empty() ? nullptr : make({original_.error, moved, original_.weights, {}}, original_);
    }

    // Losses are reported on `original`; the search uses `data`.
    static std::unique_ptr<Objective> make(WeightedTargets data, WeightedTargets original);

 private:
    PinballSamples samples() const {
        return {data_.y, data_.weights, data_.order, data_.error.above, data_.error.below};
    }

    double loss(std::span<const std::uint32_t> rows) const {
        const double quantile = data_.quantile(rows);
        double sum = 0;
        for (const std::uint32_t row : rows) sum += data_.cost(row, quantile);
        return sum;
    }

    static void losses_by_threshold(const Subset& subset, std::uint32_t f, SortedRows& sorted,
                                    std::vector<double>& left, std::vector<double>& right) {
        left.clear();
        right.clear();
        sorted.walk(rows_by(subset, f));
        for (std::uint32_t i = 0; i < subset.thresholds(f); ++i) {
            left.push_back(sorted.before[subset.group_end(f)[i]]);
            right.push_back(sorted.behind[subset.group_end(f)[i]]);
        }
    }

    WeightedTargets data_, original_;
    double rounding_;
};

std::unique_ptr<Objective> PinballLoss::make(WeightedTargets data, WeightedTargets original) {
    const std::size_t size = data.y.size();
    data.sort();
    const double shift = data.y[data.order[size / 2]];
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
        data.y[i] -= shift;
        sum += data.weights[i] * std::abs(data.y[i]);
    }
    // Every step of a walk may be off by a rounding error of the largest sum.
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(size) * sum;
    return std::make_unique<PinballLoss>(std::move(data), std::move(original), rounding);
}

std::unique_ptr<Objective> make_pinball_loss(const Targets& targets, const Pinball& error) {
    WeightedTargets original{error, {targets.y.begin(), targets.y.end()}, {}, {}};
    for (std::size_t i = 0; i < targets.rows(); ++i) original.weights.push_back(targets.weight(i));
    const auto [low, high] = std::minmax_element(targets.y.begin(), targets.y.end());
    const double range = *high - *low;
    const double weight = std::accumulate(original.weights.begin(), original.weights.end(), 0.0);
    if (!std::isfinite(range * weight * static_cast<double>(targets.rows())))
        throw std::invalid_argument(
            "y: expected targets whose absolute errors fit a 64-bit float, got a range of " +
            std::to_string(range));
    return PinballLoss::make(original, original);
}

}  // namespace

std::unique_ptr<Objective> make_absolute_error(const Targets& targets) {
    return make_pinball_loss(targets, absolute_distance);
}

std::unique_ptr<Objective> make_quantile(const Targets& targets, double quantile) {
    if (!(quantile > 0 && quantile < 1))
        throw std::invalid_argument("quantile: expected a number between 0 and 1, got " +
                                    std::to_string(quantile));
    return make_pinball_loss(targets, pinball(quantile));
}

}  // namespace codt
