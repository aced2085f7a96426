// What solving the two sides of a node's splits has told of the features, for the sides of other splits.
//
// Let G(D) be the optimum of the trees that split the samples D first at feature g. The left sides of a
// feature's thresholds contain each other, and so do the right sides. Where D is one of them and E a larger
// one, both with at least two values of g,
//
//     G(D) >= G(E) - w     w: the worst cost of the samples of E that are not in D (see similarity.hpp)
//     G(E) >= G(D) - p     p: the penalties of a tree that is one level lower
//
// The first holds because the best such tree of D is one of E. The second: the best such tree of E does not
// lose more on D, and is such a tree of D unless its first split has all of D on one side. Then D sees a tree
// of one level less below it. With that tree on both sides of any split of D at g nothing more is lost, and
// the penalties grow by those of one of the two copies.
//
// So a feature that was out of the question for a neighbour often is so here too, and need not be looked at.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bounds/similarity.hpp"

namespace codt {

class FeatureBounds {
 public:
    // Lower bounds by feature on the trees that split there first; zero where nothing is known.
    using Lower = std::vector<double>;

    // Adds what is known of the left (side 0) or right subproblem of threshold t of feature f.
    void add(std::uint32_t f, std::uint32_t t, int side, Lower lower);

    // What the subproblems added so far imply for another one; empty if nothing. `penalties` is p.
    Lower inherited(std::uint32_t f, std::uint32_t t, int side, double penalties, WorstCost& worst) const;

    std::size_t bytes() const { return bytes_; }

 private:
    using ByThreshold = std::map<std::uint32_t, Lower>;
    std::map<std::pair<std::uint32_t, int>, ByThreshold> known_;  // by feature and side
    std::size_t bytes_ = 0;
};

}  // namespace codt
