// Sorting a column of doubles: a stable least-significant-digit radix sort on their bits, several times
// faster than comparing through an index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace codt {

// The indices of `column` in ascending order of its values, ties in their original order. Values are finite;
// both zeros count as equal.
std::vector<std::uint32_t> sorted_order(std::span<const double> column);

}  // namespace codt
