#include "frontier/children.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace codt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

void Children::reset(const SearchSettings& settings, const Strategy& strategy, const Objective& objective,
                     const Subset& subset, const FeatureOrder& order, const Budget& budget,
                     double split_lower, Random& random, std::span<const double> feature_lower) {
    settings_ = &settings;
    strategy_ = &strategy;
    priority_ = &strategy.priority;
    needs_heuristic_ = strategy.needs_heuristic();
    objective_ = &objective;
    subset_ = &subset;
    order_ = &order;
    random_ = &random;
    depth_ = budget.depth;
    shares_ = budget.shares();
    closed_ = Bound::both(infinity);
    closed_at_feature_.assign(subset.features(), infinity);
    worst_.reset(objective, subset);
    const bool uses_loss_between = settings.bounds.clustering && settings.bounds.sub_interval;
    const std::uint32_t side_leaves = Budget{budget.depth - 1, Budget::any}.most_leaves(Budget::any);
    loss_between_.reset(objective, subset, uses_loss_between ? side_leaves : Budget::any);
    crosses_features_ = settings.bounds.cross_feature && budget.depth > 2 && !budget.limited();
    cross_features_.reset(subset.features());
    children_.clear();
    unused_.clear();
    by_priority_.clear();
    by_lower_.clear();
    first_of_track_.assign(std::size_t{subset.features()} * shares_.count(), none);
    last_of_track_ = first_of_track_;
    split_lower_ = split_lower;
    possible_.clear();
    const LeafLimits& limits = settings.rules.leaves;
    outermost_.assign(limits.any() ? first_of_track_.size() : 0, {});
    for (std::uint32_t f = 0; f < subset.features(); ++f) {
        const auto possible = limits.thresholds(subset, f);
        if (limits.any()) possible_.push_back(possible);
        if (possible.first >= possible.end) continue;
        const double own_lower = std::max(split_lower, price(f));
        const double lower = feature_lower.empty() ? own_lower : std::max(own_lower, feature_lower[f]);
        for (std::uint32_t share = 0; share < shares_.count(); ++share) {
            const Slot slot =
                add_interval(f * shares_.count() + share, possible.first, possible.end - 1, lower);
            link(slot, none, none);
            push(slot);
        }
    }
}

double Children::min_heuristic() const {
    if (by_priority_.empty()) return infinity;
    if (!needs_heuristic_) return 0;
    // Where the heuristic is the first criterion, the first child has the least.
    if (priority_->front() == Criterion::heuristic) return (*this)[by_priority_.top()].heuristic;
    double least = infinity;
    for (const Slot slot : by_priority_.slots()) least = std::min(least, (*this)[slot].heuristic);
    return least;
}

Children::Slot Children::expand(Slot interval, std::uint32_t t, std::int32_t and_node) {
    const Child old = (*this)[interval];
    CODT_CHECK(old.kind == Child::Kind::interval && old.first <= t && t <= old.last);
    remove(interval);
    unlink(interval);

    const Slot node = allocate();
    {
        Child& child = at(node);
        child.kind = Child::Kind::expanded;
        child.feature = old.feature;
        child.track = old.track;
        child.first = child.last = t;
        child.lower = Bound::both(old.lower.allowed);
        child.split = {t, 0.0, 0.0};
        child.heuristic = old.heuristic;
        child.random = old.random;
        child.and_node = and_node;
    }
    link(node, old.previous, old.next);
    push(node);
    if (old.first < t) {
        const Slot left = add_interval(old.track, old.first, t - 1, old.lower.allowed);
        link(left, old.previous, node);
        push(left);
    }
    if (t < old.last) {
        const Slot right = add_interval(old.track, t + 1, old.last, old.lower.allowed);
        link(right, node, old.next);
        push(right);
    }
    return node;
}

void Children::hold(Slot slot) {
    by_priority_.remove(slot, by_priority());
}

void Children::release(Slot slot) {
    if (!by_priority_.contains(slot)) by_priority_.push(slot, by_priority());
    if ((*this)[slot].kind == Child::Kind::expanded) release_neighbours(slot);
}

void Children::let_go(Slot slot) {
    by_priority_.push(slot, by_priority());
}

// Whether an expanded neighbour of an interval is held.
bool Children::shadowed(Slot interval) const {
    for (const Slot beside : {(*this)[interval].previous, (*this)[interval].next})
        if (beside != none && held(beside)) return true;
    return false;
}

Children::Slot Children::largest_held_interval() const {
    Slot largest = none;
    for (const Slot slot : by_lower_.slots()) {
        const Child& child = (*this)[slot];
        if (child.kind != Child::Kind::interval || by_priority_.contains(slot)) continue;
        if (largest == none || child.last - child.first > (*this)[largest].last - (*this)[largest].first)
            largest = slot;
    }
    return largest;
}

bool Children::is_interval(Slot slot) const {
    return slot != none && (*this)[slot].kind == Child::Kind::interval;
}

void Children::hold_neighbours(Slot slot) {
    for (const Slot beside : {(*this)[slot].previous, (*this)[slot].next})
        if (is_interval(beside) && !held(beside)) hold(beside);
}

void Children::release_neighbours(Slot slot) {
    for (const Slot beside : {(*this)[slot].previous, (*this)[slot].next})
        if (is_interval(beside) && held(beside) && !shadowed(beside)) release(beside);
}

void Children::retract(Slot slot) {
    Child merged = (*this)[slot];
    CODT_CHECK(merged.kind == Child::Kind::expanded);
    // An interval has one bound for all trees. That of an AND node on those that are allowed may have been
    // raised beyond it, by what is known of units.
    double lower = merged.lower.free;
    std::array<Slot, 3> joined = {slot, merged.previous, merged.next};
    for (Slot& beside : std::span(joined).subspan(1)) {
        if (!is_interval(beside)) {
            beside = none;
            continue;
        }
        const Child& old = (*this)[beside];
        merged.first = std::min(merged.first, old.first);
        merged.last = std::max(merged.last, old.last);
        lower = std::min(lower, old.lower.free);
        (beside == merged.previous ? merged.previous : merged.next) =
            beside == merged.previous ? old.previous : old.next;
    }
    // A user's heuristic may throw, so the new interval is there before the old ones go.
    const Slot interval = add_interval(merged.track, merged.first, merged.last, lower);
    at(interval).random = merged.random;
    set_heuristic(at(interval));
    for (const Slot old : joined) {
        if (old == none) continue;
        remove(old);
        unlink(old);
    }
    link(interval, merged.previous, merged.next);
    push(interval);
}

void Children::order_by(const std::vector<Criterion>* priority) {
    if (!priority) priority = &strategy_->priority;
    if (priority == priority_) return;
    priority_ = priority;
    const std::vector<Slot> slots = by_priority_.slots();
    by_priority_.clear();
    for (const Slot slot : slots) by_priority_.push(slot, by_priority());
}

std::size_t Children::bytes() const {
    return children_.capacity() * sizeof(Child) + worst_.bytes() + loss_between_.bytes() +
           cross_features_.bytes() + by_priority_.bytes() + by_lower_.bytes() +
           (unused_.capacity() + first_of_track_.capacity() + last_of_track_.capacity()) * sizeof(Slot) +
           closed_at_feature_.capacity() * sizeof(double) + possible_.capacity() * sizeof(possible_[0]) +
           outermost_.capacity() * sizeof(Outermost);
}

void Children::close(Slot slot, double known) {
    Child& child = at(slot);
    note_closed(child.feature, {std::max(child.lower.allowed, known), std::max(child.lower.free, known)});
    remove(slot);
    if (child.kind == Child::Kind::interval) {
        unlink(slot);
        return;
    }
    CODT_CHECK(child.kind == Child::Kind::expanded);
    child.kind = Child::Kind::solved;
    child.and_node = -1;
    release_neighbours(slot);
}

// An interval between p and q is bounded by L(p) + R(q). If L and R run straight in between, k equal parts
// are bounded by no less than the smaller sum L + R at p and q less a k-th of what it exceeds L(p) + R(q) by,
// which has to reach the target. A guess that says where thresholds are placed; nothing rests on it.
double Children::thresholds_needed(Slot slot, double target) const {
    const OpenInterval interval = open_interval(slot);
    const double thresholds = interval.last - interval.first + 1;
    const auto* p = interval.before;
    const auto* q = interval.after;
    if (!p && !q) return thresholds;
    const double sum = std::min(p ? p->sum() : infinity, q ? q->sum() : infinity);
    if (sum <= target) return thresholds;
    const double whole = (p ? p->left_lower : 0.0) + (q ? q->right_lower : 0.0);
    return std::min(thresholds, std::max(1.0, (sum - whole) / (sum - target)));
}

void Children::spread(std::span<const std::uint32_t> tracks, std::uint32_t count, double cutoff,
                      std::span<std::vector<std::uint32_t>* const> thresholds) const {
    const auto for_each_interval = [&](const auto& visit) {
        for (std::size_t i = 0; i < tracks.size(); ++i) {
            const double target = cutoff - price(tracks[i] / shares_.count());
            for (Slot slot = first_of_track_[tracks[i]]; slot != none; slot = (*this)[slot].next)
                if (is_interval(slot)) visit(i, (*this)[slot], thresholds_needed(slot, target));
        }
    };
    const auto size = [](const Child& child) { return std::uint64_t{child.last} - child.first + 1; };
    std::uint64_t open = 0;  // thresholds in this interval and behind it
    double needed = 0;
    for_each_interval([&](std::size_t, const Child& child, double need) {
        open += size(child);
        needed += need;
    });
    const std::uint64_t chosen = std::min<std::uint64_t>(open, count);
    for (std::vector<std::uint32_t>* const of_track : thresholds) of_track->clear();
    const double each = needed / (2 * static_cast<double>(chosen));
    std::uint64_t j = 0;
    double before = 0;  // needed by the intervals passed
    for_each_interval([&](std::size_t i, const Child& child, double need) {
        const std::uint64_t here = size(child);
        before += need;
        open -= here;
        std::uint64_t own = 0;
        // As many as are its share, but no fewer than those that do not fit behind it.
        while (j + own < chosen && own < here &&
               (static_cast<double>(2 * (j + own) + 1) * each < before || chosen - j - own > open))
            ++own;
        for (std::uint64_t k = 0; k < own; ++k)
            thresholds[i]->push_back(child.first +
                                     static_cast<std::uint32_t>((2 * k + 1) * here / (2 * own)));
        j += own;
    });
}

// --- the list and the queues

Children::Slot Children::allocate() {
    if (!unused_.empty()) {
        const Slot slot = unused_.back();
        unused_.pop_back();
        at(slot) = Child{};
        return slot;
    }
    children_.emplace_back();
    return static_cast<Slot>(children_.size() - 1);
}

Children::Slot Children::add_interval(std::uint32_t track, std::uint32_t first, std::uint32_t last,
                                      double lower) {
    const Slot slot = allocate();
    Child& child = at(slot);
    child.kind = Child::Kind::interval;
    child.feature = track / shares_.count();
    child.track = track;
    child.first = first;
    child.last = last;
    child.lower = Bound::both(lower);
    child.random = random_->uniform();
    set_heuristic(child);
    return slot;
}

Children::Slot Children::add_solved(std::uint32_t track, const EvaluatedSplit& split, double lower,
                                    Slot previous, Slot next) {
    const Slot slot = allocate();
    Child& child = at(slot);
    child.kind = Child::Kind::solved;
    child.feature = track / shares_.count();
    child.track = track;
    child.first = child.last = split.threshold;
    child.lower = {lower, price(child.feature) + split.sum()};
    child.split = split;
    link(slot, previous, next);
    return slot;
}

void Children::link(Slot slot, Slot previous, Slot next) {
    Child& child = at(slot);
    child.previous = previous;
    child.next = next;
    if (previous != none)
        at(previous).next = slot;
    else
        first_of_track_[child.track] = slot;
    if (next != none)
        at(next).previous = slot;
    else
        last_of_track_[child.track] = slot;
}

void Children::unlink(Slot slot) {
    Child& child = at(slot);
    if (child.previous != none)
        at(child.previous).next = child.next;
    else
        first_of_track_[child.track] = child.next;
    if (child.next != none)
        at(child.next).previous = child.previous;
    else
        last_of_track_[child.track] = child.previous;
    child.kind = Child::Kind::unused;
    unused_.push_back(slot);
}

void Children::push(Slot slot) {
    by_priority_.push(slot, by_priority());
    by_lower_.push(slot, by_lower());
}

void Children::remove(Slot slot) {
    if (by_priority_.contains(slot)) by_priority_.remove(slot, by_priority());
    by_lower_.remove(slot, by_lower());
}

void Children::update(Slot slot) {
    if (by_priority_.contains(slot)) by_priority_.update(slot, by_priority());
    by_lower_.update(slot, by_lower());
}

void Children::set_heuristic(Child& child) {
    child.heuristic = heuristic_of(child, child.first, child.last, child.lower.allowed);
}

double Children::heuristic_of(const Child& child, std::uint32_t first, std::uint32_t last,
                              double lower) const {
    if (!needs_heuristic_) return 0;
    NodeState state;
    state.lower_bound = lower * objective_->unit();
    state.support = subset_->size();
    state.depth = depth_;
    state.feature_rank = order_->rank[child.feature];
    if (!order_->discrepancy.empty()) {
        const auto begin = order_->discrepancy[child.feature].begin();
        state.split_discrepancy = *std::min_element(begin + first, begin + last + 1);
    }
    return heuristic_value(strategy_->heuristic, state, child.random);
}

bool Children::before_by_priority(Slot a, Slot b) const {
    const Child& x = (*this)[a];
    const Child& y = (*this)[b];
    for (const Criterion criterion : *priority_) {
        switch (criterion) {
            case Criterion::expanded:
                if (x.kind != y.kind) return x.kind == Child::Kind::expanded;
                break;
            case Criterion::lower_bound:
                if (x.lower.allowed != y.lower.allowed) return x.lower.allowed < y.lower.allowed;
                break;
            case Criterion::heuristic:
                if (x.heuristic != y.heuristic) return x.heuristic < y.heuristic;
                break;
            case Criterion::feature_rank:
                if (x.feature != y.feature) return order_->rank[x.feature] < order_->rank[y.feature];
                break;
            case Criterion::interval_size:
                if (x.last - x.first != y.last - y.first) return x.last - x.first > y.last - y.first;
                break;
            case Criterion::interval_start:
                if (x.first != y.first) return x.first < y.first;
                break;
            case Criterion::random:
                if (x.random != y.random) return x.random < y.random;
                break;
        }
    }
    // A total order whatever the criteria, so that the search is reproducible.
    if (x.feature != y.feature) return order_->rank[x.feature] < order_->rank[y.feature];
    if (x.track != y.track) return x.track < y.track;
    return x.first < y.first;
}

}  // namespace codt
