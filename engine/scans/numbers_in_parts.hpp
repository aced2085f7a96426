// Numbers of at least zero, rounded to whole numbers of a power of two in one 32-bit part or two, so that
// sums of parts are exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace codt {

class NumbersInParts {
 public:
    static constexpr int bits = 30;  // of the sum of all numbers, or of all higher parts

    double unit = 1;       // of the whole numbers
    int low_bits = 0;      // of the lower part, if there are two
    double off = 0;        // by what all of them together are off
    double most_part = 0;  // by which part of itself a number is off

    bool in_two_parts() const { return low_bits > 0; }

    // Rounds `numbers`, of which those above zero stay above zero; false if that cannot be done.
    bool round(std::span<const double> numbers, std::vector<std::int64_t>& whole) {
        double total = 0;
        for (const double x : numbers) total += x;
        if (!(total > 0) || !std::isfinite(total)) return false;
        const int exponent = std::ilogb(total) + 1;
        whole.resize(numbers.size());
        low_bits = 0;
        if (round_to(std::ldexp(1.0, exponent - bits), numbers, whole) && off <= 0x1p-50 * total) return true;
        low_bits = 31 - static_cast<int>(std::bit_width(numbers.size()));
        return low_bits > 0 && round_to(std::ldexp(1.0, exponent - bits - low_bits), numbers, whole);
    }

 private:
    bool round_to(double size, std::span<const double> numbers, std::vector<std::int64_t>& whole) {
        if (!std::isnormal(size)) return false;
        unit = size;
        off = most_part = 0;
        const double per_unit = 1 / unit;
        if (!std::isnormal(per_unit)) return false;
        // One part is of use only without roundings, which the first numbers tell.
        const double most_off = in_two_parts() ? std::numeric_limits<double>::infinity() : 0x1p-20;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const double scaled = numbers[i] * per_unit;
            const double nearest = numbers[i] > 0 ? std::max(1.0, std::nearbyint(scaled)) : 0;
            const double distance = std::abs(scaled - nearest);
            if (distance > most_off) return false;
            off += distance * unit;
            if (nearest > 0) most_part = std::max(most_part, distance / nearest);
            whole[i] = static_cast<std::int64_t>(nearest);
        }
        return true;
    }
};

}  // namespace codt
