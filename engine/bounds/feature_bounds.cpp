#include "bounds/feature_bounds.hpp"

#include <algorithm>
#include <iterator>

namespace codt {

namespace {

// The first entry behind a threshold.
template <class ByThreshold>
auto behind(ByThreshold& known, std::uint32_t t) {
    return std::upper_bound(known.begin(), known.end(), t,
                            [](std::uint32_t a, const auto& entry) { return a < entry.first; });
}

}  // namespace

void FeatureBounds::add(std::uint32_t f, std::uint32_t t, int side, Lower lower) {
    const std::size_t place = 2 * std::size_t{f} + static_cast<std::size_t>(side);
    if (place >= known_.size()) known_.resize(place + 1);
    ByThreshold& known = known_[place];
    bytes_ += sizeof(ByThreshold::value_type) + lower.capacity() * sizeof(double);
    const auto after = behind(known, t);
    if (after != known.begin() && std::prev(after)->first == t)
        std::prev(after)->second = std::move(lower);
    else
        known.emplace(after, t, std::move(lower));
}

FeatureBounds::Lower FeatureBounds::inherited(std::uint32_t f, std::uint32_t t, int side, double penalties,
                                              WorstCost& worst) const {
    const std::size_t place = 2 * std::size_t{f} + static_cast<std::size_t>(side);
    if (place >= known_.size()) return {};
    const ByThreshold& known = known_[place];
    const auto after = behind(known, t);
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
