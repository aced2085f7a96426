// Sorting a column of doubles: a stable least-significant-digit radix sort on their bits, several times
// faster than comparing through an index.
#pragma once

#include <cstdint>
#include <span>

#include "common/buffer.hpp"
#include "common/stop.hpp"

namespace codt {

struct SortEntry {
    std::uint32_t key;  // the upper half of a value's bits
    std::uint32_t index;
};

// Buffers kept between the columns of a data set.
struct SortBuffers {
    Buffer<SortEntry> entries, other;
};

// Writes to `order` the indices of `column` in ascending order of its values, ties in their original order.
// Values are finite; both zeros count as equal.
// `stop`, if given, is asked between the passes and ends them with Stopped.
void sort_order(std::span<const double> column, SortBuffers& buffers, std::span<std::uint32_t> order,
                StopCondition* stop = nullptr);

}  // namespace codt
