// What is to be predicted, as the caller gives it. Objectives are made from this.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rules/leaf_limits.hpp"

namespace codt {

struct Targets {
    std::span<const double> y;        // rows x outputs: class codes, or numbers
    std::uint32_t classes = 0;        // of a classification task
    std::uint32_t outputs = 1;        // columns of y
    std::span<const double> weights;  // one per row, above zero; empty: all are one
    std::span<const double> costs;    // rows x classes: the cost of predicting a class

    std::size_t rows() const { return y.size() / outputs; }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

// The square of a range of targets must not be smaller, because it would lose digits; nor may that square
// times a weight (whose unit is 2^-53).
inline constexpr double least_square = 0x1p-1000;
inline constexpr double least_weighted_square = 0x1p-965;

// The class codes, checked.
std::vector<std::uint16_t> class_codes(const Targets& targets);

// The rule that leaves hold at least this many samples and this much weight.
LeafLimits leaf_limits(const Targets& targets, std::uint32_t samples, double weight);

}  // namespace codt
