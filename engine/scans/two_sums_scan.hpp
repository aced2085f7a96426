// Solve-D1 (paper, Alg. 4) for losses that are functions of two sums, many thresholds at once: bounds on
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "scans/scanner.hpp"

namespace codt {

enum class TwoSumsLoss { entropy, gini, poisson, gamma, tweedie };

// One entry per row of the data set; what the spans refer to must outlive the scanner.
struct TwoSums {
    TwoSumsLoss family;
    std::span<const double> weights;  // above zero
    std::span<const double> sums;     // of at least zero: w y, for classes w or 0
    bool whole;                       // both are whole numbers, whose sums are exact
    // The loss of a leaf, and of what it is computed: sums of so many numbers of each row, which are exact.
    static constexpr std::size_t most_entries = 6;
    std::size_t entries;
    std::span<const double> tuples;
    std::function<double(const double*)> loss;
    std::shared_ptr<const std::vector<double>> kept = nullptr;  // what the spans may refer to
    double exponent = 0;                                        // a, of tweedie
};
std::unique_ptr<BracketScanner> make_two_sums_brackets(const TwoSums& sums, KernelPath path);

// Two classes without weights: `labels` holds 0 or 1 per row. Losses are those of `loss`.
std::unique_ptr<BracketScanner> make_two_class_brackets(TwoSumsLoss family,
                                                        std::span<const std::uint16_t> labels,
                                                        const std::function<double(double, double)>& loss,
                                                        KernelPath path);

}  // namespace codt
