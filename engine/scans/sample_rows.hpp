// Batches with thresholds of several features.
//
// Thresholds of one feature are nested, so that a sample's bucket says in which lanes it goes left (see
// lane_rows.hpp). A batch that is spread over several features rules out more: a feature that is far from the
// best needs only a few thresholds until bounds close the rest, and what is found at one feature spares the
// others some of theirs. Then every sample has a row of its own, a byte of zero or one for each lane, which
// is written for each batch, feature by feature, and read in every pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace codt {

// Rows take 32 bytes for a sample; more of them than this would not fit into the second-level cache.
inline constexpr std::uint32_t most_rows = 16384;

// Kernels that mix features have this many lanes.
inline constexpr std::uint32_t mixed_lanes = 32;

inline constexpr std::uint32_t most_features_at_once = 8;

// Of how many features a batch holds thresholds if the data have so many: rows are written once for each.
inline std::uint32_t features_of_batch(std::uint32_t features) {
    return features < 12 ? 4 : most_features_at_once;
}

// How many of the lanes each of 1 to 8 features gets.
inline std::span<const std::uint32_t> lanes_of_features(std::size_t features) {
    static constexpr std::uint32_t widths[most_features_at_once][most_features_at_once] = {
        {32},
        {16, 16},
        {16, 8, 8},
        {8, 8, 8, 8},
        {8, 8, 8, 4, 4},
        {8, 8, 4, 4, 4, 4},
        {8, 4, 4, 4, 4, 4, 4},
        {4, 4, 4, 4, 4, 4, 4, 4},
    };
    return {widths[features - 1], features};
}

// A part of a row: one in the lanes from the bucket on.
template <std::uint32_t Width>
constexpr std::array<std::uint8_t, Width> row_of_bucket(std::uint32_t bucket) {
    std::array<std::uint8_t, Width> row{};
    for (std::uint32_t lane = bucket; lane < Width; ++lane) row[lane] = 1;
    return row;
}

// Runs the passes of a kernel over rows (see kernel_function).
template <class Kernel>
struct RowsOf {
    template <std::size_t Bytes, class... Args>
    [[gnu::always_inline]] static void run(Args... args) {
        Kernel::template run_rows<Bytes>(args...);
    }
};

}  // namespace codt
