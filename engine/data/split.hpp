// The test of a branching node: the only place that compares a value with a threshold. The search itself
// works on ranks and the gaps between them; splits appear where a tree is stored, followed or reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace codt {

struct Split {
    std::uint32_t feature = 0;
    double threshold = 0;

    // Values are compared as 64-bit floats; those that go left are the lowest of their feature.
    bool goes_left(double value) const { return value <= threshold; }

    // Whether it can test samples with this many features. Only what is minus infinity, which stands for
    // missing values, may be on the left alone.
    bool valid(std::size_t features) const {
        return feature < features && threshold < std::numeric_limits<double>::infinity();
    }

    // The test that sends `low` left and `high` right, low < high: at their midpoint, or at `low` where
    // rounding would put it on `high`, or where one of them is infinite.
    static Split between(std::uint32_t feature, double low, double high) {
        const double middle = low / 2 + high / 2;  // never overflows, unlike (low + high) / 2
        return {feature, (low <= middle && middle < high) ? middle : low};
    }
};

}  // namespace codt
