// Primal heuristics: they find better incumbents alongside the search, from its first milliseconds on. They
// never touch the search tree; what they find is an incumbent like any other, so the proof is unaffected.
//
// - Bottoms: a greedy top, and below it the optimal tree of depth two at every node.
// - Alternation: one split of the top is replaced by the best one for the present subtrees below it (each
//   sample has a cost on the left and a cost on the right), then the bottoms are solved again. Never worse.
// - Subtree: a subtree of depth three or more of the incumbent is searched exactly, with itself as incumbent.
// - Excursion: another split at a random place, greedy with optimal bottoms below it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "common/stop.hpp"
#include "data/subset.hpp"
#include "greedy/greedy.hpp"
#include "objectives/objective.hpp"
#include "rules/budget.hpp"
#include "rules/settings.hpp"
#include "terminal/worker.hpp"
#include "tree/solution.hpp"

namespace codt {

// Unless an option says otherwise, primal heuristics take at most this share of a search's time, and twice
// the share of its first second. At depth four, many searches end soon and find the best tree without them.
inline double default_primal_share(std::uint32_t max_depth) {
    return max_depth <= 4 ? 0.1 : 0.25;
}

// The search has to go on beside them, or nothing would ever be proven.
inline constexpr double largest_primal_share = 0.9;

// An exact search for the best tree of a subproblem within a budget, until `stop` is reached; `known` is a
// tree to start from. The caller has to provide it, because this folder is a layer below the search.
struct SubtreeResult {
    GreedyTree tree;
    bool proven = false;  // to be the best
};
using SubtreeSearch = std::function<SubtreeResult(Subset subset, const Budget& budget,
                                                  const GreedyTree& known, StopCondition& stop)>;

class PrimalHeuristic {
 public:
    // For trees of all rows within `budget`, which is in normal form.
    PrimalHeuristic(std::shared_ptr<const Dataset> data, std::shared_ptr<const Objective> objective,
                    const SearchSettings& settings, const Budget& budget, std::uint64_t seed,
                    SubtreeSearch search);

    // Makes one move, which ends when `stop` is reached, or after about `seconds` where it can choose.
    // Returns a tree better than the incumbent, if it has found one.
    std::optional<GreedyTree> step(const GreedyTree& incumbent, Worker& worker, StopCondition& stop,
                                   double seconds);

 private:
    struct Place;  // a node of the incumbent with its data

    GreedyTree solve_bottom(const Subset& subset, const FeatureOrder& order, const Budget& budget,
                            Worker& worker, StopCondition& stop) const;
    GreedyTree grow(const Subset& subset, const FeatureOrder& order, const Budget& budget, Worker& worker,
                    StopCondition& stop) const;
    GreedyTree split(const Subset& subset, std::uint32_t feature, std::uint32_t threshold,
                     const Budget& budget, const SolutionNode* left, const SolutionNode* right,
                     Worker& worker, StopCondition& stop) const;
    GreedyTree rebuild(const SolutionNode* node, const Subset& subset, const Budget& budget, Worker& worker,
                       StopCondition& stop) const;

    std::optional<GreedyTree> alternate(const GreedyTree& incumbent, Worker& worker, StopCondition& stop);
    std::optional<GreedyTree> search_subtree(const GreedyTree& incumbent, StopCondition& stop,
                                             double seconds);
    std::optional<GreedyTree> excursion(const GreedyTree& incumbent, Worker& worker, StopCondition& stop);

    std::uint32_t leaves_of(const SolutionNode& node, const std::vector<std::uint32_t>& rows) const;
    void costs(const SolutionNode& node, const std::vector<std::uint32_t>& fitted,
               const std::vector<std::uint32_t>& rows, std::vector<double>& cost) const;
    Place go_to(const Solution& tree, const std::vector<int>& path) const;
    static Solution replace(const Solution& tree, std::span<const int> path, const Solution& subtree);
    void list_places(const Solution& tree, std::uint32_t deepest, std::vector<std::vector<int>>& paths) const;

    std::shared_ptr<const Dataset> data_;
    std::shared_ptr<const Objective> objective_;
    const SearchSettings& settings_;
    Budget budget_;
    Random random_;
    SubtreeSearch search_;
    bool started_ = false;
    std::uint64_t turn_ = 0;
    // Subtrees that a search has proven to be the best for their data.
    std::vector<Solution> proven_;
    Solution alternated_;  // the tree that no alternation improves
    std::size_t next_place_ = 0;
    double excursion_seconds_ = 0;  // taken by the last one
};

}  // namespace codt
