// Solve-D1 (paper, Alg. 4) for two classes with weights, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

// Two classes with any costs are two classes with weights: a sample's class is its cheaper prediction, its
// weight is the difference of the costs, and the lower cost is unavoidable.
struct TwoClassWeights {
    std::span<const std::uint16_t> labels;  // 0 or 1 per row of the data set
    std::span<const double> weights;        // whole numbers, see objectives/whole_units.hpp
    std::span<const double> unavoidable;    // whole numbers in the same unit; empty if all are zero
};

// The spans must outlive the scanner.
std::unique_ptr<Scanner> make_weighted_two_class_scanner(const TwoClassWeights& data, KernelPath path);

}  // namespace codt
