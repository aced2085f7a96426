// The depth-two terminal case (paper, appendix "Expansion", Solve-D2): the main loop on one OR node with
// depth budget two, in which an expansion solves both sides of a split at once (Solve-D1). One pass of the
// scan takes many thresholds of a feature, so an expansion here evaluates a batch of them: the strategy
// chooses the interval and with it the feature, and the batch is spread evenly over that feature's open
// thresholds. With a scan of one lane it is the paper's loop, threshold by threshold.
//
// Where the objective has a scan with bounds instead of values, the loop runs on these: from above they make
// the incumbent, from below they prune. What is left in the end are the few splits whose lower bounds do not
// reach the incumbent, most often the incumbent alone; these are evaluated exactly if they have to be.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "search/children.hpp"
#include "terminal/leaf_sides.hpp"
#include "terminal/scanner.hpp"
#include "tree/solution.hpp"

namespace codt {

// A split that is known by bounds, which do not rule it out.
struct SplitCandidate {
    std::uint32_t feature, threshold;
    double lower;        // of its objective
    double upper[2];     // of its sides
    bool exact = false;  // `lower` is the objective
};

struct DepthTwoResult {
    double lower = 0;       // valid whatever happened; equals `upper` if solved below the given bound
    double upper = 0;       // objective of the best tree found
    double free_lower = 0;  // bound without a least decrease, see SearchSettings
    bool splits = false;    // whether that tree splits at (feature, threshold); a leaf otherwise
    std::uint32_t feature = 0;
    std::uint32_t threshold = 0;
    bool leaf[2] = {false, false};  // whether a side has leaves for no more than a leaf
    double side[2] = {0, 0};        // objectives of the two sides
    bool stopped = false;           // the stop condition was reached first

    // Where only bounds were asked for, `upper` is no less than the objective of that tree, and any of these
    // may be the best; all other trees have `rest_lower` or more, or more than the cutoff.
    std::vector<SplitCandidate> candidates;
    double rest_lower = 0;
    double cutoff = 0;
    bool exact() const { return candidates.empty(); }

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
};

class DepthTwoSolver {
 public:
    DepthTwoSolver(const SearchSettings& settings, const Strategy& strategy, const Objective& objective,
                   const KernelChoice& kernel, Random& random);

    // Lower bounds already known for the subproblem, perhaps for its features as well (see FeatureBounds),
    // and the value from which on its exact optimum does not matter (the paper's upper bound of a node).
    struct Limits {
        double lower = 0;
        double upper = std::numeric_limits<double>::infinity();
        std::span<const double> feature_lower = {};
        bool exact = true;  // whether bounds on the objective of the best tree found do not suffice
    };

    // Called with every new pair of bounds; only the root of a search of depth two wants it.
    using Progress = std::function<void(double lower, const DepthTwoResult& incumbent)>;

    // Makes a result exact whose subset and stop condition are those of `solve`; false if stopped.
    bool confirm(const Subset& subset, const FeatureOrder& order, DepthTwoResult& result,
                 StopCondition& stop);

    // `order` ranks the features (of this subset, or of the node above it); `leaves` are 3, or any number.
    DepthTwoResult solve(const Subset& subset, const FeatureOrder& order, std::uint32_t leaves,
                         const Limits& limits, StopCondition& stop, const Progress& progress = {});

    // The two sides of one split, of all trees and of those whose leaves hold enough; false if stopped (the
    // left/right terminal case). `id` names the subset: while it stays the same, the scan need not be
    // prepared again.
    bool solve_split(const Subset& subset, const FeatureOrder& order, std::uint64_t id, std::uint32_t feature,
                     std::uint32_t threshold, double (&free)[2], double (&enough)[2], StopCondition& stop);

    // Lower bounds by feature from the last solve, if it was not stopped; empty if it did not look at
    // features.
    const std::vector<double>& feature_lower() const { return feature_lower_; }

    const ScanCounters& counters() const { return counters_; }

 private:
    void prepare(const Subset& subset, const FeatureOrder& order);
    bool evaluate(const Subset& subset, std::uint32_t feature, StopCondition& stop);
    bool bracket(const Subset& subset, std::uint32_t feature, StopCondition& stop);
    void keep_candidates(std::uint32_t feature, DepthTwoResult& result);
    void offer(std::uint32_t feature, std::uint32_t threshold, double left, double right,
               DepthTwoResult& result) const;
    void count_scan(const Subset& subset);
    bool evaluate_limited(const Subset& subset, std::uint32_t feature, double cutoff, StopCondition& stop);
    void choose_batch(Children::Slot slot, std::uint32_t lanes);
    void take(std::uint32_t feature, std::uint32_t left_leaves, const Budget& budget, double leaf_loss,
              DepthTwoResult& result);

    const SearchSettings& settings_;
    const Strategy& strategy_;
    const Objective& objective_;
    Random& random_;
    std::unique_ptr<Scanner> scanner_;          // of all trees
    std::unique_ptr<Scanner> limited_scanner_;  // of those whose leaves hold enough, if there are limits
    std::unique_ptr<BracketScanner> bracket_scanner_;  // of all trees, if the objective has one
    static constexpr std::uint64_t nothing = UINT64_MAX;
    std::uint64_t prepared_ = nothing;  // the subset that solve_split was last used on
    Children children_;
    LeafSides leaf_sides_;
    FeatureOrder own_order_;
    std::vector<double> feature_lower_;
    std::vector<std::uint32_t> batch_;
    std::vector<double> left_, right_, objectives_;
    // The same of trees whose leaves hold enough; infinite where that is of no use.
    std::vector<double> enough_left_, enough_right_;
    std::vector<std::uint32_t> useful_;  // thresholds for which it is
    std::vector<EvaluatedSplit> splits_;
    std::vector<SplitCandidate*> wanted_;
    std::vector<double> left_lower_, right_lower_;
    double excess_ = 0;  // of upper bounds over lower ones, at the most
    ScanCounters counters_;
};

}  // namespace codt
