#include "bounds/cross_features.hpp"

#include <algorithm>
#include <bit>

namespace codt {

namespace {

// By value, unlike std::max: no branches.
double larger(double a, double b) {
    return a > b ? a : b;
}

// The largest float that is no larger than `value`, which is not negative and may be beyond all floats.
float rounded_down(double value) {
    constexpr double largest = std::numeric_limits<float>::max();
    const auto nearest = static_cast<float>(value < largest ? value : largest);
    // The float before a positive one has the bits of the whole number before.
    const std::uint32_t too_high = static_cast<double>(nearest) > value ? 1 : 0;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - too_high);
}

// An evaluated split: bounds on its sides, the worst costs of the samples there, and by sample its cost,
// negative if it goes left.
template <class Cost>
struct Evaluated {
    double left, right;
    double left_cost, right_cost;
    const Cost* cost;

    // Bounds on the sides of a threshold, with the costs of the samples on its left by their side here.
    double to_left(double left_left, double right_left) const {
        return larger(left - (left_cost - left_left), right - (right_cost - right_left));
    }
    double to_right(double left_left, double right_left) const {
        return larger(right - right_left, left - left_left);
    }
};

// Sums of costs along an order, from nothing on: the last one, the least and the largest.
template <class Sum>
struct Walk {
    Sum end = 0, least = 0, most = 0;
};
// In four parts side by side, because each sum waits for the one before.
template <class Sum, class Cost>
Walk<Sum> walk_along(const Cost* cost, const std::uint32_t* order, std::uint32_t count) {
    constexpr std::uint32_t parts = 4;
    const std::uint32_t length = count / parts;
    Walk<Sum> part[parts];
    const auto step = [](Walk<Sum>& walk, Sum next) {
        walk.end += next;
        walk.least = walk.end < walk.least ? walk.end : walk.least;
        walk.most = walk.end > walk.most ? walk.end : walk.most;
    };
    for (std::uint32_t k = 0; k < length; ++k)
        for (std::uint32_t p = 0; p < parts; ++p) step(part[p], cost[order[p * length + k]]);
    for (std::uint32_t k = parts * length; k < count; ++k) step(part[parts - 1], cost[order[k]]);
    Walk<Sum> whole;
    for (const Walk<Sum>& one : part) {
        whole.least = std::min(whole.least, whole.end + one.least);
        whole.most = std::max(whole.most, whole.end + one.most);
        whole.end += one.end;
    }
    return whole;
}

// Whether a range has a threshold where the bounds on both sides may reach the target. Let d be the cost of
// the samples that go left there and right in the evaluated split, or the other way round: the bounds add up
// to sum - d, or crosswise to sum - (total - d), unless one of them is below zero and does not count. That on
// the left side alone is highest at the last threshold, that on the right side at the first. Places between
// equal values are looked at like thresholds.
template <class Sum, class Cost>
bool promises(const ThresholdRange& range, const Subset& subset, const Evaluated<Cost>& split,
              double target) {
    const auto order = subset.order(range.feature);
    const auto ends = subset.group_end(range.feature);
    const std::uint32_t from = ends[range.first], to = ends[range.last];
    auto d = static_cast<Sum>(split.left_cost);
    for (std::uint32_t k = 0; k < from; ++k) d += split.cost[order[k]];
    const auto first = static_cast<double>(d);
    const Walk<Sum> walk = walk_along<Sum>(split.cost, order.data() + from, to - from);
    const auto last = static_cast<double>(d + walk.end);
    const auto least = static_cast<double>(d + walk.least), most = static_cast<double>(d + walk.most);
    const double left_left[2] = {0.5 * (split.left_cost + range.worst[range.first] - first),
                                 0.5 * (split.left_cost + range.worst[range.last] - last)};
    const double right_left[2] = {range.worst[range.first] - left_left[0],
                                  range.worst[range.last] - left_left[1]};
    const double sum = split.left + split.right, total = split.left_cost + split.right_cost;
    return std::max({sum - least, sum - (total - most), split.to_left(left_left[1], right_left[1]),
                     split.to_right(left_left[0], right_left[0]), 2 * split.left - split.left_cost,
                     2 * split.right - split.right_cost}) >= target;
}

// The cost of the samples that go left in the evaluated split and at each threshold of a range.
template <class Sum, class Cost>
void add_up(const ThresholdRange& range, const Subset& subset, const Cost* cost, double* sums) {
    const auto order = subset.order(range.feature);
    const auto ends = subset.group_end(range.feature);
    Sum sum = 0;
    std::uint32_t k = 0;
    for (std::uint32_t t = range.first; t <= range.last; ++t) {
        for (; k < ends[t]; ++k) sum += cost[order[k]] < 0 ? -cost[order[k]] : 0;
        *sums++ = static_cast<double>(sum);
    }
}

// Bounds at consecutive thresholds, from these sums and the cost of all samples that go left at each.
template <class Split, class Prefix>
void bound(const Split& split, const double* shared, const Prefix* prefix, std::size_t count, float* to_left,
           float* to_right) {
    for (std::size_t i = 0; i < count; ++i) {
        const double left_left = shared[i];
        const double right_left = static_cast<double>(prefix[i]) - left_left;
        to_left[i] = rounded_down(larger(split.to_left(left_left, right_left), 0.0));
        to_right[i] = rounded_down(larger(split.to_right(left_left, right_left), 0.0));
    }
}

void raise_to(std::vector<float>& known, std::uint32_t first, const float* bounds, std::size_t count) {
    float* const here = known.data() + first;
    for (std::size_t i = 0; i < count; ++i) here[i] = here[i] < bounds[i] ? bounds[i] : here[i];
}

}  // namespace

void ImpliedBounds::compute(const Subset& subset, const WorstCost::OfSamples& worst, double left,
                            double right, double target) {
    if (worst.costs.empty())
        compute<std::int32_t>(subset, worst.costs, left, right, target, ones_);
    else if (worst.whole)
        compute<std::int32_t>(subset, worst.costs, left, right, target, whole_costs_);
    else
        compute<double>(subset, worst.costs, left, right, target, costs_);
}

template <class Sum, class Cost>
void ImpliedBounds::compute(const Subset& subset, std::span<const double> costs, double left, double right,
                            double target, Buffer<Cost>& signed_costs) {
    signed_costs.ensure(subset.size());
    Evaluated<Cost> split{left, right, 0, 0, signed_costs.data()};
    const auto order = subset.order(feature);
    const std::uint32_t end = subset.group_end(feature)[threshold];
    for (std::uint32_t k = 0; k < subset.size(); ++k) {
        const double cost = costs.empty() ? 1.0 : costs[order[k]];
        (k < end ? split.left_cost : split.right_cost) += cost;
        signed_costs.data()[order[k]] = static_cast<Cost>(k < end ? -cost : cost);
    }
    std::size_t count = 0, longest = 0;
    for (ThresholdRange& range : ranges) {
        range.useful = promises<Sum>(range, subset, split, target - range.price);
        if (!range.useful) continue;
        count += range.size();
        longest = std::max(longest, range.size());
    }
    shared_.ensure(longest);
    left_.ensure(count);
    right_.ensure(count);
    float* to_left = left_.data();
    float* to_right = right_.data();
    for (const ThresholdRange& range : ranges) {
        if (!range.useful) continue;
        add_up<Sum>(range, subset, split.cost, shared_.data());
        if (range.worst.table)
            bound(split, shared_.data(), range.worst.table + range.first, range.size(), to_left, to_right);
        else
            bound(split, shared_.data(), range.worst.ends + range.first, range.size(), to_left, to_right);
        to_left += range.size();
        to_right += range.size();
    }
}

void CrossFeatures::raise(const Subset& subset, const ImpliedBounds& implied) {
    const float* left = implied.left();
    const float* right = implied.right();
    if (!implied.ranges.empty()) ++tried_;
    for (const ThresholdRange& range : implied.ranges) {
        if (!range.useful) continue;
        useful_ = true;
        Sides& sides = sides_[range.feature];
        if (!known_[range.feature]) {
            sides.left.assign(subset.thresholds(range.feature), 0.0F);
            sides.right.assign(subset.thresholds(range.feature), 0.0F);
            known_[range.feature] = 1;
        }
        raise_to(sides.left, range.first, left, range.size());
        raise_to(sides.right, range.first, right, range.size());
        left += range.size();
        right += range.size();
    }
}

std::size_t CrossFeatures::bytes() const {
    std::size_t sum = sides_.capacity() * sizeof(Sides) + known_.capacity();
    for (const Sides& sides : sides_) sum += (sides.left.capacity() + sides.right.capacity()) * sizeof(float);
    return sum;
}

}  // namespace codt
