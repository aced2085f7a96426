#include "data/subset.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/check.hpp"

namespace codt {

Subset::Subset(const Dataset& data)
    : size_(data.samples()),
      features_(data.features()),
      sample_(data.samples()),
      groups_(data.features()),
      order_(features_ ? data.order(0).data() : nullptr),
      group_end_(features_ ? data.group_end(0).data() : nullptr) {
    std::iota(sample_.begin(), sample_.end(), 0u);
    for (std::uint32_t f = 0; f < features_; ++f)
        groups_[f] = static_cast<std::uint32_t>(data.values(f).size());
    std::vector<bool> second(features_);
    for (std::uint32_t f = 0; f < features_; ++f) second[f] = data.second_order(f);
    if (std::find(second.begin(), second.end(), true) != second.end())
        second_order_ = std::make_shared<const std::vector<bool>>(std::move(second));
}

void Subset::resize(std::uint32_t size, std::uint32_t features) {
    size_ = size;
    features_ = features;
    const std::size_t cells = static_cast<std::size_t>(size) * features + Splitter::spare;  // see split
    // Grow only: workspaces are refilled many times and must not give their memory back in between.
    if (sample_.size() < size + Splitter::spare) sample_.resize(size + Splitter::spare);
    own_order_.ensure(cells);
    own_group_end_.ensure(cells);
    order_ = own_order_.data();
    group_end_ = own_group_end_.data();
    groups_.assign(features, 0);
}

bool Subset::has_thresholds() const {
    return std::any_of(groups_.begin(), groups_.end(), [](std::uint32_t g) { return g > 1; });
}

Split Subset::split_at(const Dataset& data, std::uint32_t f, std::uint32_t i) const {
    CODT_CHECK(i + 1 < groups_[f]);
    const std::uint32_t end = group_end(f)[i];
    const auto ordered = order(f);
    const auto ranks = data.ranks(f);
    return data.split_between(f, ranks[sample_[ordered[end - 1]]], ranks[sample_[ordered[end]]]);
}

std::uint32_t Subset::groups_left(const Dataset& data, const Split& split) const {
    const auto ends = group_end(split.feature);
    const auto ordered = order(split.feature);
    const auto ranks = data.ranks(split.feature);
    const auto values = data.values(split.feature);
    const auto beyond = std::partition_point(ends.begin(), ends.end(), [&](std::uint32_t end) {
        return split.goes_left(values[ranks[sample_[ordered[end - 1]]]]);
    });
    return static_cast<std::uint32_t>(beyond - ends.begin());
}

void Subset::split(std::uint32_t f, std::uint32_t i, Subset& left, Subset& right, Splitter& splitter) const {
    CODT_CHECK(i + 1 < groups_[f]);
    const std::uint32_t left_size = group_end(f)[i];
    left.resize(left_size, features_);
    right.resize(size_ - left_size, features_);
    left.second_order_ = right.second_order_ = second_order_;
    splitter.begin(order(f), left_size, sample_.data(), left.sample_.data(), right.sample_.data());
    Splitter::Side sides[2];
    for (std::uint32_t g = 0; g < features_; ++g) {
        Subset* const subsets[2] = {&left, &right};
        if (second_order(g)) {
            const bool differs = two_orders(g - 1);
            for (int side = 0; side < 2; ++side)
                subsets[side]->make_second_order(g, differs ? sides[side].before_last : subsets[side]->size_);
            continue;
        }
        // What is written past the end of a row hits the beginning of the next one, which is filled later, or
        // the spare cells.
        for (int side = 0; side < 2; ++side) {
            Subset& subset = *subsets[side];
            sides[side] = {subset.own_order_.data() + subset.offset(g),
                           subset.own_group_end_.data() + subset.offset(g)};
        }
        splitter.split(order(g), group_end(g), sides[0], sides[1]);
        for (int side = 0; side < 2; ++side) subsets[side]->groups_[g] = sides[side].groups;
    }
}

// With the missing samples, those from `present` on, first; everything else stays as it is in the first
// order.
void Subset::make_second_order(std::uint32_t g, std::uint32_t present) {
    const std::uint32_t* const first = own_order_.data() + offset(g - 1);
    const std::uint32_t* const first_end = own_group_end_.data() + offset(g - 1);
    std::uint32_t* const order = own_order_.data() + offset(g);
    std::uint32_t* ends = own_group_end_.data() + offset(g);
    const std::uint32_t missing = size_ - present;
    std::copy(first, first + present, std::copy(first + present, first + size_, order));
    groups_[g] = groups_[g - 1];
    const std::uint32_t apart = missing > 0 && present > 0;  // the group of missing samples
    if (apart) *ends++ = missing;
    std::transform(first_end, first_end + groups_[g] - apart, ends,
                   [&](std::uint32_t end) { return apart ? end + missing : end; });
}

}  // namespace codt
