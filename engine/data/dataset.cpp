#include "data/dataset.hpp"

#include <algorithm>

#include "data/radix_sort.hpp"

namespace codt {

Dataset::Dataset(std::span<const double> x, std::uint32_t samples, std::uint32_t features,
                 StopCondition* stop)
    : samples_(samples), features_(features) {
    auto values = std::make_shared<std::vector<Buffer<double>>>(features);
    values_ = values;
    const std::size_t cells = static_cast<std::size_t>(samples) * features;
    ranks_.ensure(cells);
    orders_.ensure(cells);
    group_ends_.ensure(cells);
    // A few features are read at a time, because they share cache lines.
    constexpr std::uint32_t together = 8;
    Buffer<std::uint64_t> keys;
    keys.ensure(static_cast<std::size_t>(samples) * std::min(together, features));
    SortBuffers buffers;
    for (std::uint32_t first = 0; first < features; first += together) {
        const std::uint32_t count = std::min(together, features - first);
        for (std::size_t i = 0; i < samples; ++i)
            for (std::uint32_t j = 0; j < count; ++j)
                keys.data()[j * std::size_t{samples} + i] = sort_key(x[i * features + first + j]);
        for (std::uint32_t j = 0; j < count; ++j) {
            const std::uint32_t f = first + j;
            const std::span<const std::uint64_t> column{keys.data() + j * std::size_t{samples}, samples};
            const std::size_t base = static_cast<std::size_t>(f) * samples;
            std::uint32_t* const order = orders_.data() + base;
            std::uint32_t* const ends = group_ends_.data() + base;
            const std::uint32_t groups =
                rank_column(column, buffers, order, ranks_.data() + base, ends, stop);
            (*values)[f].ensure(groups);
            for (std::uint32_t g = 0; g < groups; ++g)
                (*values)[f].data()[g] = value_of_key(buffers.sorted.data()[ends[g] - 1]);
        }
    }
}

Dataset::Dataset(const Dataset& all, std::span<const std::uint32_t> rows,
                 std::span<const std::uint32_t> count)
    : samples_(static_cast<std::uint32_t>(rows.size())),
      features_(all.features_),
      values_(all.values_),
      count_(count.begin(), count.end()) {
    const std::size_t cells = static_cast<std::size_t>(samples_) * features_;
    ranks_.ensure(cells);
    orders_.ensure(cells);
    group_ends_.ensure(cells);
    constexpr std::uint32_t left_out = UINT32_MAX;
    std::vector<std::uint32_t> place(all.samples_, left_out);
    for (std::uint32_t i = 0; i < samples_; ++i) place[rows[i]] = i;
    for (std::uint32_t f = 0; f < features_; ++f) {
        const std::size_t base = static_cast<std::size_t>(f) * samples_;
        const auto all_ranks = all.ranks(f);
        std::uint32_t k = 0;
        for (const std::uint32_t row : all.order(f)) {
            const std::uint32_t i = place[row];
            if (i == left_out) continue;
            ranks_.data()[base + i] = all_ranks[row];
            orders_.data()[base + k++] = i;
            group_ends_.data()[base + all_ranks[row]] = k;
        }
    }
}

Dataset::Parted Dataset::part(const Split& split, std::span<const std::uint32_t> rows) const {
    // Values are compared by their ranks, which are in the same order. Without a branch: every row is written
    // to both sides and counted on one.
    const auto distinct = values(split.feature);
    const auto beyond = std::partition_point(distinct.begin(), distinct.end(),
                                             [&](double value) { return split.goes_left(value); });
    const auto lefts = static_cast<std::uint32_t>(beyond - distinct.begin());
    const auto rank = ranks(split.feature);
    Parted parted{std::vector<std::uint32_t>(rows.size()), std::vector<std::uint32_t>(rows.size())};
    std::size_t left = 0, right = 0;
    for (const std::uint32_t row : rows) {
        const bool on_left = rank[row] < lefts;
        parted.left[left] = parted.right[right] = row;
        left += on_left;
        right += !on_left;
    }
    parted.left.resize(left);
    parted.right.resize(right);
    return parted;
}

std::uint64_t Dataset::count(std::span<const std::uint32_t> rows) const {
    if (count_.empty()) return rows.size();
    std::uint64_t sum = 0;
    for (const std::uint32_t row : rows) sum += count_[row];
    return sum;
}

}  // namespace codt
