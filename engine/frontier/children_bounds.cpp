// Bounds of the children: what evaluated thresholds imply for the intervals next to them, and all children
// together for the node.
#include <algorithm>

#include "frontier/children.hpp"

namespace codt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

double Children::min_lower() const {
    return by_lower_.empty() ? infinity : (*this)[by_lower_.top()].lower.allowed;
}

void Children::feature_lower(std::vector<double>& lower) const {
    lower = closed_at_feature_;
    for (const Slot slot : by_lower_.slots()) {
        const Child& child = (*this)[slot];
        lower[child.feature] = std::min(lower[child.feature], child.lower.allowed);
    }
    for (double& bound : lower)
        if (bound == infinity) bound = 0.0;
}

double Children::free_lower() {
    double least = settings_->rules.leaves.any() ? std::min(closed_.free, forbidden_lower()) : closed_.free;
    for (const Slot slot : by_lower_.slots()) least = std::min(least, (*this)[slot].lower.free);
    return least;
}

void Children::evaluate(std::uint32_t track, const std::vector<EvaluatedSplit>& splits, double cutoff,
                        const double* objectives) {
    if (settings_->rules.leaves.any())
        for (const EvaluatedSplit& split : splits) note_evaluated(track, split);
    const bool shrink = settings_->bounds.neighborhood;
    const double own_price = price(track / shares_.count());
    const auto bound_of = [&](const EvaluatedSplit& split) {
        return objectives ? objectives[&split - splits.data()] : own_price + split.sum();
    };
    auto split = splits.begin();
    for (Slot slot = first_of_track_[track]; slot != none;) {
        const Child old = (*this)[slot];
        if (old.kind == Child::Kind::interval)
            while (split != splits.end() && split->threshold < old.first) ++split;
        if (old.kind != Child::Kind::interval || split == splits.end() || split->threshold > old.last) {
            if (old.kind == Child::Kind::interval) tighten(slot, cutoff, shrink);
            slot = old.next;
            continue;
        }
        // Cut this interval at all its thresholds in one go. Most of what lies between them is pruned at
        // once; a threshold becomes a child only where something next to it is not.
        remove(slot);
        unlink(slot);
        Slot previous = old.previous;
        std::uint32_t first = old.first;
        const EvaluatedSplit* before = nullptr;  // of `splits`, and whether it is a child
        bool before_is_child = false;
        for (;;) {
            const bool cut = split != splits.end() && split->threshold <= old.last;
            const std::uint32_t end = cut ? split->threshold : old.last + 1;
            bool after_is_child = false;
            if (first < end) {
                OpenInterval rest{old.feature, first, end - 1,
                                  before                 ? before
                                  : old.previous != none ? &(*this)[old.previous].split
                                                         : nullptr,
                                  cut                ? &*split
                                  : old.next != none ? &(*this)[old.next].split
                                                     : nullptr};
                double lower = old.lower.allowed;
                if (survives(rest, lower, cutoff, shrink, true)) {
                    if (before && !before_is_child)
                        previous = add_solved(track, *before, bound_of(*before), previous, old.next);
                    const Slot interval = add_interval(track, rest.first, rest.last, lower);
                    link(interval, previous, old.next);
                    push(interval);
                    previous = interval;
                    if (cut) previous = add_solved(track, *split, bound_of(*split), previous, old.next);
                    after_is_child = cut;
                }
            }
            if (!cut) break;
            note_closed(old.feature, {bound_of(*split), own_price + split->sum()});
            before = &*split;
            before_is_child = after_is_child;
            first = split->threshold + 1;
            ++split;
        }
        slot = old.next;
    }
}

void Children::raise(Slot slot, const Bound& left, const Bound& right, double heuristic, double cutoff) {
    Child& child = at(slot);
    child.split.left_lower = std::max(child.split.left_lower, left.free);
    child.split.right_lower = std::max(child.split.right_lower, right.free);
    child.lower.free = std::max(child.lower.free, price(child.feature) + child.split.sum());
    child.lower.allowed = std::max(
        {child.lower.allowed, child.lower.free, price(child.feature) + left.allowed + right.allowed});
    child.heuristic = heuristic;
    if (settings_->rules.leaves.any()) note_evaluated(child.track, child.split);
    if (by_lower_.contains(slot)) update(slot);
    if (!settings_->bounds.similarity()) return;
    const Slot beside[2] = {child.previous, child.next};
    for (const Slot neighbour : beside)
        if (is_interval(neighbour)) tighten(neighbour, cutoff, settings_->bounds.neighborhood, true);
}

void Children::pass_on(Slot slot, double cutoff) {
    if (!settings_->bounds.similarity()) return;
    for (Slot Child::* const direction : {&Child::previous, &Child::next}) {
        for (Slot at = beside(slot, direction); at != none; at = beside(at, direction)) {
            double left = 0, right = 0;
            inherited(at, left, right);
            const Child& child = (*this)[at];
            if (left <= child.split.left_lower && right <= child.split.right_lower) break;
            raise(at, Bound::both(left), Bound::both(right), child.heuristic, cutoff);
        }
    }
}

bool Children::refresh(Slot slot, double cutoff) {
    if (settings_->bounds.similarity() && tighten(slot, cutoff, settings_->bounds.interval_shrinking))
        return true;
    if (!cross_features_.any((*this)[slot].feature)) return false;
    OpenInterval interval = open_interval(slot);
    double lower = (*this)[slot].lower.allowed;
    const bool left = survives_cross_features(interval, lower, cutoff);
    return replace(slot, interval, lower, left);
}

void Children::prepare(std::uint32_t feature, std::uint32_t threshold, ImpliedBounds& implied) {
    implied.feature = feature;
    implied.threshold = threshold;
    implied.ranges.clear();
    for (std::uint32_t f = 0; f < first_of_track_.size(); ++f) {
        if (f == feature) continue;
        // From the first open interval to the last.
        Slot first = first_of_track_[f], last = last_of_track_[f];
        while (first != none && !is_interval(first)) first = (*this)[first].next;
        if (first == none) continue;
        while (!is_interval(last)) last = (*this)[last].previous;
        implied.ranges.push_back({f, (*this)[first].first, (*this)[last].last, worst_.sums(f), price(f)});
    }
}

std::uint32_t Children::select_threshold(Slot slot, double cutoff) {
    const Child& child = (*this)[slot];
    std::uint32_t chosen = child.first + (child.last - child.first) / 2;
    if (strategy_->threshold != ThresholdChoice::midpoint) {
        const auto begin = order_->discrepancy[child.feature].begin();
        chosen =
            static_cast<std::uint32_t>(std::min_element(begin + child.first, begin + child.last + 1) - begin);
    }
    return nearest_open(slot, chosen, cutoff);
}

std::uint32_t Children::nearest_open(Slot slot, std::uint32_t chosen, double cutoff) {
    const Child& child = (*this)[slot];
    if (!cross_features_.any(child.feature)) return chosen;
    const auto bound_at = bounds_within(open_interval(slot));
    const double target = cutoff - settings_->tolerance;
    for (std::uint32_t away = 0; away <= child.last - child.first; ++away) {
        if (chosen + away <= child.last && bound_at(chosen + away) < target) return chosen + away;
        if (chosen >= child.first + away && bound_at(chosen - away) < target) return chosen - away;
    }
    return chosen;
}

bool Children::survives_cross_features(OpenInterval& interval, double& lower, double cutoff) {
    const auto bound_at = bounds_within(interval);
    const double target = cutoff - settings_->tolerance;
    const std::uint32_t first = interval.first, last = interval.last;
    std::uint32_t from = first, to = last + 1;  // open
    while (from < to && bound_at(from) >= target) ++from;
    while (from < to && bound_at(to - 1) >= target) --to;
    if (from > first || to <= last) note_closed(interval.feature, Bound::both(target));
    if (from == to) return false;
    // Of the remaining ones the least, unless some threshold, as a rule in the middle, shows that it is no
    // news.
    const std::uint32_t middle = from + (to - from) / 2;
    double least = infinity;
    for (std::uint32_t t = middle; t < to && least > lower; ++t) least = std::min(least, bound_at(t));
    for (std::uint32_t t = middle; t-- > from && least > lower;) least = std::min(least, bound_at(t));
    interval.first = from;
    interval.last = to - 1;
    lower = std::max(lower, least);
    return true;
}

double Children::reach(Slot slot) {
    const Child& child = (*this)[slot];
    if (!settings_->bounds.similarity()) return 0.0;
    double most = 0.0;
    if (is_interval(child.previous))
        most = worst_.between(child.feature, (*this)[child.previous].first, child.first);
    if (is_interval(child.next))
        most = std::max(most, worst_.between(child.feature, child.first, (*this)[child.next].last));
    return most;
}

double Children::reach(Slot interval, std::uint32_t t) {
    if (!settings_->bounds.similarity()) return 0.0;
    const Child& child = (*this)[interval];
    return std::max(worst_.between(child.feature, child.first, t),
                    worst_.between(child.feature, t, child.last));
}

void Children::enough(Slot slot, std::uint32_t t, double cutoff, double& left, double& right) const {
    left = right = infinity;
    if (!settings_->bounds.sub_interval || !settings_->rules.free()) return;
    const OpenInterval interval = open_interval(slot);
    const double target = cutoff - price(interval.feature) + settings_->tolerance;
    if (t < interval.last) left = target - (interval.after ? interval.after->right_lower : 0.0);
    if (t > interval.first) right = target - (interval.before ? interval.before->left_lower : 0.0);
}

void Children::inherited(const OpenInterval& interval, std::uint32_t t, double& left, double& right) {
    const InheritedBounds own(interval, settings_->bounds, worst_);
    left = own.left(t);
    right = own.right(t);
    if (!cross_features_.any(interval.feature)) return;
    left = std::max(left, static_cast<double>(cross_features_.left(interval.feature)[t]));
    right = std::max(right, static_cast<double>(cross_features_.right(interval.feature)[t]));
}

Children::Slot Children::beside(Slot slot, Slot Child::* direction) const {
    const Slot next = (*this)[slot].*direction;
    return is_interval(next) ? (*this)[next].*direction : next;
}

void Children::inherited(Slot and_node, double& left, double& right) {
    const Child& child = (*this)[and_node];
    const auto evaluated = [&](Slot Child::* direction) {
        const Slot at = beside(and_node, direction);
        return at != none ? &(*this)[at].split : nullptr;
    };
    const OpenInterval own{child.feature, child.first, child.first, evaluated(&Child::previous),
                           evaluated(&Child::next)};
    inherited(own, child.first, left, right);
}

void Children::upper_bounds(std::uint32_t track, const std::vector<std::uint32_t>& thresholds, double excess,
                            double* left, double* right) {
    std::fill_n(left, thresholds.size(), infinity);
    std::fill_n(right, thresholds.size(), infinity);
    if (!settings_->bounds.similarity()) return;
    std::size_t j = 0;
    for (Slot slot = first_of_track_[track]; slot != none && j < thresholds.size();
         slot = (*this)[slot].next) {
        if ((*this)[slot].kind != Child::Kind::interval) continue;
        const OpenInterval interval = open_interval(slot);
        for (; j < thresholds.size() && thresholds[j] <= interval.last; ++j)
            inherited_upper_bounds(interval, thresholds[j], excess, worst_, left[j], right[j]);
    }
}

void Children::note_closed(std::uint32_t feature, const Bound& lower) {
    closed_at_feature_[feature] = std::min(closed_at_feature_[feature], lower.allowed);
    closed_.allowed = std::min(closed_.allowed, lower.allowed);
    closed_.free = std::min(closed_.free, lower.free);
}

OpenInterval Children::open_interval(Slot slot) const {
    const Child& child = (*this)[slot];
    return {child.feature, child.first, child.last,
            child.previous != none ? &(*this)[child.previous].split : nullptr,
            child.next != none ? &(*this)[child.next].split : nullptr};
}

bool Children::survives(OpenInterval& interval, double& lower, double cutoff, bool shrink,
                        bool new_neighbours) {
    if (!interval.before && !interval.after) return true;
    const double own_price = price(interval.feature);
    const double target = cutoff - settings_->tolerance;
    lower =
        std::max(lower, own_price + interval_bound(interval, settings_->bounds, worst_, target - own_price));
    if (lower >= target) {
        note_closed(interval.feature, Bound::both(lower));
        return false;
    }
    const std::uint32_t first = interval.first, last = interval.last;
    bool left = true;
    if (new_neighbours) {
        const double least = loss_between_.shrink(interval, target - own_price);
        left = least < target - own_price;
        lower = std::max(lower, own_price + least);
    }
    if (left && shrink) left = shrink_interval(interval, target - own_price, worst_);
    if (!left || interval.first != first || interval.last != last)
        note_closed(interval.feature, Bound::both(target));
    return left;
}

bool Children::tighten(Slot slot, double cutoff, bool shrink, bool new_neighbours) {
    OpenInterval interval = open_interval(slot);
    double lower = (*this)[slot].lower.allowed;
    const bool left = survives(interval, lower, cutoff, shrink, new_neighbours);
    return replace(slot, interval, lower, left);
}

bool Children::replace(Slot slot, const OpenInterval& interval, double lower, bool left) {
    if (!left) {
        remove(slot);
        unlink(slot);
        return true;
    }
    Child& child = at(slot);
    if (interval.first == child.first && interval.last == child.last && lower == child.lower.allowed)
        return false;
    // A user's function may throw: the queues must be in order then, since other threads go on for a moment.
    const double heuristic = heuristic_of(child, interval.first, interval.last, lower);
    child.first = interval.first;
    child.last = interval.last;
    child.lower = Bound::both(lower);
    child.heuristic = heuristic;
    update(slot);
    return true;
}

// --- thresholds at which one side would not hold enough

void Children::note_evaluated(std::uint32_t track, const EvaluatedSplit& split) {
    Outermost& outermost = outermost_[track];
    if (!outermost.any || split.threshold <= outermost.lowest.threshold) outermost.lowest = split;
    if (!outermost.any || split.threshold >= outermost.highest.threshold) outermost.highest = split;
    outermost.any = true;
}

// What the similarity bounds imply for these thresholds, taken as an interval between the end and the
// outermost evaluated threshold.
double Children::forbidden_lower() {
    double least = infinity;
    for (std::uint32_t track = 0; track < outermost_.size(); ++track) {
        const std::uint32_t f = track / shares_.count();
        const std::uint32_t count = subset_->thresholds(f);
        const auto [first, end] = possible_[f];
        const Outermost& outermost = outermost_[track];
        const auto include = [&](std::uint32_t from, std::uint32_t to, const EvaluatedSplit* before,
                                 const EvaluatedSplit* after) {
            const double bound = outermost.any ? price(f) + interval_bound({f, from, to, before, after},
                                                                           settings_->bounds, worst_)
                                               : 0.0;
            least = std::min(least, std::max(split_lower_, bound));
        };
        if (first >= end) {
            if (count > 0) least = std::min(least, split_lower_);
            continue;
        }
        if (first > 0) include(0, first - 1, nullptr, &outermost.lowest);
        if (end < count) include(end, count - 1, &outermost.highest, nullptr);
    }
    return least;
}

}  // namespace codt
