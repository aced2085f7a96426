#include "bounds/feature_bounds.hpp"

#include <algorithm>
#include <iterator>

namespace codt {

void FeatureBounds::add(std::uint32_t f, std::uint32_t t, int side, Lower lower) {
    constexpr std::size_t entry = sizeof(ByThreshold::value_type) + 4 * sizeof(void*);
    bytes_ += entry + lower.capacity() * sizeof(double);
    known_[{f, side}].insert_or_assign(t, std::move(lower));
}

FeatureBounds::Lower FeatureBounds::inherited(std::uint32_t f, std::uint32_t t, int side, double penalties,
                                              WorstCost& worst) const {
    const auto found = known_.find({f, side});
    if (found == known_.end()) return {};
    const ByThreshold& known = found->second;
    const auto after = known.upper_bound(t);
    Lower lower;
    const auto take = [&](const Lower& neighbour, double less) {
        lower.resize(neighbour.size(), 0.0);
        for (std::size_t g = 0; g < lower.size(); ++g) lower[g] = std::max(lower[g], neighbour[g] - less);
    };
    // The left side of a lower threshold is the smaller one, the right side the larger.
    if (after != known.begin()) {
        const auto before = std::prev(after);
        take(before->second, side == 0 ? penalties : worst.between(f, before->first, t));
    }
    if (after != known.end()) take(after->second, side == 0 ? worst.between(f, t, after->first) : penalties);
    return lower;
}

}  // namespace codt
