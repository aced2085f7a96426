// The smallest of the optimal trees (rules/ties.hpp).
//
// Up to depth three the search proves objective and size at once, with prices from the beginning: it takes a
// few per cent longer than a search for the objective alone. Deeper searches would often look for a smaller
// subtree before they find a better one. They prove the objective without prices first, and then start again
// with prices and with their tree as incumbent.
#include <algorithm>
#include <cmath>

#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

namespace {

// Searches up to this depth have prices from the beginning.
constexpr std::uint32_t shallow = 3;

// What looking for a smaller tree may cost where it is not to be proven in any case: a share of the work that
// the proof of the objective took, and about a second. In samples visited, so that it does not depend on the
// machine.
constexpr double share_for_ties = 0.25;
constexpr double work_for_ties = 1e8;

}  // namespace

// The incumbent's objective, without the price of ties, in the internal unit.
double Search::incumbent_objective() const {
    return settings_.ties.removed_from(root_.incumbent, [this] {
        if (counted_of_ != root_.solution) {
            counted_of_ = root_.solution;
            counted_splits_ =
                count_splits(*root_.solution, *data_, root_.subset.samples(), *objective_, settings_);
        }
        return counted_splits_;
    });
}

// Whether no tree has a lower objective than the incumbent, though a smaller one may still have the same.
bool Search::objective_proven() const {
    if (settings_.ties.per_split == 0) return false;
    if (!tells_apart(root_.incumbent)) return real_incumbent().objective <= 0;
    const double lower = std::min(root_.lower.allowed, root_.incumbent);
    return incumbent_objective() <= (settings_.ties.exact ? settings_.ties.removed_from_bound(lower) : lower);
}

// Starts again with prices, if the search has ended without them. None of its threads is working.
bool Search::seek_smaller() {
    const Lock lock(mutex_);
    if (!prices_wait() || !proven_) return false;
    sizes_ = true;
    proven_tree_ = spelled_out(read_out(real_incumbent().solution, *data_, *objective_, settings_));
    restart(objective_, proven_tree_);
    return true;
}

// Whether the incumbent is a tree that only seems as good as the one whose objective was proven, or seems
// better, because the numbers or the least decrease do not tell the two apart. Better numbers may still
// (refine.cpp); until then, and if there are none, the proven tree counts.
bool Search::lost_proven_tree() const {
    if (!sizes_) return false;
    const double objective = tells_apart(root_.incumbent) ? incumbent_objective() * objective_->unit()
                                                          : real_incumbent().objective;
    return std::abs(objective - upper_bound_) > wanted_precision * upper_bound_;
}

// Whether a smaller tree is wanted, but the objective is proven first.
bool Search::prices_wait() const {
    return options_.ties != Ties::any && !sizes_ && (root_.budget.depth > shallow || prices_too_coarse_);
}

// Whether a smaller tree was looked for long enough.
bool Search::ties_took_enough() const {
    return options_.ties == Ties::smaller && proven_ &&
           static_cast<double>(work_) >
               (1 + share_for_ties) * static_cast<double>(work_of_proof_) + work_for_ties;
}

}  // namespace codt
