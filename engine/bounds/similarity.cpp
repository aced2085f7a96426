#include "bounds/similarity.hpp"

namespace codt {

double interval_bound(const OpenInterval& interval, const BoundSwitches& on, WorstCost& worst,
                      double enough) {
    const auto* p = interval.before;
    const auto* q = interval.after;
    const WorstCost::Sums w = worst.sums(interval.feature);
    double bound = 0;
    if (on.sub_interval) bound = (p ? p->left_lower : 0.0) + (q ? q->right_lower : 0.0);
    if (on.interval_shrinking && p && q)
        bound = std::max(bound, q->left_lower + p->right_lower - (w[q->threshold] - w[p->threshold]));
    if (!on.neighborhood || !(p || q) || bound >= enough) return bound;

    // The neighbourhood bounds of p fall with t and those of q rise: the least of their maximum lies where
    // they cross.
    const auto of_p = [&](std::uint32_t t) { return p->sum() - (w[t] - w[p->threshold]); };
    const auto of_q = [&](std::uint32_t t) { return q->sum() - (w[q->threshold] - w[t]); };
    if (!q) return std::max(bound, of_p(interval.last));
    if (!p) return std::max(bound, of_q(interval.first));
    const double crossing = 0.5 * (p->sum() - q->sum() + w[p->threshold] + w[q->threshold]);
    const std::uint32_t after = w.reaching(crossing, interval.first, interval.last);
    double least = std::numeric_limits<double>::infinity();
    if (after <= interval.last) least = std::max(of_p(after), of_q(after));
    if (after > interval.first) least = std::min(least, std::max(of_p(after - 1), of_q(after - 1)));
    return std::max(bound, least);
}

InheritedBounds::InheritedBounds(const OpenInterval& interval, const BoundSwitches& on, WorstCost& worst)
    : worst_(worst.sums(interval.feature)) {
    const auto* p = interval.before;
    const auto* q = interval.after;
    if (on.sub_interval) {
        if (p) least_left_ = p->left_lower;
        if (q) least_right_ = q->right_lower;
    }
    if (on.neighborhood) {
        if (p) {
            before_ = worst_[p->threshold];
            before_right_ = p->right_lower;
        }
        if (q) {
            after_ = worst_[q->threshold];
            after_left_ = q->left_lower;
        }
    }
}

void inherited_upper_bounds(const OpenInterval& interval, std::uint32_t t, double excess, WorstCost& worst,
                            double& left, double& right) {
    left = right = std::numeric_limits<double>::infinity();
    if (const auto* p = interval.before) {
        left = p->left_lower + excess + worst.between(interval.feature, p->threshold, t);
        right = p->right_lower + excess;
    }
    if (const auto* q = interval.after) {
        left = std::min(left, q->left_lower + excess);
        right = std::min(right, q->right_lower + excess + worst.between(interval.feature, t, q->threshold));
    }
}

namespace {

// The first threshold of an interval from which on `holds` is true; one past the interval if there is none.
template <class Holds>
std::uint32_t first_from(const OpenInterval& interval, const Holds& holds) {
    std::uint32_t low = interval.first;
    std::uint32_t high = interval.last + 1;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (holds(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

}  // namespace

bool shrink_interval(OpenInterval& interval, double target, WorstCost& worst) {
    const WorstCost::Sums w = worst.sums(interval.feature);
    if (const auto* p = interval.before; p && p->sum() > target) {
        // first t whose samples between p and t cost more than the excess
        const double excess = p->sum() - target;
        interval.first =
            first_from(interval, [&](std::uint32_t t) { return w[t] - w[p->threshold] > excess; });
        if (interval.first > interval.last) return false;
    }
    if (const auto* q = interval.after; q && q->sum() > target) {
        const double excess = q->sum() - target;
        // first t whose samples between t and q cost no more than the excess
        const std::uint32_t end =
            first_from(interval, [&](std::uint32_t t) { return w[q->threshold] - w[t] <= excess; });
        if (end == interval.first) return false;
        interval.last = end - 1;
    }
    return true;
}

}  // namespace codt
