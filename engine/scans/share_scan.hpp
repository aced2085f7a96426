// Solve-D1 (paper, Alg. 4) for leaves that predict the shares of several classes, without weights, many
// thresholds at once: bounds on values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "scans/scanner.hpp"

namespace codt {

enum class ShareLoss { entropy, gini };

// `labels` holds a class per row of the data set, below `classes`, and must outlive the scanner; `loss` is
// that of a leaf with so many samples of each class.
std::unique_ptr<BracketScanner> make_share_brackets(ShareLoss family, std::span<const std::uint16_t> labels,
                                                    std::uint32_t classes,
                                                    const std::function<double(const double*)>& loss,
                                                    KernelPath path);

}  // namespace codt
