// Clustering lower bound (paper, "Lower bounds", item Clustering): the loss if the samples could be
// partitioned freely into k groups, ignoring which splits exist. A tree with k leaves has k - 1
// branching nodes, so with a penalty the bound for it is (k - 1) lambda + loss_k. (The paper prints
// k lambda, which counts leaves; with |T| branching nodes, as in its problem definition, that would
// overestimate a leaf.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace codt {

// The least sum of squared errors of k = 1..count clusters of numbers sorted ascending: exact
// one-dimensional k-means by dynamic programming, divide and conquer over the monotone split points.
std::vector<double> k_means_losses(std::span<const double> sorted, std::uint32_t count);

// The same with a weight above zero for every number.
std::vector<double> k_means_losses(std::span<const double> sorted, std::span<const double> weights,
                                   std::uint32_t count);

// The same for the weighted sum of absolute distances to each cluster's median.
std::vector<double> k_median_losses(std::span<const double> sorted, std::span<const double> weights,
                                    std::uint32_t count);

// n less the k most frequent of the class counts, for k = 1..count.
std::vector<double> frequent_class_losses(std::vector<double> class_counts, std::uint32_t count);

struct ClusteringBound {
    double any = 0;    // bound on every tree of at most `leaves` leaves
    double split = 0;  // bound on those that split at least once
};

// Combines the losses for k = 1, 2, ... with the penalty. `losses` may stop early, at zero or because more
// clusters cost too much to compute; trees with more leaves than that are then bounded by their penalty
// alone.
ClusteringBound clustering_bound(std::span<const double> losses, std::uint32_t leaves, double lambda);

}  // namespace codt
