#include "data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/radix_sort.hpp"

namespace codt {

Dataset::Dataset(std::span<const double> x, std::uint32_t samples, std::uint32_t features,
                 StopCondition* stop)
    : samples_(samples), features_(features), given_(features) {
    for (std::uint32_t f = 0; f < features; ++f)
        for (std::size_t i = 0; i < samples; ++i)
            if (std::isnan(x[i * features + f])) {
                twice_.push_back(f);
                break;
            }
    features_ += static_cast<std::uint32_t>(twice_.size());
    auto values = std::make_shared<std::vector<Buffer<double>>>(features_);
    values_ = values;
    const std::size_t cells = static_cast<std::size_t>(samples) * features_;
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
                (*values)[f].data()[g] = value_of_key(column[order[ends[g] - 1]]);
        }
    }
    if (!twice_.empty()) add_second_orders(*values);
}

// The columns with the missing values first: the others, whose order stays, move up by one rank.
void Dataset::add_second_orders(std::vector<Buffer<double>>& values) {
    second_.resize(given_);
    std::iota(second_.begin(), second_.end(), 0u);
    for (std::uint32_t k = 0; k < twice_.size(); ++k) {
        const std::uint32_t f = twice_[k], second = given_ + k;
        second_[f] = second;
        const std::uint32_t groups = static_cast<std::uint32_t>(values[f].size());
        const auto order = this->order(f), rank = ranks(f), ends = row(group_ends_, f).first(groups);
        const std::uint32_t present = groups > 1 ? ends[groups - 2] : 0, missing = samples_ - present;
        const std::size_t base = static_cast<std::size_t>(second) * samples_;
        std::uint32_t* const other = orders_.data() + base;
        std::copy(order.begin() + present, order.end(), other);
        std::copy(order.begin(), order.begin() + present, other + missing);
        for (std::uint32_t i = 0; i < samples_; ++i)
            ranks_.data()[base + i] = rank[i] + 1 == groups ? 0 : rank[i] + 1;
        values[second].ensure(groups);
        for (std::uint32_t g = 0; g < groups; ++g) {
            group_ends_.data()[base + g] = g == 0 ? missing : ends[g - 1] + missing;
            values[second].data()[g] = values[f].data()[g == 0 ? groups - 1 : g - 1];
        }
    }
}

Dataset::Dataset(const Dataset& all, std::span<const std::uint32_t> rows,
                 std::span<const std::uint32_t> count)
    : samples_(static_cast<std::uint32_t>(rows.size())),
      features_(all.features_),
      given_(all.given_),
      twice_(all.twice_),
      second_(all.second_),
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
    const std::uint32_t f = column(split);
    const auto distinct = values(f);
    const auto beyond = std::partition_point(distinct.begin(), distinct.end(),
                                             [&](double value) { return split.goes_left(value); });
    const auto lefts = static_cast<std::uint32_t>(beyond - distinct.begin());
    const auto rank = ranks(f);
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
