// The best tree of depth one on some rows, by its number of errors, counted in integers feature by feature.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.hpp"
#include "objectives/objective.hpp"

namespace codt {

// Implements Objective::best_stump; `labels` are below `classes`.
Objective::Stump best_class_stump(const Dataset& data, std::span<const std::uint32_t> rows,
                                  std::span<const std::uint16_t> labels, std::uint32_t classes,
                                  const Prices& prices, double enough);

}  // namespace codt
