// The depth-two terminal case (paper, appendix "Expansion", Solve-D2): the main loop on one OR node with
// depth budget two, in which an expansion solves both sides of a split at once (Solve-D1). One pass of the
// scan takes many thresholds of a feature, so an expansion here evaluates a batch of them: the strategy
// chooses the interval and with it the feature, and the batch is spread over that feature's open intervals,
// more where more thresholds seem to be needed. With a scan of one lane this is the paper's loop, threshold
// by threshold.
//
// Where the objective has a scan that gives bounds instead of values, the loop uses these: upper bounds make
// the incumbent, lower bounds prune. In the end only a few splits have lower bounds that do not reach the
// incumbent, most often the incumbent alone; these are evaluated exactly if necessary. Under limits on leaves
// the bounds hold as well, since a limit only excludes trees, but the incumbents are exact from the start.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "frontier/children.hpp"
#include "terminal/depth_two_evaluators.hpp"
#include "terminal/depth_two_result.hpp"

namespace codt {

class DepthTwoSolver {
 public:
    DepthTwoSolver(const SearchSettings& settings, const Strategy& strategy, const Objective& objective,
                   const KernelChoice& kernel, Random& random);
    DepthTwoSolver(const DepthTwoSolver&) = delete;  // its parts refer to each other
    DepthTwoSolver& operator=(const DepthTwoSolver&) = delete;

    // Lower bounds already known for the subproblem, perhaps for its features as well (see FeatureBounds),
    // and the value at and above which its exact optimum does not matter (the paper's upper bound of a node).
    struct Limits {
        double lower = 0;
        double upper = std::numeric_limits<double>::infinity();
        std::span<const double> feature_lower = {};
        bool exact = true;      // whether the objective of the best tree found must be exact
        double clustering = 0;  // the clustering bound, which takes long, is of use only if it may reach this
    };

    // Called with every new pair of bounds; only the root of a search of depth two wants it.
    using Progress = std::function<void(double lower, const DepthTwoResult& incumbent)>;

    // Makes a result of `solve` on the same subset exact; false if stopped.
    bool confirm(const Subset& subset, const FeatureOrder& order, DepthTwoResult& result,
                 StopCondition& stop);

    // `order` ranks the features (of this subset, or of the node above it); `leaves` are 3, or any number.
    DepthTwoResult solve(const Subset& subset, const FeatureOrder& order, std::uint32_t leaves,
                         const Limits& limits, StopCondition& stop, const Progress& progress = {});

    // The left/right terminal case: solves the two sides of one split, among all trees and among those whose
    // leaves hold enough; false if stopped. `id` identifies the subset: while it stays the same, the scan
    // need not be prepared again.
    bool solve_split(const Subset& subset, const FeatureOrder& order, std::uint64_t id, std::uint32_t feature,
                     std::uint32_t threshold, double (&free)[2], double (&enough)[2], StopCondition& stop);

    // Lower bounds by feature from the last `solve`, if it was not stopped; empty if it did not scan any
    // feature.
    const std::vector<double>& feature_lower() const { return feature_lower_; }

    const ScanCounters& counters() const { return counters_; }

 private:
    Evaluator& begin(const Subset& subset, const FeatureOrder& order, const Budget& budget, double leaf_loss,
                     bool bounds_suffice);
    bool all_trees(const Budget& budget) const { return !budget.limited() && settings_.rules.free(); }
    // The splits to evaluate next: of one feature, of both orders of it, or of several features.
    std::span<SplitBatch> choose_batches(const Subset& subset, const Evaluator& evaluator,
                                         Children::Slot slot, std::span<const double> feature_lower,
                                         double cutoff);
    std::span<SplitBatch> mix_features(std::uint32_t most, std::span<const double> feature_lower,
                                       double cutoff);

    const SearchSettings& settings_;
    const Strategy& strategy_;
    const Objective& objective_;
    Random& random_;
    ScanCounters counters_;
    SplitScan scan_;                           // of all trees
    std::unique_ptr<SplitScan> limited_scan_;  // of those whose leaves hold enough, if there are limits
    std::optional<BracketScan> bracket_scan_;  // if the objective has one
    PlainEvaluator plain_;
    LimitedEvaluator limited_;
    std::optional<BracketEvaluator> bracketing_;
    static constexpr std::uint64_t nothing = UINT64_MAX;
    std::uint64_t prepared_ = nothing;  // the subset that solve_split was last used on
    Children children_;
    SplitBatch batches_[most_features_at_once];
    std::vector<Children::Slot> firsts_;  // see mix_features
    FeatureOrder own_order_;
    std::vector<double> feature_lower_;
};

}  // namespace codt
