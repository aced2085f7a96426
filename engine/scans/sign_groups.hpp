// The samples of a block grouped by the sign of their targets, 16 at a time, with the widest registers.
#pragma once

#include <cstdint>

#include "common/kernel_paths.hpp"

namespace codt {

// What a block of squared errors says of its targets (see squared_error_blocks.hpp).
template <class Value>
struct SignGroups {
    std::uint32_t positives = 0;       // samples with y > 0
    Value positive = 0, negative = 0;  // sums of |y| over these, and over the others
    Value largest = 0, least = 0;      // zero if there is none above, or below
};

// Whether the processor has the instructions for it.
bool groups_signs_widely(KernelPath path);

// Writes the ids to `grouped`: those with y > 0 first. Sums of the targets must fit 32 bits.
SignGroups<std::int32_t> group_signs_widely(const std::uint32_t* ids, std::uint32_t size,
                                            const std::int32_t* targets, std::uint32_t* grouped);

}  // namespace codt
