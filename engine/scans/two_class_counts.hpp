// Samples of two classes counted in bytes, both classes in one register: one addition per sample for 32
// thresholds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"

namespace codt {

// The code of a sample: its bucket (see lane_rows.hpp), and this bit for class 1.
inline constexpr std::uint8_t class_bit = 64;

template <std::uint32_t Lanes>
struct alignas(pack_bytes) ClassCounts {
    static_assert(missing_bucket<Lanes> < class_bit);

    std::uint8_t rows[2 * class_bit][2 * Lanes];  // one in a sample's lanes, in the first half for class 1

    ClassCounts() : rows{} {
        for (std::uint32_t bucket = 0; bucket < Lanes; ++bucket) set(bucket, ~std::uint64_t{0} << bucket);
    }

    // The samples of this bucket go left in these lanes.
    void set(std::uint32_t bucket, std::uint64_t left) {
        for (std::uint32_t lane = 0; lane < Lanes; ++lane)
            rows[bucket + class_bit][lane] = rows[bucket][Lanes + lane] = left >> lane & 1U;
    }

    // Counts the samples ordered[k] to ordered[end - 1], each by its code.
    template <std::size_t Bytes, class Counts>
    CODT_INLINE void count(const std::uint32_t* ordered, const std::uint8_t* code, std::uint32_t k,
                           std::uint32_t end, Counts& ones, Counts& zeros) const {
        constexpr std::uint32_t most = 255;
        constexpr std::size_t both_bytes = std::size_t{2} * Lanes;
        ones.clear();
        zeros.clear();
        while (k < end) {
            Pack<std::uint8_t, std::min(Bytes, both_bytes), both_bytes> both;
            both.clear();
            for (const std::uint32_t stop = std::min(end, k + most); k < stop; ++k)
                both.add_row(rows[code[ordered[k]]]);
            alignas(pack_bytes) std::uint8_t bytes[both_bytes];
            both.store(bytes);
            ones.add_widened(bytes);
            zeros.add_widened(bytes + Lanes);
        }
    }
};

}  // namespace codt
