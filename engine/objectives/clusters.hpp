// The loss if samples could be partitioned freely into k groups, ignoring which splits exist: what objectives
// provide for the clustering lower bound (bounds/lower_bounds.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "objectives/pinball.hpp"

namespace codt {

// The least sum of squared errors of k = 1..count clusters of numbers sorted ascending: exact
// one-dimensional k-means by dynamic programming, divide and conquer over the monotone split points.
std::vector<double> k_means_losses(std::span<const double> sorted, std::uint32_t count);

// The least weighted sum of squared errors, with a weight above zero for every number.
std::vector<double> k_means_losses(std::span<const double> sorted, std::span<const double> weights,
                                   std::uint32_t count);

// The least weighted sum of pinball losses, with a quantile for each cluster. Neither slope is above one.
std::vector<double> k_quantile_losses(std::span<const double> sorted, std::span<const double> weights,
                                      const Pinball& error, std::uint32_t count);

// For the loss of few samples between two thresholds (bounds/loss_between.hpp): no more than this many.
inline constexpr std::uint32_t most_grouped = 256;

// The least weighted sum of pinball losses of the first ends[j] of some numbers, in any order, in at most
// `count` clusters; `ends` ascend.
void k_quantile_losses_of_prefixes(std::span<const double> numbers, std::span<const double> weights,
                                   const Pinball& error, std::uint32_t count,
                                   std::span<const std::uint32_t> ends, double* losses);

// n less the k most frequent of the class counts, for k = 1..count.
std::vector<double> frequent_class_losses(std::vector<double> class_counts, std::uint32_t count);

}  // namespace codt
