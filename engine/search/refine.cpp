// How well the numbers of a search tell trees apart, and what is done where that is not enough.
//
// Losses are sums of 64-bit floats. Where the numbers of a problem are far apart (a cost of 1e9 that forbids
// a prediction beside costs of 0.1, a target of 1e6 among targets below 10), what is rounded away of the
// large ones may be as much as the best tree loses. But the best tree pays no such number, or it would not be
// the best. So when a search has found a tree and proven it to be the best up to a tolerance that is large
// beside the tree's own objective, it begins again, with that tree for incumbent and an objective in which
// everything is as before for trees as good as this one, and the numbers that only worse trees pay are
// smaller (Objective::within). Bounds proven before stay valid; they have left room for rounding. In
// well-posed problems none of this happens.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "search/search.hpp"
#include "tree/stumps.hpp"

namespace codt {

namespace {

// Numbers beyond this are never met as losses, and their sums stay finite.
constexpr double beyond_all_losses = 1e305;
// Below this, floats run out of exponents.
constexpr double least_objective = 1e-303;

// Bounds closer than this count as equal: more than rounding may have done to the loss of a node.
double rounding_of_losses(const Objective& objective, std::uint32_t samples, double root_loss,
                          double lambda) {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    if (objective.integral()) {
        // Losses are exact. Sums of them and of penalties are as well, if those are whole numbers.
        return lambda == std::floor(lambda) ? 0.0 : 16 * eps * root_loss;
    }
    // Every term of a sum may be rounded, and equal terms all in the same direction.
    return std::max(std::max(1e-14, eps * samples) * root_loss, objective.rounding());
}

}  // namespace

// Makes the objective the one of this search: the root becomes a leaf, with nothing known of it.
void Search::set_objective(std::shared_ptr<const Objective> objective) {
    objective_ = std::move(objective);
    real_of_ = nullptr;  // with other numbers a stump may be another one
    root_.budget = options_.rules.budget.on(root_.subset.size());
    root_.leaf_loss = root_.incumbent = objective_->leaf_loss(root_.subset);
    root_.solution = leaf_solution();
    if (options_.whole_search) {
        settings_ = *options_.whole_search;
        settings_.rules.budget = options_.rules.budget;
    } else {
        settings_ = SearchSettings{};
        settings_.lambda = std::min(options_.penalty / objective_->unit(), beyond_all_losses);
        settings_.tolerance =
            rounding_of_losses(*objective_, root_.subset.size(), root_.leaf_loss, settings_.lambda);
        settings_.whole = objective_->integral() && settings_.tolerance == 0;
        // What is short of the least decrease by rounding of the numbers is enough.
        const double decrease = std::min(options_.rules.min_decrease / objective_->unit(), beyond_all_losses);
        settings_.rules = options_.rules;
        settings_.rules.min_decrease =
            decrease - std::clamp(2 * objective_->distortion(), 1e-12 * decrease, 1e-9 * decrease);
        settings_.bounds = options_.bounds;
    }
    tolerance_ = 2 * margin() * objective_->unit();
}

// How far a bound of the root may be from what it stands for: by the tolerance at every node of a tree, and
// by what rounding the numbers has done to it. The distortion is a sum of floats, too.
double Search::margin() const {
    return root_.budget.most_leaves(root_.subset.size()) * settings_.tolerance +
           objective_->distortion() * (1 + 1e-4);
}

// Whether the numbers tell trees around this objective (internal unit) apart well enough. A search that is
// part of another takes them as they are.
bool Search::tells_apart(double objective) const {
    if (!options_.refine) return true;
    return 2 * margin() <= wanted_precision * objective &&
           2 * objective_->distortion() <= wanted_precision_of_numbers * objective;
}

// The incumbent and its real objective, where the search's own numbers are not good enough. Splits that
// seemed to save enough because of rounding are taken back. Worked out once for every incumbent.
const KeptTree& Search::real_incumbent() const {
    if (real_of_ == root_.solution) return real_;
    const FlatTree tree = read_out(root_.solution, *data_, *objective_, settings_);
    const double decrease = options_.rules.min_decrease;
    real_ = decrease > 0 ? without_idle_splits(tree, options_.penalty, decrease)
                         : KeptTree{root_.solution, tree.objective(options_.penalty)};
    real_of_ = root_.solution;
    return real_;
}

// Numbers that tell the incumbent from trees that are nearly as good, where the present ones do not; null if
// they do, or if there are none. A tree that loses nothing needs none.
std::shared_ptr<const Objective> Search::better_numbers() {
    if (tells_apart(root_.incumbent)) return nullptr;
    const double objective = real_incumbent().objective;
    if (objective < least_objective || tells_apart(objective / objective_->unit())) return nullptr;
    // A split that saves enough in one of them must do so in the other, too; and each time must be a gain.
    const double ceiling = 2 * (objective + options_.rules.min_decrease);
    if (!(ceiling < ceiling_ / 2)) return nullptr;
    std::unique_ptr<Objective> other = objective_->within(ceiling);
    if (!other) return nullptr;
    ceiling_ = ceiling;
    return other;
}

// Begins again with other numbers, if the search has ended and they are needed. No thread is at work, but
// others may read, or bring what they know.
bool Search::refine() {
    const Lock lock(mutex_);
    if (status_ != RunStatus::optimal || !next_objective_) return false;
    failed_ = true;  // until it is done
    const Solution best = real_incumbent().solution;
    const std::uint64_t expansions = root_.expansions;
    for (const auto& worker : workers_) earlier_counters_.add(worker->depth_two.counters());
    workers_.clear();
    primal_.reset();
    detached_.clear();
    Subset rows = std::move(root_.subset);
    std::destroy_at(&root_);
    std::construct_at(&root_);
    memory_.add(-memory_.used());

    root_.subset = std::move(rows);
    root_.expansions = expansions;
    set_objective(std::exchange(next_objective_, nullptr));
    settled_ = false;
    take_incumbent(objective_of(*best, *data_, root_.subset.samples(), *objective_, settings_), best);
    start(nullptr);
    add_trace_point();
    failed_ = false;
    return true;
}

}  // namespace codt
