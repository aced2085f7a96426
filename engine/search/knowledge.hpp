// A lower bound that was proven outside of a search.
#pragma once

namespace codt {

struct OutsideBound {
    double lower = 0;      // no tree has a lower objective; reported units
    double tolerance = 0;  // what the search that has proven it takes for equal

    // Whether a tree with this objective is proven to be optimal, as far as searches tell trees apart.
    bool reached_by(double objective, double own_tolerance) const;
    // What it means where all objectives are multiples of a unit.
    OutsideBound rounded_up(double unit) const;
};

}  // namespace codt
