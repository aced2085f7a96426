// Which lanes a sample goes left in. Lanes hold the thresholds in ascending order, so a sample goes left from
// some lane on: that lane is its bucket, found once per batch of thresholds. Adding the bucket's row of ones
// then counts the sample in all its lanes by a single addition from memory, with no comparison. Lanes beyond
// the last threshold see every sample on their left.
//
// Where a batch holds both orders of a feature (see Dataset), samples that miss its value go left at the
// thresholds of the second order alone: their bucket has a row that is set for each batch.
#pragma once

#include <cstdint>

#include "scans/lanes.hpp"

namespace codt {

// Behind the buckets of all lanes and that of the samples which go left in none.
template <std::uint32_t Lanes>
inline constexpr std::uint32_t missing_bucket = Lanes + 1;

// Row b holds `value` in the lanes from b on and zero before.
template <class T, std::uint32_t Lanes>
struct alignas(pack_bytes) LaneRows {
    static_assert(Lanes < 64);
    T rows[Lanes + 2][Lanes];

    constexpr explicit LaneRows(T value) : rows{} {
        for (std::uint32_t b = 0; b <= Lanes; ++b)
            for (std::uint32_t lane = b; lane < Lanes; ++lane) rows[b][lane] = value;
    }
    const T* operator[](std::uint8_t bucket) const { return rows[bucket]; }

    // Sets the row of the samples that miss a value: these lanes, as bits, hold the value of row 0.
    void missing_left(std::uint64_t lanes) {
        for (std::uint32_t lane = 0; lane < Lanes; ++lane)
            rows[missing_bucket<Lanes>][lane] = lanes >> lane & 1U ? rows[0][lane] : T{};
    }
};

}  // namespace codt
