// Squared error with weights and any number of outputs: the cost tuple of a sample of weight w is (w, w
// |y|^2, w y_1, ..., w y_m), the loss of a tuple c1 - (c2^2 + c3^2 + ...) / c0.
//
// The search works on targets shifted near their mean and scaled by a power of two, as in squared_error.cpp.
// Weights are whole numbers of a unit (whole_units.hpp), so that the weight of a side is exact and never
// zero.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>

#include "objectives/clusters.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/gaps.hpp"
#include "objectives/range.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"
#include "scans/tuple_scan.hpp"

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

// The largest change that rounding the weights may make, as a fraction of the loss of a single leaf.
constexpr double most_distortion = 1e-6;

class WeightedSquaredError final : public CostTupleObjective<WeightedMoments> {
 public:
    // The targets and weights as given, from which everything reported is computed.
    struct Given {
        std::vector<double> y, weights;  // rows x outputs, rows
        std::uint32_t outputs;
    };

    // In internal units.
    struct Accuracy {
        double loss;  // of a single leaf
        double rounding, distortion;
    };

    WeightedSquaredError(WeightedMoments moments, double unit, const Accuracy& accuracy, Given given)
        : CostTupleObjective(std::move(moments)), unit_(unit), accuracy_(accuracy), given_(std::move(given)) {
        const std::size_t rows = given_.weights.size();
        tuples_.assign(rows * cost().size(), 0.0);
        for (std::uint32_t row = 0; row < rows; ++row) cost().add(row, tuples_.data() + row * cost().size());
    }

    // The search uses `y`.
    static std::unique_ptr<WeightedSquaredError> make(const std::vector<double>& y, Given given);

    const Accuracy& accuracy() const { return accuracy_; }

    // Each output is treated on its own: errors add up, so a tree exceeds the ceiling if a single output
    // does.
    std::unique_ptr<Objective> within(double ceiling) const override {
        std::vector<double> y = given_.y;
        std::vector<double> column(given_.weights.size());
        bool any = false;
        for (std::size_t j = 0; j < given_.outputs; ++j) {
            for (std::size_t i = 0; i < column.size(); ++i) column[i] = given_.y[i * given_.outputs + j];
            const std::vector<double> moved = with_smaller_gaps(
                column, given_.weights,
                [&](double below, double above) { return std::sqrt(ceiling / below + ceiling / above); });
            for (std::size_t i = 0; i < moved.size(); ++i) y[i * given_.outputs + j] = moved[i];
            any = any || !moved.empty();
        }
        return any ? make(y, given_) : nullptr;
    }

    static constexpr std::uint32_t most_clusters = 16;  // as in squared_error.cpp

    // The sum over the outputs of the loss of the best k clusters of that output alone: no partition is
    // better than that in any output.
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
            // Losses that stop at zero stay zero from there on.
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
            for (std::uint32_t j = 0; j < cost().outputs; ++j) ranges[j].include(cost().of(row)[j]);
        }
        fill_by_sample(subset, worst, [&](std::uint32_t row) {
            double reach = 0;
            for (std::uint32_t j = 0; j < cost().outputs; ++j) {
                const double farthest = ranges[j].reach(cost().of(row)[j]);
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
    double rounding() const override { return accuracy_.rounding; }
    double distortion() const override { return accuracy_.distortion; }

    // Two passes in extended precision, independent of the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const std::vector<long double> means = mean_distances(rows);
        long double error = 0;
        for (const std::uint32_t row : rows) {
            for (std::size_t j = 0; j < means.size(); ++j) {
                const long double distance = from_first(rows, row, j) - means[j];
                error += given_.weights[row] * distance * distance;
            }
        }
        return static_cast<double>(error);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        std::vector<double> means;
        for (const long double distance : mean_distances(rows))
            means.push_back(static_cast<double>(target(rows[0], means.size()) + distance));
        return means;
    }

 private:
    double target(std::uint32_t row, std::size_t j) const {
        return given_.y[static_cast<std::size_t>(row) * given_.outputs + j];
    }
    // Targets as distances from that of the first row: equal targets give exactly their mean, and no digits
    // are lost where all are far from zero.
    long double from_first(std::span<const std::uint32_t> rows, std::uint32_t row, std::size_t j) const {
        return static_cast<long double>(target(row, j)) - target(rows[0], j);
    }
    std::vector<long double> mean_distances(std::span<const std::uint32_t> rows) const {
        std::vector<long double> means(given_.outputs, 0);
        long double total = 0;
        for (const std::uint32_t row : rows) {
            total += given_.weights[row];
            for (std::size_t j = 0; j < means.size(); ++j)
                means[j] += given_.weights[row] * from_first(rows, row, j);
        }
        for (long double& mean : means) mean /= total;
        return means;
    }

    double unit_;
    Accuracy accuracy_;
    Given given_;
    std::vector<double> tuples_;  // of every row
};

Range range_of(const std::vector<double>& y, std::size_t output, std::size_t outputs) {
    Range range;
    for (std::size_t i = output; i < y.size(); i += outputs) range.include(y[i]);
    return range;
}

double widest_range(const std::vector<double>& y, std::size_t outputs) {
    double widest = 0;
    for (std::size_t j = 0; j < outputs; ++j) widest = std::max(widest, range_of(y, j, outputs).width());
    return widest;
}

std::unique_ptr<WeightedSquaredError> WeightedSquaredError::make(const std::vector<double>& y, Given given) {
    const std::size_t rows = given.weights.size();
    const std::size_t outputs = given.outputs;
    const double total = std::accumulate(given.weights.begin(), given.weights.end(), 0.0);
    const WholeNumbers whole = in_whole_units(given.weights, total);
    int exponent = 0;
    std::frexp(widest_range(y, outputs), &exponent);  // every range < 2^exponent

    WeightedMoments moments{whole.values, std::vector<double>(y.size(), 0.0), given.outputs};
    const double mass = std::accumulate(moments.weights.begin(), moments.weights.end(), 0.0);
    double squares = 0;     // of all of them, around their means
    double distortion = 0;  // rounding of a weight times its target's squared reach
    for (std::size_t j = 0; j < outputs; ++j) {
        const auto [low, high] = range_of(y, j, outputs);
        if (!(high > low)) continue;
        long double mean = 0, spread = 0;
        for (std::size_t i = 0; i < rows; ++i) mean += (y[i * outputs + j] - low) * given.weights[i] / total;
        for (std::size_t i = 0; i < rows; ++i) {
            const long double distance = y[i * outputs + j] - low - mean;
            spread += distance * distance * given.weights[i] / total;
        }
        // The shift is a short binary number, so that small integers stay exact, but its distance to the mean
        // is small compared with the standard deviation, which may be much smaller than the range if an
        // outlier has little weight.
        int deviation = 0;
        std::frexp(static_cast<double>(std::sqrt(spread)), &deviation);
        const double grid = std::ldexp(1.0, deviation - 6);
        const double shift = grid > 0 ? std::round(static_cast<double>(low + mean) / grid) * grid : low;
        for (std::size_t i = 0; i < rows; ++i) {
            const double target = y[i * outputs + j];
            moments.y[i * outputs + j] = std::ldexp(target - shift, -exponent);
            const double reach = std::ldexp(std::max(target - low, high - target), -exponent);
            distortion += std::abs(given.weights[i] / whole.unit - whole.values[i]) * reach * reach;
        }
        squares += std::ldexp(static_cast<double>(spread), -2 * exponent) * mass;
    }
    // Sums of w y are off by a few eps times the largest such sum, which is at most the root of the total
    // weight times the sum of w y^2. So is the error of a light side next to heavy ones, because its mean is
    // the difference of such sums. With ordinary weights this is less than other tolerances.
    const double rounding =
        8 * std::numeric_limits<double>::epsilon() * std::sqrt(mass * squares) * static_cast<double>(outputs);
    return std::make_unique<WeightedSquaredError>(std::move(moments), std::ldexp(whole.unit, 2 * exponent),
                                                  Accuracy{squares, rounding, distortion}, std::move(given));
}

}  // namespace

std::unique_ptr<Objective> make_weighted_squared_error(const Targets& targets) {
    WeightedSquaredError::Given given{{targets.y.begin(), targets.y.end()}, {}, targets.outputs};
    for (std::size_t i = 0; i < targets.rows(); ++i) given.weights.push_back(targets.weight(i));
    const double total = std::accumulate(given.weights.begin(), given.weights.end(), 0.0);
    const double lightest = *std::min_element(given.weights.begin(), given.weights.end());
    const double widest = widest_range(given.y, given.outputs);
    if (!std::isfinite(widest * widest * total * static_cast<double>(given.outputs)))
        throw std::invalid_argument(
            "y: expected targets whose weighted squared errors fit a 64-bit float, got a range of " +
            std::to_string(widest));
    if (widest > 0 && std::min(1.0, lightest) * widest * widest < least_weighted_square)
        throw std::invalid_argument(
            "y: expected targets whose weighted squared errors do not vanish in a 64-bit float, got a range "
            "or "
            "weights that are too small");
    const double heaviest = *std::max_element(given.weights.begin(), given.weights.end());
    const std::vector<double> y = given.y;
    auto objective = WeightedSquaredError::make(y, std::move(given));
    // Where light weights account for the loss, rounding to 2^-52 of their sum may lose too much.
    if (objective->accuracy().distortion > most_distortion * objective->accuracy().loss) {
        std::ostringstream message;
        message << "sample_weight: expected weights that can be summed exactly beside each other, got "
                   "weights from "
                << lightest << " to " << heaviest
                << ", and light samples that make the loss; leave them out, or "
                << "bring the weights closer together";
        throw std::invalid_argument(message.str());
    }
    return objective;
}

}  // namespace codt
