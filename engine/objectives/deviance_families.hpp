// The three divergences of deviances.cpp. Each gives d(y, o) from y, y - o (which may be known better than y)
// and o, without a difference of numbers that are much larger than itself: log(y / o) is 2 atanh(v) with
// v = (y - o) / (y + o), and the first term of the series takes y - o away but for a factor v.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "scans/two_sums_scan.hpp"

namespace codt {

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

struct Poisson {
    static constexpr bool takes_zero = true;
    static constexpr TwoSumsLoss brackets = TwoSumsLoss::poisson;
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
    static constexpr TwoSumsLoss brackets = TwoSumsLoss::gamma;
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
    static constexpr TwoSumsLoss brackets = TwoSumsLoss::tweedie;
    double degree() const { return a; }
    double amplification() const { return 128 / (a * (1 - a)); }
    template <class Real>
    Real divergence(Real y, Real distance, Real o) const {
        using std::exp;
        using std::log;
        if constexpr (std::is_floating_point_v<Real>) {
            if (a == 0.5) {  // 2 (sqrt(y) - sqrt(o))^2 / sqrt(o), whose difference loses no digits this way
                const Real root = std::sqrt(o),
                           difference = distance / (std::sqrt(std::max(y, Real(0.0))) + root);
                return 2 * difference * difference / root;
            }
        }
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

}  // namespace codt
