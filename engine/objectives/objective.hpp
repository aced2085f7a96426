// What an optimisation task provides to the search (paper, appendix "Expansion", paragraph on the terminal
// case): losses of leaves, the cost of the best depth-one subtrees, and what the bounds need. A new objective
// describes its element-wise additive cost tuples (see cost_tuple.hpp) and gets all of this from the generic
// code; it may override single functions with faster ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/subset.hpp"
#include "rules/leaf_limits.hpp"
#include "rules/prices.hpp"
#include "scans/scanner.hpp"

namespace codt {

struct Targets;

class Objective {
 public:
    virtual ~Objective() = default;

    // Loss of the best leaf for these samples.
    virtual double leaf_loss(const Subset& subset) const = 0;

    // Losses of the two leaves behind the split f <= tau_i.
    virtual void leaf_losses(const Subset& subset, std::uint32_t f, std::uint32_t i, double& left,
                             double& right) const = 0;

    // Losses of the two leaves behind the splits at every threshold of feature f.
    virtual void all_leaf_losses(const Subset& subset, std::uint32_t f, std::vector<double>& left,
                                 std::vector<double>& right) const = 0;

    // The score of every threshold, lower is better: the impurity that CART minimises (Gini for classes,
    // squared error for numbers) up to a constant. It determines feature rank and split discrepancy (paper,
    // "Limited discrepancy search"). Calls `visit` once for each feature, in order.
    using ScoreVisitor = std::function<void(std::uint32_t feature, std::span<const double> scores)>;
    virtual void split_scores(const Subset& subset, const ScoreVisitor& visit) const = 0;

    // The best depth-one subtree of some rows, found by one pass over the sorted order of every feature (used
    // when a tree is read out, and for depth limit one).
    struct Stump {
        double objective = 0;  // loss, plus the price of its feature if it splits
        bool splits = false;   // false: a leaf is at least as good
        Split split;
    };
    // The stump's leaves keep to `limits`. `enough` is a lower bound on the best objective: the first stump
    // that reaches it may be returned.
    virtual Stump best_stump(const Dataset& data, std::span<const std::uint32_t> rows,
                             const LeafLimits& limits, const Prices& prices, double enough) const = 0;

    // For primal heuristics: what each of `rows` would add to the loss of the leaf that holds the rows
    // `fitted`. cost is indexed by row of the data set.
    virtual void leaf_costs(std::span<const std::uint32_t> fitted, std::span<const std::uint32_t> rows,
                            std::vector<double>& cost) const = 0;

    // Clustering lower bound (paper, "Lower bounds"): the loss of the best partition of the samples into
    // at most k groups, any partition allowed, for k = 1..count. Empty if the objective has none.
    virtual std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const = 0;

    // An upper bound on the last of the clustering losses that is cheap to compute: it shows where computing
    // them cannot pay off.
    virtual double clustering_limit(const Subset& subset, std::uint32_t count) const = 0;

    // For the loss of the samples between two thresholds (bounds/loss_between.hpp): lower bounds on that of
    // the first ends[j] of some rows, at most `most_grouped`, in `count` groups, any partition allowed;
    // `ends` ascend. Only if the objective has them for so many groups.
    virtual bool has_group_losses(std::uint32_t) const { return false; }
    virtual void group_losses(std::span<const std::uint32_t>, std::uint32_t,
                              std::span<const std::uint32_t> ends, double* losses) const {
        std::fill_n(losses, ends.size(), 0.0);
    }

    // Similarity bound: the most that each sample can add to the loss of a tree whose leaves were fitted to
    // other samples of this subset, in the order of their ids. Left empty when that is one for every sample,
    // as for misclassification.
    virtual void worst_costs(const Subset& subset, std::vector<double>& worst) const = 0;

    // The scan of Alg. 4; one scanner per thread. The leaves of its trees keep to `limits`, which must
    // outlive the scanner.
    std::unique_ptr<Scanner> make_scanner(const KernelChoice& kernel, const LeafLimits& limits) const {
        return kernel.takes_many_thresholds() ? make_lane_scanner(kernel.path, limits)
                                              : make_scalar_scanner(limits);
    }
    // The scalar scanner takes one threshold at a time and is the reference; the lane scanner takes many at
    // once, if the objective has such a scan.
    virtual std::unique_ptr<Scanner> make_scalar_scanner(const LeafLimits& limits) const = 0;
    virtual std::unique_ptr<Scanner> make_lane_scanner(KernelPath, const LeafLimits& limits) const {
        return make_scalar_scanner(limits);
    }

    // The scan of Alg. 4 with bounds instead of values, if there is one.
    std::unique_ptr<BracketScanner> make_bracket_scanner(const KernelChoice& kernel) const {
        return kernel.takes_many_thresholds() ? make_lane_brackets(kernel.path) : nullptr;
    }
    virtual std::unique_ptr<BracketScanner> make_lane_brackets(KernelPath) const { return nullptr; }

    // The bytes that both kinds of scanners need for every sample of every feature: an order of their own, or
    // more.
    virtual std::size_t scan_bytes() const { return sizeof(std::uint32_t); }
    virtual std::size_t scan_bytes_of_sample() const { return 0; }

    // For reporting: the value and the loss of a leaf with these rows of the data set, computed afresh with
    // no state of a search. `value` is the one reported for the same rows.
    virtual std::vector<double> reported_value(std::span<const std::uint32_t> rows) const = 0;
    virtual double reported_loss(std::span<const std::uint32_t> rows,
                                 const std::vector<double>& value) const = 0;

    // Whether all losses are whole numbers, so that sums and comparisons of them are exact.
    virtual bool integral() const { return false; }

    // An internal loss may be off by this much. Zero where the error is a tiny part of the root's loss at
    // most.
    virtual double rounding() const { return 0.0; }

    // Whether sums over samples are exact, so that `rounding` and a tiny part of the root's loss, however
    // many samples there are, say all.
    virtual bool sums_are_exact() const { return false; }

    // No tree's loss in internal numbers is further than this from the real one, because the numbers
    // themselves were rounded. Sums and comparisons of them may be exact all the same.
    virtual double distortion() const { return 0.0; }

    // Internal losses are in units of this much reported loss.
    virtual double unit() const { return 1.0; }

    // This objective with numbers of a smaller range, for a search that only cares about trees that lose less
    // than `ceiling` (in reported units): their losses stay the same, and all other trees still lose at least
    // the ceiling. Null if there is nothing to gain.
    virtual std::unique_ptr<Objective> within(double) const { return nullptr; }

    // Makes this objective for merged rows, each with the number of equal rows it stands for as its weight.
    // Null if equal rows are not to be merged.
    using Maker = std::unique_ptr<Objective> (*)(const Targets& targets);
    virtual Maker maker_for_merged_rows() const { return nullptr; }
};

}  // namespace codt
