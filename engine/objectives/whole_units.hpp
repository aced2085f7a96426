// Weights and costs as whole numbers of a common unit, a power of two, so that every sum of them that a
// search forms is exact in a double, whatever the order of addition: a right side computed as total less left
// is exactly what its samples sum up to, equal losses are equal, and no bound is off by rounding.
//
// The unit is the largest that all numbers are multiples of (for whole weights: at most one, and nothing is
// rounded), unless sums would then need more than 52 bits. Only then are the numbers rounded, and the
// `distortion` says how much that can change the loss of a tree. Where it is too much, the search replaces
// numbers that no good tree pays by smaller ones (Objective::within), until the rest fits.
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
    double distortion = 0.0;  // in units: the sum over the rows of the largest rounding error in each
};

// `most` bounds every sum that will be formed. A row has `columns` numbers, of which a tree pays one.
inline WholeNumbers in_whole_units(std::span<const double> numbers, double most, std::size_t columns = 1) {
    constexpr int bits = 52;
    int unit = 1024;  // exponents
    for (const double number : numbers) {
        if (number == 0) continue;
        int exponent = 0;
        const double mantissa = std::frexp(std::abs(number), &exponent);
        const auto whole = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
        unit = std::min(unit, exponent - 53 + std::countr_zero(whole));
    }
    if (unit == 1024) unit = 0;
    int largest = 0;
    std::frexp(most, &largest);  // most < 2^largest
    const bool rounds = unit < largest - bits;
    unit = std::max(unit, largest - bits);
    WholeNumbers out;
    out.unit = std::ldexp(1.0, unit);
    out.values.reserve(numbers.size());
    for (const double number : numbers) out.values.push_back(std::nearbyint(std::ldexp(number, -unit)));
    if (!rounds) return out;
    for (std::size_t row = 0; row < numbers.size(); row += columns) {
        double off = 0;
        for (std::size_t i = row; i < row + columns; ++i)
            off = std::max(off, std::abs(std::ldexp(numbers[i], -unit) - out.values[i]));
        out.distortion += off;
    }
    return out;
}

// Numbers in two parts, `high` + `low` * `ratio` units: whole numbers both, so that sums of
// either part are exact, and together they hold at least 100 bits beside the sum of all. Without `low` a
// single part is enough.
struct WholeParts {
    std::vector<double> high, low;
    double unit = 1.0;
    double ratio = 0.0;               // a power of two
    std::vector<double> distortions;  // in units: how far each number is off; empty if none is
};

// `most` bounds every sum that will be formed; `tails` may hold what is to be added to each number because
// it is not a double.
inline WholeParts in_whole_parts(std::span<const double> numbers, double most,
                                 std::span<const double> tails = {}) {
    WholeNumbers one = in_whole_units(numbers, most);
    WholeParts out;
    out.unit = one.unit;
    const bool short_numbers = std::all_of(tails.begin(), tails.end(), [](double tail) { return tail == 0; });
    if (one.distortion == 0 && short_numbers) {
        out.high = std::move(one.values);
        return out;
    }
    int rows = 0;
    std::frexp(static_cast<double>(numbers.size()), &rows);
    out.ratio = std::ldexp(1.0, rows - 51);  // sums of `low` are at most 2^52
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double scaled = numbers[i] / out.unit;
        const double high = std::floor(scaled);
        const double rest = (scaled - high) + (tails.empty() ? 0.0 : tails[i] / out.unit);
        const double low = std::nearbyint(rest / out.ratio);
        out.high.push_back(high);
        out.low.push_back(low);
        out.distortions.push_back(std::abs(rest - low * out.ratio));
    }
    return out;
}

inline std::vector<double> lowered_to(double ceiling, std::span<const double> numbers) {
    std::vector<double> lowered(numbers.begin(), numbers.end());
    for (double& number : lowered) number = std::min(number, ceiling);
    return lowered;
}

}  // namespace codt
