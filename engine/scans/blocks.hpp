// The blocks that the scans cut a sorted order into.
//
// Blocks end where values change. A block holds either a single value, however often it occurs, or several
// values with no more samples together than the kernel says. Splits are possible at block ends, where they
// are always evaluated, and inside blocks of several values, which are walked only if a bound says that it
// might pay off.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/subset.hpp"

namespace codt {

// Long enough that the work per block costs little per sample, short enough for tight bounds.
inline constexpr std::uint32_t block_size = 64;

// For bounds by curvature: what they lose in a block depends on its share of all samples, so that blocks of
// larger subsets can be longer, at less work for each sample.
constexpr std::uint32_t block_size_for(std::uint32_t samples, std::uint32_t shortest) {
    return samples < 2'000 ? shortest : samples < 8'000 ? 2 * shortest : 4 * shortest;
}

// Calls visit(begin, end, first_group, groups) for every block; `ends` are the ends of the groups of equal
// values, `longest` is the most samples of several values together.
template <class Visit>
void for_each_block(std::span<const std::uint32_t> ends, std::uint32_t longest, Visit&& visit) {
    std::uint32_t begin = 0;
    for (std::size_t group = 0; group < ends.size();) {
        const std::size_t first = group;
        // At most this many groups can end within as many samples.
        const std::size_t most = std::min<std::size_t>(ends.size(), group + longest);
        group = static_cast<std::size_t>(std::upper_bound(ends.begin() + static_cast<std::ptrdiff_t>(group),
                                                          ends.begin() + static_cast<std::ptrdiff_t>(most),
                                                          begin + longest) -
                                         ends.begin());
        group = std::max(group, first + 1);
        const std::uint32_t end = ends[group - 1];
        visit(begin, end, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(group - first));
        begin = end;
    }
}

// The blocks of all features, one after another, or anything else of which each feature has any number.
template <class T>
class PerFeature {
 public:
    // Refills it: fill(f) appends what feature f has.
    template <class Fill>
    void refill(std::uint32_t features, Fill&& fill) {
        items.clear();
        first_.clear();
        for (std::uint32_t f = 0; f < features; ++f) {
            first_.push_back(items.size());
            fill(f);
        }
        first_.push_back(items.size());
    }

    const T* of(std::uint32_t f) const { return items.data() + first_[f]; }
    std::uint32_t count(std::uint32_t f) const {
        return static_cast<std::uint32_t>(first_[f + 1] - first_[f]);
    }

    std::vector<T> items;

 private:
    std::vector<std::size_t> first_;  // of each feature, and the end
};

// Calls visit(f) for every feature that can be split on, in the order of `feature_rank`.
template <class Visit>
void for_each_stream(const Subset& subset, std::span<const std::uint32_t> feature_rank, Visit&& visit) {
    std::vector<std::uint32_t> order(subset.features());
    for (std::uint32_t f = 0; f < subset.features(); ++f) order[feature_rank[f]] = f;
    for (const std::uint32_t f : order)
        if (subset.groups(f) > 1) visit(f);
}

}  // namespace codt
