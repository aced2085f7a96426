#pragma once

#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

// Lanes over thresholds for the squared error, in numbers of 32 bits with certified bounds on what they lose.
std::unique_ptr<BracketScanner> make_squared_error_brackets(std::span<const double> y, KernelPath path);

}  // namespace codt
