// The data D' of one subproblem: which samples it holds, and for every feature its samples in sorted
// order and their dense ranks.
//
// Invariants, for every feature f:
//   order(f) is a permutation of the local ids 0..size-1, sorted by feature f;
//   it falls into groups of equal values, and group g ends before position group_end(f)[g].
// Threshold i of feature f (the paper's tau_i, zero-based) lies between groups i and i+1, so the first
// group_end(f)[i] samples of the order go left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "data/splitter.hpp"

namespace codt {

class Subset {
 public:
    Subset() = default;
    explicit Subset(const Dataset& data);  // all samples; a view of the data set, which must outlive it
    Subset(Subset&&) = default;
    Subset& operator=(Subset&&) = default;

    std::uint32_t size() const { return size_; }
    std::uint64_t cells() const { return std::uint64_t{size_} * features(); }
    std::uint32_t features() const { return features_; }

    // Local id -> row of the data set.
    std::span<const std::uint32_t> samples() const { return {sample_.data(), size_}; }
    std::span<const std::uint32_t> order(std::uint32_t f) const { return {order_ + offset(f), size_}; }
    std::span<const std::uint32_t> group_end(std::uint32_t f) const {
        return {group_end_ + offset(f), groups_[f]};
    }
    std::uint32_t groups(std::uint32_t f) const { return groups_[f]; }
    std::uint32_t thresholds(std::uint32_t f) const { return groups_[f] - 1; }
    bool has_thresholds() const;

    // Whether feature f is in the second order of feature f - 1 (see Dataset), and whether the two differ
    // here: that some values are missing and others are not. The missing ones are then the last group of the
    // first order.
    bool second_order(std::uint32_t f) const { return second_order_ && (*second_order_)[f]; }
    bool two_orders(std::uint32_t f) const {
        return f + 1 < features_ && second_order(f + 1) && order(f)[0] != order(f + 1)[0];
    }
    // The feature that has the other order of feature f, if they differ here.
    std::optional<std::uint32_t> other_order(std::uint32_t f) const {
        if (two_orders(f)) return f + 1;
        if (f > 0 && two_orders(f - 1)) return f - 1;
        return std::nullopt;
    }

    // The split at threshold i: at a midpoint of two values present in this subset.
    Split split_at(const Dataset& data, std::uint32_t f, std::uint32_t i) const;

    // How many of this subset's distinct values of the split's feature go left.
    std::uint32_t groups_left(const Dataset& data, const Split& split) const;

    // D(f <= tau_i) and D(f > tau_i); the two receive their own orders and groups in O(size * features).
    void split(std::uint32_t f, std::uint32_t i, Subset& left, Subset& right, Splitter& splitter) const;

    // Bytes this object holds in memory.
    std::size_t bytes() const {
        return (sample_.capacity() + groups_.capacity() + own_order_.size() + own_group_end_.size()) *
               sizeof(std::uint32_t);
    }

 private:
    void resize(std::uint32_t size, std::uint32_t features);
    void make_second_order(std::uint32_t g, std::uint32_t present);
    std::size_t offset(std::uint32_t f) const { return static_cast<std::size_t>(f) * size_; }

    std::uint32_t size_ = 0;
    std::uint32_t features_ = 0;
    std::vector<std::uint32_t> sample_;
    std::vector<std::uint32_t> groups_;                      // distinct values per feature
    std::shared_ptr<const std::vector<bool>> second_order_;  // by feature; null if no value is missing
    // Features x size; only the first groups_[f] entries of row f of group_end are used. Both point into the
    // data set if the subset holds all samples, otherwise into memory of its own.
    const std::uint32_t* order_ = nullptr;
    const std::uint32_t* group_end_ = nullptr;
    Buffer<std::uint32_t> own_order_, own_group_end_;
};

}  // namespace codt
