// Rows that are equal in every feature and in their label. No tree can tell them apart, so one row that
// counts as often stands for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace codt {

struct EqualRows {
    std::vector<std::uint32_t> first;  // of each set of equal rows, ascending
    std::vector<std::uint32_t> count;  // how many they are
};

// Nothing if more than `most` different rows are there: found out at once where a feature alone has more
// values.
std::optional<EqualRows> find_equal_rows(const Dataset& data, std::span<const double> labels,
                                         std::uint32_t most);

}  // namespace codt
