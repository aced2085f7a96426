// Sorting a column of doubles: a stable least-significant-digit radix sort on their bits, several times
// faster than comparing through an index.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "common/buffer.hpp"
#include "common/stop.hpp"

namespace codt {

inline constexpr std::uint64_t sort_sign = std::uint64_t{1} << 63;

// Bits whose unsigned order is the order of the doubles, which are finite or NaN; both zeros are equal, and NaN
// is above all numbers, whatever its bits.
inline std::uint64_t sort_key(double value) {
    if (value != value) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0.0 + 0.0 is 0.0
    return bits ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63) | sort_sign);
}
inline double value_of_key(std::uint64_t key) {
    return std::bit_cast<double>(key & sort_sign ? key ^ sort_sign : ~key);
}

struct SortEntry {
    std::uint32_t key;  // the leading bits that the column's keys differ in
    std::uint32_t index;
};

// Buffers kept between the columns of a data set.
struct SortBuffers {
    Buffer<SortEntry> entries, other;
    Buffer<std::uint64_t> sorted;
};

// Sorts the indices of `keys`, ties in their original order: writes them to `order`, the rank of every index
// among the different keys to `rank`, and to `ends` where the indices of each rank end in `order`. Returns
// the number of different keys. `stop`, if given, is asked between the passes and ends them with Stopped.
std::uint32_t rank_column(std::span<const std::uint64_t> keys, SortBuffers& buffers, std::uint32_t* order,
                          std::uint32_t* rank, std::uint32_t* ends, StopCondition* stop = nullptr);

}  // namespace codt
