// Predictions that no tree needs: those that cost every sample at least as much as one other prediction does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace codt {

// The others, in their order. Of predictions that cost the same throughout the first remains. `costs` has a
// row for every sample and a column for every prediction.
std::vector<std::uint32_t> undominated_predictions(std::span<const double> costs, std::uint32_t predictions);

}  // namespace codt
