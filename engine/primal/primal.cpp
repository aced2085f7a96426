#include "primal/primal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/check.hpp"
#include "tree/stumps.hpp"

namespace codt {

struct PrimalHeuristic::Place {
    Subset subset;
    Solution solution;
    Budget budget;
};

namespace {

// The size of a tree as far as it is known without its data: a stump may turn out to be a leaf.
std::uint32_t size_of(const SolutionNode& node) {
    if (node.kind == SolutionNode::Kind::split) return size_of(*node.left) + size_of(*node.right);
    return node.kind == SolutionNode::Kind::stump ? 2 : 1;
}

}  // namespace

PrimalHeuristic::PrimalHeuristic(std::shared_ptr<const Dataset> data,
                                 std::shared_ptr<const Objective> objective, const SearchSettings& settings,
                                 const Budget& budget, std::uint64_t seed, SubtreeSearch search)
    : data_(std::move(data)),
      objective_(std::move(objective)),
      settings_(settings),
      budget_(budget),
      random_(seed ^ 0x5bd1e9955bd1e995ULL),
      search_(std::move(search)) {}

std::optional<GreedyTree> PrimalHeuristic::step(const GreedyTree& incumbent, Worker& worker,
                                                StopCondition& stop, double seconds) {
    if (!started_) {
        started_ = true;
        const Subset all(*data_);
        GreedyTree tree =
            grow(all, order_features(*objective_, settings_.rules.leaves, all, false), budget_, worker, stop);
        if (!stop.reached() && tree.objective < incumbent.objective) return tree;
        return std::nullopt;
    }
    if (alternated_ != incumbent.solution) return alternate(incumbent, worker, stop);
    // A subtree search has to solve many subproblems of the size of which an excursion solves a few.
    ++turn_;
    if (turn_ % 2 == 0 && seconds >= 10 * excursion_seconds_) return search_subtree(incumbent, stop, seconds);
    const auto start = StopCondition::Clock::now();
    std::optional<GreedyTree> found = excursion(incumbent, worker, stop);
    excursion_seconds_ = std::chrono::duration<double>(StopCondition::Clock::now() - start).count();
    return found;
}

// The best tree of depth one or two.
GreedyTree PrimalHeuristic::solve_bottom(const Subset& subset, const FeatureOrder& order,
                                         const Budget& budget, Worker& worker, StopCondition& stop) const {
    if (budget.depth == 1) {
        const double best = best_stump_value(*objective_, subset, settings_).allowed;
        return {best, stump_solution(best)};
    }
    const DepthTwoResult result = worker.depth_two.solve(subset, order, budget.leaves, {}, stop);
    return {result.upper, result.solution(*data_, subset)};
}

GreedyTree PrimalHeuristic::grow(const Subset& subset, const FeatureOrder& order, const Budget& budget,
                                 Worker& worker, StopCondition& stop) const {
    const double leaf = objective_->leaf_loss(subset);
    if (budget.depth == 0 || leaf <= settings_.prices.least() || !order.splits || stop.reached())
        return {leaf, leaf_solution()};
    if (budget.depth <= 2) return solve_bottom(subset, order, budget, worker, stop);
    return split(subset, order.best_feature, order.best_threshold, budget, nullptr, nullptr, worker, stop);
}

// The tree that splits here, with the given tops below it (null: a greedy top).
GreedyTree PrimalHeuristic::split(const Subset& subset, std::uint32_t feature, std::uint32_t threshold,
                                  const Budget& budget, const SolutionNode* left, const SolutionNode* right,
                                  Worker& worker, StopCondition& stop) const {
    const double leaf = objective_->leaf_loss(subset);
    Subset sides[2];
    subset.split(feature, threshold, sides[0], sides[1], worker.splitter);
    // Leaves are shared out by loss, or by the sizes of the given tops.
    std::uint32_t left_leaves = Budget::any;
    if (budget.limited())
        left_leaves = left && right ? budget.share_by_loss(size_of(*left), size_of(*right))
                                    : budget.share_by_loss(objective_->leaf_loss(sides[0]),
                                                           objective_->leaf_loss(sides[1]));
    GreedyTree below[2];
    for (int s = 0; s < 2; ++s)
        below[s] = rebuild(s == 0 ? left : right, sides[s],
                           budget.of_side(s, left_leaves).on(sides[s].size()), worker, stop);
    const double total = below[0].objective + below[1].objective + settings_.prices.of(feature);
    if (total >= leaf || !settings_.allows(leaf, total)) return {leaf, leaf_solution()};
    return {total, split_solution(subset.split_at(*data_, feature, threshold), below[0].solution,
                                  below[1].solution)};
}

// A tree with the top of `node` on other data, with its bottoms solved anew; a greedy top if `node` is null.
GreedyTree PrimalHeuristic::rebuild(const SolutionNode* node, const Subset& subset, const Budget& budget,
                                    Worker& worker, StopCondition& stop) const {
    const double leaf = objective_->leaf_loss(subset);
    if (budget.depth == 0 || leaf <= settings_.prices.least() || !settings_.rules.leaves.can_split(subset) ||
        stop.reached())
        return {leaf, leaf_solution()};
    if (budget.depth > 2 && node && node->kind == SolutionNode::Kind::split) {
        const std::uint32_t feature = node->split.feature, groups = subset.groups_left(*data_, node->split);
        if (groups > 0 && settings_.rules.leaves.thresholds(subset, feature).contain(groups - 1))
            return split(subset, feature, groups - 1, budget, node->left.get(), node->right.get(), worker,
                         stop);
    }
    return grow(subset, order_features(*objective_, settings_.rules.leaves, subset, false), budget, worker,
                stop);
}

// --- moves

// Changes the first node, from the root down, that has a better split for its present subtrees.
std::optional<GreedyTree> PrimalHeuristic::alternate(const GreedyTree& incumbent, Worker& worker,
                                                     StopCondition& stop) {
    std::vector<std::vector<int>> paths;
    if (budget_.depth >= 3) list_places(incumbent.solution, budget_.depth - 3, paths);
    for (const auto& path : paths) {
        if (stop.reached()) return std::nullopt;
        const Place place = go_to(incumbent.solution, path);
        if (place.solution->kind != SolutionNode::Kind::split) continue;
        const auto samples = place.subset.samples();
        const std::vector<std::uint32_t> rows(samples.begin(), samples.end());
        const auto now_at = data_->part(place.solution->split, rows);
        if (now_at.left.empty() || now_at.right.empty()) continue;
        std::vector<double> cost[2] = {std::vector<double>(data_->samples()),
                                       std::vector<double>(data_->samples())};
        costs(*place.solution->left, now_at.left, rows, cost[0]);
        costs(*place.solution->right, now_at.right, rows, cost[1]);
        double now = 0, all_right = 0;
        for (const std::uint32_t row : now_at.left) now += cost[0][row];
        for (const std::uint32_t row : now_at.right) now += cost[1][row];
        for (const std::uint32_t row : rows) all_right += cost[1][row];
        double best = now - std::max(settings_.tolerance, 1e-9 * now);
        std::uint32_t feature = 0, threshold = 0;
        bool found = false;
        for (std::uint32_t f = 0; f < place.subset.features(); ++f) {
            const auto order = place.subset.order(f);
            const auto ends = place.subset.group_end(f);
            const auto possible = settings_.rules.leaves.thresholds(place.subset, f);
            // The test itself may cost more or less than the present one.
            double sum =
                all_right + (settings_.prices.of(f) - settings_.prices.of(place.solution->split.feature));
            std::uint32_t k = 0;
            for (std::uint32_t i = 0; i + 1 < ends.size(); ++i) {
                for (; k < ends[i]; ++k) {
                    const std::uint32_t row = samples[order[k]];
                    sum += cost[0][row] - cost[1][row];
                }
                if (sum >= best || !possible.contain(i)) continue;
                best = sum;
                feature = f;
                threshold = i;
                found = true;
            }
        }
        if (!found) continue;
        const GreedyTree changed =
            split(place.subset, feature, threshold, place.budget, place.solution->left.get(),
                  place.solution->right.get(), worker, stop);
        const double old = objective_of(*place.solution, *data_, rows, *objective_, settings_);
        if (stop.reached() || changed.objective >= old - settings_.tolerance) continue;
        return GreedyTree{incumbent.objective - old + changed.objective,
                          replace(incumbent.solution, path, changed.solution)};
    }
    alternated_ = incumbent.solution;
    return std::nullopt;
}

// Searches below one node of the incumbent. Nodes with three levels below them come first; once their
// subtrees are all proven optimal, those with four follow, and so on.
std::optional<GreedyTree> PrimalHeuristic::search_subtree(const GreedyTree& incumbent, StopCondition& stop,
                                                          double seconds) {
    if (budget_.depth < 4) return std::nullopt;
    for (std::uint32_t level = budget_.depth - 3; level >= 1; --level) {
        std::vector<std::vector<int>> paths;
        list_places(incumbent.solution, level, paths);
        std::erase_if(paths, [&](const auto& path) { return path.size() != level; });
        for (std::size_t k = 0; k < paths.size(); ++k) {
            const auto& path = paths[(next_place_ + k) % paths.size()];
            Place place = go_to(incumbent.solution, path);
            if (place.solution->kind == SolutionNode::Kind::leaf) continue;
            if (std::find(proven_.begin(), proven_.end(), place.solution) != proven_.end()) continue;
            next_place_ += k + 1;
            const auto samples = place.subset.samples();
            const double old = objective_of(*place.solution, *data_, samples, *objective_, settings_);
            StopCondition limit(&stop, nullptr, seconds);
            const auto [found, proven] =
                search_(std::move(place.subset), place.budget, {old, place.solution}, limit);
            if (proven) proven_.push_back(found.solution);
            if (found.objective >= old - settings_.tolerance) return std::nullopt;
            return GreedyTree{incumbent.objective - old + found.objective,
                              replace(incumbent.solution, path, found.solution)};
        }
    }
    return std::nullopt;
}

std::optional<GreedyTree> PrimalHeuristic::excursion(const GreedyTree& incumbent, Worker& worker,
                                                     StopCondition& stop) {
    if (budget_.depth < 3) return std::nullopt;
    std::vector<std::vector<int>> paths;
    list_places(incumbent.solution, budget_.depth - 3, paths);
    if (paths.empty()) return std::nullopt;
    const auto& path = paths[random_.next() % paths.size()];
    const Place place = go_to(incumbent.solution, path);
    if (place.budget.depth == 0) return std::nullopt;  // a leaf, and no leaves to spare
    const FeatureOrder order = order_features(*objective_, settings_.rules.leaves, place.subset, false);
    // A feature of good rank, most often one of the first three, and its best threshold, one near it, or any.
    std::uint32_t rank = 0;
    while (rank + 1 < place.subset.features() && random_.uniform() < 0.6) ++rank;
    std::uint32_t feature = 0;
    while (order.rank[feature] != rank) ++feature;
    const auto possible = settings_.rules.leaves.thresholds(place.subset, feature);
    if (possible.first >= possible.end) return std::nullopt;
    const std::uint32_t count = possible.end - possible.first;
    std::uint32_t threshold = possible.first + static_cast<std::uint32_t>(random_.next() % count);
    const double kind = random_.uniform();
    if (kind < 0.75) {
        const std::uint32_t reach = kind < 0.25 ? 0 : std::max(1u, count / 8);
        const std::uint32_t best = std::clamp(order.threshold[feature], possible.first, possible.end - 1);
        const std::uint32_t low = best - std::min(reach, best - possible.first);
        threshold =
            std::min(possible.end - 1, low + static_cast<std::uint32_t>(random_.next() % (2 * reach + 1)));
    }
    const bool keep = place.solution->kind == SolutionNode::Kind::split && random_.uniform() < 0.5;
    const GreedyTree changed =
        split(place.subset, feature, threshold, place.budget, keep ? place.solution->left.get() : nullptr,
              keep ? place.solution->right.get() : nullptr, worker, stop);
    if (stop.reached()) return std::nullopt;
    const auto samples = place.subset.samples();
    const double old = objective_of(*place.solution, *data_, samples, *objective_, settings_);
    if (changed.objective >= old - settings_.tolerance) return std::nullopt;
    return GreedyTree{incumbent.objective - old + changed.objective,
                      replace(incumbent.solution, path, changed.solution)};
}

// --- trees and their data

// At least the leaves that the tree has on these rows, and no more than the budget in which it was found:
// there a stump counts as two leaves, or as many as it has rows (Budget::on).
std::uint32_t PrimalHeuristic::leaves_of(const SolutionNode& node,
                                         const std::vector<std::uint32_t>& rows) const {
    if (node.kind == SolutionNode::Kind::leaf) return 1;
    if (node.kind == SolutionNode::Kind::stump) return rows.size() < 2 ? 1 : 2;
    const auto parted = data_->part(node.split, rows);
    return leaves_of(*node.left, parted.left) + leaves_of(*node.right, parted.right);
}

// The cost of every row if it were sent into this subtree, with leaves fitted to the rows that are there now.
void PrimalHeuristic::costs(const SolutionNode& node, const std::vector<std::uint32_t>& fitted,
                            const std::vector<std::uint32_t>& rows, std::vector<double>& cost) const {
    Split test = node.split;
    if (node.kind == SolutionNode::Kind::stump) {
        const auto stump = best_allowed_stump(*objective_, *data_, fitted, settings_, node.objective);
        if (!stump.splits) return objective_->leaf_costs(fitted, rows, cost);
        test = stump.split;
    } else if (node.kind == SolutionNode::Kind::leaf) {
        return objective_->leaf_costs(fitted, rows, cost);
    }
    const auto fitted_sides = data_->part(test, fitted);
    const auto sides = data_->part(test, rows);
    const SolutionNode& leaf = *leaf_solution();
    const bool deeper = node.kind == SolutionNode::Kind::split;
    costs(deeper ? *node.left : leaf, fitted_sides.left, sides.left, cost);
    costs(deeper ? *node.right : leaf, fitted_sides.right, sides.right, cost);
}

PrimalHeuristic::Place PrimalHeuristic::go_to(const Solution& tree, const std::vector<int>& path) const {
    Place place{Subset(*data_), tree, budget_};
    Splitter splitter;
    std::uint32_t others = 0;  // leaves of the rest of the tree
    for (const int side : path) {
        const SolutionNode& node = *place.solution;
        const std::uint32_t groups = place.subset.groups_left(*data_, node.split);
        Subset sides[2];
        place.subset.split(node.split.feature, groups - 1, sides[0], sides[1], splitter);
        if (budget_.limited()) {
            const auto rows = sides[1 - side].samples();
            others += leaves_of(side == 0 ? *node.right : *node.left, {rows.begin(), rows.end()});
        }
        place.subset = std::move(sides[side]);
        place.solution = Solution(side == 0 ? node.left : node.right);
        --place.budget.depth;
    }
    // All leaves that the rest of the tree does not use.
    if (budget_.limited()) {
        CODT_CHECK(others < budget_.leaves);
        place.budget.leaves = budget_.leaves - others;
    }
    place.budget = place.budget.on(place.subset.size());
    return place;
}

Solution PrimalHeuristic::replace(const Solution& tree, std::span<const int> path, const Solution& subtree) {
    if (path.empty()) return subtree;
    const SolutionNode& node = *tree;
    const auto rest = path.subspan(1);
    if (path[0] == 0) return split_solution(node.split, replace(node.left, rest, subtree), node.right);
    return split_solution(node.split, node.left, replace(node.right, rest, subtree));
}

// Paths to all nodes down to the level `deepest`, breadth first.
void PrimalHeuristic::list_places(const Solution& tree, std::uint32_t deepest,
                                  std::vector<std::vector<int>>& paths) const {
    std::vector<const SolutionNode*> nodes{tree.get()};
    paths.assign(1, {});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i]->kind != SolutionNode::Kind::split || paths[i].size() >= deepest) continue;
        for (int side = 0; side < 2; ++side) {
            std::vector<int> path = paths[i];
            path.push_back(side);
            paths.push_back(std::move(path));
            nodes.push_back(side == 0 ? nodes[i]->left.get() : nodes[i]->right.get());
        }
    }
}

}  // namespace codt
