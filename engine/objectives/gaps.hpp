// Narrows gaps between targets that no tree worth finding has in one leaf (Objective::within).
//
// Let a search care only about trees that lose less than a ceiling, and let g be the gap between two
// neighbouring targets. A leaf with targets on both sides of the gap loses at least as much as a leaf with
// two targets g apart, of weights m (the least weight below the gap) and n (above):
//
//     squared errors     g^2 m n / (m + n)
//     absolute errors    g min(m, n)
//     pinball losses     g min((1 - q) m, q n)
//
// Where that exceeds the ceiling, everything above the gap may be moved down until it equals the ceiling:
// leaves on one side of the gap lose the same as before, all others still lose at least the ceiling. So a
// target that is wrong by a factor of a million costs one leaf, not the precision of all other targets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace codt {

inline double next_power_of_two(double number) {
    int exponent = 0;
    std::frexp(number, &exponent);  // number < 2^exponent
    return std::ldexp(1.0, exponent);
}

// `widest(m, n)` is the gap that loses the ceiling. `weights` may be empty: all are one. Nothing is returned
// if no gap is at least twice as wide.
template <class Widest>
std::vector<double> with_smaller_gaps(std::span<const double> targets, std::span<const double> weights,
                                      Widest&& widest) {
    const std::size_t size = targets.size();
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return targets[a] < targets[b]; });
    std::vector<double> lightest_above(size + 1, std::numeric_limits<double>::infinity());
    const auto weight = [&](std::size_t k) { return weights.empty() ? 1.0 : weights[order[k]]; };
    for (std::size_t k = size; k-- > 0;) lightest_above[k] = std::min(lightest_above[k + 1], weight(k));

    std::vector<double> moved(size);
    double lightest_below = std::numeric_limits<double>::infinity();
    // In a run of targets without a wide gap, distances are measured from its first target, not summed up.
    double first = 0, place = 0;
    bool any = false;
    for (std::size_t k = 0; k < size; ++k) {
        const double target = targets[order[k]];
        if (k == 0) {
            first = target;
        } else {
            // A power of two, so that distances of whole numbers stay short binary numbers and sums of them
            // exact.
            const double allowed = next_power_of_two(widest(lightest_below, lightest_above[k]));
            if (target - targets[order[k - 1]] > 2 * allowed) {
                place = moved[order[k - 1]] + allowed;
                first = target;
                any = true;
            }
        }
        moved[order[k]] = place + (target - first);
        lightest_below = std::min(lightest_below, weight(k));
    }
    if (!any) moved.clear();
    return moved;
}

}  // namespace codt
