// Similarity between features: what an evaluated split of a node implies for its splits at other features.
//
// For sets of samples A and B of a node let w(B \ A) be the worst cost of the samples of B that A lacks (see
// similarity.hpp). Then
//
//     opt(A) >= opt(A and B) >= opt(B) - w(B \ A)
//
// because a tree for A loses no more on fewer samples, and a tree for some samples of B, with its leaves as
// they are, loses at most w more on all of B. Nothing is said about the tests that made A and B. So the sides
// of an evaluated split bound the sides of all splits of the node: left by left and right by right, and
// crosswise where two features run against each other. The sides must have the same limits: where the number
// of leaves is shared out between them, they have not, and these bounds are not used. They hold for the
// optima of all trees (see Bound).
//
// For all thresholds of a feature that is one pass over its order, counting the samples of one side. It costs
// little compared with the two subproblems of an evaluated split, if these have depth two or more.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bounds/similarity.hpp"
#include "common/buffer.hpp"

namespace codt {

// Some thresholds of a feature.
struct ThresholdRange {
    std::uint32_t feature;
    std::uint32_t first, last;
    WorstCost::Sums worst;  // of the feature
    double price;           // of the feature
    bool useful = false;    // whether bounds were computed

    std::size_t size() const { return last - first + 1; }
};

// What one evaluated split implies for some thresholds: lower bounds on the optima of their two sides,
// rounded down because there are many of them.
struct ImpliedBounds {
    // The split's feature and threshold, and the others, to be filled in first.
    std::uint32_t feature = 0, threshold = 0;
    std::vector<ThresholdRange> ranges;

    // `worst` are the costs of the samples, `left` and `right` bound the split's sides. Where no threshold of
    // a range reaches the target, its bounds are not worth keeping.
    void compute(const Subset& subset, const WorstCost::OfSamples& worst, double left, double right,
                 double target);

    // Of the useful ranges, one after the other.
    const float* left() const { return left_.data(); }
    const float* right() const { return right_.data(); }

 private:
    template <class Sum, class Cost>
    void compute(const Subset& subset, std::span<const double> costs, double left, double right,
                 double target, Buffer<Cost>& signed_costs);

    // The costs of samples, negative if they go left in the evaluated split.
    Buffer<std::int8_t> ones_;
    Buffer<std::int32_t> whole_costs_;
    Buffer<double> costs_;
    Buffer<double> shared_;
    Buffer<float> left_, right_;
};

// The best of these bounds for every threshold of a node.
class CrossFeatures {
 public:
    void reset(std::uint32_t features) {
        if (sides_.size() < features) sides_.resize(features);
        known_.assign(features, 0);
        tried_ = 0;
        useful_ = false;
    }

    // Whether so many splits have implied nothing of use for others that it is not worth trying on.
    bool hopeless() const { return tried_ >= enough_trials && !useful_; }

    // Whether anything is known of a feature's thresholds.
    bool any(std::uint32_t f) const { return known_[f] != 0; }
    // The bounds on the sides of a feature of which something is known, by threshold.
    const float* left(std::uint32_t f) const { return sides_[f].left.data(); }
    const float* right(std::uint32_t f) const { return sides_[f].right.data(); }

    void raise(const Subset& subset, const ImpliedBounds& implied);

    std::size_t bytes() const;

 private:
    struct Sides {
        std::vector<float> left, right;  // by threshold
    };
    std::vector<Sides> sides_;
    std::vector<std::uint8_t> known_;  // by feature
    static constexpr std::uint32_t enough_trials = 12;
    std::uint32_t tried_ = 0;
    bool useful_ = false;
};

}  // namespace codt
