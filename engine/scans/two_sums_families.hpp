// The losses that depend on two sums (two_sums_pass.hpp). A side of weight n and sum S, with mean m = S / n,
// is split into leaves of weights k and k' and sums s and s'. With c = s - k m the means of the leaves are m
// + c / k and m - c / k', and the gain of the split is
//
//     k d(m + c / k, m) + k' d(m - c / k', m),
//
// where d is the divergence of the loss. With t = y / m,
//
//     entropy     d(y, m) = y log(y / m) + (1 - y) log((1 - y) / (1 - m))    two classes, s the weight of one
//     gini        d(y, m) = 2 (y - m)^2                                      the same
//     poisson     d(y, m) = m (t log t - t + 1)
//     gamma       d(y, m) = t - 1 - log t
//     tweedie     d(y, m) = m^a (1 + a (t - 1) - t^a) / (a (1 - a))
//
// Curvature. d(y, m) = (y - m)^2 r(y), where r(y) is the integral of (1 - u) d''(m + u (y - m)) over u from 0
// to 1. 1 / r is concave in y, so between m and an end of the range of y it lies above the chord:
//
//     1 / r(y) >= flat + rise (y - m)   if y > m,     flat + fall (y - m)   if y < m,     flat = 2 / d''(m).
//
// It is concave because a harmonic mean of concave functions is: where d'' = 1 / y (poisson), 1 / r is the
// harmonic mean of m + u (y - m) with the weights 1 - u; entropy adds the same with 1 - y. Where d'' = 1 /
// y^2 (gamma), put z = u y / (m + u (y - m)), and 1 / r is that of m (m + (y - m) (1 - z)) with the weights 1
// - z. Where d'' = 1 / y^p, 1 < p < 2 (tweedie), d'' is a mean over shifts s > 0 of 1 / (y + s)^2, and 1 / r
// the harmonic mean of those of the shifts.
//
// Errors. The gain of the best split is off by no more than the sum of
//
//     slack.part      times itself,
//     slack.weight    times n: roundings of floats, u = 2^-24,
//     slack.of_sum    times the error of a sum s, and
//     slack.of_weight times the error of a weight k.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "scans/lane_logarithm.hpp"
#include "scans/lanes.hpp"

namespace codt {

// The leaves of a split of one side.
template <class Register>
struct SplitPlace {
    Register k, rest_k, s, rest_s, c;
};

struct Slack {
    double part = 0, weight = 0, of_sum = 0, of_weight = 0;
};

// A side that is to be split: its weight and sum, the least that a leaf can have of either if it has any of
// it, and the range of the means of leaves.
struct SideSums {
    double n, sum, least_weight, least_sum, least_mean, most_mean;

    double mean() const { return sum / n; }
    // The range of t, and its lower end where it is above zero.
    double least() const { return std::min(1.0, least_mean / mean()); }
    double most() const { return std::max(1.0, most_mean / mean()); }
    double positive() const { return std::min(1.0, std::max(least_mean, least_sum / n) / mean()); }
    // The most that log t can be, and t differ from 1; sums are known well enough for the room on top.
    double logarithm() const {
        return std::max(std::log(most()), -std::log(positive())) + (least_mean > 0 ? 1e-6 : 1.0);
    }
    double distance() const { return std::max(most() - 1, 1 - least()) + 1e-6; }
};

// A gain is `scale` times value() - base. Several chords: the near ones as far as two knots, and flat + slope
// (y - m) beyond these.
struct SideShape {
    double flat, rise, fall;
    Slack slack;
    double base = 0, scale = 1;
    double near_rise = rise, far_flat = flat, far_rise = rise;
    double near_fall = fall, low_flat = flat, low_fall = fall;
};

inline constexpr double float_rounding = 0x1p-24;

// Of values in floats, where sums are shares (rounded_sums.hpp): they are off by `times` |c| roundings, and
// |c| <= sqrt(per_value v) where the value is v.
struct ErrorOfC {
    double times, per_value;
};

struct EntropyOfTwo {
    static constexpr bool even = false;
    // In bits.
    template <class Log, class Register>
    CODT_INLINE Register value(const SplitPlace<Register>& at, const Register&) const {
        const Register other = at.k - at.s, rest_other = at.rest_k - at.rest_s;
        const Register log_k = Log::of(at.k).binary(), log_rest = Log::of(at.rest_k).binary();
        return (at.s * (Log::of(at.s).binary() - log_k) + other * (Log::of(other).binary() - log_k)) +
               (at.rest_s * (Log::of(at.rest_s).binary() - log_rest) +
                rest_other * (Log::of(rest_other).binary() - log_rest));
    }
    // A logarithm is off by one rounding of itself and 3 u, each of the two of a term; the terms sum up to n
    // at most, and each takes part in 5 further roundings.
    SideShape shape(const SideSums& side) const {
        constexpr double log_2 = 0.6931471805599453;
        const double n = side.n, m = side.mean(), other = (n - side.sum) / n;
        const double log_m = m < 0.5 ? std::log(m) : std::log1p(-other);
        const double log_other = other < 0.5 ? std::log(other) : std::log1p(-m);
        SideShape out{};
        out.flat = 2 * log_2 * m * other;
        out.rise = (log_2 * other * other / -log_m - out.flat) / other;
        out.fall = (out.flat - log_2 * m * m / -log_other) / m;
        out.slack.weight = float_rounding * (2 * std::log2(n + 2) + 16);
        out.base = n * (m * log_m + other * log_other) / log_2;
        out.scale = log_2;
        return out;
    }
};

struct GiniOfTwo {
    static constexpr bool even = true;  // 1 / r is 1 everywhere
    template <class Log, class Register>
    CODT_INLINE Register value(const SplitPlace<Register>& at, const Register&) const {
        return at.c * at.c * (1 / at.k + 1 / at.rest_k);
    }
    // c is off by 3 u S, and no larger than k or k'.
    SideShape shape(const SideSums&) const { return {1, 0, 0, {0, 32 * float_rounding, 0, 0}, 0, 2}; }
};

// The families of t = y / m, with ends of its range that are not too close to 1 for a chord.
template <class Family>
SideShape shape_of_ratios(const Family& family, const SideSums& side, const Slack& slack) {
    const double m = side.mean();
    const auto of_end = [&](double t) { return (1 - t) * (1 - t) / family.divergence(t); };
    const double top = std::max(1.5, side.most()), bottom = std::min(0.5, side.least());
    const double knot = std::min(top, 3.0);
    SideShape shape{family.flat() * m * m,
                    m * (of_end(top) - family.flat()) / (top - 1),
                    m * (family.flat() - of_end(bottom)) / (1 - bottom),
                    slack,
                    0,
                    family.scale(m)};
    if (top > 1.1 * knot) {
        const double far = (of_end(top) - of_end(knot)) / (top - knot);
        shape.near_rise = m * (of_end(knot) - family.flat()) / (knot - 1);
        shape.far_rise = m * far;
        shape.far_flat = m * m * (of_end(knot) - far * (knot - 1));
    }
    const double low_knot = std::max(bottom, 0.4);
    if (bottom < 0.9 * low_knot) {
        const double low = (of_end(low_knot) - of_end(bottom)) / (low_knot - bottom);
        shape.near_fall = m * (family.flat() - of_end(low_knot)) / (1 - low_knot);
        shape.low_fall = m * low;
        shape.low_flat = m * m * (of_end(low_knot) - low * (low_knot - 1));
    }
    return shape;
}

struct PoissonOfTwo {
    static constexpr bool even = false;
    // Whether small sums have to keep their digits where samples are rounded.
    static constexpr bool sums_need_digits = false;
    template <class Log, class Register>
    CODT_INLINE static Register term(const Register& t) {
        const Log log = Log::of(t);
        return log.e == 0 ? log.f * log.f - log.square_q * t : t * log.natural() - (t - 1);
    }
    template <class Log, class Register>
    CODT_INLINE Register value(const SplitPlace<Register>& at, const Register& per_mean) const {
        return at.k * term<Log, Register>(at.s * per_mean / at.k) +
               at.rest_k * term<Log, Register>(at.rest_s * per_mean / at.rest_k);
    }
    double scale(double m) const { return m; }
    double flat() const { return 2; }
    double divergence(double t) const { return t > 0 ? t * std::log(t) - t + 1 : 1; }
    ErrorOfC error_in_floats() const { return {40, 0.5}; }
    SideShape shape(const SideSums& side) const {
        return shape_of_ratios(*this, side, {0x1p-20, 0, side.logarithm(), side.mean() * side.distance()});
    }
};

struct GammaOfTwo {
    static constexpr bool even = false;
    static constexpr bool sums_need_digits = true;
    template <class Log, class Register>
    CODT_INLINE static Register term(const Register& t) {
        const Log log = Log::of(t);
        return log.e == 0 ? log.square_q : t - 1 - log.natural();
    }
    template <class Log, class Register>
    CODT_INLINE Register value(const SplitPlace<Register>& at, const Register& per_mean) const {
        return at.k * term<Log, Register>(at.s * per_mean / at.k) +
               at.rest_k * term<Log, Register>(at.rest_s * per_mean / at.rest_k);
    }
    double scale(double) const { return 1; }
    double flat() const { return 2; }
    double divergence(double t) const { return t - 1 - std::log(t); }
    ErrorOfC error_in_floats() const { return {40, 1}; }
    SideShape shape(const SideSums& side) const {
        const double least = side.least();
        return shape_of_ratios(*this, side,
                               {0x1p-20, 0, 2 * side.distance() / (least * side.mean()), side.logarithm()});
    }
};

struct TweedieOfTwo {
    static constexpr bool even = false;
    double a;

    // exp(x) - 1 - x over x^2 by its series: the first term left out is 9e-8 of the sum where |x| < log(2)
    // / 2.
    template <class Register>
    CODT_INLINE static Register rest_of_exp(const Register& x) {
        return 0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720 + x * (1.0 / 5040)))));
    }
    template <class Log, class Register>
    CODT_INLINE static Register exp(const Register& x) {
        constexpr double magic = 0x1.8p52;  // its last bits are those of a whole number added to it
        const Register sum = x * 1.4426950408889634 + magic;
        const Register rest = x - (sum - magic) * 0.6931471805599453;
        const Register power = 1 + rest + rest * rest * rest_of_exp<Register>(rest);
        return (Register)((typename Log::Words)power + ((typename Log::Words)sum << 52));
    }
    template <class Log, class Register>
    CODT_INLINE Register term(const Register& t) const {
        const Log log = Log::of(t);
        const Register x = log.natural() * a;
        const Register power = exp<Log, Register>(x);
        return log.e == 0 ? log.square_q * a - x * x * rest_of_exp<Register>(x)
                          : 1 + (t - 1) * a - (t > 0 ? power : Register{});
    }
    template <class Log, class Register>
    CODT_INLINE Register value(const SplitPlace<Register>& at, const Register& per_mean) const {
        return at.k * term<Log, Register>(at.s * per_mean / at.k) +
               at.rest_k * term<Log, Register>(at.rest_s * per_mean / at.rest_k);
    }
    double scale(double m) const { return std::pow(m, a) / (a * (1 - a)); }
    double flat() const { return 2 / (a * (1 - a)); }
    double divergence(double t) const { return 1 + a * (t - 1) - std::pow(t, a); }
    SideShape shape(const SideSums& side) const {
        const double m = side.mean(), log = side.logarithm();
        const double of_sum = 2 * std::pow(m * side.positive(), a - 1) * log;
        const double of_weight =
            std::pow(m, a) * (log * std::pow(side.most(), a) + (side.least() > 0 ? 0 : 1 / a));
        return shape_of_ratios(*this, side, {0x1p-18 / (a * (1 - a)), 0, of_sum, of_weight});
    }
};

// Tweedie with a = 1 / 2, the usual power of 1.5, needs roots only: 1 + (t - 1) / 2 - sqrt(t) is half the
// square of sqrt(t) - 1 = (t - 1) / (sqrt(t) + 1), of which no digits are lost where t is close to 1.
struct RootTweedieOfTwo {
    static constexpr bool even = false;
    static constexpr bool sums_need_digits = true;

    // Newton's iteration for 1 / sqrt(x), from the bits of x: off by 3.5 % of itself at first, by 1.5 d^2 +
    // d^3 / 2 of itself after a step from d, so by less than 1e-10 after three, but for roundings. Zero times
    // it is zero.
    template <class Log, class Register>
    CODT_INLINE static Register root(const Register& x) {
        using Words = typename Log::Words;
        using N = typename Log::Scalar;
        constexpr auto magic =
            static_cast<typename Log::Word>(sizeof(N) == 4 ? 0x5f375a86 : 0x5fe6eb50c7b537a9);
        Register y = (Register)(magic - ((Words)x >> 1));
        const Register half = x * N(0.5);
        for (int step = 0; step < 3; ++step) y = y * (N(1.5) - half * y * y);
        return x * y;
    }
    template <class Log, class Register>
    CODT_INLINE static Register term(const Register& t) {
        const Register distance = (t - 1) / (root<Log, Register>(t) + 1);
        return distance * distance * typename Log::Scalar(0.5);
    }
    template <class Log, class Register>
    CODT_INLINE Register value(const SplitPlace<Register>& at, const Register& per_mean) const {
        return at.k * term<Log, Register>(at.s * per_mean / at.k) +
               at.rest_k * term<Log, Register>(at.rest_s * per_mean / at.rest_k);
    }
    double scale(double m) const { return 4 * std::sqrt(m); }
    double flat() const { return 8; }
    double divergence(double t) const {
        return (t - 1) * (t - 1) / ((1 + std::sqrt(t)) * (1 + std::sqrt(t)) * 2);
    }
    ErrorOfC error_in_floats() const { return {12, 2}; }
    SideShape shape(const SideSums& side) const {
        const double m = side.mean(), log = side.logarithm();
        const double of_sum = 2 * log / std::sqrt(m * side.positive());
        const double of_weight = std::sqrt(m) * (log * std::sqrt(side.most()) + (side.least() > 0 ? 0 : 2));
        return shape_of_ratios(*this, side, {0x1p-20, 0, of_sum, of_weight});
    }
};

}  // namespace codt
