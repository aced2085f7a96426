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

bool SplitScan::solve(SplitBatch& batch, StopCondition& stop) {
    if (!scanner_->scan(batch.feature, batch.thresholds, settings_.lambda, batch.left.data(),
                        batch.right.data(), stop))
        return false;
    counters_.add_pass(*subset_, batch.size());
    for (std::size_t j = 0; j < batch.size(); ++j) {
        CODT_CHECK(batch.left[j] >= 0 && batch.right[j] >= 0);
        CODT_CHECK(j == 0 || batch.thresholds[j - 1] < batch.thresholds[j]);
        // Where all trees are allowed, L never falls and R never rises along a feature.
        CODT_CHECK(j == 0 || !all_trees_ || batch.left[j - 1] <= batch.left[j] + settings_.tolerance);
        CODT_CHECK(j == 0 || !all_trees_ || batch.right[j] <= batch.right[j - 1] + settings_.tolerance);
    }
    return true;
}

bool PlainEvaluator::expand(SplitBatch& batch, Children& children, DepthTwoResult& result,
                            StopCondition& stop) {
    children.upper_bounds(batch.feature, batch.thresholds, 0, batch.left.data(), batch.right.data());
    if (!scan_.solve(batch, stop)) return false;
    splits_.clear();
    objectives_.clear();
    for (std::size_t j = 0; j < batch.size(); ++j) {
        const std::uint32_t t = batch.thresholds[j];
        splits_.push_back({t, batch.left[j], batch.right[j]});
        objectives_.push_back(settings_.lambda + splits_.back().sum());
        result.offer(objectives_.back(), batch.feature, t, {batch.left[j], batch.right[j]});
    }
    children.evaluate(batch.feature, splits_, result.cutoff(), objectives_.data());
    return true;
}

bool BracketEvaluator::begin(const Subset& subset, const FeatureOrder& order) {
    subset_ = &subset;
    excess_ = 0;
    return scanner_->prepare(subset, order.rank);
}

bool BracketEvaluator::expand(SplitBatch& batch, Children& children, DepthTwoResult& result,
                              StopCondition& stop) {
    children.upper_bounds(batch.feature, batch.thresholds, excess_, batch.left.data(), batch.right.data());
    left_lower_.resize(batch.size());
    right_lower_.resize(batch.size());
    const BracketScanner::Brackets sides[2] = {{left_lower_.data(), batch.left.data()},
                                               {right_lower_.data(), batch.right.data()}};
    if (!scanner_->scan(batch.feature, batch.thresholds, settings_.lambda, sides, stop)) return false;
    counters_.add_pass(*subset_, batch.size());
    splits_.clear();
    objectives_.clear();
    for (std::size_t j = 0; j < batch.size(); ++j) {
        const std::uint32_t t = batch.thresholds[j];
        const double upper[2] = {batch.left[j], batch.right[j]};
        const double lower[2] = {left_lower_[j], right_lower_[j]};
        for (int side = 0; side < 2; ++side) {
            CODT_CHECK(lower[side] >= 0 && lower[side] <= upper[side]);
            excess_ = std::max(excess_, upper[side] - lower[side]);
        }
        splits_.push_back({t, lower[0], lower[1]});
        objectives_.push_back(settings_.lambda + splits_.back().sum());
        result.offer(settings_.lambda + (upper[0] + upper[1]), batch.feature, t, upper);
    }
    for (std::size_t j = 0; j < batch.size(); ++j) {
        if (objectives_[j] > result.upper) continue;
        result.candidates.push_back(
            {batch.feature, batch.thresholds[j], objectives_[j], {batch.left[j], batch.right[j]}});
        objectives_[j] = infinity;
    }
    children.evaluate(batch.feature, splits_, result.cutoff(), objectives_.data());
    return true;
}

void LimitedEvaluator::begin(const Subset& subset, const FeatureOrder& order, const Budget& budget,
                             double leaf_loss) {
    budget_ = budget;
    leaf_loss_ = leaf_loss;
    leaf_sides_.reset(objective_, subset);
    free_.prepare(subset, order);
    if (enough_) enough_->prepare(subset, order);
}

bool LimitedEvaluator::expand(SplitBatch& batch, Children& children, DepthTwoResult& result,
                              StopCondition& stop) {
    if (!budget_.limited())
        children.upper_bounds(batch.feature, batch.thresholds, 0, batch.left.data(), batch.right.data());
    if (!free_.solve(batch, stop) || !solve_enough(batch, result.cutoff() - settings_.tolerance, stop))
        return false;
    // One scan is enough for all ways to share the leaves out.
    const Budget::Shares shares = budget_.shares();
    for (std::uint32_t share = 0; share < shares.count(); ++share) {
        take(batch, shares.first + share, result);
        children.evaluate(children.track(batch.feature, shares.first + share), splits_, result.cutoff(),
                          objectives_.data());
    }
    return true;
}

// Solves the splits whose free bound does not reach the cutoff, for trees whose leaves hold enough.
bool LimitedEvaluator::solve_enough(const SplitBatch& free, double cutoff, StopCondition& stop) {
    if (!enough_) {
        enough_left_ = free.left;
        enough_right_ = free.right;
        return true;
    }
    enough_left_.assign(free.size(), infinity);
    enough_right_.assign(free.size(), infinity);
    useful_.feature = free.feature;
    for (std::size_t j = 0; j < free.size();) {
        useful_.thresholds.clear();
        places_.clear();
        for (; j < free.size() && useful_.size() < enough_->lanes(); ++j) {
            if (!(settings_.lambda + free.left[j] + free.right[j] < cutoff)) continue;
            useful_.thresholds.push_back(free.thresholds[j]);
            places_.push_back(j);
        }
        if (places_.empty()) continue;
        useful_.forget();
        if (!enough_->solve(useful_, stop)) return false;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            enough_left_[places_[i]] = useful_.left[i];
            enough_right_[places_[i]] = useful_.right[i];
        }
    }
    return true;
}

// Takes what the scans have found if the left side gets `left_leaves` leaves: a side is a leaf where it has
// only one, or where a split does not lower its loss enough.
void LimitedEvaluator::take(const SplitBatch& free, std::uint32_t left_leaves, DepthTwoResult& result) {
    const bool leaf[2] = {budget_.of_side(0, left_leaves).leaves == 1,
                          budget_.of_side(1, left_leaves).leaves == 1};
    splits_.clear();
    objectives_.clear();
    for (std::size_t j = 0; j < free.size(); ++j) {
        const std::uint32_t t = free.thresholds[j];
        const double leaves[2] = {leaf_sides_.left(free.feature, t), leaf_sides_.right(free.feature, t)};
        splits_.push_back({t, leaf[0] ? leaves[0] : free.left[j], leaf[1] ? leaves[1] : free.right[j]});
        if (std::isinf(enough_left_[j])) {  // not worth a scan: no more is known than the free bound
            objectives_.push_back(settings_.lambda + splits_.back().left_lower + splits_.back().right_lower);
            continue;
        }
        const double sides[2] = {settings_.best_allowed(leaves[0], leaf[0] ? leaves[0] : enough_left_[j]),
                                 settings_.best_allowed(leaves[1], leaf[1] ? leaves[1] : enough_right_[j])};
        const double objective = settings_.lambda + sides[0] + sides[1];
        objectives_.push_back(objective);
        if (settings_.allows(leaf_loss_, objective)) result.offer(objective, free.feature, t, sides, leaf);
    }
}

}  // namespace codt
