// Solve-D1 (paper, Alg. 4) for any cost tuples, many thresholds at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rules/leaf_limits.hpp"
#include "scans/scanner.hpp"

namespace codt {

enum class TupleLoss {
    // Tuples of whole numbers (objectives/whole_units.hpp):
    all_but_largest,  // the sum of the entries less the largest one: weighted misclassification
    least,            // the least entry: costs of predictions
    // Tuples of any numbers:
    squared_error,  // c1 - (c2^2 + c3^2 + ...) / c0
};

struct TupleData {
    TupleLoss loss;
    std::uint32_t width;                     // entries of a tuple
    std::span<const double> values;          // rows x width; with `columns`, one per row
    std::span<const std::uint16_t> columns;  // which entry of its tuple is not zero; for all_but_largest only
    std::shared_ptr<const std::vector<double>> own_values = {};  // owns `values`, if set
};

// The spans and the limits must outlive the scanner.
std::unique_ptr<Scanner> make_tuple_scanner(const TupleData& data, const LeafLimits& limits, KernelPath path);

}  // namespace codt
