// The range of some targets, in which the values of all leaves fitted to them lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "data/subset.hpp"

namespace codt {

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double y) {
        low = std::min(low, y);
        high = std::max(high, y);
    }
    double width() const { return high - low; }
    // From y to the farther end.
    double reach(double y) const { return std::max(y - low, high - y); }
};

inline Range range_of(const Subset& subset, std::span<const double> y) {
    // In four parts side by side, because each step waits for the one before.
    const auto samples = subset.samples();
    Range part[4];
    std::size_t k = 0;
    for (; k + 4 <= samples.size(); k += 4)
        for (std::size_t p = 0; p < 4; ++p) part[p].include(y[samples[k + p]]);
    for (; k < samples.size(); ++k) part[0].include(y[samples[k]]);
    Range range = part[0];
    for (const Range& one : part) {
        range.low = std::min(range.low, one.low);
        range.high = std::max(range.high, one.high);
    }
    return range;
}

}  // namespace codt
