// Rows that are equal in every feature and in their label. No tree can tell them apart, so one row with their
// number as its count stands for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace codt {

struct EqualRows {
    std::vector<std::uint32_t> first;  // the first row of each set of equal rows, ascending
    std::vector<std::uint32_t> count;  // the size of each set
};

// Nothing if there are more than `most` different rows, which is clear at once where a single feature has
// more values.
std::optional<EqualRows> find_equal_rows(const Dataset& data, std::span<const double> labels,
                                         std::uint32_t most);

}  // namespace codt
