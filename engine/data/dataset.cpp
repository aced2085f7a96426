#include "data/dataset.hpp"

#include "data/radix_sort.hpp"

namespace codt {

Dataset::Dataset(std::span<const double> x, std::uint32_t samples, std::uint32_t features,
                 StopCondition* stop)
    : samples_(samples), features_(features), values_(features) {
    const std::size_t cells = static_cast<std::size_t>(samples) * features;
    ranks_.ensure(cells);
    orders_.ensure(cells);
    group_ends_.ensure(cells);
    std::vector<double> column(samples);
    SortBuffers buffers;
    for (std::uint32_t f = 0; f < features; ++f) {
        for (std::uint32_t i = 0; i < samples; ++i) column[i] = x[static_cast<std::size_t>(i) * features + f];
        const std::size_t base = static_cast<std::size_t>(f) * samples;
        const std::span<std::uint32_t> order{orders_.data() + base, samples};
        std::uint32_t* const rank = ranks_.data() + base;
        std::uint32_t* const ends = group_ends_.data() + base;
        sort_order(column, buffers, order, stop);
        std::uint32_t groups = 0;
        for (std::uint32_t k = 0; k < samples; ++k) {
            groups += k == 0 || column[order[k - 1]] < column[order[k]];
            rank[order[k]] = groups - 1;
            ends[groups - 1] = k + 1;
        }
        values_[f].resize(groups);
        for (std::uint32_t g = 0; g < groups; ++g) values_[f][g] = column[order[ends[g] - 1]];
    }
}

double Dataset::threshold_between(std::uint32_t f, std::uint32_t low, std::uint32_t high) const {
    return separating_midpoint(values_[f][low], values_[f][high]);
}

double separating_midpoint(double low, double high) {
    const double middle = low / 2 + high / 2;  // never overflows, unlike (low + high) / 2
    return (low <= middle && middle < high) ? middle : low;
}

}  // namespace codt
