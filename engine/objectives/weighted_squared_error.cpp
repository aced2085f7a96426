// Squared error with weights and any number of outputs: the cost tuple of a sample of weight w is (w, w
// |y|^2, w y_1, ..., w y_m), the loss of a tuple c1 - (c2^2 + c3^2 + ...) / c0.
//
// As in squared_error.cpp the search works on targets shifted near their mean and scaled by a power of two.
// Weights are whole numbers of a unit (whole_units.hpp), so that the weight of a side is exact and never
// zero.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "bounds/clustering.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"
#include "terminal/tuple_scan.hpp"

namespace codt {

namespace {

struct WeightedMoments {
    std::vector<double> weights;
    std::vector<double> y;  // rows x outputs
    std::uint32_t outputs;

    const double* of(std::uint32_t row) const { return y.data() + static_cast<std::size_t>(row) * outputs; }
    std::size_t size() const { return outputs + 2; }
    void add(std::uint32_t row, double* c) const {
        const double w = weights[row];
        c[0] += w;
        const double* const v = of(row);
        for (std::uint32_t j = 0; j < outputs; ++j) {
            c[1] += w * v[j] * v[j];
            c[2 + j] += w * v[j];
        }
    }
    double loss(const double* c) const { return std::max(0.0, c[1] - purity(c)); }
    // The squared error of both sides is the sum of w |y|^2 less this.
    double purity(const double* c) const {
        double squares = 0;
        for (std::uint32_t j = 0; j < outputs; ++j) squares += c[2 + j] * c[2 + j];
        return c[0] > 0 ? squares / c[0] : 0.0;
    }
};

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
};

class WeightedSquaredError final : public CostTupleObjective<WeightedMoments> {
 public:
    WeightedSquaredError(WeightedMoments moments, double unit, double rounding, const Targets& targets)
        : CostTupleObjective(std::move(moments)),
          unit_(unit),
          rounding_(rounding),
          weights_(targets.weights.begin(), targets.weights.end()),
          original_(targets.y.begin(), targets.y.end()) {
        tuples_.assign(targets.rows() * cost().size(), 0.0);
        for (std::uint32_t row = 0; row < targets.rows(); ++row)
            cost().add(row, tuples_.data() + row * cost().size());
    }

    static constexpr std::uint32_t most_clusters = 16;  // as in squared_error.cpp

    // The sum over the outputs of what k clusters of that output alone would lose: a partition is at least as
    // bad in every output.
    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        const auto samples = subset.samples();
        std::vector<double> sum, sorted, weights;
        std::vector<std::uint32_t> order(samples.begin(), samples.end());
        for (std::uint32_t j = 0; j < cost().outputs; ++j) {
            std::sort(order.begin(), order.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return cost().of(a)[j] < cost().of(b)[j]; });
            double mean = 0, weight = 0;
            for (const std::uint32_t row : order) {
                mean += cost().weights[row] * cost().of(row)[j];
                weight += cost().weights[row];
            }
            mean /= weight;
            sorted.clear();
            weights.clear();
            for (const std::uint32_t row : order) {
                sorted.push_back(cost().of(row)[j] - mean);
                weights.push_back(cost().weights[row]);
            }
            const auto losses = k_means_losses(sorted, weights, std::min(count, most_clusters));
            // One that has stopped at zero is zero from there on.
            if (sum.size() < losses.size()) sum.resize(losses.size(), 0.0);
            for (std::size_t k = 0; k < losses.size(); ++k) sum[k] += losses[k];
        }
        return sum;
    }

    // Leaf values are weighted means of targets of the subset, so in every output a sample's error is at most
    // its squared distance to the farther end of their range, times its weight.
    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        std::vector<Range> ranges(cost().outputs);
        for (const std::uint32_t row : subset.samples()) {
            for (std::uint32_t j = 0; j < cost().outputs; ++j) {
                ranges[j].low = std::min(ranges[j].low, cost().of(row)[j]);
                ranges[j].high = std::max(ranges[j].high, cost().of(row)[j]);
            }
        }
        fill_by_sample(subset, worst, [&](std::uint32_t row) {
            double reach = 0;
            for (std::uint32_t j = 0; j < cost().outputs; ++j) {
                const double y = cost().of(row)[j];
                const double farthest = std::max(y - ranges[j].low, ranges[j].high - y);
                reach += farthest * farthest;
            }
            return cost().weights[row] * reach;
        });
    }

    std::unique_ptr<Scanner> make_lane_scanner(KernelPath path, const LeafLimits& limits) const override {
        return make_tuple_scanner(
            {TupleLoss::squared_error, static_cast<std::uint32_t>(cost().size()), tuples_, {}}, limits, path);
    }

    double unit() const override { return unit_; }
    double rounding() const override { return rounding_; }

    // Two passes in extended precision: the reported loss owes nothing to the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const std::vector<long double> means = exact_means(rows);
        long double error = 0;
        for (const std::uint32_t row : rows) {
            for (std::size_t j = 0; j < means.size(); ++j) {
                const long double distance = original_[row * means.size() + j] - means[j];
                error += weight(row) * distance * distance;
            }
        }
        return static_cast<double>(error);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        const std::vector<long double> means = exact_means(rows);
        return {means.begin(), means.end()};
    }

 private:
    long double weight(std::uint32_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }

    // As distances from the first row: where all targets are the same, so is their mean.
    std::vector<long double> exact_means(std::span<const std::uint32_t> rows) const {
        std::vector<long double> means(cost().outputs, 0);
        const double* const first = original_.data() + rows[0] * means.size();
        long double total = 0;
        for (const std::uint32_t row : rows) {
            total += weight(row);
            for (std::size_t j = 0; j < means.size(); ++j)
                means[j] +=
                    weight(row) * (static_cast<long double>(original_[row * means.size() + j]) - first[j]);
        }
        for (std::size_t j = 0; j < means.size(); ++j) means[j] = first[j] + means[j] / total;
        return means;
    }

    double unit_, rounding_;
    std::vector<double> weights_, original_;
    std::vector<double> tuples_;  // of every row
};

}  // namespace

std::unique_ptr<Objective> make_weighted_squared_error(const Targets& targets) {
    const std::size_t rows = targets.rows();
    const std::size_t outputs = targets.outputs;
    std::vector<double> weights(rows);
    for (std::size_t i = 0; i < rows; ++i) weights[i] = targets.weight(i);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    WholeNumbers whole = in_whole_units(weights, total);

    std::vector<Range> ranges(outputs);
    for (std::size_t i = 0; i < targets.y.size(); ++i) {
        ranges[i % outputs].low = std::min(ranges[i % outputs].low, targets.y[i]);
        ranges[i % outputs].high = std::max(ranges[i % outputs].high, targets.y[i]);
    }
    double widest = 0;
    for (const Range& range : ranges) widest = std::max(widest, range.high - range.low);
    if (!std::isfinite(widest * widest * total * static_cast<double>(outputs)))
        throw std::invalid_argument(
            "y: expected targets whose weighted squared errors fit a 64-bit float, got a range of " +
            std::to_string(widest));
    int exponent = 0;
    std::frexp(widest, &exponent);  // every range < 2^exponent

    WeightedMoments moments{std::move(whole.values), std::vector<double>(targets.y.size(), 0.0),
                            targets.outputs};
    for (std::size_t j = 0; j < outputs; ++j) {
        const double low = ranges[j].low;
        if (!(ranges[j].high > low)) continue;
        long double mean = 0, spread = 0;
        for (std::size_t i = 0; i < rows; ++i)
            mean += (targets.y[i * outputs + j] - low) * weights[i] / total;
        for (std::size_t i = 0; i < rows; ++i) {
            const long double distance = targets.y[i * outputs + j] - low - mean;
            spread += distance * distance * weights[i] / total;
        }
        // The shift is a short binary number, so that small integers stay exact, but near enough to the mean
        // that what it is off by is little beside the standard deviation: a light outlier makes that much
        // smaller than the range.
        int deviation = 0;
        std::frexp(static_cast<double>(std::sqrt(spread)), &deviation);
        const double grid = std::ldexp(1.0, deviation - 6);
        const double shift = grid > 0 ? std::round(static_cast<double>(low + mean) / grid) * grid : low;
        for (std::size_t i = 0; i < rows; ++i)
            moments.y[i * outputs + j] = std::ldexp(targets.y[i * outputs + j] - shift, -exponent);
    }
    // Sums of w, w y and w y^2 are off by a few eps times the whole weight (the targets are at most one
    // apart), and where a side's weight is small beside it, so is its error. Ordinary weights make this less
    // than other tolerances; a light sample far away from heavy ones does not.
    const double mass = std::accumulate(moments.weights.begin(), moments.weights.end(), 0.0);
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * mass * static_cast<double>(outputs);
    return std::make_unique<WeightedSquaredError>(std::move(moments), std::ldexp(whole.unit, 2 * exponent),
                                                  rounding, targets);
}

}  // namespace codt
