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
    Range range;
    for (const std::uint32_t row : subset.samples()) range.include(y[row]);
    return range;
}

}  // namespace codt
