// How well the numbers of a search tell trees apart, and what is done when that is not enough.
//
// Losses are sums of 64-bit floats. Where the numbers of a problem are far apart (a cost of 1e9 that forbids
// a prediction among costs of 0.1, a target of 1e6 among targets below 10), the rounding of the large ones
// may be as large as the loss of the best tree. But the best tree pays no such number, or it would not be the
// best. So when a search has proven a tree optimal only up to a tolerance that is large compared with the
// tree's own objective, it starts again: with that tree as incumbent, and with an objective that is unchanged
// for trees at least as good and has smaller numbers where only worse trees pay them (Objective::within).
// Bounds proven before stay valid, because they left room for rounding. In well-posed problems none of this
// happens.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

namespace {

// No loss is larger than this, and sums of such numbers stay finite.
constexpr double beyond_all_losses = 1e305;
// Below this, floats run out of exponents.
constexpr double least_objective = 1e-303;

// Bounds closer than this count as equal: it exceeds the rounding error of a node's loss.
double rounding_of_losses(const Objective& objective, std::uint32_t samples, double root_loss,
                          bool whole_prices) {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    if (objective.integral()) {
        // Losses are exact. Sums of them and of penalties are exact as well, if the penalties are whole
        // numbers.
        return whole_prices ? 0.0 : 16 * eps * root_loss;
    }
    // Every term of a sum may be rounded, and equal terms are all rounded in the same direction.
    const double of_sums = objective.sums_are_exact() ? 0.0 : eps * samples;
    return std::max(std::max(1e-14, of_sums) * root_loss, objective.rounding());
}

// Whether penalty and costs are whole numbers of a unit, so that nothing is rounded when they are added.
bool whole_prices(const SearchOptions& options, double unit) {
    const auto whole = [unit](double price) { return price / unit == std::floor(price / unit); };
    return whole(options.penalty) &&
           std::all_of(options.feature_costs.begin(), options.feature_costs.end(), whole);
}

}  // namespace

// Sets the objective of this search: the root becomes a leaf about which nothing is known.
void Search::set_objective(std::shared_ptr<const Objective> objective) {
    objective_ = std::move(objective);
    real_of_ = counted_of_ = nullptr;  // other numbers may make a stump a different tree
    root_.budget = options_.rules.budget.on(root_.subset.size());
    root_.leaf_loss = root_.incumbent = objective_->leaf_loss(root_.subset);
    root_.solution = leaf_solution();
    if (options_.whole_search) {
        settings_ = *options_.whole_search;
        settings_.rules.budget = options_.rules.budget;
    } else {
        settings_ = SearchSettings{};
        settings_.prices = options_.prices().with(
            [&](double price) { return std::min(price / objective_->unit(), beyond_all_losses); });
        settings_.tolerance = rounding_of_losses(*objective_, root_.subset.size(), root_.leaf_loss,
                                                 whole_prices(options_, objective_->unit()));
        settings_.whole = objective_->integral() && settings_.tolerance == 0;
        if (options_.ties != Ties::any && !prices_wait()) {
            const double most_splits = root_.budget.most_leaves(root_.subset.size()) - 1;
            settings_.ties =
                TiePrice::of(most_splits, root_.leaf_loss + (settings_.prices.most() + 1) * most_splits,
                             settings_.whole, settings_.tolerance + objective_->distortion());
            settings_.prices =
                settings_.prices.with([&](double price) { return price + settings_.ties.per_split; });
            settings_.whole = settings_.whole && settings_.ties.exact;
        }
        // A split that misses the least decrease only because numbers were rounded is allowed.
        const double decrease = std::min(options_.rules.min_decrease / objective_->unit(), beyond_all_losses);
        settings_.rules = options_.rules;
        const double rounding = 2 * objective_->distortion();
        settings_.rules.min_decrease =
            doubt_settled_ ? decrease + rounding + 2 * settings_.tolerance + settings_.ties.most
                           : decrease - std::clamp(rounding, 1e-12 * decrease, 1e-9 * decrease);
        settings_.bounds = options_.bounds;
    }
    tolerance_ = own_tolerance() * objective_->unit();
}

// The tolerance, at every node of a tree.
double Search::tolerance_of_nodes() const {
    return root_.budget.most_leaves(root_.subset.size()) * settings_.tolerance;
}

// How far a bound of the root may be off: by the tolerance at every node of a tree, and by the rounding of
// the numbers. The factor is there because the distortion is a sum of floats itself.
double Search::margin() const {
    return tolerance_of_nodes() + objective_->distortion() * (1 + 1e-4);
}

// How much better than a tree that is proven optimal another one may be: by rounding and prices of ties.
double Search::own_tolerance() const {
    return 2 * margin() + (settings_.ties.exact ? 0 : settings_.ties.most);
}

// Whether the numbers tell trees around this objective (internal unit) apart well enough. A search that is
// part of another one takes the numbers as they are.
bool Search::tells_apart(double objective) const {
    if (!options_.refine) return true;
    return own_tolerance() <= wanted_precision * objective &&
           2 * objective_->distortion() <= wanted_precision_of_numbers * objective;
}

// The incumbent and its real objective, where the search's own numbers are not good enough. Splits that
// seemed to save enough only because of rounding are removed. Computed once for every incumbent.
const KeptTree& Search::real_incumbent() const {
    if (real_of_ == root_.solution) return real_;
    const FlatTree tree = read_out(root_.solution, *data_, *objective_, settings_);
    const double decrease = options_.rules.min_decrease;
    real_ = decrease > 0 ? without_idle_splits(tree, options_.prices(), decrease)
                         : KeptTree{root_.solution, tree.objective(options_.prices())};
    real_of_ = root_.solution;
    return real_;
}

// An objective whose numbers tell the incumbent from trees that are nearly as good; null if the present one
// does, or if there is none. A tree that loses nothing needs none.
std::shared_ptr<const Objective> Search::better_numbers() {
    if (tells_apart(root_.incumbent)) return nullptr;
    const double objective = real_incumbent().objective;
    if (objective < least_objective || tells_apart(objective / objective_->unit())) return nullptr;
    // A split that saves enough with the present numbers must do so with the new ones; and every restart must
    // lower the ceiling.
    const double ceiling = 2 * (objective + options_.rules.min_decrease);
    if (!(ceiling < ceiling_ / 2)) return nullptr;
    std::unique_ptr<Objective> other = objective_->within(ceiling);
    if (!other) return nullptr;
    ceiling_ = ceiling;
    ceilings_.push_back(ceiling);
    return other;
}

// What a search that has ended is to begin again with. Better numbers, if there are any. The same without
// prices of ties, if these are so large, as the numbers are so coarse, that they may outweigh a loss. The
// same if splits that it allowed in doubt turned out to save too little: trees without such splits were not
// looked for, as long as these seemed better, so only splits that certainly save enough are allowed then.
std::shared_ptr<const Objective> Search::next_attempt() {
    if (auto better = better_numbers()) return better;
    if (tells_apart(root_.incumbent) || real_incumbent().objective < least_objective) return nullptr;
    if (settings_.ties.per_split > 0 && !sizes_) {
        prices_too_coarse_ = true;
        return objective_;
    }
    if (doubt_settled_ || options_.rules.min_decrease <= 0) return nullptr;
    if (real_incumbent().objective <= incumbent_objective() * objective_->unit() + tolerance_) return nullptr;
    doubt_settled_ = true;
    return objective_;
}

// Starts again with other numbers, if the search has ended and they are needed. None of its threads is
// working, but other threads may read from it or offer trees and bounds.
bool Search::refine() {
    const Lock lock(mutex_);
    if (status_ != RunStatus::optimal || !next_objective_) return false;
    const Solution best = lost_proven_tree() ? proven_tree_ : real_incumbent().solution;
    restart(std::exchange(next_objective_, nullptr), best);
    return true;
}

// Starts again with other numbers or prices, and with a tree as incumbent.
void Search::restart(std::shared_ptr<const Objective> objective, const Solution& tree) {
    failed_ = true;  // until it is done
    const Solution best = spelled_out(read_out(tree, *data_, *objective_, settings_));
    const std::uint64_t expansions = root_.expansions;
    give_back_workspaces();
    primal_.reset();
    detached_.clear();
    Subset rows = std::move(root_.subset);
    std::destroy_at(&root_);
    std::construct_at(&root_);
    memory_.add(-memory_.used());

    root_.subset = std::move(rows);
    root_.expansions = expansions;
    set_objective(std::move(objective));
    settled_ = at_target_ = false;
    target_ = root_.upper;
    take_incumbent(objective_of(*best, *data_, root_.subset.samples(), *objective_, settings_), best);
    start(nullptr);
    add_trace_point();
    failed_ = false;
}

}  // namespace codt
