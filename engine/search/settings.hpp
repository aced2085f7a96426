// What is fixed for a whole search.
#pragma once

namespace codt {

// The bounds that can be switched off one by one; switching never changes the optimum.
struct BoundSwitches {
    bool clustering = true;
    bool neighborhood = true;
    bool interval_shrinking = true;
    bool sub_interval = true;

    // Not a switch: whether taking samples away never makes an optimum worse. It does where leaves must hold
    // enough (see objectives/leaf_limits.hpp), and bounds that rest on it are then left out.
    bool monotone = true;

    bool similarity() const { return neighborhood || interval_shrinking || sub_interval; }
};

struct SearchSettings {
    double lambda = 0;     // penalty per branching node, in the objective's internal unit
    double tolerance = 0;  // bounds closer than this count as equal
    BoundSwitches bounds;
};

}  // namespace codt
