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
// rate of 1e12 beside rates of 0 to 3. Then `within` takes numbers of 100 bits (double_double.hpp) for the
// same formula, and the losses of leaves above the ceiling, which no tree worth finding has, are lowered to
// it, so that all losses are of the magnitude that matters.
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
#include <utility>

#include "common/double_double.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/range.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"

namespace codt {

namespace {

template <class Real>
Real magnitude(Real x) {
    return x < Real(0.0) ? -x : x;
}

// The sum of a series whose terms decrease; `next` makes the k-th of the one before.
template <class Real, class Next>
Real series(Real first, Next&& next) {
    Real sum = first, term = first;
    for (int k = 1; k < 400; ++k) {
        term = next(term, k);
        const Real longer = sum + term;
        if (!(longer < sum) && !(sum < longer)) break;
        sum = longer;
    }
    return sum;
}

// v^3 / 3 + v^5 / 5 + ..., which is atanh(v) less its first term.
template <class Real>
Real rest_of_atanh(Real v) {
    const Real square = v * v;
    Real power = square * v;
    return series(power / Real(3.0), [&](Real, int k) {
        power = power * square;
        return power / Real(2.0 * k + 3);
    });
}

// Each of these gives d(y, o) from y, y - o (which may be known better than y) and o, without a difference of
// numbers that are much larger than itself: log(y / o) is 2 atanh(v) with v = (y - o) / (y + o), and the
// first term of the series takes y - o away but for a factor v.
struct Poisson {
    static constexpr bool takes_zero = true;
    double degree() const { return 1; }  // d(t y, t o) = t^degree d(y, o)
    double amplification() const { return 128; }
    template <class Real>
    Real divergence(Real y, Real distance, Real o) const {
        using std::log;
        if (!(y > Real(0.0))) return o;
        const Real v = distance / (y + o);
        if (Real(0.1) < magnitude(v)) return y * log(y / o) - distance;
        return distance * v + Real(2.0) * y * rest_of_atanh(v);
    }
    // The largest change of the loss for a change of the sum of w y, where the mean is m.
    double slope(double m, double o) const { return std::abs(std::log(m / o)); }
};

struct Gamma {
    static constexpr bool takes_zero = false;
    double degree() const { return 0; }
    double amplification() const { return 128; }
    template <class Real>
    Real divergence(Real y, Real distance, Real o) const {
        using std::log;
        const Real v = distance / (y + o);
        if (Real(0.1) < magnitude(v)) return distance / o - log(y / o);
        return distance * v / o - Real(2.0) * rest_of_atanh(v);
    }
    double slope(double m, double o) const { return std::abs(1 / o - 1 / m); }
};

struct Tweedie {
    double a;  // 2 - power
    static constexpr bool takes_zero = true;
    double degree() const { return a; }
    double amplification() const { return 128 / (a * (1 - a)); }
    template <class Real>
    Real divergence(Real y, Real distance, Real o) const {
        using std::exp;
        using std::log;
        const Real scale = exp(Real(a) * log(o)) / Real(a) / Real(1 - a);
        if (!(y > Real(0.0))) return scale * Real(1 - a);
        const Real s = distance / o;
        if (Real(0.5) < magnitude(s)) return scale * (Real(1.0) + Real(a) * s - exp(Real(a) * log(y / o)));
        // Less the binomial series of (1 + s)^a from its third term on.
        const Real third = Real(a) * Real(1 - a) / Real(2.0) * s * s;
        return scale *
               series(third, [&](Real term, int k) { return term * Real(a - (k + 1)) / Real(k + 2.0) * s; });
    }
    double slope(double m, double o) const {
        return std::abs(std::pow(m, a - 1) - std::pow(o, a - 1)) / (1 - a);
    }
};

// Sums of one number of every sample, exact.
struct ExactSums {
    WholeParts parts;

    std::size_t size() const { return parts.low.empty() ? 1 : 2; }
    void add(std::uint32_t row, double* c) const {
        c[0] += parts.high[row];
        if (!parts.low.empty()) c[1] += parts.low[row];
    }
    DoubleDouble of(const double* c) const {
        if (parts.low.empty()) return {c[0] * parts.unit, 0.0};
        return DoubleDouble::sum(c[0] * parts.unit, c[1] * (parts.ratio * parts.unit));
    }
    double distortion() const {
        return parts.unit * std::accumulate(parts.distortions.begin(), parts.distortions.end(), 0.0);
    }
};

// Targets and weights, both scaled by powers of two.
struct Rates {
    std::vector<double> y, weights;
    double origin = 1.0;
};

template <class Family, class Real>
struct DevianceCost {
    Family family;
    Rates rates;
    ExactSums weight, sum, divergence;
    double ceiling = std::numeric_limits<double>::infinity();

    std::size_t size() const { return weight.size() + sum.size() + divergence.size(); }
    void add(std::uint32_t row, double* c) const {
        weight.add(row, c);
        sum.add(row, c + weight.size());
        divergence.add(row, c + weight.size() + sum.size());
    }
    double loss(const double* c) const {
        const auto [w, s] = moments(c);
        if (!(s.high > 0)) return 0;  // none of the samples has a target above zero
        const Real all = Real(divergence.of(c + weight.size() + sum.size()));
        return std::min(ceiling, std::max(0.0, static_cast<double>(all - around_origin(w, s))));
    }
    double purity(const double* c) const {
        const auto [w, s] = moments(c);
        return w.high > 0 ? static_cast<double>(around_origin(w, s)) : 0.0;
    }

 private:
    std::pair<DoubleDouble, DoubleDouble> moments(const double* c) const {
        return {weight.of(c), sum.of(c + weight.size())};
    }
    // W d(m, o)
    Real around_origin(DoubleDouble w, DoubleDouble s) const {
        const Real distance = Real(s - w * DoubleDouble(rates.origin)) / Real(w);
        return Real(w) * family.divergence(Real(s) / Real(w), distance, Real(rates.origin));
    }
};

template <class Family, class Real>
class Deviance final : public CostTupleObjective<DevianceCost<Family, Real>> {
    using Cost = DevianceCost<Family, Real>;
    using Base = CostTupleObjective<Cost>;
    using Base::cost;

 public:
    // The data as given, from which everything reported is computed.
    struct Given {
        std::vector<double> y, weights;
    };

    Deviance(Cost made, double unit, Given given)
        : Base(std::move(made)), unit_(unit), given_(std::move(given)) {
        std::vector<double> total(cost().size(), 0.0);
        for (std::uint32_t row = 0; row < given_.y.size(); ++row) cost().add(row, total.data());
        whole_loss_ = cost().loss(total.data());
        const auto divergence = static_cast<double>(
            cost().divergence.of(total.data() + cost().weight.size() + cost().sum.size()));
        rounding_ = cost().family.amplification() * precision * divergence;
        distortion_ = find_distortion(static_cast<double>(cost().weight.of(total.data())));
    }

    std::unique_ptr<Objective> within(double ceiling) const override {
        const double internal = ceiling / unit_;
        if (std::is_same_v<Real, DoubleDouble> && !(internal < whole_loss_)) return nullptr;
        return std::make_unique<Deviance<Family, DoubleDouble>>(
            DevianceCost<Family, DoubleDouble>{cost().family, cost().rates, cost().weight, cost().sum,
                                               cost().divergence, internal},
            unit_, typename Deviance<Family, DoubleDouble>::Given{given_.y, given_.weights});
    }

    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        const Rates& rates = cost().rates;
        const Range range = range_of(subset, rates.y);
        double weight = 0;
        for (const std::uint32_t row : subset.samples()) weight += rates.weights[row];
        const double most = this->leaf_loss(subset) + rounding_;
        fill_by_sample(subset, worst, [&](std::uint32_t row) {
            const double y = rates.y[row], w = rates.weights[row];
            const double others = weight * (1 + 1e-9);
            const double own = std::max(of_two(w, y, others, range.low), of_two(w, y, others, range.high));
            return std::min(most, own * (1 + 1e-9));
        });
    }

    double unit() const override { return unit_; }
    double rounding() const override { return rounding_; }
    double distortion() const override { return distortion_; }

    // Two passes in extended precision, independent of the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const auto [first, offset] = mean(rows);
        const long double m = first + offset;
        if (!(m > 0)) return 0;
        long double sum = 0;
        for (const std::uint32_t row : rows) {
            const long double y = given_.y[row];
            sum += given_.weights[row] * cost().family.divergence(y, (y - first) - offset, m);
        }
        return static_cast<double>(2 * sum);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        const auto [first, offset] = mean(rows);
        return {static_cast<double>(first + offset)};
    }

 private:
    static constexpr double precision =
        std::is_same_v<Real, double> ? std::numeric_limits<double>::epsilon() : DoubleDouble::epsilon;

    // What two targets of these weights lose in one leaf.
    double of_two(double w, double y, double other_weight, double other) const {
        const double total = w + other_weight;
        const double m = (w * y + other_weight * other) / total;
        if (!(m > 0)) return 0;
        const double distance = y - other;
        return w * cost().family.divergence(y, distance * (other_weight / total), m) +
               other_weight * cost().family.divergence(other, -distance * (w / total), m);
    }

    // The sums are of numbers that were rounded, to less than 2^-100 of their sum.
    double find_distortion(double weight) const {
        const Rates& rates = cost().rates;
        double least = std::numeric_limits<double>::infinity(), most = 0;
        for (std::size_t i = 0; i < rates.y.size(); ++i) {
            if (rates.y[i] > 0) least = std::min(least, rates.weights[i] * rates.y[i]);
            most = std::max(most, rates.y[i]);
        }
        if (most == 0) return 0;
        const double o = rates.origin, lowest = least / weight;
        const double slope = std::max(cost().family.slope(lowest, o), cost().family.slope(most, o)) + 1;
        const double of_weight = std::max(cost().family.divergence(o, o - lowest, lowest),
                                          cost().family.divergence(o, o - most, most));
        return 2 * (cost().weight.distortion() * of_weight + cost().sum.distortion() * slope +
                    cost().divergence.distortion());
    }

    // The first target, and how far the mean is from it: nothing, if all are equal.
    std::pair<long double, long double> mean(std::span<const std::uint32_t> rows) const {
        const long double first = given_.y[rows[0]];
        long double weight = 0, sum = 0;
        for (const std::uint32_t row : rows) {
            weight += given_.weights[row];
            sum += given_.weights[row] * (given_.y[row] - first);
        }
        return {first, sum / weight};
    }

    double unit_;
    Given given_;
    double whole_loss_ = 0, rounding_ = 0, distortion_ = 0;
};

ExactSums exact_sums(const std::vector<DoubleDouble>& numbers) {
    std::vector<double> high, low;
    double total = 0;
    for (const DoubleDouble& number : numbers) {
        high.push_back(number.high);
        low.push_back(number.low);
        total += std::abs(number.high);
    }
    return {in_whole_parts(high, total * (1 + 1e-9), low)};
}

int exponent_of(double number) {
    int exponent = 0;
    std::frexp(number, &exponent);
    return exponent;
}

template <class Family>
std::unique_ptr<Objective> make_deviance(const Targets& targets, const Family& family) {
    typename Deviance<Family, double>::Given given;
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
    DevianceCost<Family, double> cost{family, {}, {}, {}, {}};
    std::vector<DoubleDouble> weights, sums, divergences;
    cost.rates.origin = sum > 0 ? std::ldexp(sum, -of_y) : 1.0;
    const DoubleDouble o = cost.rates.origin;
    for (std::size_t i = 0; i < targets.rows(); ++i) {
        const double y = std::ldexp(given.y[i], -of_y), w = std::ldexp(given.weights[i], -of_weights);
        cost.rates.y.push_back(y);
        cost.rates.weights.push_back(w);
        weights.emplace_back(w);
        sums.push_back(DoubleDouble::product(w, y));
        divergences.push_back(DoubleDouble(w) *
                              family.divergence(DoubleDouble(y), DoubleDouble::sum(y, -o.high), o));
    }
    cost.weight = exact_sums(weights);
    cost.sum = exact_sums(sums);
    cost.divergence = exact_sums(divergences);
    const double unit = 2 * std::ldexp(1.0, of_weights) * std::exp2(of_y * family.degree());
    return std::make_unique<Deviance<Family, double>>(std::move(cost), unit, std::move(given));
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
