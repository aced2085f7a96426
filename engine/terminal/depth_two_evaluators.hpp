// Expand and BackPropagate of the depth-two loop (depth_two.hpp): an evaluator solves both sides of some
// splits of one feature (Solve-D1), keeps the best tree and gives the bounds to the children. There is one
// evaluator for each kind of trees and values:
//
//     PlainEvaluator    every tree is allowed, values are exact
//     BracketEvaluator  every tree is allowed, values are known by lower and upper bounds
//     LimitedEvaluator  leaves are limited, in number or in what they hold, or splits must save enough
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "frontier/children.hpp"
#include "scans/sample_rows.hpp"
#include "scans/scanner.hpp"
#include "terminal/depth_two_result.hpp"
#include "terminal/leaf_sides.hpp"

namespace codt {

// Splits of one feature with the optima of their two sides, or upper bounds on them.
struct SplitBatch {
    std::uint32_t feature = 0;
    std::vector<std::uint32_t> thresholds;  // ascending
    std::vector<double> left, right;

    std::size_t size() const { return thresholds.size(); }
    // Resets the sides to "nothing known".
    void forget();
};

// Solve-D1 for batches, with exact values.
class SplitScan {
 public:
    // Scans trees whose leaves keep to `limits`. All references must outlive this object.
    SplitScan(const Objective& objective, const KernelChoice& kernel, const LeafLimits& limits,
              const SearchSettings& settings, ScanCounters& counters);

    std::uint32_t lanes() const { return scanner_->lanes(); }
    bool joins_orders() const { return scanner_->joins_orders(); }
    std::uint32_t features_at_once() const { return scanner_->features_at_once(); }
    void prepare(const Subset& subset, const FeatureOrder& order);
    // Solves one batch, or several at once (see Scanner). False if stopped.
    bool solve(std::span<SplitBatch> batches, StopCondition& stop);
    bool solve(SplitBatch& batch, StopCondition& stop) { return solve({&batch, 1}, stop); }

 private:
    const SearchSettings& settings_;
    ScanCounters& counters_;
    const Subset* subset_ = nullptr;
    std::unique_ptr<Scanner> scanner_;
    bool all_trees_;  // there are no limits
};

// Solve-D1 for batches, with bounds instead of values; all trees are allowed.
class BracketScan {
 public:
    BracketScan(std::unique_ptr<BracketScanner> scanner, const SearchSettings& settings,
                ScanCounters& counters)
        : settings_(settings), scanner_(std::move(scanner)), counters_(counters) {}

    // What is known of the sides of a batch from below.
    struct Lower {
        std::vector<double> left, right;
    };

    std::uint32_t lanes() const { return scanner_->lanes(); }
    bool joins_orders() const { return scanner_->joins_orders(); }
    // False if this subset needs exact values.
    bool prepare(const Subset& subset, const FeatureOrder& order);
    // The batches get upper bounds, `lower` lower ones. False if stopped.
    bool solve(std::span<SplitBatch> batches, Lower* lower, StopCondition& stop);
    // The most that upper bounds have exceeded lower ones in this subset.
    double excess() const { return excess_; }

 private:
    const SearchSettings& settings_;
    std::unique_ptr<BracketScanner> scanner_;
    ScanCounters& counters_;
    const Subset* subset_ = nullptr;
    double excess_ = 0;
};

class Evaluator {
 public:
    virtual ~Evaluator() = default;

    // How many splits it takes at the most, and whether these may be of both orders of a feature.
    virtual std::uint32_t lanes() const = 0;
    virtual bool joins_orders() const = 0;
    // Of how many features, for the present subset.
    virtual std::uint32_t features_at_once() const { return 1; }

    // Evaluates the splits of one batch, or of several at once (see Scanner); their sides it overwrites.
    // False if stopped; then nothing has changed.
    virtual bool expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                        StopCondition& stop) = 0;
};

class PlainEvaluator final : public Evaluator {
 public:
    PlainEvaluator(const SearchSettings& settings, SplitScan& scan) : settings_(settings), scan_(scan) {}

    void begin(const Subset& subset, const FeatureOrder& order) { scan_.prepare(subset, order); }
    std::uint32_t lanes() const override { return scan_.lanes(); }
    bool joins_orders() const override { return scan_.joins_orders(); }
    std::uint32_t features_at_once() const override { return scan_.features_at_once(); }
    bool expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                StopCondition& stop) override;

 private:
    const SearchSettings& settings_;
    SplitScan& scan_;
    std::vector<EvaluatedSplit> splits_;
    std::vector<double> objectives_;
};

class BracketEvaluator final : public Evaluator {
 public:
    BracketEvaluator(const SearchSettings& settings, BracketScan& scan) : settings_(settings), scan_(scan) {}

    std::uint32_t lanes() const override { return scan_.lanes(); }
    bool joins_orders() const override { return scan_.joins_orders(); }
    // Splits that might be as good as the incumbent become candidates and are not closed.
    bool expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                StopCondition& stop) override;

 private:
    void take(const SplitBatch& batch, const BracketScan::Lower& lower, Children& children,
              DepthTwoResult& result);

    const SearchSettings& settings_;
    BracketScan& scan_;
    BracketScan::Lower lower_[2];  // of each batch
    std::vector<EvaluatedSplit> splits_;
    std::vector<double> objectives_;
};

// Every split is bounded by what all trees would attain, limits or not: exactly, or from below where the
// objective has a scan for that, which takes less time. Only splits that this does not rule out are solved
// with the limits.
class LimitedEvaluator final : public Evaluator {
 public:
    // `free` is the scan of all trees, `enough` that of trees whose leaves hold enough, if there are such
    // limits.
    LimitedEvaluator(const SearchSettings& settings, const Objective& objective, SplitScan& free,
                     SplitScan* enough)
        : settings_(settings), objective_(objective), free_(free), enough_(enough) {}

    // `brackets`, prepared for this subset, bounds all trees, unless it is null.
    void begin(const Subset& subset, const FeatureOrder& order, const Budget& budget, double leaf_loss,
               BracketScan* brackets);
    std::uint32_t lanes() const override { return brackets_ ? brackets_->lanes() : free_.lanes(); }
    bool joins_orders() const override {
        return brackets_ ? brackets_->joins_orders() : free_.joins_orders();
    }
    bool expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                StopCondition& stop) override;

 private:
    // The optima with leaves that hold enough, for all splits of a batch; infinite where not scanned.
    struct EnoughSides {
        std::vector<double> left, right;
    };
    // Sets the sides of the batches to lower bounds on the optima of all trees.
    bool bound(std::span<SplitBatch> batches, Children& children, StopCondition& stop);
    bool solve_enough(const SplitBatch& free, double cutoff, EnoughSides& enough, StopCondition& stop);
    void take(const SplitBatch& free, const EnoughSides& enough, std::uint32_t left_leaves,
              DepthTwoResult& result);
    double least_sum(std::uint32_t f, std::uint32_t t, double left, double right);
    // Whether a side may only be a leaf.
    bool is_leaf(int side, std::uint32_t left_leaves) const {
        return budget_.of_side(side, left_leaves).leaves == 1;
    }

    const SearchSettings& settings_;
    const Objective& objective_;
    SplitScan& free_;
    SplitScan* enough_;
    BracketScan* brackets_ = nullptr;
    Budget budget_;
    double leaf_loss_ = 0;
    LeafSides leaf_sides_;
    SplitBatch useful_;                // splits that are scanned for trees whose leaves hold enough
    std::vector<std::size_t> places_;  // their places in the batch, those with the least bounds first
    std::vector<double> bounds_;       // on the objectives of all splits of a batch
    EnoughSides enough_sides_[2];      // of each batch
    BracketScan::Lower lower_[2];
    std::vector<EvaluatedSplit> splits_;
    std::vector<double> objectives_;
};

}  // namespace codt
