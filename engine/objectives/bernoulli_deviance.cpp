// Bernoulli deviance, for shares from 0 to 1: 2 (sum of w (y log(y / m) + (1 - y) log((1 - y) / (1 - m)))),
// where a leaf predicts its mean m. The cost tuple of a sample is (w, w y, w (y log y + (1 - y) log(1 - y))).
// The worked example of docs/objectives.md.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"

namespace codt {

namespace {

template <class Real>
Real x_log(Real x, Real y) {
    return x > 0 ? x * std::log(y) : Real(0);
}

struct BernoulliCost {
    std::vector<double> weights, y;

    std::size_t size() const { return 3; }
    void add(std::uint32_t row, double* c) const {
        c[0] += weights[row];
        c[1] += weights[row] * y[row];
        c[2] += weights[row] * (x_log(y[row], y[row]) + x_log(1 - y[row], 1 - y[row]));
    }
    // The loss of the best leaf: never negative, and never larger for a subset than for all samples.
    double loss(const double* c) const { return std::max(0.0, 2 * (c[2] - purity(c))); }
    // What a greedy split maximises, summed over its two sides.
    double purity(const double* c) const {
        const double rest = c[0] - c[1];
        return c[0] > 0 ? x_log(c[1], c[1] / c[0]) + x_log(rest, rest / c[0]) : 0.0;
    }
};

class BernoulliDeviance final : public CostTupleObjective<BernoulliCost> {
 public:
    using CostTupleObjective::CostTupleObjective;

    // Every term of a sum may be rounded, and no logarithm of a share counts more than the weight of its
    // samples times the 37 digits (of base e) that a float has.
    double rounding() const override {
        double weight = 0;
        for (const double w : cost().weights) weight += w;
        return 40 * std::numeric_limits<double>::epsilon() * static_cast<double>(cost().y.size() + 4) *
               weight;
    }

    // Two passes in extended precision, independent of the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const long double m = mean(rows);
        long double sum = 0;
        for (const std::uint32_t row : rows) {
            const long double y = cost().y[row];
            sum += cost().weights[row] * (x_log(y, y / m) + x_log(1 - y, (1 - y) / (1 - m)));
        }
        return static_cast<double>(2 * sum);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        return {static_cast<double>(mean(rows))};
    }

 private:
    long double mean(std::span<const std::uint32_t> rows) const {
        long double weight = 0, sum = 0;
        for (const std::uint32_t row : rows) {
            weight += cost().weights[row];
            sum += static_cast<long double>(cost().weights[row]) * cost().y[row];
        }
        return sum / weight;
    }
};

}  // namespace

std::unique_ptr<Objective> make_bernoulli_deviance(const Targets& targets) {
    BernoulliCost cost;
    for (std::size_t i = 0; i < targets.rows(); ++i) {
        if (!(targets.y[i] >= 0 && targets.y[i] <= 1))
            throw std::invalid_argument("y: expected shares from 0 to 1, got " +
                                        std::to_string(targets.y[i]));
        cost.y.push_back(targets.y[i]);
        cost.weights.push_back(targets.weight(i));
    }
    return std::make_unique<BernoulliDeviance>(std::move(cost));
}

}  // namespace codt
