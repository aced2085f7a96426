// What the class scans share: a subset's ranks in narrow integers, and the class counts on the left of
// every threshold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/subset.hpp"

namespace codt {

// Blocks of the sorted orders: long enough that what is done once per block costs little per sample,
// short enough that a block's bound is tight.
inline constexpr std::uint32_t block_size = 64;

// Counters of 16 bits serve subsets up to this size; the margin is for bounds, which reach one block
// further than the counts do.
inline constexpr std::uint32_t narrow_limit = 32767 - 4 * block_size;

template <class Int>
void copy_ranks(const Subset& subset, std::vector<Int>& ranks) {
    const std::size_t cells = static_cast<std::size_t>(subset.size()) * subset.features();
    if (ranks.size() < cells) ranks.resize(cells);
    for (std::uint32_t f = 0; f < subset.features(); ++f) {
        const auto source = subset.rank(f);
        std::transform(source.begin(), source.end(), ranks.begin() + static_cast<std::ptrdiff_t>(f) * subset.size(),
                       [](std::uint32_t r) { return static_cast<Int>(r); });
    }
}

}  // namespace codt
