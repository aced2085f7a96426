// The losses of the two leaves behind every split of a subproblem, worked out feature by feature when first
// asked for. What is left of a subproblem of depth two whose number of leaves is limited, and what a least
// decrease of the loss is measured by (see search/settings.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "data/subset.hpp"
#include "objectives/objective.hpp"
#include "search/settings.hpp"
#include "tree/solution.hpp"

namespace codt {

class LeafSides {
 public:
    void reset(const Objective& objective, const Subset& subset);

    double left(std::uint32_t f, std::uint32_t threshold) { return of(f).left[threshold]; }
    double right(std::uint32_t f, std::uint32_t threshold) { return of(f).right[threshold]; }

 private:
    struct Losses {
        bool ready = false;
        std::vector<double> left, right;
    };
    const Losses& of(std::uint32_t f);

    const Objective* objective_ = nullptr;
    const Subset* subset_ = nullptr;
    std::vector<Losses> losses_;
};

// The best tree of depth at most one on a subproblem: of all, and of those that are allowed.
struct StumpValue {
    double free = 0;
    double allowed = 0;
};
StumpValue best_stump_value(const Objective& objective, const Subset& subset, const SearchSettings& settings);

// The loss of a leaf that holds some rows, in internal units, as the search computes it: the reported one may
// differ from it by rounding, and two trees must not seem to differ because of that.
double leaf_loss_of_rows(const Objective& objective, const Dataset& data,
                         std::span<const std::uint32_t> rows);

// The best tree of depth at most one on some rows that is allowed; `enough` as in Objective::best_stump.
Objective::Stump best_allowed_stump(const Objective& objective, const Dataset& data,
                                    std::span<const std::uint32_t> rows, const SearchSettings& settings,
                                    double enough);

// The objective of a tree on some rows, in internal units, as the search computes it.
double objective_of(const SolutionNode& tree, const Dataset& data, std::span<const std::uint32_t> rows,
                    const Objective& objective, const SearchSettings& settings);

}  // namespace codt
