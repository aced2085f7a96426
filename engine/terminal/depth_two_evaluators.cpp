#include "terminal/depth_two_evaluators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/check.hpp"

namespace codt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

bool PlainEvaluator::expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                            StopCondition& stop) {
    for (SplitBatch& batch : batches)
        children.upper_bounds(batch.feature, batch.thresholds, 0, batch.left.data(), batch.right.data());
    if (!scan_.solve(batches, stop)) return false;
    for (const SplitBatch& batch : batches)
        for (std::size_t j = 0; j < batch.size(); ++j)
            result.offer(settings_.prices.of(batch.feature) + (batch.left[j] + batch.right[j]), batch.feature,
                         batch.thresholds[j], {batch.left[j], batch.right[j]});
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

bool BracketEvaluator::begin(const Subset& subset, const FeatureOrder& order) {
    subset_ = &subset;
    excess_ = 0;
    return scanner_->prepare(subset, order.rank);
}

bool BracketEvaluator::expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                              StopCondition& stop) {
    BracketScanner::Brackets brackets[2];
    std::size_t splits = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
        SplitBatch& batch = batches[b];
        children.upper_bounds(batch.feature, batch.thresholds, excess_, batch.left.data(),
                              batch.right.data());
        Lower& lower = lower_[b];
        lower.left.resize(batch.size());
        lower.right.resize(batch.size());
        brackets[b] = {{batch.feature, batch.thresholds},
                       {lower.left.data(), lower.right.data()},
                       {batch.left.data(), batch.right.data()}};
        splits += batch.size();
    }
    if (!scanner_->scan(std::span(brackets, batches.size()), settings_.prices, stop)) return false;
    counters_.add_pass(*subset_, splits);
    for (std::size_t b = 0; b < batches.size(); ++b) {
        const SplitBatch& batch = batches[b];
        for (std::size_t j = 0; j < batch.size(); ++j) {
            const double upper[2] = {batch.left[j], batch.right[j]};
            const double lower[2] = {lower_[b].left[j], lower_[b].right[j]};
            for (int side = 0; side < 2; ++side) {
                CODT_CHECK(lower[side] >= 0 && lower[side] <= upper[side]);
                excess_ = std::max(excess_, upper[side] - lower[side]);
            }
            result.offer(settings_.prices.of(batch.feature) + (upper[0] + upper[1]), batch.feature,
                         batch.thresholds[j], upper);
        }
    }
    for (std::size_t b = 0; b < batches.size(); ++b) take(batches[b], lower_[b], children, result);
    return true;
}

void BracketEvaluator::take(const SplitBatch& batch, const Lower& lower, Children& children,
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
                             double leaf_loss) {
    budget_ = budget;
    leaf_loss_ = leaf_loss;
    leaf_sides_.reset(objective_, subset);
    free_.prepare(subset, order);
    if (enough_) enough_->prepare(subset, order);
}

bool LimitedEvaluator::expand(std::span<SplitBatch> batches, Children& children, DepthTwoResult& result,
                              StopCondition& stop) {
    if (!budget_.limited())
        for (SplitBatch& batch : batches)
            children.upper_bounds(batch.feature, batch.thresholds, 0, batch.left.data(), batch.right.data());
    if (!free_.solve(batches, stop)) return false;
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

// Solves the splits whose free bound does not reach the cutoff, for trees whose leaves hold enough.
bool LimitedEvaluator::solve_enough(const SplitBatch& free, double cutoff, EnoughSides& enough,
                                    StopCondition& stop) {
    if (!enough_) {
        enough = {free.left, free.right};
        return true;
    }
    enough.left.assign(free.size(), infinity);
    enough.right.assign(free.size(), infinity);
    useful_.feature = free.feature;
    const double price = settings_.prices.of(free.feature);
    for (std::size_t j = 0; j < free.size();) {
        useful_.thresholds.clear();
        places_.clear();
        for (; j < free.size() && useful_.size() < enough_->lanes(); ++j) {
            if (!(price + free.left[j] + free.right[j] < cutoff)) continue;
            useful_.thresholds.push_back(free.thresholds[j]);
            places_.push_back(j);
        }
        if (places_.empty()) continue;
        useful_.forget();
        if (!enough_->solve(useful_, stop)) return false;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            enough.left[places_[i]] = useful_.left[i];
            enough.right[places_[i]] = useful_.right[i];
        }
    }
    return true;
}

// Takes what the scans have found if the left side gets `left_leaves` leaves: a side is a leaf where it has
// only one, or where a split does not lower its loss enough.
void LimitedEvaluator::take(const SplitBatch& free, const EnoughSides& enough, std::uint32_t left_leaves,
                            DepthTwoResult& result) {
    const bool leaf[2] = {budget_.of_side(0, left_leaves).leaves == 1,
                          budget_.of_side(1, left_leaves).leaves == 1};
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
