// Solve-D1 (paper, Alg. 4) for misclassification with any number of classes, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

// `labels` holds a class below `classes` per row of the data set and must outlive the scanner.
std::unique_ptr<Scanner> make_many_class_scanner(std::span<const std::uint16_t> labels, std::uint32_t classes,
                                                 KernelPath path);

// The scan for the weight of misclassified samples: `weights` holds one whole number per row (see
// objectives/whole_units.hpp) and must outlive the scanner as well.
std::unique_ptr<Scanner> make_weighted_many_class_scanner(std::span<const std::uint16_t> labels,
                                                          std::span<const double> weights,
                                                          std::uint32_t classes, KernelPath path);

}  // namespace codt
