// A gap limit that prunes. A run that may end at a gap g need not find the optimum: it is over once no tree
// is better than (1 - g) times the incumbent. So that is the root's cutoff, the target, and with it what
// cannot beat the target is closed at every level. The target falls with the incumbent, and trees between the
// two become incumbents as ever.
//
// What was closed keeps the bound with which it was closed, so the root's bound stays valid, and with nothing
// left open it has reached the target. But then the root is not complete: better trees may lie above the
// target. They are gone from the search tree, so a later run with a higher target starts again, with the
// incumbent and the reported bound.
#include <algorithm>
#include <cmath>
#include <limits>

#include "search/search.hpp"

namespace codt {

namespace {

constexpr double no_target = std::numeric_limits<double>::infinity();

}  // namespace

// Whether a lower bound, in reported units, brings the gap down to the limit of the run.
bool Search::within_gap(double lower) const {
    return limits_.gap > 0 && upper_bound_ - lower <= limits_.gap * upper_bound_;
}

// The least cutoff of the root that is enough for the gap limit, in the internal unit and with prices of
// ties; infinite if there is none. Without numbers that tell trees apart (refine.cpp) there is none, nor when
// the objective is proven and the size is not.
double Search::gap_target() const {
    if (!(limits_.gap > 0) || missed_target_ || sizes_ || terminal_root() || within_gap(lower_bound_) ||
        !tells_apart(root_.incumbent))
        return no_target;
    double target = (1 - limits_.gap) * upper_bound_ / objective_->unit() + margin();
    if (settings_.whole) {
        target = std::floor(target);
        if (!within_gap(reported_bound(target))) ++target;
    } else {
        // Every node may be closed by the tolerance too early; and the last digits of these sums are rounded.
        constexpr double last_digits = 8 * std::numeric_limits<double>::epsilon();
        target += settings_.ties.most + tolerance_of_nodes() + last_digits * root_.incumbent;
    }
    return target < root_.incumbent && within_gap(reported_bound(target - tolerance_of_nodes())) ? target
                                                                                                 : no_target;
}

void Search::lower_target() {
    target_ = std::min(target_, gap_target());
    root_.upper = std::min(root_.upper, target_);
}

// Whether nothing is left open below the target, while nothing says that no tree is better than the
// incumbent. With prices of ties a tree that is better by less than the tolerance of all nodes may be a
// smaller one, so that the root is complete only where it would be without a target.
bool Search::ends_at_target(const OrNode& node) const {
    const double tolerance = settings_.ties.per_split > 0 ? settings_.tolerance : tolerance_of_nodes();
    return &node == &root_ && target_ < no_target && node.lower.allowed < node.incumbent - tolerance;
}

// At the beginning of a run: starts again if an earlier one has closed what this one needs.
void Search::set_target() {
    missed_target_ = false;
    if (!root_.complete && !within_gap(lower_bound_) && target_ < gap_target())
        restart(objective_, root_.solution);
    lower_target();
}

// Starts again without a target, if nothing is left open, but the bound is too low for the gap. That can
// happen where the tolerance decides whether a split saves enough: what seemed to be allowed counts in the
// bound.
bool Search::missed_target() {
    const Lock lock(mutex_);
    if (!at_target_ || root_.complete || within_gap(lower_bound_)) return false;
    missed_target_ = true;
    restart(objective_, root_.solution);
    return true;
}

}  // namespace codt
