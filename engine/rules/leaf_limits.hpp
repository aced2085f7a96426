// The least that a leaf must hold: a number of samples, a weight.
//
// A split is possible where both sides hold enough: on a sorted feature that is one range of thresholds, so
// open intervals start as that range and no other split is ever considered. The root may always be a leaf.
//
// Effect on the bounds: look-ahead and clustering bound all trees, and so the allowed ones. The subset
// monotonicity of the paper fails, because more samples allow more splits, and with it every similarity
// bound. But all similarity bounds hold for the optimum without these limits, which is never larger. So, as
// for a least decrease (settings.hpp), every subproblem also has a bound on that "free" optimum, and
// neighbours bound each other by it. The search never splits at thresholds where one side would not hold
// enough, but the free optimum may lie there: what their nearest evaluated threshold implies for them is part
// of its bound (Children::forbidden_lower). In the depth-two terminal case the plain scan finds the free
// optimum of both sides of every split of a batch, and only the splits it does not rule out are scanned again
// with the limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/subset.hpp"

namespace codt {

struct LeafLimits {
    std::uint32_t samples = 1;
    double weight = 0;                                       // none if zero
    std::span<const double> weights;                         // of every row, if there is a least weight
    std::shared_ptr<const std::vector<double>> own_weights;  // what `weights` refers to

    bool any() const { return samples > 1 || weight > 0; }

    // What some samples amount to: their number and their weight.
    struct Load {
        std::uint32_t samples = 0;
        double weight = 0;

        Load operator-(const Load& part) const { return {samples - part.samples, weight - part.weight}; }
    };
    void add(std::uint32_t row, Load& load) const {
        ++load.samples;
        if (weight > 0) load.weight += weights[row];
    }
    bool enough(const Load& load) const { return load.samples >= samples && load.weight >= weight; }
    Load load(std::span<const std::uint32_t> rows) const {
        Load sum;
        for (const std::uint32_t row : rows) add(row, sum);
        return sum;
    }

    // The thresholds of feature f at which both sides hold enough: first <= i < end.
    struct Thresholds {
        std::uint32_t first, end;
        bool contain(std::uint32_t i) const { return first <= i && i < end; }
    };
    Thresholds thresholds(const Subset& subset, std::uint32_t f) const {
        const std::uint32_t count = subset.thresholds(f);
        if (!any()) return {0, count};
        const auto ends = subset.group_end(f);
        Thresholds range{count, 0};
        const Load whole = load(subset.samples());
        Load left;
        std::uint32_t k = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            for (; k < ends[i]; ++k) add(subset.samples()[subset.order(f)[k]], left);
            if (!enough(left)) continue;
            if (!enough(whole - left)) break;
            range.first = std::min(range.first, i);
            range.end = i + 1;
        }
        if (range.end == 0) range.first = 0;
        return range;
    }

    bool can_split(const Subset& subset) const {
        if (!any()) return subset.has_thresholds();
        for (std::uint32_t f = 0; f < subset.features(); ++f)
            if (const Thresholds range = thresholds(subset, f); range.first < range.end) return true;
        return false;
    }
};

inline const LeafLimits no_leaf_limits;

}  // namespace codt
