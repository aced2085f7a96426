#include "terminal/depth_two.hpp"

#include <algorithm>
#include <limits>

#include "bounds/lower_bounds.hpp"
#include "common/check.hpp"

namespace codt {

Solution DepthTwoResult::solution(const Dataset& data, const Subset& subset) const {
    if (!splits) return leaf_solution();
    return split_solution(feature, subset.threshold_value(data, feature, threshold),
                          leaf[0] ? leaf_solution() : stump_solution(),
                          leaf[1] ? leaf_solution() : stump_solution());
}

DepthTwoSolver::DepthTwoSolver(const SearchSettings& settings, const Strategy& strategy,
                               const Objective& objective, const KernelChoice& kernel, Random& random)
    : settings_(settings),
      strategy_(strategy),
      objective_(objective),
      random_(random),
      scanner_(objective.make_scanner(kernel)) {}

DepthTwoResult DepthTwoSolver::solve(const Subset& subset, const FeatureOrder& order, std::uint32_t leaves,
                                     const Limits& limits, StopCondition& stop, const Progress& progress) {
    ++counters_.depth_two_calls;
    prepared_ = nothing;
    const double tolerance = settings_.tolerance;
    const Budget budget{2, leaves};
    DepthTwoResult result;
    const double leaf_loss = result.upper = objective_.leaf_loss(subset);
    const double allowed = std::min(limits.upper, settings_.split_cutoff(leaf_loss));
    const NodeBound bound = node_bound(objective_, subset, budget, leaf_loss, settings_,
                                       std::min(result.upper, allowed) - tolerance);
    result.lower = std::max(limits.lower, bound.any);
    result.free_lower = std::min(leaf_loss, result.lower);
    const auto cutoff = [&] { return std::min(result.upper, allowed); };
    if (!objective_.leaf_limits().can_split(subset) || result.upper <= bound.split + tolerance) {
        result.lower = result.free_lower = result.upper;
        return result;
    }
    result.lower = settings_.bound_by_splits(leaf_loss, result.lower);
    if (result.lower >= cutoff() - tolerance) {
        result.lower = std::min(result.lower, result.upper);
        return result;
    }

    const FeatureOrder* ranks = &order;
    if (strategy_.needs_discrepancy()) {
        own_order_ = order_features(objective_, subset, true);
        ranks = &own_order_;
    }
    children_.reset(settings_, strategy_, objective_, subset, *ranks, budget,
                    std::max(bound.split, limits.lower), random_);
    scanner_->prepare(subset, ranks->rank);
    const Budget::Shares shares = budget.shares();
    const bool plain = !budget.limited() && settings_.min_decrease <= 0;
    if (!plain) leaf_sides_.reset(objective_, subset);
    const auto known_lower = [&] {
        const double splits = std::min(children_.min_lower(), children_.closed_lower());
        return std::min(result.upper, settings_.bound_by_splits(leaf_loss, splits));
    };
    while (!children_.empty() && children_.min_lower() < cutoff() - tolerance) {
        const Children::Slot slot = children_.top();
        if (children_[slot].lower >= cutoff() - tolerance) {
            children_.close(slot);
            continue;
        }
        if (children_.refresh(slot, cutoff())) continue;
        const std::uint32_t feature = children_[slot].feature;
        choose_batch(slot);
        left_.assign(batch_.size(), std::numeric_limits<double>::infinity());
        right_ = left_;
        if (plain) children_.upper_bounds(feature, batch_, left_.data(), right_.data());
        if (!evaluate(subset, feature, stop)) {
            result.stopped = true;
            break;
        }
        if (plain) {
            for (const EvaluatedSplit& split : splits_) {
                const double objective = split.sum() + settings_.lambda;
                if (objective < result.upper) {
                    result.upper = objective;
                    result.splits = true;
                    result.feature = feature;
                    result.threshold = split.threshold;
                }
            }
            children_.evaluate(feature, splits_, cutoff());
        } else {
            // One scan is enough for all ways to share the leaves out.
            for (std::uint32_t share = 0; share < shares.count(); ++share) {
                take(feature, shares.first + share, budget, leaf_loss, result);
                children_.evaluate(children_.track(feature, shares.first + share), splits_, cutoff(),
                                   objectives_.data());
            }
        }
        if (progress) progress(std::max(result.lower, known_lower()), result);
    }
    result.lower = std::min(result.upper, std::max(result.lower, known_lower()));
    result.free_lower =
        plain ? result.lower : std::max(result.free_lower, std::min(leaf_loss, children_.free_lower()));
    return result;
}

// What the scan has found, where it is not simply the best tree of depth one on both sides: a side may have
// to be a leaf, and must be one where a split does not lower its loss enough.
void DepthTwoSolver::take(std::uint32_t feature, std::uint32_t left_leaves, const Budget& budget,
                          double leaf_loss, DepthTwoResult& result) {
    const bool leaf[2] = {budget.of_side(0, left_leaves).leaves == 1,
                          budget.of_side(1, left_leaves).leaves == 1};
    splits_.clear();
    objectives_.clear();
    for (std::size_t j = 0; j < batch_.size(); ++j) {
        const std::uint32_t t = batch_[j];
        const double leaves[2] = {leaf_sides_.left(feature, t), leaf_sides_.right(feature, t)};
        const double free[2] = {leaf[0] ? leaves[0] : left_[j], leaf[1] ? leaves[1] : right_[j]};
        const double objective = settings_.lambda + settings_.best_allowed(leaves[0], free[0]) +
                                 settings_.best_allowed(leaves[1], free[1]);
        splits_.push_back({t, free[0], free[1]});
        objectives_.push_back(objective);
        if (objective < result.upper && settings_.allows(leaf_loss, objective)) {
            result.upper = objective;
            result.splits = true;
            result.feature = feature;
            result.threshold = t;
            result.leaf[0] = leaf[0];
            result.leaf[1] = leaf[1];
        }
    }
}

bool DepthTwoSolver::solve_split(const Subset& subset, const FeatureOrder& order, std::uint64_t id,
                                 std::uint32_t feature, std::uint32_t threshold, double& left, double& right,
                                 StopCondition& stop) {
    if (prepared_ != id) {
        scanner_->prepare(subset, order.rank);
        prepared_ = id;
    }
    batch_.assign(1, threshold);
    left_.assign(1, std::numeric_limits<double>::infinity());
    right_ = left_;
    if (!evaluate(subset, feature, stop)) return false;
    left = splits_[0].left_lower;
    right = splits_[0].right_lower;
    return true;
}

bool DepthTwoSolver::evaluate(const Subset& subset, std::uint32_t feature, StopCondition& stop) {
    if (!scanner_->scan(feature, batch_, settings_.lambda, left_.data(), right_.data(), stop)) return false;
    counters_.evaluations += batch_.size();
    counters_.scanned_samples += static_cast<std::uint64_t>(subset.size()) * subset.features();
    splits_.clear();
    for (std::size_t j = 0; j < batch_.size(); ++j) {
        CODT_CHECK(left_[j] >= 0 && right_[j] >= 0);
        CODT_CHECK(j == 0 || batch_[j - 1] < batch_[j]);
        // L never falls and R never rises along a feature, unless leaves must hold enough.
        CODT_CHECK(j == 0 || !settings_.bounds.monotone || left_[j - 1] <= left_[j] + settings_.tolerance);
        CODT_CHECK(j == 0 || !settings_.bounds.monotone || right_[j] <= right_[j - 1] + settings_.tolerance);
        splits_.push_back({batch_[j], left_[j], right_[j]});
    }
    return true;
}

void DepthTwoSolver::choose_batch(Children::Slot slot) {
    const std::uint32_t lanes = scanner_->lanes();
    if (lanes == 1) {
        batch_.assign(1, children_.select_threshold(slot));
        return;
    }
    const std::uint32_t track = children_[slot].track;
    if (settings_.bounds.monotone) {
        children_.spread(track, lanes, batch_);
        return;
    }
    children_.open_thresholds(track, open_);
    if (open_.size() <= lanes)
        batch_ = open_;
    else
        choose_middles(lanes);
}

// Where leaves must hold enough, a threshold prunes nothing around it: only intervals between two evaluated
// ones are pruned, if they are short. So the longest are halved; evenly spread thresholds would fall next to
// those of the batch before.
void DepthTwoSolver::choose_middles(std::uint32_t count) {
    const auto shorter = [](const Run& a, const Run& b) { return a.last - a.first < b.last - b.first; };
    runs_.clear();
    for (const std::uint32_t t : open_) {
        if (!runs_.empty() && runs_.back().last + 1 == t)
            runs_.back().last = t;
        else
            runs_.push_back({t, t});
    }
    std::make_heap(runs_.begin(), runs_.end(), shorter);
    batch_.clear();
    while (batch_.size() < count) {
        std::pop_heap(runs_.begin(), runs_.end(), shorter);
        const Run run = runs_.back();
        runs_.pop_back();
        const std::uint32_t middle = run.first + (run.last - run.first) / 2;
        batch_.push_back(middle);
        const auto keep = [&](std::uint32_t first, std::uint32_t last) {
            runs_.push_back({first, last});
            std::push_heap(runs_.begin(), runs_.end(), shorter);
        };
        if (run.first < middle) keep(run.first, middle - 1);
        if (middle < run.last) keep(middle + 1, run.last);
    }
    std::sort(batch_.begin(), batch_.end());
}

}  // namespace codt
