// A lower bound that was proven outside of a search.
#pragma once

namespace codt {

struct OutsideBound {
    double lower = 0;      // no tree has a lower objective; reported units
    double tolerance = 0;  // differences that the search which proved it treats as equal

    // Whether it proves a tree with this objective optimal, within the tolerances of the two searches.
    bool reached_by(double objective, double own_tolerance) const;
    // The bound that it implies where all objectives are multiples of `unit`.
    OutsideBound rounded_up(double unit) const;
};

}  // namespace codt
