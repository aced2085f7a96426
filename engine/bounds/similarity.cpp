#include "bounds/similarity.hpp"

namespace codt {

double interval_bound(const OpenInterval& interval, const BoundSwitches& on, WorstCost& worst) {
    const auto* p = interval.before;
    const auto* q = interval.after;
    double bound = 0;
    if (on.sub_interval && on.monotone) bound = (p ? p->left_lower : 0.0) + (q ? q->right_lower : 0.0);
    if (on.interval_shrinking && p && q)
        bound = std::max(bound, q->left_lower + p->right_lower -
                                    worst.between(interval.feature, p->threshold, q->threshold));
    if (!on.neighborhood || !on.monotone || !(p || q)) return bound;

    // The neighbourhood bounds of p fall with t and those of q rise: the least of their maximum lies where
    // they cross, found by bisection.
    const auto of_p = [&](std::uint32_t t) {
        return p ? p->sum() - worst.between(interval.feature, p->threshold, t)
                 : -std::numeric_limits<double>::infinity();
    };
    const auto of_q = [&](std::uint32_t t) {
        return q ? q->sum() - worst.between(interval.feature, t, q->threshold)
                 : -std::numeric_limits<double>::infinity();
    };
    std::uint32_t low = interval.first;
    std::uint32_t high = interval.last;
    while (low < high) {  // the first t with of_q(t) >= of_p(t), or the last threshold
        const std::uint32_t middle = low + (high - low) / 2;
        if (of_q(middle) >= of_p(middle))
            high = middle;
        else
            low = middle + 1;
    }
    double least = std::max(of_p(low), of_q(low));
    if (low > interval.first) least = std::min(least, std::max(of_p(low - 1), of_q(low - 1)));
    return std::max(bound, least);
}

void inherited_bounds(const OpenInterval& interval, std::uint32_t t, const BoundSwitches& on,
                      WorstCost& worst, double& left, double& right) {
    const auto* p = interval.before;
    const auto* q = interval.after;
    left = right = 0;
    if (on.sub_interval && on.monotone) {
        if (p) left = p->left_lower;
        if (q) right = q->right_lower;
    }
    if (on.neighborhood) {
        if (q) left = std::max(left, q->left_lower - worst.between(interval.feature, t, q->threshold));
        if (p) right = std::max(right, p->right_lower - worst.between(interval.feature, p->threshold, t));
    }
}

void inherited_upper_bounds(const OpenInterval& interval, std::uint32_t t, const BoundSwitches& on,
                            WorstCost& worst, double& left, double& right) {
    left = right = std::numeric_limits<double>::infinity();
    if (const auto* p = interval.before) {
        left = p->left_lower + worst.between(interval.feature, p->threshold, t);
        if (on.monotone) right = p->right_lower;
    }
    if (const auto* q = interval.after) {
        if (on.monotone) left = std::min(left, q->left_lower);
        right = std::min(right, q->right_lower + worst.between(interval.feature, t, q->threshold));
    }
}

bool shrink_interval(OpenInterval& interval, double target, WorstCost& worst) {
    const auto f = interval.feature;
    if (const auto* p = interval.before; p && p->sum() > target) {
        // first t whose samples between p and t cost more than the excess
        const double excess = p->sum() - target;
        std::uint32_t low = interval.first;
        std::uint32_t high = interval.last + 1;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (worst.between(f, p->threshold, middle) <= excess)
                low = middle + 1;
            else
                high = middle;
        }
        interval.first = low;
        if (interval.first > interval.last) return false;
    }
    if (const auto* q = interval.after; q && q->sum() > target) {
        const double excess = q->sum() - target;
        std::uint32_t low = interval.first;
        std::uint32_t high = interval.last + 1;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (worst.between(f, middle, q->threshold) <= excess)
                high = middle;
            else
                low = middle + 1;
        }
        if (low == interval.first) return false;
        interval.last = low - 1;
    }
    return true;
}

}  // namespace codt
