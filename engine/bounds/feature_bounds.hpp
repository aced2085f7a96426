// What solving the two sides of a node's splits implies about the features for the sides of other splits.
//
// Let G(D) be the optimum of the trees that split the samples D first at feature g. The left sides of a
// feature's thresholds are nested, and so are the right sides. Where D is one of them and E a larger one,
// both with at least two values of g,
//
//     G(D) >= G(E) - w     w: the worst cost of the samples of E not in D (see similarity.hpp)
//     G(E) >= G(D) - p     p: the most that the branching nodes of a tree with one level less cost
//
// The first holds because the best such tree of D is also a tree for E. The second: the best such tree of E
// loses no more on D than on E, and it is such a tree of D unless its first split sends all of D to one side.
// In that case D only uses the subtree on that side, which has one level less. Copying that subtree to both
// sides of any split of D at g does not raise the loss, and adds the prices of one copy. The subtree may test
// any features, so each of its nodes may cost the largest price; g itself is paid for in both trees.
//
// So a feature that was ruled out for a neighbour is often ruled out here too, without a scan.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bounds/similarity.hpp"

namespace codt {

class FeatureBounds {
 public:
    // Lower bounds by feature on the trees that split at it first; zero where nothing is known.
    using Lower = std::vector<double>;

    // Adds what is known about the left (side 0) or right subproblem of threshold t of feature f.
    void add(std::uint32_t f, std::uint32_t t, int side, Lower lower);

    // What the subproblems added so far imply for another one; empty if nothing. `penalties` is p above.
    Lower inherited(std::uint32_t f, std::uint32_t t, int side, double penalties, WorstCost& worst) const;

    std::size_t bytes() const { return bytes_; }

 private:
    using ByThreshold = std::vector<std::pair<std::uint32_t, Lower>>;  // ascending
    std::vector<ByThreshold> known_;                                   // by feature and side
    std::size_t bytes_ = 0;
};

}  // namespace codt
