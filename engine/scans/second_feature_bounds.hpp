// What each second feature is worth on the sides of a root feature's thresholds, from below.
//
// Let V(t) be the least objective of a tree of depth at most one that splits on one second feature, or not
// at all, on the left side of threshold t. From a threshold to a later one the left side only gains samples,
// and a tree loses no less on more samples, so V never falls; on the right side it never rises. So V at an
// evaluated threshold bounds V at all later ones on the left, and at all earlier ones on the right. Where
// such a bound reaches the objective of a tree that is known for the side, the second feature cannot improve
// it. If it can improve no side of any threshold of a batch, it is not walked.
//
// Where a root feature needs many batches, the thresholds of the later ones lie close to evaluated ones, and
// one or two second features are left of ten. But what a feature is worth by itself has to be found out
// first: blocks that the best of all features would rule out may have to be walked. So bounds are kept from
// the third batch of a root feature on, and no longer if they turn out to be useless; and only for many
// samples, as most root features of small subsets have two batches or three.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "data/subset.hpp"
#include "scans/scanner.hpp"

namespace codt {

class SecondFeatureBounds {
 public:
    // Forgets everything. Second features are numbered from zero, in the order in which they are walked.
    void reset(const Subset& subset, std::size_t second_features) {
        count_ = subset.size() < least_samples ? 0 : second_features;
        if (count_ == 0) return;
        roots_.resize(subset.features());
        for (Root& root : roots_) {
            root.batches = 0;
            root.evaluated.clear();
        }
        kept_.clear();
        most_kept_ = std::max<std::size_t>(4096, std::size_t{subset.size()} * subset.features() / 16);
    }

    // Counts a batch of a root feature, and returns whether it is to be run with bounds.
    bool wants(std::uint32_t feature) {
        if (count_ == 0 || roots_[feature].batches == given_up || feature % every != 0) return false;
        return roots_[feature].batches++ >= batches_without;
    }

    // Begins a batch with the bounds that are known for its thresholds.
    void begin(const Cuts& cuts) {
        root_ = &roots_[cuts.feature];
        thresholds_ = cuts.thresholds;
        walked_ = 0;
        now_.assign(thresholds_.size() * row(), 0);
        std::vector<double> sums(count_, 0);
        const auto& evaluated = root_->evaluated;
        for (std::size_t lane = 0; lane < thresholds_.size(); ++lane) {
            const auto after =
                std::ranges::lower_bound(evaluated, thresholds_[lane], {}, &Evaluated::threshold);
            for (std::size_t s = 0; s < count_; ++s) {
                if (after != evaluated.begin()) raise(s, 0, lane, kept_[std::prev(after)->first + 2 * s]);
                if (after != evaluated.end()) raise(s, 1, lane, kept_[after->first + 2 * s + 1]);
                sums[s] += lower(s, 0, lane) + lower(s, 1, lane);
            }
        }
        order_.resize(count_);
        std::iota(order_.begin(), order_.end(), 0U);
        std::ranges::stable_sort(order_, {}, [&](std::uint32_t s) { return sums[s]; });
    }

    // The second features, those with the lowest bounds first: what they attain rules out others.
    std::span<const std::uint32_t> order() const { return order_; }

    double lower(std::size_t s, std::size_t side, std::size_t lane) const {
        return now_[lane * row() + 2 * s + side];
    }
    // What a pass over second feature s has shown.
    void raise(std::size_t s, std::size_t side, std::size_t lane, double value) {
        double& bound = now_[lane * row() + 2 * s + side];
        bound = std::max(bound, value);
    }
    void note_walk() { ++walked_; }

    // Ends the batch and keeps its bounds, as long as there is room for them.
    void keep() {
        // In the first batch with bounds there was nothing to go by.
        if (!root_->evaluated.empty() && 4 * walked_ > 3 * count_) root_->batches = given_up;
        if (kept_.size() + now_.size() > most_kept_) return;
        auto& evaluated = root_->evaluated;
        const auto old = static_cast<std::ptrdiff_t>(evaluated.size());
        for (std::size_t lane = 0; lane < thresholds_.size(); ++lane)
            evaluated.push_back({thresholds_[lane], kept_.size() + lane * row()});
        kept_.insert(kept_.end(), now_.begin(), now_.end());
        std::inplace_merge(evaluated.begin(), evaluated.begin() + old, evaluated.end(),
                           [](const Evaluated& a, const Evaluated& b) { return a.threshold < b.threshold; });
    }

 private:
#ifdef CODT_ASSERTS  // small problems, too, which all tests are made of, but not for all of their features
    static constexpr std::uint32_t least_samples = 2, batches_without = 0, every = 2;
#else
    static constexpr std::uint32_t least_samples = 1U << 16U, batches_without = 2, every = 1;
#endif
    static constexpr std::uint32_t given_up = UINT32_MAX;

    struct Evaluated {
        std::uint32_t threshold;
        std::size_t first;  // where its bounds begin in `kept_`
    };
    struct Root {
        std::uint32_t batches = 0;
        std::vector<Evaluated> evaluated;  // ascending
    };
    std::size_t row() const { return 2 * count_; }

    std::size_t count_ = 0;  // of second features; zero: not in use
    std::vector<Root> roots_;
    std::vector<double> kept_;   // by threshold, second feature and side
    std::size_t most_kept_ = 0;  // an eighth of the memory of the sorted orders

    // The batch under way.
    Root* root_ = nullptr;
    std::span<const std::uint32_t> thresholds_;
    std::vector<double> now_;  // by lane, second feature and side
    std::vector<std::uint32_t> order_;
    std::size_t walked_ = 0;
};

}  // namespace codt
