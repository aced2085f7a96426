// The losses of the two leaves of every split of a subproblem, computed feature by feature when first asked
// for. Needed where a limit on leaves makes a side of a depth-two tree a leaf, and to check a least decrease
// of the loss (see rules/settings.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "data/subset.hpp"
#include "objectives/objective.hpp"

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

}  // namespace codt
