// Lower bounds on the objective of trees: of those that the rules allow, and of all ("free" of the rules),
// which are never worse. Similarity bounds hold for the second only (see SearchSettings); where all trees are
// allowed the two are one.
#pragma once

namespace codt {

struct Bound {
    double allowed = 0;
    double free = 0;  // no more than `allowed`

    // A number that bounds all trees.
    static Bound both(double lower) { return {lower, lower}; }
};

}  // namespace codt
