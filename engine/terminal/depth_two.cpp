#include "terminal/depth_two.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bounds/lower_bounds.hpp"
#include "common/check.hpp"

namespace codt {

Solution DepthTwoResult::solution(const Dataset& data, const Subset& subset) const {
    if (!splits) return leaf_solution();
    return split_solution(feature, subset.threshold_value(data, feature, threshold),
                          leaf[0] ? leaf_solution() : stump_solution(side[0]),
                          leaf[1] ? leaf_solution() : stump_solution(side[1]));
}

DepthTwoSolver::DepthTwoSolver(const SearchSettings& settings, const Strategy& strategy,
                               const Objective& objective, const KernelChoice& kernel, Random& random)
    : settings_(settings),
      strategy_(strategy),
      objective_(objective),
      random_(random),
      scanner_(objective.make_scanner(kernel, no_leaf_limits)) {
    if (objective.leaf_limits().any())
        limited_scanner_ = objective.make_scanner(kernel, objective.leaf_limits());
    else
        bracket_scanner_ = objective.make_bracket_scanner(kernel);
}

DepthTwoResult DepthTwoSolver::solve(const Subset& subset, const FeatureOrder& order, std::uint32_t leaves,
                                     const Limits& limits, StopCondition& stop, const Progress& progress) {
    ++counters_.depth_two_calls;
    prepared_ = nothing;
    feature_lower_.clear();
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
    if (!subset.has_thresholds() || result.upper <= bound.split + tolerance) {
        result.lower = result.free_lower = result.upper;
        return result;
    }
    if (!objective_.leaf_limits().can_split(subset)) {
        result.lower = result.upper;
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
    const Budget::Shares shares = budget.shares();
    const bool plain = !budget.limited() && settings_.free();
    // Those who want to see every incumbent want its exact objective.
    const bool bracketing =
        plain && !progress && bracket_scanner_ && bracket_scanner_->prepare(subset, ranks->rank);
    excess_ = 0;
    if (!bracketing) prepare(subset, *ranks);
    if (!plain) leaf_sides_.reset(objective_, subset);
    const auto known_lower = [&] {
        const double splits = std::min(children_.min_lower(), children_.closed_lower());
        return std::min(result.upper, settings_.bound_by_splits(leaf_loss, splits));
    };
    while (!children_.empty() && children_.min_lower() < cutoff() - tolerance) {
        const Children::Slot slot = children_.top();
        // What is known of the feature does not change the order: features are scanned by rank first, which
        // brings good incumbents early.
        const double known = limits.feature_lower.empty() ? 0 : limits.feature_lower[children_[slot].feature];
        if (std::max(children_[slot].lower, known) >= cutoff() - tolerance) {
            children_.close(slot, known);
            continue;
        }
        if (children_.refresh(slot, cutoff())) continue;
        const std::uint32_t feature = children_[slot].feature;
        choose_batch(slot, bracketing ? bracket_scanner_->lanes() : scanner_->lanes());
        left_.assign(batch_.size(), std::numeric_limits<double>::infinity());
        right_ = left_;
        if (!budget.limited()) children_.upper_bounds(feature, batch_, excess_, left_.data(), right_.data());
        if (!(bracketing ? bracket(subset, feature, stop) : evaluate(subset, feature, stop)) ||
            (!plain && !evaluate_limited(subset, feature, cutoff() - tolerance, stop))) {
            result.stopped = true;
            break;
        }
        if (plain) {
            for (std::size_t j = 0; j < batch_.size(); ++j)
                offer(feature, batch_[j], left_[j], right_[j], result);
            objectives_.clear();
            for (const EvaluatedSplit& split : splits_) objectives_.push_back(settings_.lambda + split.sum());
            if (bracketing) keep_candidates(feature, result);
            children_.evaluate(feature, splits_, cutoff(), objectives_.data());
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
    result.rest_lower = known_lower();
    result.cutoff = allowed;
    for (const SplitCandidate& candidate : result.candidates)
        children_.note_closed(candidate.feature, candidate.lower, candidate.lower);
    children_.feature_lower(feature_lower_);
    for (std::size_t f = 0; f < limits.feature_lower.size(); ++f)
        feature_lower_[f] = std::max(feature_lower_[f], limits.feature_lower[f]);
    result.lower = std::min(result.upper, std::max(result.lower, known_lower()));
    result.free_lower =
        plain ? result.lower : std::max(result.free_lower, std::min(leaf_loss, children_.free_lower()));
    if (bracketing && limits.exact && (result.stopped || !confirm(subset, *ranks, result, stop))) {
        // What was found is not known well enough.
        result.upper = leaf_loss;
        result.splits = false;
        result.stopped = true;
    }
    return result;
}

void DepthTwoSolver::offer(std::uint32_t feature, std::uint32_t threshold, double left, double right,
                           DepthTwoResult& result) const {
    const double objective = left + right + settings_.lambda;
    if (objective >= result.upper) return;
    result.upper = objective;
    result.splits = true;
    result.feature = feature;
    result.threshold = threshold;
    result.side[0] = left;
    result.side[1] = right;
}

void DepthTwoSolver::count_scan(const Subset& subset) {
    counters_.evaluations += batch_.size();
    counters_.scanned_samples += static_cast<std::uint64_t>(subset.size()) * subset.features();
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
        splits_.push_back({t, free[0], free[1]});
        if (std::isinf(enough_left_[j])) {  // not worth a scan: no more is known than the free bound
            objectives_.push_back(settings_.lambda + free[0] + free[1]);
            continue;
        }
        const double enough[2] = {leaf[0] ? leaves[0] : enough_left_[j],
                                  leaf[1] ? leaves[1] : enough_right_[j]};
        const double sides[2] = {settings_.best_allowed(leaves[0], enough[0]),
                                 settings_.best_allowed(leaves[1], enough[1])};
        const double objective = settings_.lambda + sides[0] + sides[1];
        objectives_.push_back(objective);
        if (objective < result.upper && settings_.allows(leaf_loss, objective)) {
            result.upper = objective;
            result.splits = true;
            result.feature = feature;
            result.threshold = t;
            for (int side = 0; side < 2; ++side) {
                result.leaf[side] = leaf[side];
                result.side[side] = sides[side];
            }
        }
    }
}

bool DepthTwoSolver::solve_split(const Subset& subset, const FeatureOrder& order, std::uint64_t id,
                                 std::uint32_t feature, std::uint32_t threshold, double (&free)[2],
                                 double (&enough)[2], StopCondition& stop) {
    if (prepared_ != id) {
        prepare(subset, order);
        prepared_ = id;
    }
    batch_.assign(1, threshold);
    left_.assign(1, std::numeric_limits<double>::infinity());
    right_ = left_;
    constexpr double always = std::numeric_limits<double>::infinity();
    if (!evaluate(subset, feature, stop) || !evaluate_limited(subset, feature, always, stop)) return false;
    free[0] = splits_[0].left_lower;
    free[1] = splits_[0].right_lower;
    enough[0] = enough_left_[0];
    enough[1] = enough_right_[0];
    return true;
}

void DepthTwoSolver::prepare(const Subset& subset, const FeatureOrder& order) {
    scanner_->prepare(subset, order.rank);
    if (limited_scanner_) limited_scanner_->prepare(subset, order.rank);
}

// The splits of the batch whose free bound does not reach the cutoff, with leaves that hold enough.
bool DepthTwoSolver::evaluate_limited(const Subset& subset, std::uint32_t feature, double cutoff,
                                      StopCondition& stop) {
    if (!limited_scanner_) {
        enough_left_ = left_;
        enough_right_ = right_;
        return true;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    enough_left_.assign(batch_.size(), infinity);
    enough_right_.assign(batch_.size(), infinity);
    const std::size_t lanes = limited_scanner_->lanes();
    double left[64], right[64];
    CODT_CHECK(lanes <= std::size(left));
    for (std::size_t j = 0; j < batch_.size();) {
        useful_.clear();
        const std::size_t first = j;
        for (; j < batch_.size() && useful_.size() < lanes; ++j)
            if (settings_.lambda + left_[j] + right_[j] < cutoff) useful_.push_back(batch_[j]);
        if (useful_.empty()) continue;
        std::fill_n(left, useful_.size(), infinity);
        std::fill_n(right, useful_.size(), infinity);
        if (!limited_scanner_->scan(feature, useful_, settings_.lambda, left, right, stop)) return false;
        counters_.evaluations += useful_.size();
        counters_.scanned_samples += static_cast<std::uint64_t>(subset.size()) * subset.features();
        std::size_t place = 0;
        for (std::size_t i = first; i < j; ++i) {
            if (place == useful_.size() || batch_[i] != useful_[place]) continue;
            enough_left_[i] = left[place];
            enough_right_[i] = right[place];
            ++place;
        }
    }
    return true;
}

bool DepthTwoSolver::evaluate(const Subset& subset, std::uint32_t feature, StopCondition& stop) {
    if (!scanner_->scan(feature, batch_, settings_.lambda, left_.data(), right_.data(), stop)) return false;
    count_scan(subset);
    splits_.clear();
    for (std::size_t j = 0; j < batch_.size(); ++j) {
        CODT_CHECK(left_[j] >= 0 && right_[j] >= 0);
        CODT_CHECK(j == 0 || batch_[j - 1] < batch_[j]);
        // L never falls and R never rises along a feature.
        CODT_CHECK(j == 0 || left_[j - 1] <= left_[j] + settings_.tolerance);
        CODT_CHECK(j == 0 || right_[j] <= right_[j - 1] + settings_.tolerance);
        splits_.push_back({batch_[j], left_[j], right_[j]});
    }
    return true;
}

void DepthTwoSolver::choose_batch(Children::Slot slot, std::uint32_t lanes) {
    if (lanes == 1) {
        batch_.assign(1, children_.select_threshold(slot));
        return;
    }
    children_.spread(children_[slot].track, lanes, batch_);
}

}  // namespace codt
