// Deviances of rates: a leaf predicts its mean m, and loses the sum of 2 w d(y, m), with
//
//     poisson    d(y, m) = y log(y / m) - y + m                          y >= 0
//     gamma      d(y, m) = y / m - 1 - log(y / m)                        y > 0
//     tweedie    d(y, m) = (m^a + a m^(a-1) (y - m) - y^a) / (a (1 - a))     y >= 0, a = 2 - power, 0 < a < 1
//
// They are Bregman divergences: with any origin o, W the sum of the weights and m the mean,
//
//     sum of w d(y, m) = sum of w d(y, o) - W d(m, o),
//
// so that the cost tuple of a sample is (w, w y, w d(y, o)). With the mean of all targets as origin no term
// is larger than the loss of a single leaf.
//
// Exactness. All three sums are exact, as whole numbers in one part or two (whole_units.hpp). What remains is
// the rounding of the formula above: a few times eps of the sum of w d(y, o), which is at most a known
// multiple of eps of the loss of a single leaf (`rounding`). That is too much where targets are far apart, a
// rate of 1e12 beside rates of 0 to 3. Then `within` takes other tuples (deviance_costs.hpp), for which
// targets that no good tree has in one leaf are measured from different origins.
//
// Similarity bounds: a sample raises the loss of a leaf by what a leaf with two targets loses, its own and
// the leaf's mean with the leaf's weight. That grows with the weight, and with the distance between the two,
// so that no leaf of other samples of a subset is worse than one with all their weight at an end of the range
// of the targets.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "objectives/cost_tuple.hpp"
#include "objectives/deviance_costs.hpp"
#include "objectives/deviance_families.hpp"
#include "objectives/range.hpp"
#include "objectives/targets.hpp"
#include "scans/two_sums_scan.hpp"

namespace codt {

namespace {

// What a target costs at worst in a leaf with others (poisson), without a logarithm for each time that is
// asked.
//
// With the mean m of both, the linear terms of the two divergences cancel, which leaves
//
//     w y log(y / m) + W o log(o / m).
//
// The second logarithm is at most o / m - 1. The first is log y - log o - log(1 + x), x = m / o - 1, where
// log(1 + x) is at least 2 x / (2 + x) if x > 0 and x / (1 + x) if not. As W is much larger than w, all of
// that is close.
class PoissonLogarithms {
 public:
    PoissonLogarithms() = default;
    explicit PoissonLogarithms(const Rates& rates) {
        for (const double y : rates.y) of_y_.push_back(y > 0 ? std::log(y) : 0.0);
        for (const double w : rates.weights) of_weight_.push_back(std::log(w));
    }

    // No less than what the target of a row loses in a leaf with others of mean `o` and this weight.
    double cost(std::uint32_t row, const Rates& rates, double others, double log_others, double o,
                double log_o) const {
        const double y = rates.y[row], w = rates.weights[row];
        if (!(o > 0)) return y > 0 ? w * y * (log_others + w / others - of_weight_[row] + rounding) : 0.0;
        const double share = w / (w + others), distance = y - o;
        const double x = distance * share / o;
        const double logarithm = y > 0 ? of_y_[row] - log_o - (x > 0 ? 2 * x / (2 + x) : x / (1 + x)) : 0.0;
        const double least = w * (y * logarithm - distance * (1 - share) / (1 + x));
        return std::max(0.0, least) + rounding * w * (y * (1 + std::abs(logarithm)) + o);
    }

 private:
    static constexpr double rounding = 1e-12;  // of logarithms up to some hundred, and more

    std::vector<double> of_y_, of_weight_;  // by row
};

template <class Family, class Cost>
class Deviance final : public CostTupleObjective<Cost> {
    using Base = CostTupleObjective<Cost>;
    using Base::cost;

 public:
    // `given` is what everything reported is computed from.
    Deviance(Cost made, double unit, Rates given)
        : Base(std::move(made)), unit_(unit), given_(std::move(given)) {
        if (std::is_same_v<Family, Poisson>) logarithms_ = PoissonLogarithms(cost().rates);
        std::vector<double> total(cost().size(), 0.0);
        for (std::uint32_t row = 0; row < given_.y.size(); ++row) cost().add(row, total.data());
        whole_loss_ = cost().loss(total.data());
        rounding_ = cost().family.amplification() * Cost::precision * cost().divergences(total.data());
        distortion_ = cost().distortion();
    }

    std::unique_ptr<Objective> within(double ceiling) const override {
        using Clustered = ClusteredDeviance<Family>;
        Clustered other(cost().family, cost().rates, ceiling / unit_);
        if constexpr (std::is_same_v<Cost, Clustered>)
            if (other.clusters.size() == cost().clusters.size() && !(other.ceiling < whole_loss_))
                return nullptr;
        return std::make_unique<Deviance<Family, Clustered>>(std::move(other), unit_, given_);
    }

    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        const Rates& rates = cost().rates;
        const Range range = range_of(subset, rates.y);
        double weight = 0;
        for (const std::uint32_t row : subset.samples()) weight += rates.weights[row];
        const double most = this->leaf_loss(subset) + rounding_;
        const auto worst_of_ends = [&](const auto& of_end) {
            fill_by_sample(subset, worst, [&](std::uint32_t row) {
                const double high = of_end(row, range.high);
                if (high >= most) return most;  // spares the other one
                return std::min(most, std::max(high, of_end(row, range.low)) * (1 + 1e-9));
            });
        };
        const double others = weight * (1 + 1e-9);
        if constexpr (std::is_same_v<Family, Poisson>) {
            const double logarithms[] = {std::log(others), std::log(range.low), std::log(range.high)};
            worst_of_ends([&](std::uint32_t row, double end) {
                return logarithms_.cost(row, rates, others, logarithms[0], end,
                                        logarithms[end == range.low ? 1 : 2]);
            });
        } else {
            worst_of_ends([&](std::uint32_t row, double end) {
                return loss_of_two(cost().family, rates.weights[row], rates.y[row], others, end);
            });
        }
    }

    std::unique_ptr<BracketScanner> make_lane_brackets(KernelPath path) const override {
        if constexpr (std::is_same_v<Cost, PlainDeviance<Family>>) {
            const std::size_t entries = cost().size();
            auto tuples = std::make_shared<std::vector<double>>(entries * given_.y.size());
            for (std::uint32_t row = 0; row < given_.y.size(); ++row)
                cost().add(row, tuples->data() + entries * row);
            return make_two_sums_brackets(
                {Family::brackets, cost().rates.weights, cost().sums, false, entries, *tuples,
                 [this](const double* c) { return cost().loss(c); }, tuples, cost().family.degree()},
                path);
        }
        return nullptr;
    }

    double unit() const override { return unit_; }
    double rounding() const override { return rounding_; }
    bool sums_are_exact() const override { return std::is_same_v<Cost, PlainDeviance<Family>>; }
    double distortion() const override { return distortion_; }

    // Two passes in extended precision, independent of the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const auto [least, offset] = mean(rows);
        const long double m = least + offset;
        if (!(m > 0)) return 0;
        long double sum = 0;
        for (const std::uint32_t row : rows) {
            const long double y = given_.y[row];
            sum += given_.weights[row] * cost().family.divergence(y, (y - least) - offset, m);
        }
        return static_cast<double>(2 * sum);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        const auto [least, offset] = mean(rows);
        return {static_cast<double>(least + offset)};
    }

 private:
    // The smallest target, and how far the mean is from it: nothing, if all are equal. No digits are lost,
    // since all distances are positive.
    std::pair<long double, long double> mean(std::span<const std::uint32_t> rows) const {
        long double least = given_.y[rows[0]];
        for (const std::uint32_t row : rows) least = std::min<long double>(least, given_.y[row]);
        long double weight = 0, sum = 0;
        for (const std::uint32_t row : rows) {
            weight += given_.weights[row];
            sum += given_.weights[row] * (given_.y[row] - least);
        }
        return {least, sum / weight};
    }

    double unit_;
    Rates given_;
    PoissonLogarithms logarithms_;
    double whole_loss_ = 0, rounding_ = 0, distortion_ = 0;
};

int exponent_of(double number) {
    int exponent = 0;
    std::frexp(number, &exponent);
    return exponent;
}

template <class Family>
std::unique_ptr<Objective> make_deviance(const Targets& targets, const Family& family) {
    Rates given;
    double weight = 0, sum = 0;
    for (std::size_t i = 0; i < targets.rows(); ++i) {
        const double y = targets.y[i];
        if (!(Family::takes_zero ? y >= 0 : y > 0))
            throw std::invalid_argument("y: expected numbers " +
                                        std::string(Family::takes_zero ? "of at least 0" : "above 0") +
                                        ", got " + std::to_string(y));
        given.y.push_back(y);
        given.weights.push_back(targets.weight(i));
        weight += targets.weight(i);
    }
    for (std::size_t i = 0; i < targets.rows(); ++i) sum += targets.weight(i) / weight * targets.y[i];
    if (!std::isfinite(weight) || !std::isfinite(sum))
        throw std::invalid_argument("y: expected targets and weights whose sums fit a 64-bit float");

    // The mean of the targets and that of the weights are near 1.
    const int of_y = sum > 0 ? exponent_of(sum) : 0;
    const int of_weights = exponent_of(weight / static_cast<double>(targets.rows()));
    Rates scaled;
    for (std::size_t i = 0; i < targets.rows(); ++i) {
        scaled.y.push_back(std::ldexp(given.y[i], -of_y));
        scaled.weights.push_back(std::ldexp(given.weights[i], -of_weights));
    }
    const double unit = 2 * std::ldexp(1.0, of_weights) * std::exp2(of_y * family.degree());
    using Plain = PlainDeviance<Family>;
    return std::make_unique<Deviance<Family, Plain>>(Plain(family, std::move(scaled)), unit,
                                                     std::move(given));
}

}  // namespace

std::unique_ptr<Objective> make_poisson_deviance(const Targets& targets) {
    return make_deviance(targets, Poisson{});
}

std::unique_ptr<Objective> make_gamma_deviance(const Targets& targets) {
    return make_deviance(targets, Gamma{});
}

std::unique_ptr<Objective> make_tweedie_deviance(const Targets& targets, double power) {
    if (!(power > 1 && power < 2))
        throw std::invalid_argument("power: expected a number between 1 and 2, got " + std::to_string(power));
    return make_deviance(targets, Tweedie{2 - power});
}

}  // namespace codt
