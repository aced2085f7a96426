// Lower bounds on the objective: over the trees that the rules allow, and over all trees ("free" of the
// rules), whose optimum is never higher. Similarity bounds hold for the free one only (see SearchSettings);
// where all trees are allowed, the two are the same.
#pragma once

namespace codt {

struct Bound {
    double allowed = 0;
    double free = 0;  // no more than `allowed`

    // A number that bounds all trees.
    static Bound both(double lower) { return {lower, lower}; }
};

}  // namespace codt
