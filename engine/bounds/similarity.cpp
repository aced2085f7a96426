#include "bounds/similarity.hpp"

namespace codt {

// Sums of costs are exact (see round_up), so those of four samples are formed side by side: one after the
// other, each would wait for the one before.
void WorstCost::fill(std::uint32_t f) {
    if (!any_ready_) fill_samples();
    ready_[f] = 1;
    std::vector<double>& table = tables_[f];
    table.clear();
    if (of_sample_.empty()) return;
    const auto order = subset_->order(f);
    const std::uint32_t size = subset_->size();
    const double* const cost = of_sample_.data();
    running_.ensure(size);
    double* const running = running_.data();
    double sum = 0;
    std::uint32_t k = 0;
    for (; k + 4 <= size; k += 4) {
        const double first = cost[order[k]], second = first + cost[order[k + 1]];
        const double third = cost[order[k + 2]], fourth = third + cost[order[k + 3]];
        running[k] = sum + first;
        running[k + 1] = sum + second;
        running[k + 2] = sum + (second + third);
        running[k + 3] = sum += second + fourth;
    }
    for (; k < size; ++k) running[k] = sum += cost[order[k]];
    const auto ends = subset_->group_end(f);
    table.resize(ends.size());
    for (std::size_t t = 0; t < ends.size(); ++t) table[t] = running[ends[t] - 1];
}

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
    // As a rule some threshold shows that this is no news.
    const std::uint32_t middle = interval.first + (interval.last - interval.first) / 2;
    if (std::max(of_p(middle), of_q(middle)) <= bound) return bound;
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
