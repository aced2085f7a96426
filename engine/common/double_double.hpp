// Numbers of about 100 bits, as the sum of two doubles. For the few losses that plain doubles cannot tell
// apart. Every function here is right to `DoubleDouble::epsilon` of its result (sums: of the sum of their
// magnitudes).
#pragma once

#include <cmath>

namespace codt {

struct DoubleDouble {
    double high = 0, low = 0;

    // What the operations below are off by at most, as a part of the result.
    static constexpr double epsilon = 0x1p-90;

    constexpr DoubleDouble() = default;
    constexpr DoubleDouble(double number) : high(number) {}  // NOLINT: a double is one of these numbers
    constexpr DoubleDouble(double high_part, double low_part) : high(high_part), low(low_part) {}

    explicit operator double() const { return high + low; }

    // The exact sum of two doubles.
    static DoubleDouble sum(double a, double b) {
        const double s = a + b;
        const double t = s - a;
        return {s, (a - (s - t)) + (b - t)};
    }
    // The exact product of two doubles whose product neither overflows nor underflows.
    static DoubleDouble product(double a, double b) {
        const double p = a * b;
        const auto [ah, al] = halves(a);
        const auto [bh, bl] = halves(b);
        return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
    }

    DoubleDouble operator-() const { return {-high, -low}; }
    friend DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
        DoubleDouble s = sum(a.high, b.high);
        const DoubleDouble t = sum(a.low, b.low);
        s = fast_sum(s.high, s.low + t.high);
        return fast_sum(s.high, s.low + t.low);
    }
    friend DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
    friend DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
        const DoubleDouble p = product(a.high, b.high);
        return fast_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
    }
    friend DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
        const double first = a.high / b.high;
        const DoubleDouble rest = a - b * DoubleDouble(first);
        const double second = rest.high / b.high;
        const double third = (rest - b * DoubleDouble(second)).high / b.high;
        return fast_sum(first, second) + DoubleDouble(third);
    }
    friend bool operator<(DoubleDouble a, DoubleDouble b) {
        return a.high < b.high || (a.high == b.high && a.low < b.low);
    }
    friend bool operator>(DoubleDouble a, DoubleDouble b) { return b < a; }

 private:
    static DoubleDouble fast_sum(double a, double b) {  // where |a| >= |b|
        const double s = a + b;
        return {s, b - (s - a)};
    }
    static DoubleDouble halves(double a) {
        const double t = 134217729.0 * a;  // 2^27 + 1
        const double h = t - (t - a);
        return {h, a - h};
    }
};

inline DoubleDouble times_power_of_two(DoubleDouble x, int exponent) {
    return {std::ldexp(x.high, exponent), std::ldexp(x.low, exponent)};
}

inline DoubleDouble exp(DoubleDouble x) {
    constexpr DoubleDouble log_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    const double powers = std::nearbyint(x.high / log_2.high);
    // exp(r) - 1 for a small r by its series, then doubled: (1 + s)^2 - 1 = 2 s + s^2.
    const DoubleDouble r = times_power_of_two(x - DoubleDouble(powers) * log_2, -8);
    DoubleDouble term = r, s = r;
    for (int k = 2; k <= 11; ++k) {
        term = term * r / DoubleDouble(k);
        s = s + term;
    }
    for (int i = 0; i < 8; ++i) s = DoubleDouble(2.0) * s + s * s;
    return times_power_of_two(s + DoubleDouble(1.0), static_cast<int>(powers));
}

// Of a number above zero: a step of third order from what a double gives.
inline DoubleDouble log(DoubleDouble x) {
    int exponent = 0;
    if (std::frexp(x.high, &exponent) < 0.75) --exponent;  // near 1 nothing must cancel
    const DoubleDouble scaled = times_power_of_two(x, -exponent);
    constexpr DoubleDouble log_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    const double near = std::log(scaled.high);
    const DoubleDouble power = exp(DoubleDouble(near));
    return DoubleDouble(near) + DoubleDouble(2.0) * (scaled - power) / (scaled + power) +
           DoubleDouble(exponent) * log_2;
}

}  // namespace codt
