// The cost tuples of deviances (deviances.cpp): plain ones, and those for targets that are far apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "common/double_double.hpp"
#include "objectives/whole_units.hpp"

namespace codt {

// Sums of one number of every sample, exact.
struct ExactSums {
    WholeParts parts;

    ExactSums() = default;
    explicit ExactSums(const std::vector<DoubleDouble>& numbers) {
        std::vector<double> high, low;
        double total = 0;
        for (const DoubleDouble& number : numbers) {
            high.push_back(number.high);
            low.push_back(number.low);
            total += std::abs(number.high);
        }
        parts = in_whole_parts(high, total * (1 + 1e-9), low);
    }

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
};

// Samples whose deviances are measured from a common origin, their mean.
struct Cluster {
    double origin;
    double lowest, highest;  // means that a leaf can have, if it has a target above zero

    // Of rows in the order of their targets.
    static Cluster of(const Rates& rates, std::span<const std::uint32_t> rows) {
        const double low = rates.y[rows.front()], high = rates.y[rows.back()];
        double whole = 0, distance = 0, least = std::numeric_limits<double>::infinity();
        for (const std::uint32_t row : rows) {
            whole += rates.weights[row];
            distance += rates.weights[row] * (rates.y[row] - low);
            if (rates.y[row] > 0) least = std::min(least, rates.weights[row] * rates.y[row]);
        }
        return {std::clamp(low + distance / whole, low, high), low > 0 ? low : least / whole, high};
    }

    template <class Family>
    DoubleDouble divergence(const Family& family, double y) const {
        const DoubleDouble distance = DoubleDouble::sum(y, -origin);
        return distance.high == 0 ? DoubleDouble()
                                  : family.divergence(DoubleDouble(y), distance, DoubleDouble(origin));
    }
};

inline std::vector<std::uint32_t> rows_by_target(const Rates& rates) {
    std::vector<std::uint32_t> order(rates.y.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rates.y[a] < rates.y[b]; });
    return order;
}

// What two targets of these weights lose in one leaf.
template <class Family>
double loss_of_two(const Family& family, double w, double y, double other_weight, double other) {
    const double total = w + other_weight;
    const double m = (w * y + other_weight * other) / total;
    if (!(m > 0)) return 0;
    const double distance = y - other;
    return w * family.divergence(y, distance * (other_weight / total), m) +
           other_weight * family.divergence(other, -distance * (w / total), m);
}

// The most that the loss of a leaf can change for a change of its weight, and for one of its weighted sum of
// targets.
struct Slopes {
    double weight = 0, sum = 0;

    template <class Family>
    static Slopes of(const Family& family, const Cluster& cluster) {
        if (cluster.highest == 0) return {};
        const auto [o, low, high] = cluster;
        // Slopes are rounded, and may be those of a mean that is a little outside of the range.
        const double room = 1e-17 * family.amplification() * (1 + 1 / low);
        const double sum = std::max(family.slope(low, o), family.slope(high, o)) + room;
        return {std::max(family.divergence(o, o - low, low), family.divergence(o, o - high, high)) + o * sum,
                sum};
    }
};

// The tuple (w, w y, w d(y, o)) with the mean of all targets as origin o, and losses in doubles.
template <class Family>
struct PlainDeviance {
    static constexpr double precision = std::numeric_limits<double>::epsilon();

    Family family;
    Rates rates;
    Cluster all;
    ExactSums weight, sum, divergence;
    std::vector<double> sums;  // w y, rounded

    PlainDeviance(const Family& of, Rates given)
        : family(of), rates(std::move(given)), all(Cluster::of(rates, rows_by_target(rates))) {
        std::vector<DoubleDouble> weights, products, divergences;
        for (std::size_t i = 0; i < rates.y.size(); ++i) {
            const double y = rates.y[i], w = rates.weights[i];
            weights.emplace_back(w);
            products.push_back(DoubleDouble::product(w, y));
            divergences.push_back(DoubleDouble(w) * all.divergence(family, y));
            sums.push_back(products.back().high);
        }
        weight = ExactSums(weights);
        sum = ExactSums(products);
        divergence = ExactSums(divergences);
    }

    std::size_t size() const { return weight.size() + sum.size() + divergence.size(); }
    void add(std::uint32_t row, double* c) const {
        weight.add(row, c);
        sum.add(row, c + weight.size());
        divergence.add(row, c + weight.size() + sum.size());
    }
    double loss(const double* c) const {
        const auto [w, s] = moments(c);
        if (!(s.high > 0)) return 0;  // none of the samples has a target above zero
        return std::max(0.0, divergences(c) - around_origin(w, s));
    }
    double purity(const double* c) const {
        const auto [w, s] = moments(c);
        return w.high > 0 ? around_origin(w, s) : 0.0;
    }
    double divergences(const double* c) const {
        return static_cast<double>(divergence.of(c + weight.size() + sum.size()));
    }

    // What the rounding of the numbers, to less than 2^-100 of their sum, may change.
    double distortion() const {
        const Slopes slopes = Slopes::of(family, all);
        return 2 * (weight.distortion() * slopes.weight + sum.distortion() * slopes.sum +
                    divergence.distortion());
    }

 private:
    std::pair<DoubleDouble, DoubleDouble> moments(const double* c) const {
        return {weight.of(c), sum.of(c + weight.size())};
    }
    // W d(m, o)
    double around_origin(DoubleDouble w, DoubleDouble s) const {
        const auto whole = static_cast<double>(w);
        const double distance = static_cast<double>(s - w * DoubleDouble(all.origin)) / whole;
        return whole * family.divergence(static_cast<double>(s) / whole, distance, all.origin);
    }
};

// For trees that lose less than a ceiling. Two targets that lose more than that together are in different
// leaves, and so are all targets on both sides of a gap whose two ends would. Between such gaps there are
// *clusters*: a leaf of a good tree holds samples of one only, and its deviance is measured from an origin
// within the cluster, so that all numbers are of the magnitude of the losses that matter. Sums of the number
// of a cluster and of its square tell whether a leaf holds a single one; any other leaf loses the ceiling, as
// does a leaf that loses more. Numbers have about 100 bits.
template <class Family>
struct ClusteredDeviance {
    static constexpr double precision = DoubleDouble::epsilon;

    Family family;
    Rates rates;
    double ceiling;
    std::vector<Cluster> clusters;
    std::vector<double> cluster_of;  // the number of the cluster, by row
    ExactSums weight, moment, divergence;

    ClusteredDeviance(const Family& of, Rates given, double most)
        : family(of), rates(std::move(given)), ceiling(most) {
        find_clusters();
        std::vector<DoubleDouble> weights, moments, divergences;
        for (std::size_t i = 0; i < rates.y.size(); ++i) {
            const DoubleDouble w = rates.weights[i];
            const Cluster& cluster = clusters[static_cast<std::size_t>(cluster_of[i])];
            weights.push_back(w);
            moments.push_back(w * DoubleDouble::sum(rates.y[i], -cluster.origin));
            divergences.push_back(w * cluster.divergence(family, rates.y[i]));
        }
        weight = ExactSums(weights);
        moment = ExactSums(moments);
        divergence = ExactSums(divergences);
    }

    // Four whole numbers: samples, those with targets above zero, and the sums of clusters and their squares.
    std::size_t size() const { return 4 + weight.size() + moment.size() + divergence.size(); }
    void add(std::uint32_t row, double* c) const {
        c[0] += 1;
        c[1] += rates.y[row] > 0 ? 1 : 0;
        c[2] += cluster_of[row];
        c[3] += cluster_of[row] * cluster_of[row];
        weight.add(row, c += 4);
        moment.add(row, c += weight.size());
        divergence.add(row, c + moment.size());
    }
    double loss(const double* c) const {
        if (c[1] == 0) return 0;
        const DoubleDouble squares = DoubleDouble::product(c[0], c[3]),
                           square = DoubleDouble::product(c[2], c[2]);
        if (squares.high != square.high || squares.low != square.low) return ceiling;
        const DoubleDouble origin = clusters[static_cast<std::size_t>(c[2] / c[0])].origin;
        const DoubleDouble whole = weight.of(c + 4);
        const DoubleDouble distance = moment.of(c + 4 + weight.size()) / whole;
        const DoubleDouble around = whole * family.divergence(origin + distance, distance, origin);
        return std::clamp(static_cast<double>(sum_of_divergences(c) - around), 0.0, ceiling);
    }
    double purity(const double* c) const { return -loss(c); }
    double divergences(const double* c) const { return static_cast<double>(sum_of_divergences(c)); }

    double distortion() const {
        Slopes most;
        for (const Cluster& cluster : clusters) {
            const Slopes slopes = Slopes::of(family, cluster);
            most = {std::max(most.weight, slopes.weight), std::max(most.sum, slopes.sum)};
        }
        return 2 *
               (weight.distortion() * most.weight + moment.distortion() * most.sum + divergence.distortion());
    }

 private:
    DoubleDouble sum_of_divergences(const double* c) const {
        return divergence.of(c + 4 + weight.size() + moment.size());
    }

    void find_clusters() {
        const std::size_t rows = rates.y.size();
        const std::vector<std::uint32_t> order = rows_by_target(rates);
        std::vector<double> lightest_above(rows);
        double lightest = std::numeric_limits<double>::infinity();
        for (std::size_t k = rows; k-- > 0;)
            lightest_above[k] = lightest = std::min(lightest, rates.weights[order[k]]);
        // Sums of squares of their numbers are exact.
        const auto most = static_cast<std::size_t>(std::sqrt(0x1p52 / static_cast<double>(rows)));
        cluster_of.resize(rows);
        lightest = std::numeric_limits<double>::infinity();
        std::size_t first = 0;
        for (std::size_t k = 0; k < rows; ++k) {
            const double y = rates.y[order[k]];
            if (k > 0 && y > rates.y[order[k - 1]] && clusters.size() + 1 < most &&
                loss_of_two(family, lightest, rates.y[order[k - 1]], lightest_above[k], y) >
                    ceiling * (1 + 1e-6)) {
                clusters.push_back(Cluster::of(rates, std::span(order).subspan(first, k - first)));
                first = k;
            }
            lightest = std::min(lightest, rates.weights[order[k]]);
            cluster_of[order[k]] = static_cast<double>(clusters.size());
        }
        clusters.push_back(Cluster::of(rates, std::span(order).subspan(first)));
    }
};

}  // namespace codt
