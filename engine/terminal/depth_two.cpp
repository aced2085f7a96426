#include "terminal/depth_two.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "bounds/lower_bounds.hpp"

namespace codt {

void DepthTwoResult::offer(double objective, std::uint32_t at_feature, std::uint32_t at_threshold,
                           const double (&sides)[2], const bool (&leaves)[2]) {
    if (objective >= upper) return;
    upper = objective;
    splits = true;
    feature = at_feature;
    threshold = at_threshold;
    std::copy_n(sides, 2, side);
    std::copy_n(leaves, 2, leaf);
}

Solution DepthTwoResult::solution(const Dataset& data, const Subset& subset) const {
    if (!splits) return leaf_solution();
    return split_solution(subset.split_at(data, feature, threshold),
                          leaf[0] ? leaf_solution() : stump_solution(side[0]),
                          leaf[1] ? leaf_solution() : stump_solution(side[1]));
}

DepthTwoSolver::DepthTwoSolver(const SearchSettings& settings, const Strategy& strategy,
                               const Objective& objective, const KernelChoice& kernel, Random& random)
    : settings_(settings),
      strategy_(strategy),
      objective_(objective),
      random_(random),
      scan_(objective, kernel, no_leaf_limits, settings, counters_),
      limited_scan_(
          settings.rules.leaves.any()
              ? std::make_unique<SplitScan>(objective, kernel, settings.rules.leaves, settings, counters_)
              : nullptr),
      plain_(settings, scan_),
      limited_(settings, objective, scan_, limited_scan_.get()) {
    auto brackets = objective.make_bracket_scanner(kernel);
    if (!brackets) return;
    bracket_scan_.emplace(std::move(brackets), settings, counters_);
    bracketing_.emplace(settings, *bracket_scan_);
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
    result.limit = std::min(limits.upper, settings_.split_cutoff(leaf_loss));
    const NodeBound bound =
        node_bound(objective_, subset, budget, leaf_loss, settings_,
                   std::max(result.cutoff(), std::min(leaf_loss, limits.clustering)) - tolerance);
    result.lower.allowed = std::max(limits.lower, bound.any);
    result.lower.free = std::min(leaf_loss, result.lower.allowed);
    if (!subset.has_thresholds() || result.upper <= bound.split + tolerance) {
        result.lower = Bound::both(result.upper);
        return result;
    }
    if (!settings_.rules.leaves.can_split(subset)) {
        result.lower.allowed = result.upper;
        return result;
    }
    result.lower.allowed = settings_.bound_by_splits(leaf_loss, result.lower.allowed);
    if (result.lower.allowed >= result.cutoff() - tolerance) {
        result.lower.allowed = std::min(result.lower.allowed, result.upper);
        return result;
    }

    const FeatureOrder* ranks = &order;
    if (strategy_.needs_discrepancy()) {
        own_order_ = order_features(objective_, settings_.rules.leaves, subset, true);
        ranks = &own_order_;
    }
    children_.reset(settings_, strategy_, objective_, subset, *ranks, budget,
                    std::max(bound.split, limits.lower), random_);
    // A caller that follows every incumbent needs its exact objective.
    Evaluator& evaluator = begin(subset, *ranks, budget, leaf_loss, !progress);
    const auto known_lower = [&] {
        const double splits = std::min(children_.min_lower(), children_.closed_lower());
        return std::min(result.upper, settings_.bound_by_splits(leaf_loss, splits));
    };
    while (!children_.empty() && children_.min_lower() < result.cutoff() - tolerance) {
        const Children::Slot slot = children_.top();
        // Known feature bounds do not change the order: features are scanned by rank, which finds good
        // incumbents early.
        const double known = limits.feature_lower.empty() ? 0 : limits.feature_lower[children_[slot].feature];
        if (std::max(children_[slot].lower.allowed, known) >= result.cutoff() - tolerance) {
            children_.close(slot, known);
            continue;
        }
        if (children_.refresh(slot, result.cutoff())) continue;
        const auto batches = choose_batches(subset, evaluator, slot, limits.feature_lower, result.cutoff());
        if (!evaluator.expand(batches, children_, result, stop)) {
            result.stopped = true;
            break;
        }
        if (progress) progress(std::max(result.lower.allowed, known_lower()), result);
    }
    result.rest_lower = known_lower();
    for (const SplitCandidate& candidate : result.candidates)
        children_.note_closed(candidate.feature, Bound::both(candidate.lower));
    children_.feature_lower(feature_lower_);
    for (std::size_t f = 0; f < limits.feature_lower.size(); ++f)
        feature_lower_[f] = std::max(feature_lower_[f], limits.feature_lower[f]);
    result.lower.allowed = std::min(result.upper, std::max(result.lower.allowed, known_lower()));
    result.lower.free = all_trees(budget)
                            ? result.lower.allowed
                            : std::max(result.lower.free, std::min(leaf_loss, children_.free_lower()));
    if (limits.exact && !result.exact() && (result.stopped || !confirm(subset, *ranks, result, stop))) {
        // The best split found is not known precisely enough.
        result.upper = leaf_loss;
        result.splits = false;
        result.stopped = true;
    }
    return result;
}

Evaluator& DepthTwoSolver::begin(const Subset& subset, const FeatureOrder& order, const Budget& budget,
                                 double leaf_loss, bool bounds_suffice) {
    const bool limited = !all_trees(budget);
    const bool bounded =
        (limited || bounds_suffice) && bracket_scan_ && bracket_scan_->prepare(subset, order);
    if (limited) {
        limited_.begin(subset, order, budget, leaf_loss, bounded ? &*bracket_scan_ : nullptr);
        return limited_;
    }
    if (bounded && bracketing_) return *bracketing_;
    plain_.begin(subset, order);
    return plain_;
}

std::span<SplitBatch> DepthTwoSolver::choose_batches(const Subset& subset, const Evaluator& evaluator,
                                                     Children::Slot slot,
                                                     std::span<const double> feature_lower, double cutoff) {
    if (const std::uint32_t most = evaluator.features_at_once(); most > 1)
        if (const auto batches = mix_features(most, feature_lower, cutoff); !batches.empty()) return batches;
    const std::uint32_t f = children_[slot].feature;
    std::uint32_t features[2] = {f, f};
    // Unless one of two orders is already ruled out, they share the lanes.
    if (const auto other = evaluator.joins_orders() ? subset.other_order(f) : std::nullopt;
        other && (feature_lower.empty() || feature_lower[*other] < cutoff - settings_.tolerance))
        features[*other < f ? 0 : 1] = *other;
    const std::size_t orders = features[0] < features[1] ? 2 : 1;
    std::uint32_t tracks[2];
    std::vector<std::uint32_t>* thresholds[2];
    for (std::size_t b = 0; b < orders; ++b) {
        batches_[b].feature = features[b];
        tracks[b] = children_.track(features[b], children_.left_leaves(slot));
        thresholds[b] = &batches_[b].thresholds;
    }
    if (evaluator.lanes() == 1)
        batches_[0].thresholds.assign(1, children_.select_threshold(slot, cutoff));
    else
        children_.spread(std::span(tracks, orders), evaluator.lanes(), cutoff, std::span(thresholds, orders));
    std::span<SplitBatch> batches(batches_, orders);
    if (batches.back().size() == 0) batches = batches.first(1);
    if (batches.front().size() == 0) batches = batches.last(1);
    for (SplitBatch& batch : batches) batch.forget();
    return batches;
}

// Thresholds of the first features by the strategy's priority; none if only one feature has open ones.
std::span<SplitBatch> DepthTwoSolver::mix_features(std::uint32_t most, std::span<const double> feature_lower,
                                                   double cutoff) {
    children_.first_of_tracks(firsts_, [&](const Child& child) {
        const double known = feature_lower.empty() ? 0 : feature_lower[child.feature];
        return std::max(child.lower.allowed, known) < cutoff - settings_.tolerance;
    });
    const std::size_t features = std::min<std::size_t>(firsts_.size(), most);
    if (features < 2) return {};
    const auto lanes = lanes_of_features(features);
    std::size_t used = 0;
    for (std::size_t b = 0; b < features; ++b) {
        const Child& child = children_[firsts_[b]];
        SplitBatch& batch = batches_[used];
        batch.feature = child.feature;
        std::vector<std::uint32_t>* const thresholds = &batch.thresholds;
        children_.spread(std::span(&child.track, 1), lanes[b], cutoff, std::span(&thresholds, 1));
        batch.forget();
        ++used;
    }
    return {batches_, used};
}

// Evaluates exactly the incumbent, which is known from above only, and the candidates whose lower bounds do
// not reach it.
bool DepthTwoSolver::confirm(const Subset& subset, const FeatureOrder& order, DepthTwoResult& result,
                             StopCondition& stop) {
    std::vector<SplitCandidate> candidates = std::move(result.candidates);
    result.candidates.clear();
    const DepthTwoResult known = result;
    result.upper = objective_.leaf_loss(subset);
    result.splits = false;
    const auto is_wanted = [&](const SplitCandidate& candidate) {
        const bool incumbent =
            known.splits && candidate.feature == known.feature && candidate.threshold == known.threshold;
        const double cutoff = std::min(known.upper, result.cutoff()) - settings_.tolerance;
        return !candidate.exact && (incumbent || candidate.lower < cutoff);
    };
    std::sort(candidates.begin(), candidates.end(),
              [](const SplitCandidate& a, const SplitCandidate& b) { return a.lower < b.lower; });
    prepared_ = nothing;
    bool prepared = false;
    std::vector<SplitCandidate*> wanted;  // of one feature
    for (;;) {
        const auto first = std::find_if(candidates.begin(), candidates.end(), is_wanted);
        if (first == candidates.end()) break;
        if (!prepared) scan_.prepare(subset, order);  // it decides how many lanes there are
        prepared = true;
        wanted.clear();
        for (auto candidate = first; candidate != candidates.end(); ++candidate)
            if (wanted.size() < scan_.lanes() && candidate->feature == first->feature &&
                is_wanted(*candidate))
                wanted.push_back(&*candidate);
        std::sort(wanted.begin(), wanted.end(), [](const SplitCandidate* a, const SplitCandidate* b) {
            return a->threshold < b->threshold;
        });
        SplitBatch& batch = batches_[0] = {first->feature, {}, {}, {}};
        for (const SplitCandidate* candidate : wanted) {
            batch.thresholds.push_back(candidate->threshold);
            batch.left.push_back(candidate->upper[0]);
            batch.right.push_back(candidate->upper[1]);
        }
        if (!scan_.solve(batch, stop)) return false;
        const double price = settings_.prices.of(batch.feature);
        for (std::size_t j = 0; j < wanted.size(); ++j) {
            SplitCandidate& candidate = *wanted[j];
            candidate.lower = price + batch.left[j] + batch.right[j];
            candidate.exact = true;
            result.offer(price + (batch.left[j] + batch.right[j]), candidate.feature, candidate.threshold,
                         {batch.left[j], batch.right[j]});
        }
    }
    double lower = result.rest_lower;
    for (const SplitCandidate& candidate : candidates) lower = std::min(lower, candidate.lower);
    result.lower = Bound::both(std::min(result.upper, std::max(result.lower.allowed, lower)));
    return true;
}

bool DepthTwoSolver::solve_split(const Subset& subset, const FeatureOrder& order, std::uint64_t id,
                                 std::uint32_t feature, std::uint32_t threshold, double (&free)[2],
                                 double (&enough)[2], StopCondition& stop) {
    if (prepared_ != id) {
        scan_.prepare(subset, order);
        if (limited_scan_) limited_scan_->prepare(subset, order);
        prepared_ = id;
    }
    SplitBatch& batch = batches_[0] = {feature, {threshold}, {}, {}};
    const auto solve_by = [&](SplitScan& scan, double (&sides)[2]) {
        batch.forget();
        if (!scan.solve(batch, stop)) return false;
        sides[0] = batch.left[0];
        sides[1] = batch.right[0];
        return true;
    };
    if (!solve_by(scan_, free)) return false;
    if (limited_scan_) return solve_by(*limited_scan_, enough);
    std::copy_n(free, 2, enough);
    return true;
}

}  // namespace codt
