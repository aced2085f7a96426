// The part of the depth-two terminal case that works with bounds instead of values: splits are bracketed,
// those that the bounds do not rule out are kept as candidates, and evaluated exactly if that is asked for.
#include <algorithm>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "terminal/depth_two.hpp"

namespace codt {

// Of the splits just bracketed, those that might be as good as the incumbent are not closed yet.
void DepthTwoSolver::keep_candidates(std::uint32_t feature, DepthTwoResult& result) {
    for (std::size_t j = 0; j < batch_.size(); ++j) {
        if (objectives_[j] > result.upper) continue;
        result.candidates.push_back({feature, batch_[j], objectives_[j], {left_[j], right_[j]}});
        objectives_[j] = std::numeric_limits<double>::infinity();
    }
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
        const double cutoff = std::min({known.upper, result.upper, known.cutoff}) - settings_.tolerance;
        return !candidate.exact && (incumbent || candidate.lower < cutoff);
    };
    std::sort(candidates.begin(), candidates.end(),
              [](const SplitCandidate& a, const SplitCandidate& b) { return a.lower < b.lower; });
    prepared_ = nothing;
    bool prepared = false;
    double lower = result.rest_lower;
    for (;;) {
        const auto first = std::find_if(candidates.begin(), candidates.end(), is_wanted);
        if (first == candidates.end()) break;
        const std::uint32_t feature = first->feature;
        wanted_.clear();
        for (auto candidate = first; candidate != candidates.end(); ++candidate)
            if (wanted_.size() < scanner_->lanes() && candidate->feature == feature && is_wanted(*candidate))
                wanted_.push_back(&*candidate);
        std::sort(wanted_.begin(), wanted_.end(), [](const SplitCandidate* a, const SplitCandidate* b) {
            return a->threshold < b->threshold;
        });
        batch_.clear();
        left_.clear();
        right_.clear();
        for (const SplitCandidate* candidate : wanted_) {
            batch_.push_back(candidate->threshold);
            left_.push_back(candidate->upper[0]);
            right_.push_back(candidate->upper[1]);
        }
        if (!prepared) prepare(subset, order);
        prepared = true;
        if (!evaluate(subset, feature, stop)) return false;
        for (std::size_t j = 0; j < wanted_.size(); ++j) {
            wanted_[j]->lower = settings_.lambda + left_[j] + right_[j];
            wanted_[j]->exact = true;
            offer(feature, batch_[j], left_[j], right_[j], result);
        }
    }
    for (const SplitCandidate& candidate : candidates) lower = std::min(lower, candidate.lower);
    result.lower = result.free_lower = std::min(result.upper, std::max(result.lower, lower));
    return true;
}

bool DepthTwoSolver::bracket(const Subset& subset, std::uint32_t feature, StopCondition& stop) {
    left_lower_.resize(batch_.size());
    right_lower_.resize(batch_.size());
    const BracketScanner::Brackets sides[2] = {{left_lower_.data(), left_.data()},
                                               {right_lower_.data(), right_.data()}};
    if (!bracket_scanner_->scan(feature, batch_, settings_.lambda, sides, stop)) return false;
    count_scan(subset);
    splits_.clear();
    for (std::size_t j = 0; j < batch_.size(); ++j) {
        CODT_CHECK(left_lower_[j] >= 0 && right_lower_[j] >= 0);
        CODT_CHECK(left_lower_[j] <= left_[j] && right_lower_[j] <= right_[j]);
        excess_ = std::max({excess_, left_[j] - left_lower_[j], right_[j] - right_lower_[j]});
        splits_.push_back({batch_[j], left_lower_[j], right_lower_[j]});
    }
    return true;
}

}  // namespace codt
