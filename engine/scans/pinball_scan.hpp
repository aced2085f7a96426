// Solve-D1 (paper, Alg. 4) for absolute errors and pinball losses, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

struct PinballSamples {
    std::span<const double> y, weights;    // of every row of the data set
    std::span<const std::uint32_t> order;  // all rows by target
    double above, below;  // what a unit of distance costs where the target is above or below the prediction
};

// The spans must outlive the scanners. `plain` scans what cannot be rounded.
std::unique_ptr<Scanner> make_pinball_scanner(const PinballSamples& samples,
                                              std::unique_ptr<SingleScanner> plain, KernelPath path);
std::unique_ptr<BracketScanner> make_pinball_brackets(const PinballSamples& samples, KernelPath path);

}  // namespace codt
