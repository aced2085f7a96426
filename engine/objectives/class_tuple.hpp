// A cost tuple with one entry per class: the number, or the weight, of its samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace codt {

struct ClassTuple {
    static constexpr bool whole_entries = true;

    std::vector<std::uint16_t> labels;  // of every row
    std::uint32_t classes;

    std::size_t size() const { return classes; }
    // All but the largest entry.
    double loss(const double* c) const {
        double sum = 0, most = 0;
        for (std::uint32_t i = 0; i < classes; ++i) {
            sum += c[i];
            most = std::max(most, c[i]);
        }
        return sum - most;
    }
    // Sum of squares over sum: the sum times one less the Gini impurity.
    double purity(const double* c) const {
        double sum = 0, squares = 0;
        for (std::uint32_t i = 0; i < classes; ++i) {
            sum += c[i];
            squares += c[i] * c[i];
        }
        return sum > 0 ? squares / sum : 0.0;
    }
};

}  // namespace codt
