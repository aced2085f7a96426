// Which lanes a sample goes left in. Lanes hold the thresholds in ascending order, so a sample goes left from
// some lane on: that lane is its bucket, found once per batch of thresholds. Adding the bucket's row of ones
// then counts the sample in all its lanes by a single addition from memory, with no comparison. Lanes beyond
// the last threshold see every sample on their left.
#pragma once

#include <cstdint>

#include "scans/lanes.hpp"

namespace codt {

// Row b holds `value` in the lanes from b on and zero before.
template <class T, std::uint32_t Lanes>
struct alignas(pack_bytes) LaneRows {
    T rows[Lanes + 1][Lanes];

    constexpr explicit LaneRows(T value) : rows{} {
        for (std::uint32_t b = 0; b <= Lanes; ++b)
            for (std::uint32_t lane = b; lane < Lanes; ++lane) rows[b][lane] = value;
    }
    const T* operator[](std::uint8_t bucket) const { return rows[bucket]; }
};

}  // namespace codt
