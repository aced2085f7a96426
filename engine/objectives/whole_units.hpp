// Weights and costs as whole numbers of a common unit, a power of two, so that every sum of them that a
// search forms is exact in a double, whatever the order of addition: a right side computed as total less left
// is exactly what its samples sum up to, equal losses are equal, and no bound is off by rounding.
//
// The unit is the largest that all numbers are multiples of (for whole weights: at most one, and nothing is
// rounded), unless sums would then need more than 52 bits. Only then are the numbers rounded, each by at most
// 2^-53 of their sum, which is what adding them up in doubles would lose anyway.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace codt {

struct WholeNumbers {
    std::vector<double> values;
    double unit = 1.0;
};

// `most` bounds every sum that will be formed.
inline WholeNumbers in_whole_units(std::span<const double> numbers, double most) {
    constexpr int bits = 52;
    int unit = 1024;  // exponents
    for (const double number : numbers) {
        if (number == 0) continue;
        int exponent = 0;
        const double mantissa = std::frexp(number, &exponent);
        const auto whole = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
        unit = std::min(unit, exponent - 53 + std::countr_zero(whole));
    }
    if (unit == 1024) unit = 0;
    int largest = 0;
    std::frexp(most, &largest);  // most < 2^largest
    unit = std::max(unit, largest - bits);
    WholeNumbers out;
    out.unit = std::ldexp(1.0, unit);
    out.values.reserve(numbers.size());
    for (const double number : numbers) out.values.push_back(std::nearbyint(std::ldexp(number, -unit)));
    return out;
}

}  // namespace codt
