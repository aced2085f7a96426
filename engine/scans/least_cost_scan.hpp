// Solve-D1 (paper, Alg. 4) where every sample says what each prediction costs, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

struct PredictionCosts {
    std::span<const double> costs;    // rows x predictions, whole numbers (objectives/whole_units.hpp)
    std::span<const double> largest;  // of every row
    std::uint32_t predictions;
};

// The spans must outlive the scanner.
std::unique_ptr<Scanner> make_least_cost_scanner(const PredictionCosts& data, KernelPath path);
std::unique_ptr<BracketScanner> make_least_cost_brackets(const PredictionCosts& data, KernelPath path);

}  // namespace codt
