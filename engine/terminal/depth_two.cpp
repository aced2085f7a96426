#include "terminal/depth_two.hpp"

#include <algorithm>
#include <limits>

#include "bounds/lower_bounds.hpp"
#include "common/check.hpp"

namespace codt {

Solution DepthTwoResult::solution(const Dataset& data, const Subset& subset) const {
    if (!splits) return leaf_solution();
    return split_solution(feature, subset.threshold_value(data, feature, threshold), stump_solution(),
                          stump_solution());
}

DepthTwoSolver::DepthTwoSolver(const SearchSettings& settings, const Strategy& strategy,
                               const Objective& objective, const KernelChoice& kernel, Random& random)
    : settings_(settings),
      strategy_(strategy),
      objective_(objective),
      random_(random),
      scanner_(objective.make_scanner(kernel)) {}

DepthTwoResult DepthTwoSolver::solve(const Subset& subset, const FeatureOrder& order, const Limits& limits,
                                     StopCondition& stop, const Progress& progress) {
    ++counters_.depth_two_calls;
    prepared_ = nothing;
    const double lambda = settings_.lambda;
    const double tolerance = settings_.tolerance;
    DepthTwoResult result;
    result.upper = objective_.leaf_loss(subset);
    const NodeBound bound = node_bound(objective_, subset, 2, result.upper, settings_,
                                       std::min(result.upper, limits.upper) - tolerance);
    result.lower = std::max(limits.lower, bound.any);
    const auto cutoff = [&] { return std::min(result.upper, limits.upper); };
    if (!objective_.leaf_limits().can_split(subset) || result.upper <= bound.split + tolerance) {
        result.lower = result.upper;
        return result;
    }
    if (result.lower >= cutoff() - tolerance) {
        result.lower = std::min(result.lower, result.upper);
        return result;
    }

    const FeatureOrder* ranks = &order;
    if (strategy_.needs_discrepancy()) {
        own_order_ = order_features(objective_, subset, true);
        ranks = &own_order_;
    }
    children_.reset(settings_, strategy_, objective_, subset, *ranks, 2, std::max(bound.split, limits.lower),
                    random_);
    scanner_->prepare(subset, ranks->rank);
    const auto known_lower = [&] {
        return std::min({result.upper, children_.min_lower(), children_.closed_lower()});
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
        left_.resize(batch_.size());
        right_.resize(batch_.size());
        children_.upper_bounds(feature, batch_, left_.data(), right_.data());
        if (!evaluate(subset, feature, stop)) {
            result.stopped = true;
            break;
        }
        for (const EvaluatedSplit& split : splits_) {
            const double objective = split.sum() + lambda;
            if (objective < result.upper) {
                result.upper = objective;
                result.splits = true;
                result.feature = feature;
                result.threshold = split.threshold;
            }
        }
        children_.evaluate(feature, splits_, cutoff());
        if (progress) progress(std::max(result.lower, known_lower()), result);
    }
    result.lower = std::min(result.upper, std::max(result.lower, known_lower()));
    return result;
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
    children_.spread(children_[slot].feature, lanes, batch_);
}

}  // namespace codt
