// Solve-D1 (paper, Alg. 4) for squared error, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

// `y` holds one target per row of the data set and must outlive the scanner.
std::unique_ptr<Scanner> make_squared_error_scanner(std::span<const double> y, KernelPath path);
// In 32-bit numbers, with certified bounds on their rounding (squared_error_brackets.cpp).
std::unique_ptr<BracketScanner> make_squared_error_brackets(std::span<const double> y, KernelPath path);

}  // namespace codt
