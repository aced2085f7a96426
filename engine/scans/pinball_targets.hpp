// The samples of a subset in the order of their targets, as the scan of pinball losses needs them: as they
// are, and rounded to whole units, of which 32-bit sums are exact in any order.
//
// The loss of some samples is the largest sum of u w y over all u between -below and above with sum(u w) = 0
// (the dual of choosing a prediction). Rounding w y by e moves it by |u| e at most. Rounding w by d makes the
// sum of u w differ from zero by |u| d at most, which costs |u| d times the prediction's distance from zero.
// `rounding` is the sum of both over the subset.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/subset.hpp"
#include "scans/pinball_scan.hpp"

namespace codt {

// Neighbouring targets share a bucket, equal ones always. More buckets make tighter and slower bounds. In
// larger subsets blocks are a smaller part of a side, so that less of a bound is lost by them and more by
// buckets, and there are more samples in a bucket to walk over.
inline constexpr std::uint32_t most_pinball_buckets = 64;
constexpr std::uint32_t pinball_buckets_of(std::uint32_t samples) {
#ifdef CODT_ASSERTS  // all numbers in small problems, too, which all tests are made of
    return samples < 12 ? 24 : samples < 40 ? 48 : 64;
#else
    return samples < 2'000 ? 24 : samples < 8'000 ? 48 : 64;
#endif
}

class PinballTargets {
 public:
    explicit PinballTargets(const PinballSamples& samples);

    // False if rounding leaves nothing: where weights and targets are far apart.
    bool read(const Subset& subset);

    std::uint32_t size() const { return static_cast<std::uint32_t>(rank.size()); }
    double both() const { return error.above + error.below; }

    // The loss of some samples with targets as they are, given their ranks in ascending order.
    double loss(std::span<const std::uint32_t> ranks) const;

    struct Whole {
        std::int32_t weight, sum;  // the latter is the weighted target
        std::uint32_t bucket;
    };

    const PinballSamples error;
    const double quantile;
    std::vector<std::uint32_t> rank;  // of every id
    std::vector<Whole> whole;         // by rank
    std::vector<double> mean;         // sum / weight, by rank
    std::uint32_t buckets = 1;
    // The first rank of every bucket, and the number of samples.
    std::uint32_t first[most_pinball_buckets + 1];
    float lowest[most_pinball_buckets];   // no mean of this bucket or a later one is below
    float highest[most_pinball_buckets];  // no mean of this bucket or an earlier one is above
    bool uniform[most_pinball_buckets];   // whether all samples of a bucket are the same whole numbers
    double unit = 1;                      // units per weighted target
    double rounding = 0;                  // no loss moves by more, in units
    double farthest = 0;                  // no mean is further from zero
    std::int32_t lightest = 1;            // the least weight

 private:
    void sort(std::span<const std::uint32_t> rows);
    void round(double middle, double all);

    bool equal_weights_;
    std::vector<std::uint32_t> order_;  // ids by target
    std::vector<std::uint32_t> id_;     // of every row
    std::vector<double> y_, weight_;    // by rank
};

}  // namespace codt
