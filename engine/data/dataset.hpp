// The training data as the search sees it: for every feature the sorted distinct values (the paper's
// U^f) and for every sample its rank among them. All comparisons of the search are on ranks; values
// come back only when a threshold is reported.
//
// A test may send missing values to either side, so a feature that has some comes in two orders, as two
// features one after the other: first with plus infinity in their place, then with minus infinity. For the
// search they are two features, and in each of them the left sides of the thresholds are nested, so every
// bound between thresholds holds; scans can take both orders in one pass.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "common/buffer.hpp"
#include "common/stop.hpp"
#include "data/split.hpp"

namespace codt {

class Dataset {
 public:
    // `x` is row-major, samples x features, without NaN (the caller has checked). `stop`, if given, ends the
    // sorting with Stopped.
    Dataset(std::span<const double> x, std::uint32_t samples, std::uint32_t features,
            StopCondition* stop = nullptr);

    // Some rows of another data set, ascending, each of which stands for `count` equal samples. Every value
    // of every feature must occur in these rows.
    Dataset(const Dataset& all, std::span<const std::uint32_t> rows, std::span<const std::uint32_t> count);

    std::uint32_t samples() const { return samples_; }
    std::uint32_t features() const { return features_; }

    // Rank of each sample in feature f: an index into values(f).
    std::span<const std::uint32_t> ranks(std::uint32_t f) const { return row(ranks_, f); }
    std::span<const double> values(std::uint32_t f) const {
        const Buffer<double>& values = (*values_)[f];
        return {values.data(), values.size()};
    }
    // All samples sorted by feature f (ties in row order).
    std::span<const std::uint32_t> order(std::uint32_t f) const { return row(orders_, f); }
    // Where the samples of each distinct value end in order(f).
    std::span<const std::uint32_t> group_end(std::uint32_t f) const {
        return row(group_ends_, f).first((*values_)[f].size());
    }

    // Whether feature f is in the second order of feature f - 1, with the missing values first.
    bool second_order(std::uint32_t f) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return f > 0 && values(f - 1).back() == infinity && values(f).front() == -infinity;
    }

    // The split between the distinct values of two ranks, low < high.
    Split split_between(std::uint32_t f, std::uint32_t low, std::uint32_t high) const {
        return Split::between(f, values(f)[low], values(f)[high]);
    }

    // The rows that a split sends to the left and to the right, in their order.
    struct Parted {
        std::vector<std::uint32_t> left, right;
    };
    Parted part(const Split& split, std::span<const std::uint32_t> rows) const;

    // How many samples `rows` stand for.
    std::uint64_t count(std::span<const std::uint32_t> rows) const;

    // Bytes this object holds in memory.
    std::size_t bytes() const {
        std::size_t sum =
            (ranks_.size() + orders_.size() + group_ends_.size() + count_.capacity()) * sizeof(std::uint32_t);
        for (const auto& values : *values_) sum += values.size() * sizeof(double);
        return sum;
    }

 private:
    std::span<const std::uint32_t> row(const Buffer<std::uint32_t>& table, std::uint32_t f) const {
        return {table.data() + static_cast<std::size_t>(f) * samples_, samples_};
    }

    std::uint32_t samples_;
    std::uint32_t features_;
    std::shared_ptr<const std::vector<Buffer<double>>> values_;  // of each feature
    // Features x samples each.
    Buffer<std::uint32_t> ranks_, orders_, group_ends_;
    std::vector<std::uint32_t> count_;  // samples that each row stands for; empty: one each
};

}  // namespace codt
