// Poisson deviance, for counts: 2 (sum of w y log(y / m)), where a leaf predicts its mean m. The cost tuple
// of a sample is (w, w y, w y log y). The worked example of docs/objectives.md.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"

namespace codt {

namespace {

double y_log_y(double y) {
    return y > 0 ? y * std::log(y) : 0.0;
}

struct PoissonCost {
    std::vector<double> weights, y;

    std::size_t size() const { return 3; }
    void add(std::uint32_t row, double* c) const {
        c[0] += weights[row];
        c[1] += weights[row] * y[row];
        c[2] += weights[row] * y_log_y(y[row]);
    }
    // The loss of the best leaf: never negative, and never larger for a subset than for all samples.
    double loss(const double* c) const { return std::max(0.0, 2 * (c[2] - purity(c))); }
    // What a greedy split maximises, summed over its two sides.
    double purity(const double* c) const { return c[1] > 0 ? c[1] * std::log(c[1] / c[0]) : 0.0; }
};

class PoissonDeviance final : public CostTupleObjective<PoissonCost> {
 public:
    using CostTupleObjective::CostTupleObjective;

    // Sums of w y log y are much larger than the loss, and so are their rounding errors.
    double rounding() const override {
        double sum = 0;
        for (std::size_t i = 0; i < cost().y.size(); ++i)
            sum += cost().weights[i] * cost().y[i] * (1 + std::abs(std::log(cost().y[i] + 1)));
        return 16 * std::numeric_limits<double>::epsilon() * sum;
    }

    // Two passes in extended precision, independent of the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const long double m = mean(rows);
        long double sum = 0;
        for (const std::uint32_t row : rows) {
            const long double y = cost().y[row];
            sum += cost().weights[row] * ((y > 0 ? y * std::log(y / m) : 0.0L) - y + m);
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

std::unique_ptr<Objective> make_poisson_deviance(const Targets& targets) {
    PoissonCost cost;
    for (std::size_t i = 0; i < targets.rows(); ++i) {
        if (!(targets.y[i] >= 0))
            throw std::invalid_argument("y: expected counts of at least 0, got " +
                                        std::to_string(targets.y[i]));
        cost.y.push_back(targets.y[i]);
        cost.weights.push_back(targets.weight(i));
    }
    return std::make_unique<PoissonDeviance>(std::move(cost));
}

}  // namespace codt
