#include "terminal/depth_two_evaluators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/check.hpp"

namespace codt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void offer_all(std::span<const SplitBatch> batches, const Prices& prices, DepthTwoResult& result) {
    for (const SplitBatch& batch : batches)
        for (std::size_t j = 0; j < batch.size(); ++j)
            result.offer(prices.of(batch.feature) + (batch.left[j] + batch.right[j]), batch.feature,
                         batch.thresholds[j], {batch.left[j], batch.right[j]});
}

}  // namespace

void SplitBatch::forget() {
    left.assign(size(), infinity);
    right.assign(size(), infinity);
}

SplitScan::SplitScan(const Objective& objective, const KernelChoice& kernel, const LeafLimits& limits,
                     const SearchSettings& settings, ScanCounters& counters)
    : settings_(settings),
      counters_(counters),
      scanner_(objective.make_scanner(kernel, limits)),
      all_trees_(!limits.any()) {}

void SplitScan::prepare(const Subset& subset, const FeatureOrder& order) {
    subset_ = &subset;
    scanner_->prepare(subset, order.rank);
}

bool SplitScan::solve(std::span<SplitBatch> batches, StopCondition& stop) {
    Scanner::Values values[most_features_at_once];
    std::size_t splits = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
        SplitBatch& batch = batches[b];
        values[b] = {{batch.feature, batch.thresholds}, batch.left.data(), batch.right.data()};
        splits += batch.size();
    }
    if (!scanner_->scan(std::span(values, batches.size()), settings_.prices, stop)) return false;
    counters_.add_pass(*subset_, splits);
    for (const SplitBatch& batch : batches)
        for (std::size_t j = 0; j < batch.size(); ++j) {
            CODT_CHECK(batch.left[j] >= 0 && batch.right[j] >= 0);
            CODT_CHECK(j == 0 || batch.thresholds[j - 1] < batch.thresholds[j]);
            // Where all trees are allowed, L never falls and R never rises along a feature.
            CODT_CHECK(j == 0 || !all_trees_ || batch.left[j - 1] <= batch.left[j] + settings_.tolerance);
            CODT_CHECK(j == 0 || !all_trees_ || batch.right[j] <= batch.right[j - 1] + settings_.tolerance);
        }
    return true;
}

bool BracketScan::prepare(const Subset& subset, const FeatureOrder& order) {
    subset_ = &subset;
    excess_ = 0;
    return scanner_->prepare(subset, order.rank);
}

bool BracketScan::solve(std::span<SplitBatch> batches, Lower* lower, StopCondition& stop) {
    BracketScanner::Brackets brackets[2];
    std::size_t splits = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
        SplitBatch& batch = batches[b];
        lower[b].left.resize(batch.size());
        lower[b].right.resize(batch.size());
        brackets[b] = {{batch.feature, batch.thresholds},
                       {lower[b].left.data(), lower[b].right.data()},
                       {batch.left.data(), batch.right.data()}};
        splits += batch.size();
    }
    if (!scanner_->scan(std::span(brackets, batches.size()), settings_.prices, stop)) return false;
    counters_.add_pass(*subset_, splits);
    for (std::size_t b = 0; b < batches.size(); ++b)
        for (std::size_t j = 0; j < batches[b].size(); ++j) {
            const double upper[2] = {batches[b].left[j], batches[b].right[j]};
            const double from_below[2] = {lower[b].left[j], lower[b].right[j]};
            for (int side = 0; side < 2; ++side) {
                CODT_CHECK(from_below[side] >= 0 && from_below[side] <= upper[side]);
                excess_ = std::max(excess_, upper[side] - from_below[side]);
            }
        }
    return true;
}

bool PlainEvaluator::expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                            StopCondition& stop) {
    for (SplitBatch& batch : batches)
        children.upper_bounds(batch.feature, batch.thresholds, 0, batch.left.data(), batch.right.data());
    if (!scan_.solve(batches, stop)) return false;
    offer_all(batches, settings_.prices, result);
    for (const SplitBatch& batch : batches) {
        splits_.clear();
        objectives_.clear();
        for (std::size_t j = 0; j < batch.size(); ++j) {
            splits_.push_back({batch.thresholds[j], batch.left[j], batch.right[j]});
            objectives_.push_back(settings_.prices.of(batch.feature) + splits_.back().sum());
        }
        children.evaluate(batch.feature, splits_, result.cutoff(), objectives_.data());
    }
    return true;
}

bool BracketEvaluator::expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                              StopCondition& stop) {
    for (SplitBatch& batch : batches)
        children.upper_bounds(batch.feature, batch.thresholds, scan_.excess(), batch.left.data(),
                              batch.right.data());
    if (!scan_.solve(batches, lower_, stop)) return false;
    offer_all(batches, settings_.prices, result);
    for (std::size_t b = 0; b < batches.size(); ++b) take(batches[b], lower_[b], children, result);
    return true;
}

void BracketEvaluator::take(const SplitBatch& batch, const BracketScan::Lower& lower, Children& children,
                            DepthTwoResult& result) {
    splits_.clear();
    objectives_.clear();
    for (std::size_t j = 0; j < batch.size(); ++j) {
        splits_.push_back({batch.thresholds[j], lower.left[j], lower.right[j]});
        objectives_.push_back(settings_.prices.of(batch.feature) + splits_.back().sum());
        if (objectives_[j] > result.upper) continue;
        result.candidates.push_back(
            {batch.feature, batch.thresholds[j], objectives_[j], {batch.left[j], batch.right[j]}});
        objectives_[j] = infinity;
    }
    children.evaluate(batch.feature, splits_, result.cutoff(), objectives_.data());
}

void LimitedEvaluator::begin(const Subset& subset, const FeatureOrder& order, const Budget& budget,
                             double leaf_loss, BracketScan* brackets) {
    budget_ = budget;
    leaf_loss_ = leaf_loss;
    brackets_ = brackets;
    leaf_sides_.reset(objective_, subset);
    if (!brackets || !enough_) free_.prepare(subset, order);
    if (enough_) enough_->prepare(subset, order);
}

bool LimitedEvaluator::expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                              StopCondition& stop) {
    if (!bound(batches, children, stop)) return false;
    const double cutoff = result.cutoff() - settings_.tolerance;
    for (std::size_t b = 0; b < batches.size(); ++b)
        if (!solve_enough(batches[b], cutoff, enough_sides_[b], stop)) return false;
    // One scan is enough for all ways to share the leaves out.
    const Budget::Shares shares = budget_.shares();
    for (std::uint32_t share = 0; share < shares.count(); ++share)
        for (std::size_t b = 0; b < batches.size(); ++b) {
            take(batches[b], enough_sides_[b], shares.first + share, result);
            children.evaluate(children.track(batches[b].feature, shares.first + share), splits_,
                              result.cutoff(), objectives_.data());
        }
    return true;
}

bool LimitedEvaluator::bound(std::span<SplitBatch> batches, Children& children, StopCondition& stop) {
    if (!budget_.limited())
        for (SplitBatch& batch : batches)
            children.upper_bounds(batch.feature, batch.thresholds, brackets_ ? brackets_->excess() : 0,
                                  batch.left.data(), batch.right.data());
    if (!brackets_) return free_.solve(batches, stop);
    if (!brackets_->solve(batches, lower_, stop)) return false;
    for (std::size_t b = 0; b < batches.size(); ++b) {
        std::swap(batches[b].left, lower_[b].left);
        std::swap(batches[b].right, lower_[b].right);
    }
    return true;
}

// The least that both sides of a split lose together, over all ways to share the leaves out, if a side that
// may split attains so much.
double LimitedEvaluator::least_sum(std::uint32_t f, std::uint32_t t, double left, double right) {
    if (!budget_.limited()) return left + right;
    const Budget::Shares shares = budget_.shares();
    double least = infinity;
    for (std::uint32_t share = 0; share < shares.count(); ++share) {
        const double sides[2] = {is_leaf(0, shares.first + share) ? leaf_sides_.left(f, t) : left,
                                 is_leaf(1, shares.first + share) ? leaf_sides_.right(f, t) : right};
        least = std::min(least, sides[0] + sides[1]);
    }
    return least;
}

// Solves the splits whose free bound does not reach the cutoff, for trees whose leaves hold enough. Those
// with the least bounds come first: what they attain may spare the others.
bool LimitedEvaluator::solve_enough(const SplitBatch& free, double cutoff, EnoughSides& enough,
                                    StopCondition& stop) {
    if (!enough_ && !brackets_) {
        enough = {free.left, free.right};
        return true;
    }
    SplitScan& scan = enough_ ? *enough_ : free_;
    const std::uint32_t f = useful_.feature = free.feature;
    const double price = settings_.prices.of(f);
    enough.left.assign(free.size(), infinity);
    enough.right.assign(free.size(), infinity);
    bounds_.clear();
    places_.clear();
    for (std::size_t j = 0; j < free.size(); ++j) {
        bounds_.push_back(price + least_sum(f, free.thresholds[j], free.left[j], free.right[j]));
        if (bounds_[j] < cutoff) places_.push_back(j);
    }
    std::sort(places_.begin(), places_.end(),
              [&](std::size_t a, std::size_t b) { return bounds_[a] < bounds_[b]; });
    for (auto next = places_.begin(); next != places_.end();) {
        const auto first = next;
        while (next != places_.end() && next - first < scan.lanes() && bounds_[*next] < cutoff) ++next;
        if (next == first) break;
        std::sort(first, next);
        useful_.thresholds.clear();
        for (auto place = first; place != next; ++place)
            useful_.thresholds.push_back(free.thresholds[*place]);
        useful_.forget();
        if (!scan.solve(useful_, stop)) return false;
        for (std::size_t i = 0; i < useful_.size(); ++i) {
            const std::size_t place = first[static_cast<std::ptrdiff_t>(i)];
            enough.left[place] = useful_.left[i];
            enough.right[place] = useful_.right[i];
            const std::uint32_t t = useful_.thresholds[i];
            const double attained =
                price + least_sum(f, t, settings_.best_allowed(leaf_sides_.left(f, t), useful_.left[i]),
                                  settings_.best_allowed(leaf_sides_.right(f, t), useful_.right[i]));
            if (settings_.allows(leaf_loss_, attained))
                cutoff = std::min(cutoff, attained - settings_.tolerance);
        }
    }
    return true;
}

// Takes what the scans have found if the left side gets `left_leaves` leaves: a side is a leaf where it has
// only one, or where a split does not lower its loss enough.
void LimitedEvaluator::take(const SplitBatch& free, const EnoughSides& enough, std::uint32_t left_leaves,
                            DepthTwoResult& result) {
    const bool leaf[2] = {is_leaf(0, left_leaves), is_leaf(1, left_leaves)};
    const double price = settings_.prices.of(free.feature);
    splits_.clear();
    objectives_.clear();
    for (std::size_t j = 0; j < free.size(); ++j) {
        const std::uint32_t t = free.thresholds[j];
        const double leaves[2] = {leaf_sides_.left(free.feature, t), leaf_sides_.right(free.feature, t)};
        splits_.push_back({t, leaf[0] ? leaves[0] : free.left[j], leaf[1] ? leaves[1] : free.right[j]});
        if (std::isinf(enough.left[j])) {  // not worth a scan: no more is known than the free bound
            objectives_.push_back(price + splits_.back().left_lower + splits_.back().right_lower);
            continue;
        }
        const double sides[2] = {settings_.best_allowed(leaves[0], leaf[0] ? leaves[0] : enough.left[j]),
                                 settings_.best_allowed(leaves[1], leaf[1] ? leaves[1] : enough.right[j])};
        const double objective = price + sides[0] + sides[1];
        objectives_.push_back(objective);
        if (settings_.allows(leaf_loss_, objective)) result.offer(objective, free.feature, t, sides, leaf);
    }
}

}  // namespace codt
