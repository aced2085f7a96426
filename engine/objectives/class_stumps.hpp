// The best tree of depth one on some rows, by the number of errors: with whole numbers, feature by feature.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.hpp"
#include "objectives/objective.hpp"

namespace codt {

// As Objective::best_stump; `labels` are below `classes`.
Objective::Stump best_class_stump(const Dataset& data, std::span<const std::uint32_t> rows,
                                  std::span<const std::uint16_t> labels, std::uint32_t classes, double lambda,
                                  double enough);

}  // namespace codt
