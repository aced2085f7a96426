// The test of a branching node: the only place that compares a value with a threshold. The search itself
// works on ranks and the gaps between them; splits appear where a tree is stored, followed or reported.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace codt {

// Where a test sends missing values (NaN). `unseen`: no sample of the node has one.
enum class Missing : std::int8_t { unseen = -1, right = 0, left = 1 };

struct Split {
    std::uint32_t feature = 0;
    double threshold = 0;  // infinite if the test is just whether the value is missing
    Missing missing = Missing::unseen;

    // Values are compared as 64-bit floats; those that go left are the lowest of their feature, and the
    // missing ones if they go left as well.
    bool goes_left(double value) const {
        return std::isnan(value) ? missing == Missing::left : value <= threshold;
    }

    // Whether it can test samples with this many features. Only missing values can be on one side alone.
    bool valid(std::size_t features) const {
        if (feature >= features) return false;
        return std::isfinite(threshold) || (missing == Missing::right && threshold > 0) ||
               (missing == Missing::left && threshold < 0);
    }

    // The test that sends `low` left and `high` right, low < high: at their midpoint, or at `low` where
    // rounding would put it on `high`. One of the two may be NaN, for the missing values.
    static Split between(std::uint32_t feature, double low, double high, Missing missing = Missing::unseen) {
        if (std::isnan(low)) return {feature, -INFINITY, Missing::left};
        if (std::isnan(high)) return {feature, INFINITY, Missing::right};
        const double middle = low / 2 + high / 2;  // never overflows, unlike (low + high) / 2
        return {feature, (low <= middle && middle < high) ? middle : low, missing};
    }
};

}  // namespace codt
