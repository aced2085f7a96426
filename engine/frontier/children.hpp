// The children of an OR node other than its leaf (paper, Definition "Search tree"): AND nodes and intervals
// of unexpanded thresholds, in one priority queue ordered by the strategy. Per feature they form a list in
// the order of their thresholds, so that an interval finds its evaluated neighbours for the similarity
// bounds. Where the number of leaves is limited, there is a list for every feature and every way to share the
// leaves out between the two sides (see rules/budget.hpp); such a list is a track.
//
// Invariants: an interval's neighbours in the list are evaluated thresholds or the end; open children
// (intervals and expanded AND nodes) are in the queue by lower bound, and in the queue by priority unless
// they are held because a thread is working there; solved AND nodes are in neither queue but stay in the
// list, because their bounds still prune their neighbours.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bounds/cross_features.hpp"
#include "bounds/feature_bounds.hpp"
#include "bounds/loss_between.hpp"
#include "bounds/similarity.hpp"
#include "common/random.hpp"
#include "frontier/indexed_heap.hpp"
#include "rules/bound.hpp"
#include "rules/budget.hpp"
#include "rules/settings.hpp"
#include "strategies/feature_order.hpp"
#include "strategies/strategy.hpp"

namespace codt {

struct Child {
    enum class Kind : std::uint8_t { interval, expanded, solved, unused };
    Kind kind = Kind::unused;
    std::uint32_t feature = 0;
    std::uint32_t track = 0;            // the list it is in
    std::uint32_t first = 0, last = 0;  // thresholds; an AND node has first == last
    std::int32_t previous = -1, next = -1;
    std::int32_t and_node = -1;  // owner's index of an expanded AND node
    Bound lower;                 // on every tree that splits here, with the penalty
    EvaluatedSplit split{};      // of an AND node: free bounds
    double heuristic = 0;
    double random = 0;
};

class Children {
 public:
    using Slot = std::int32_t;
    static constexpr Slot none = -1;

    // One interval per track whose feature has thresholds. `split_lower` bounds every tree that splits,
    // `feature_lower`, if any, those that split at each feature. All references must outlive this object's
    // use.
    void reset(const SearchSettings& settings, const Strategy& strategy, const Objective& objective,
               const Subset& subset, const FeatureOrder& order, const Budget& budget, double split_lower,
               Random& random, std::span<const double> feature_lower = {});

    bool empty() const { return by_lower_.empty(); }
    // Whether any open child is not held.
    bool selectable() const { return !by_priority_.empty(); }
    // The first by the strategy's priority among those that are not held.
    Slot top() const { return by_priority_.top(); }
    // The one with the least lower bound, or the first by priority if that one is held.
    Slot weakest() const {
        const Slot least = by_lower_.top();
        return by_priority_.contains(least) ? least : top();
    }
    const std::vector<Slot>& open() const { return by_lower_.slots(); }
    // Least lower bound of the open children (the paper's bound "remaining splits").
    double min_lower() const;
    // Least heuristic value of the open children that are not held, infinite if there is none.
    double min_heuristic() const;
    // Least bound with which a child was closed: together with min_lower and the incumbent it bounds the
    // node.
    double closed_lower() const { return closed_.allowed; }
    // Bounds on the trees that split at each feature, by open and closed children; zero where none can.
    void feature_lower(std::vector<double>& lower) const;
    // Bound on all trees that split, allowed or not (see Bound), by open and closed children.
    double free_lower();

    // How many leaves the left side of a child may have; Budget::any if there is no limit.
    std::uint32_t left_leaves(Slot slot) const {
        return shares_.first + (*this)[slot].track % shares_.count();
    }
    std::uint32_t track(std::uint32_t feature, std::uint32_t left_leaves) const {
        return feature * shares_.count() + (left_leaves - shares_.first);
    }

    const Child& operator[](Slot slot) const { return children_[static_cast<std::size_t>(slot)]; }

    // The threshold the strategy splits this interval at (SelectThreshold), or the nearest one that is not
    // ruled out.
    std::uint32_t select_threshold(Slot slot, double cutoff);
    // A threshold of an interval, or the nearest one that is not ruled out.
    std::uint32_t nearest_open(Slot slot, std::uint32_t threshold, double cutoff);

    // Expand: replaces the interval by an AND node at threshold t and what is left on both sides of it.
    Slot expand(Slot interval, std::uint32_t t, std::int32_t and_node);

    // `hold` takes a child out of the queue by priority, `release` puts it back, if it is not there, and with
    // an AND node the intervals next to it that no other AND node keeps out. `let_go` puts back one child
    // alone.
    void hold(Slot slot);
    void release(Slot slot);
    void let_go(Slot slot);
    bool held(Slot slot) const { return by_lower_.contains(slot) && !by_priority_.contains(slot); }

    // Holds the intervals next to an AND node that is held: its bounds may make them superfluous, so other
    // threads had better work elsewhere until the bounds are known.
    void hold_neighbours(Slot slot);
    Slot largest_held_interval() const;

    // Undoes an expansion that was stopped: the AND node and its neighbours become one interval of unexpanded
    // thresholds again.
    void retract(Slot slot);

    // Orders the children by other criteria from now on (null: by the strategy's own).
    void order_by(const std::vector<Criterion>* priority);

    // Bytes this object holds in memory.
    std::size_t bytes() const;

    // Evaluates thresholds of one track at once, ascending; those that are not open are skipped. `splits` are
    // free bounds; `objectives`, if given, are those of the allowed trees, infinite for splits that are noted
    // as closed later.
    void evaluate(std::uint32_t track, const std::vector<EvaluatedSplit>& splits, double cutoff,
                  const double* objectives = nullptr);

    // Raises an AND node's bounds to those of its two sides, then the bounds of the intervals next to it
    // (neighbourhood pruning).
    void raise(Slot slot, const Bound& left, const Bound& right, double heuristic, double cutoff);
    // Passes on what an AND node proves to those behind the ones next to it: in both directions from AND node
    // to AND node, as long as one of them learns something. Where several are under way side by side, an
    // interval would otherwise hear only of the nearest, which may not know anything yet.
    void pass_on(Slot slot, double cutoff);

    // Counts trees that split at `feature` as closed, with a lower bound.
    void note_closed(std::uint32_t feature, const Bound& lower);

    // Removes an open child that cannot improve on the cutoff, or an AND node that is solved. `known` is a
    // lower bound on it from elsewhere.
    void close(Slot slot, double known = 0);

    // Bounds an interval again with the present cutoff (interval shrinking, sub-interval pruning). True if
    // anything changed; the interval may be gone.
    bool refresh(Slot slot, double cutoff);

    // What an evaluated split implies for splits at other features (see CrossFeatures), if that is used: the
    // thresholds that are open, for which bounds can then be computed, and the use of these bounds.
    bool crosses_features() const { return crosses_features_ && !cross_features_.hopeless(); }
    void prepare(std::uint32_t feature, std::uint32_t threshold, ImpliedBounds& implied);
    WorstCost::OfSamples worst_costs() { return worst_.of_samples(); }
    void raise(const ImpliedBounds& implied) { cross_features_.raise(*subset_, implied); }

    // How far above the cutoff an AND node's bound must get to prune the open intervals next to it (the
    // paper's "When to prune").
    double reach(Slot slot);
    // The `reach` that an AND node made at threshold t of an interval would have.
    double reach(Slot interval, std::uint32_t t);

    // What the left side of an AND node made at threshold t of an interval must reach to prune all thresholds
    // of the interval above t by sub-interval pruning alone, and the right side those below; infinite where
    // there are none, or where that bound is not used. That is often much less than what `reach` allows for,
    // which takes every sample in between at its worst.
    //
    // Between the neighbours p < t < q, L(t) >= C - R(q) prunes what lies above t for the cutoff C. As R(t)
    // is no less than R(q), it prunes t as well: where a better tree splits at t, neither side gets that far.
    // There is a tolerance on top, or roundings would leave intervals open for nothing.
    void enough(Slot interval, std::uint32_t t, double cutoff, double& left, double& right) const;

    // Bounds on the two subproblems of threshold t of an interval, as implied by its neighbours.
    void inherited(Slot interval, std::uint32_t t, double& left, double& right) {
        inherited(open_interval(interval), t, left, right);
    }
    // The same for the subproblems of an AND node, as implied by the AND nodes next to it.
    void inherited(Slot and_node, double& left, double& right);

    // Lower bounds by feature for one of these subproblems, from what is known of its neighbours.
    FeatureBounds::Lower inherited(const FeatureBounds& known, Slot interval, std::uint32_t t, int side) {
        // The sides have depth - 1 levels, so a tree with one level less has up to 2^(depth - 2) leaves.
        const double most = settings_->prices.most();
        const double penalties = most > 0 ? most * (std::ldexp(1.0, static_cast<int>(depth_) - 2) - 1) : 0;
        return known.inherited((*this)[interval].feature, t, side, penalties, worst_);
    }

    // Upper bounds on the subproblems of open thresholds of a track (ascending), all of whose AND nodes are
    // solved, with bounds at most `excess` below the optima; infinite where the similarity bounds are off.
    void upper_bounds(std::uint32_t track, const std::vector<std::uint32_t>& thresholds, double excess,
                      double* left, double* right);

    // The first open child by the strategy's priority of each track that has one for which `wanted` holds, in
    // that order.
    template <class Wanted>
    void first_of_tracks(std::vector<Slot>& firsts, const Wanted& wanted) const {
        firsts.assign(first_of_track_.size(), none);
        for (const Slot slot : by_priority_.slots()) {
            Slot& first = firsts[(*this)[slot].track];
            if (wanted((*this)[slot]) && (first == none || before_by_priority(slot, first))) first = slot;
        }
        std::erase(firsts, none);
        std::sort(firsts.begin(), firsts.end(), [this](Slot a, Slot b) { return before_by_priority(a, b); });
    }

    // At most `count` open thresholds of some tracks, ascending for each: all of them, or spread over the
    // intervals by what it may take to prune them, evenly within each.
    void spread(std::span<const std::uint32_t> tracks, std::uint32_t count, double cutoff,
                std::span<std::vector<std::uint32_t>* const> thresholds) const;

 private:
    Child& at(Slot slot) { return children_[static_cast<std::size_t>(slot)]; }
    bool is_interval(Slot slot) const;
    // The AND node next to one, in the order of thresholds.
    Slot beside(Slot and_node, Slot Child::* direction) const;
    Slot allocate();
    double price(std::uint32_t feature) const { return settings_->prices.of(feature); }
    Slot add_interval(std::uint32_t track, std::uint32_t first, std::uint32_t last, double lower);
    Slot add_solved(std::uint32_t track, const EvaluatedSplit& split, double lower, Slot previous, Slot next);
    void release_neighbours(Slot slot);
    bool shadowed(Slot interval) const;
    void link(Slot slot, Slot previous, Slot next);
    void unlink(Slot slot);
    void push(Slot slot);
    void remove(Slot slot);
    void update(Slot slot);
    OpenInterval open_interval(Slot slot) const;
    // Raises `lower` to what the neighbours imply, and with `shrink` cuts the interval; false if nothing is
    // left. `new_neighbours`: they were not there before, or have risen.
    bool survives(OpenInterval& interval, double& lower, double cutoff, bool shrink, bool new_neighbours);
    bool tighten(Slot interval, double cutoff, bool shrink, bool new_neighbours = false);
    bool survives_cross_features(OpenInterval& interval, double& lower, double cutoff);
    // Replaces an interval by what is left of it, if anything; whether it has changed.
    bool replace(Slot slot, const OpenInterval& interval, double lower, bool left);
    void set_heuristic(Child& child);
    // Its value if the child had these thresholds and this bound.
    double heuristic_of(const Child& child, std::uint32_t first, std::uint32_t last, double lower) const;
    bool before_by_priority(Slot a, Slot b) const;
    void note_evaluated(std::uint32_t track, const EvaluatedSplit& split);
    double forbidden_lower();
    // How many thresholds of an interval may have to be evaluated until it is pruned.
    double thresholds_needed(Slot interval, double target) const;
    // Bounds on the two sides of one threshold of an interval, by its neighbours and by other features.
    void inherited(const OpenInterval& interval, std::uint32_t t, double& left, double& right);
    // A function of t: the bound on the splits there. Something must be known from other features.
    auto bounds_within(const OpenInterval& interval) {
        return [own = InheritedBounds(interval, settings_->bounds, worst_),
                own_price = price(interval.feature), left = cross_features_.left(interval.feature),
                right = cross_features_.right(interval.feature)](std::uint32_t t) {
            return own_price + std::max(own.left(t), static_cast<double>(left[t])) +
                   std::max(own.right(t), static_cast<double>(right[t]));
        };
    }

    auto by_priority() const {
        return [this](Slot a, Slot b) { return before_by_priority(a, b); };
    }
    auto by_lower() const {
        return [this](Slot a, Slot b) {
            const Child& x = (*this)[a];
            const Child& y = (*this)[b];
            if (x.lower.allowed != y.lower.allowed) return x.lower.allowed < y.lower.allowed;
            // Of equals, what has been begun is finished first.
            return x.kind == Child::Kind::expanded && y.kind != Child::Kind::expanded;
        };
    }

    const SearchSettings* settings_ = nullptr;
    const Strategy* strategy_ = nullptr;
    const std::vector<Criterion>* priority_ = nullptr;
    const Subset* subset_ = nullptr;
    const FeatureOrder* order_ = nullptr;
    const Objective* objective_ = nullptr;
    Random* random_ = nullptr;
    std::uint32_t depth_ = 0;
    Budget::Shares shares_;
    Bound closed_ =
        Bound::both(std::numeric_limits<double>::infinity());  // the least with which a child was closed
    std::vector<double> closed_at_feature_;                    // for allowed trees, by feature
    double split_lower_ = 0;
    // Where leaves must hold enough: the possible thresholds of every feature, and the outermost evaluated
    // ones of every track, which bound the free optimum at the thresholds that are not possible.
    struct Outermost {
        bool any = false;
        EvaluatedSplit lowest{}, highest{};
    };
    std::vector<LeafLimits::Thresholds> possible_;
    std::vector<Outermost> outermost_;
    WorstCost worst_;
    LossBetween loss_between_;
    bool needs_heuristic_ = false;  // the strategy's; otherwise all heuristic values are 0
    bool crosses_features_ = false;
    CrossFeatures cross_features_;
    std::vector<Child> children_;
    std::vector<Slot> unused_;
    std::vector<Slot> first_of_track_, last_of_track_;
    IndexedHeap by_priority_;
    IndexedHeap by_lower_;
};

}  // namespace codt
