// Solve-D1 (paper, Alg. 4) for misclassification with two classes, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

// `labels` holds 0 or 1 per row of the data set and must outlive the scanner.
std::unique_ptr<Scanner> make_two_class_scanner(std::span<const std::uint16_t> labels, KernelPath path);

}  // namespace codt
