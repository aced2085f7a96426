// Units: what a thread of a search does while others solve the sides of its split, and how these solve them.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "search/search.hpp"

namespace codt {

namespace {

using namespace std::chrono_literals;

// Sides of lower depth take milliseconds: they are solved on the spot.
constexpr std::uint32_t least_depth = 3;

// How long to wait for news before looking at the cutoffs; the leading thread looks at the stop condition,
// too.
constexpr auto patience = 100ms;
constexpr auto leaders_patience = StopCondition::poll_interval;

// How often the solver of a unit reports and hears.
constexpr auto pace = 100ms;

// Of all bounds that are known the highest counts.
void raise_to(std::vector<double>& lower, const std::vector<double>& other) {
    if (lower.empty()) lower.resize(other.size());
    for (std::size_t i = 0; i < std::min(lower.size(), other.size()); ++i)
        lower[i] = std::max(lower[i], other[i]);
}

// What is known about one side of a split, its tree and its bound among it, is known to its node.
void raise_side(Branch& branch, const Bound& lower) {
    branch.lower.allowed = std::min(branch.incumbent, std::max(branch.lower.allowed, lower.allowed));
    branch.lower.free = std::min(branch.lower.allowed, std::max(branch.lower.free, lower.free));
    if (OrNode* node = branch.node.get()) {
        node->lower = branch.lower;
        node->incumbent = branch.incumbent;
        node->solution = branch.solution;
        node->split_lower = std::max(node->split_lower, branch.lower.free);
    }
}

}  // namespace

// The tests on the way to a node.
std::vector<PathStep> Search::path_to(const OrNode& node) const {
    std::vector<PathStep> path;
    for (const OrNode* below = &node; below->parent; below = below->parent) {
        const OrNode& above = *below->parent;
        const Child& child = above.children[below->parent_slot];
        path.push_back({above.subset.split_at(*data_, child.feature, child.first), below->parent_side == 0});
    }
    std::reverse(path.begin(), path.end());
    return path;
}

Unit Search::unit_of(const Job& job, const Branch& branch, int side) const {
    Unit unit;
    unit.numbers = {ceilings_, sizes_, prices_too_coarse_, doubt_settled_};
    unit.path = path_to(*job.node);
    unit.path.push_back({job.node->subset.split_at(*data_, job.feature, job.threshold), side == 0});
    unit.budget = branch.node->budget;
    unit.samples = branch.node->subset.size();
    unit.known.lower = job.lower[side];
    unit.known.feature_lower = job.feature_lower[side];
    return unit;
}

// Hands out the sides of a split that are not solved yet, and waits for them. Meanwhile the split's bounds
// and trees count in the search tree, and the units learn lower cutoffs. False if the run is over, or if the
// result is not needed any more. A unit that comes back unsolved becomes a node of this search.
bool Search::hand_out(Job& job, AndNode& result, StopCondition& stop, bool leads) {
    struct Open {
        int side;
        UnitReport seen;
    };
    std::vector<std::uint64_t> ids;
    std::vector<Open> open;
    const auto withdraw = [&] {
        for (const std::uint64_t id : ids) desk_.withdraw(id);
    };
    const auto pass_on_cutoffs = [&](double below) {
        for (std::size_t i = 0; i < ids.size(); ++i)
            desk_.lower_cutoff(ids[i], below - result.sides[1 - open[i].side].lower.allowed);
    };

    Lock lock(mutex_);
    if (!attached(job)) return false;
    for (int side = 0; side < 2; ++side) {
        const Branch& branch = result.sides[side];
        if (!branch.node || branch.node->budget.depth < least_depth) continue;
        Unit unit = unit_of(job, branch, side);
        unit.known.cutoff = job.relaxed - result.sides[1 - side].lower.allowed;
        ids.push_back(desk_.post(std::move(unit)));
        open.push_back({side, {}});
    }
    while (!ids.empty()) {
        lock.unlock();
        auto reports = desk_.collect(ids, leads ? leaders_patience : patience);
        const bool stopped = stop.reached();
        lock.lock();
        if (stopped || !attached(job)) {
            withdraw();
            return false;
        }
        for (auto& [id, report] : reports) {
            const auto place = std::find(ids.begin(), ids.end(), id) - ids.begin();
            const int side = open[static_cast<std::size_t>(place)].side;
            const UnitEnd end = report.end;
            if (end != UnitEnd::none && shares_feature_bounds(*job.node)) {
                raise_to(job.feature_lower[side], report.feature_lower);
                result.sides[side].feature_lower = job.feature_lower[side];
            }
            take_report(job, result.sides[side], open[static_cast<std::size_t>(place)].seen,
                        std::move(report));
            if (end == UnitEnd::none) continue;
            desk_.withdraw(id);
            ids.erase(ids.begin() + place);
            open.erase(open.begin() + place);
            if (end == UnitEnd::complete) result.sides[side].node.reset();
            if (end != UnitEnd::memory_limit) continue;
            withdraw();
            end_run(RunStatus::memory_limit);
            return false;
        }
        if (ids.empty()) break;
        const bool learnt = learn_from_neighbours(job, result);
        if (learnt || !reports.empty()) {
            raise_split(job, result);
            if (over() || !attached(job)) {
                withdraw();
                return false;
            }
        }
        const double below = wanted_below(job);
        if (result.sides[0].lower.allowed + result.sides[1].lower.allowed >= below - settings_.tolerance) {
            withdraw();  // it prunes all that it can
            break;
        }
        pass_on_cutoffs(below);
    }
    return true;
}

// Whether an expansion under way is still part of the search tree.
bool Search::attached(const Job& job) const {
    const OrNode* top = job.node;
    while (top->parent) top = top->parent;
    return top == &root_ && !root_.complete;
}

// At and above this the sum of the two sides of a split does not matter; it falls when better trees are
// found.
double Search::wanted_below(const Job& job) {
    refresh_upper(*job.node);
    return job.node->cutoff() + job.node->children.reach(job.slot) - settings_.prices.of(job.feature);
}

// Upper bounds of a node and all above it, as Select would compute them now.
void Search::refresh_upper(OrNode& node) {
    if (!node.parent) return;
    OrNode& above = *node.parent;
    refresh_upper(above);
    const Slot slot = node.parent_slot;
    node.upper = above.cutoff() + above.children.reach(slot) -
                 settings_.prices.of(above.children[slot].feature) -
                 above.and_node(slot).sides[1 - node.parent_side].lower.allowed;
}

// What was reported about one side of a split, to be known of it from now on.
void Search::take_report(const Job& job, Branch& branch, UnitReport& seen, UnitReport report) {
    if (report.solution && report.incumbent < branch.incumbent) {
        branch.incumbent = report.incumbent;
        branch.solution = std::move(report.solution);
    }
    raise_side(branch, report.lower);
    // Counters that are lower than before are those of another solver, which has begun again.
    const auto more = [](std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; };
    ScanCounters added;
    added.depth_two_calls = more(report.counters.depth_two_calls, seen.counters.depth_two_calls);
    added.evaluations = more(report.counters.evaluations, seen.counters.evaluations);
    added.scanned_samples = more(report.counters.scanned_samples, seen.counters.scanned_samples);
    const std::uint64_t expansions = more(report.expansions, seen.expansions);
    earlier_counters_.add(added);
    work_ += added.scanned_samples;
    branch.expansions += expansions;
    for (OrNode* above = job.node; above; above = above->parent) above->expansions += expansions;
    seen.counters.add(added);
    seen.expansions += expansions;
}

// What the splits next to one whose sides are being solved have proven meanwhile.
bool Search::learn_from_neighbours(const Job& job, AndNode& result) const {
    double lower[2];
    job.node->children.inherited(job.slot, lower[0], lower[1]);
    bool learnt = false;
    for (int side = 0; side < 2; ++side) {
        const Branch& branch = result.sides[side];
        if (std::min(lower[side], branch.incumbent) <= branch.lower.free) continue;
        raise_side(result.sides[side], Bound::both(lower[side]));
        learnt = true;
    }
    return learnt;
}

// The bounds and the tree of a split whose sides are being solved, as far as they are known.
void Search::raise_split(const Job& job, const AndNode& result) {
    OrNode& node = *job.node;
    const Branch& left = result.sides[0];
    const Branch& right = result.sides[1];
    take_split(node, job.slot, left, right);
    node.children.raise(job.slot, left.lower, right.lower, node.children[job.slot].heuristic, node.cutoff());
    node.children.pass_on(job.slot, node.cutoff());
    refresh_bound(node);
    back_propagate(&node);
    add_trace_point();
}

// Makes the numbers of a search its own. If its greedy tree was good enough for the first numbers, the next
// ones have been chosen, but would only be used if it were run.
void Search::adopt(const Numbers& numbers) {
    const bool undecided = std::exchange(next_objective_, nullptr) != nullptr;
    if (!undecided && Numbers{ceilings_, sizes_, prices_too_coarse_, doubt_settled_} == numbers) return;
    std::shared_ptr<const Objective> objective = first_objective_;
    for (const double ceiling : numbers.ceilings) {
        objective = objective->within(ceiling);
        if (!objective) throw std::invalid_argument("the unit belongs to a search with other numbers");
    }
    ceilings_ = numbers.ceilings;
    sizes_ = numbers.sizes;
    prices_too_coarse_ = numbers.prices_too_coarse;
    doubt_settled_ = numbers.doubt_settled;
    set_objective(std::move(objective));
}

UnitReport Search::solve_unit(const Unit& unit, const UnitTalk& talk) {
    SearchOptions options = options_;
    SearchSettings settings;
    std::shared_ptr<const Objective> objective;
    {
        const Lock lock(mutex_);
        adopt(unit.numbers);
        settings = settings_;
        objective = objective_;
    }
    // As in the whole search: its rules, its tolerance, its prices of ties.
    options.whole_search = &settings;
    options.ties = Ties::any;
    options.refine = options.greedy = options.primal = options.log_expansions = false;
    options.rules.budget = unit.budget;
    options.known = unit.known;

    Subset rows(*data_), sides[2];
    Splitter splitter;
    for (const PathStep& step : unit.path) {
        const std::uint32_t f = step.split.feature;
        const std::uint32_t groups = f < rows.features() ? rows.groups_left(*data_, step.split) : 0;
        if (groups == 0 || groups == rows.groups(f))
            throw std::invalid_argument("the unit belongs to a search on other data");
        rows.split(f, groups - 1, sides[0], sides[1], splitter);
        rows = std::exchange(sides[step.left ? 0 : 1], Subset());
    }

    if (rows.size() != unit.samples)
        throw std::invalid_argument("the unit belongs to a search on other data");

    Search search(data_, objective, std::move(options), std::move(rows));
    Solution told = search.root_.solution;
    auto next = StopCondition::Clock::now() + pace;
    StopCondition stop(std::numeric_limits<double>::infinity(), [&] {
        if (StopCondition::Clock::now() < next) return false;
        UnitReport report = search.report_on_root();
        if (report.solution == told)
            report.solution = nullptr;
        else
            told = report.solution;
        const std::optional<double> cutoff = talk(std::move(report));
        if (cutoff) search.lower_cutoff(*cutoff);
        next = StopCondition::Clock::now() + pace;
        return !cutoff;
    });
    const RunStatus status = search.run(stop, {});
    UnitReport report = search.report_on_root();
    search.root_.children.feature_lower(report.feature_lower);
    report.end = search.root_.complete               ? UnitEnd::complete
                 : status == RunStatus::memory_limit ? UnitEnd::memory_limit
                                                     : UnitEnd::returned;
    return report;
}

// What a search that solves a unit knows; called by its only thread.
UnitReport Search::report_on_root() {
    const Lock lock(mutex_);
    return {UnitEnd::none,    root_.lower,    root_.incumbent, root_.solution, {},
            root_.expansions, scan_counters()};
}

void Search::lower_cutoff(double cutoff) {
    const Lock lock(mutex_);
    root_.upper = std::min(root_.upper, cutoff);
}

}  // namespace codt
