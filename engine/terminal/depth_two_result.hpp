// What Solve-D2 finds, see depth_two.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/subset.hpp"
#include "rules/bound.hpp"
#include "tree/solution.hpp"

namespace codt {

// A split known by bounds only, which do not rule it out.
struct SplitCandidate {
    std::uint32_t feature, threshold;
    double lower;        // of its objective
    double upper[2];     // of its sides
    bool exact = false;  // `lower` is the objective
};

struct DepthTwoResult {
    Bound lower;          // valid whatever happened; equals `upper` if solved below the given bound
    double upper = 0;     // objective of the best tree found
    bool splits = false;  // whether that tree splits at (feature, threshold); a leaf otherwise
    std::uint32_t feature = 0;
    std::uint32_t threshold = 0;
    bool leaf[2] = {false, false};  // whether a side may only be a leaf
    double side[2] = {0, 0};        // objectives of the two sides
    bool stopped = false;           // the stop condition was reached first
    double limit = 0;               // at and above it the objective does not matter

    // Where only bounds were asked for, `upper` bounds the objective of that tree from above, and any of
    // these candidates may be the best; every other tree has an objective of at least `rest_lower` or of more
    // than the limit.
    std::vector<SplitCandidate> candidates;
    double rest_lower = 0;
    bool exact() const { return candidates.empty(); }

    // What a tree must be better than.
    double cutoff() const { return std::min(upper, limit); }

    // Takes a tree that splits, if it is better.
    void offer(double objective, std::uint32_t at_feature, std::uint32_t at_threshold,
               const double (&sides)[2], const bool (&leaves)[2] = {false, false});

    // The tree on `subset`, the one that was solved.
    Solution solution(const Dataset& data, const Subset& subset) const;
};

struct ScanCounters {
    std::uint64_t depth_two_calls = 0;
    std::uint64_t evaluations = 0;      // splits evaluated by Solve-D1
    std::uint64_t scanned_samples = 0;  // samples visited: passes x samples x features

    void add(const ScanCounters& other) {
        depth_two_calls += other.depth_two_calls;
        evaluations += other.evaluations;
        scanned_samples += other.scanned_samples;
    }
    // Counts a pass that evaluated `splits` splits, as if no second feature had been left out.
    void add_pass(const Subset& subset, std::size_t splits) {
        evaluations += splits;
        scanned_samples += static_cast<std::uint64_t>(subset.size()) * subset.features();
    }
};

}  // namespace codt
