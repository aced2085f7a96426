#include "data/dataset.hpp"

#include "data/radix_sort.hpp"

namespace codt {

Dataset::Dataset(std::span<const double> x, std::uint32_t samples, std::uint32_t features)
    : samples_(samples), features_(features), values_(features), ranks_(features), orders_(features) {
    std::vector<double> column(samples);
    for (std::uint32_t f = 0; f < features; ++f) {
        for (std::uint32_t i = 0; i < samples; ++i) column[i] = x[static_cast<std::size_t>(i) * features + f];
        auto& order = orders_[f];
        order = sorted_order(column);
        auto& rank = ranks_[f];
        auto& values = values_[f];
        rank.resize(samples);
        for (const std::uint32_t i : order) {
            if (values.empty() || values.back() < column[i]) values.push_back(column[i]);
            rank[i] = static_cast<std::uint32_t>(values.size() - 1);
        }
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
