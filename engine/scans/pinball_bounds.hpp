// Lower bounds on the pinball losses of both parts of both sides of a boundary, for all lanes at once.
//
// The loss of a part is above * sum - (above + below) * G(q n) (see pinball_walk.hpp). G is convex, and known
// where a bucket of targets ends: there it is the sum of the buckets so far. So the chord between the ends of
// the bucket in which q n lies is no less than G, and the loss no less than with the chord.
//
// Sums are whole numbers, exact. The chord is computed in floats: q n is off by a few roundings of n, and
// where that selects a neighbouring bucket the chord is extended by as much; all other errors are roundings
// of sums, which are no larger than n times the farthest mean. With u = 2^-24 the rounding of a float, all of
// them together are below 64 u (above + below) n times the farthest mean.
//
// For the boundaries inside a block, at the end of which the part before has the weight n and the part behind
// the weight m, while the block holds the weight W of the side: At any of them the part before lacks some of
// the block. If it lacks the weight x, it has a quantile no lower than a bucket where the buckets below have
// no more than q (n - x) of its samples, and no higher than a bucket up to which it has no less. In the worst
// case all that it lacks lies on one side; x is at most W. So
//
//     weight below a bucket <= q n - q W        says that a quantile is in this bucket or above,
//     weight up to a bucket >= q n + (1 - q) W  that one is in this bucket or below.
//
// The part behind has some of the block in addition, so that these are q m - (1 - q) W and q m + q W.
#pragma once

#include <cstdint>

#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"
#include "scans/pinball_targets.hpp"

namespace codt {

inline constexpr std::uint32_t pinball_lanes = lane_count<float>;
// More than twice the errors above, as two parts of a boundary inside a block may overlap by the block. Those
// of chords inside blocks (PinballKernel::look_inside) are less.
inline constexpr double pinball_blur = 0x1p-16;  // 256 u

// Weights and sums of some samples by bucket, sometimes cumulated.
struct BucketSums {
    std::int32_t weight[most_pinball_buckets] = {}, sum[most_pinball_buckets] = {};

    void add(const PinballTargets::Whole& sample) {
        weight[sample.bucket] += sample.weight;
        sum[sample.bucket] += sample.sum;
    }
    BucketSums cumulated(std::uint32_t buckets) const {
        BucketSums result = *this;
        for (std::uint32_t b = 1; b < buckets; ++b) {
            result.weight[b] += result.weight[b - 1];
            result.sum[b] += result.sum[b - 1];
        }
        return result;
    }
};
struct alignas(pack_bytes) LaneBuckets {
    std::int32_t weight[most_pinball_buckets][pinball_lanes], sum[most_pinball_buckets][pinball_lanes];
};

// The lanes in which a sample is on the left, by the first of them.
inline constexpr LaneRows<std::int32_t, pinball_lanes> pinball_masks{-1};

// The parts of a boundary: before and behind it on the left, before and behind it on the right.
inline constexpr std::size_t pinball_parts = 4;

struct alignas(pack_bytes) Boundary {
    float loss[pinball_parts][pinball_lanes];  // a lower bound
    std::int32_t weight[pinball_parts][pinball_lanes];
    std::int32_t sum[pinball_parts][pinball_lanes];
    // Between these a quantile lies wherever the boundary is in the block that ends here.
    float lowest[pinball_parts][pinball_lanes], highest[pinball_parts][pinball_lanes];
    // The bucket in which the quantile lies, or the one before, and what the buckets below it amount to.
    std::int32_t bucket[pinball_parts][pinball_lanes], low_weight[pinball_parts][pinball_lanes],
        low_sum[pinball_parts][pinball_lanes];
    // The same with this bucket.
    std::int32_t high_weight[pinball_parts][pinball_lanes], high_sum[pinball_parts][pinball_lanes];
};

// What the samples before a moving boundary amount to.
template <std::size_t Bytes>
class MovingBoundary {
 public:
    MovingBoundary(const PinballTargets& targets, const LaneBuckets& left, const BucketSums& all)
        : targets_(targets), left_(left), all_(all), buckets_(targets.buckets) {
        std::memset(before_.weight, 0, buckets_ * sizeof before_.weight[0]);
        std::memset(before_.sum, 0, buckets_ * sizeof before_.sum[0]);
    }

    // Moves the boundary over some samples, given their ranks. `code` is the first lane in which a sample is
    // on the left, by rank. The sums of all buckets are kept in registers meanwhile: in memory, each sample
    // would wait for the one before.
    CODT_INLINE void add(const std::uint32_t* ranks, std::uint32_t count, const std::uint8_t* code) {
        Ints weight = weight_, sum = sum_;
        for (const std::uint32_t* rank = ranks; rank != ranks + count; ++rank) {
            const PinballTargets::Whole& sample = targets_.whole[*rank];
            const std::int32_t* const mask = pinball_masks[code[*rank]];
            add_to(before_.weight[sample.bucket], mask, sample.weight);
            add_to(before_.sum[sample.bucket], mask, sample.sum);
            all_before_.add(sample);
            weight.add_masked(mask, sample.weight);
            sum.add_masked(mask, sample.sum);
            all_weight_ += sample.weight;
            all_sum_ += sample.sum;
        }
        weight_ = weight;
        sum_ = sum;
    }

    // `previous` is where the block begins that ends here.
    CODT_INLINE void evaluate(const Boundary& previous, Boundary& at) const {
        for (std::size_t i = 0; i < Ints::registers; ++i) evaluate(i, previous, at);
    }

 private:
    using Ints = Pack<std::int32_t, Bytes>;
    using Int = typename Ints::Register;
    using Float = typename Pack<float, Bytes>::Register;

    CODT_INLINE static void add_to(std::int32_t* row, const std::int32_t* mask, std::int32_t value) {
        Ints sums;
        sums.load(row);
        sums.add_masked(mask, value);
        sums.store(row);
    }
    CODT_INLINE static Int load(std::size_t i, const std::int32_t* row) {
        Int lanes;
        std::memcpy(&lanes, row + i * Ints::per_register, Bytes);
        return lanes;
    }
    template <class Register, class T>
    CODT_INLINE static void store(std::size_t i, const Register& lanes, T* row) {
        std::memcpy(row + i * Ints::per_register, &lanes, Bytes);
    }
    CODT_INLINE static Float in_floats(const Int& lanes) { return __builtin_convertvector(lanes, Float); }

    // The four parts of something that the left and all samples amount to, as a whole and before the
    // boundary.
    CODT_INLINE static void split(const Int& left, std::int32_t all, const Int& left_before,
                                  std::int32_t all_before, Int (&parts)[pinball_parts]) {
        parts[0] = left_before;
        parts[1] = left - left_before;
        parts[2] = all_before - left_before;
        parts[3] = (all - all_before) - parts[1];
    }

    CODT_INLINE static Int floor(const Float& lanes) {
        const Int whole = __builtin_convertvector(lanes, Int);  // towards zero
        return whole + (in_floats(whole) > lanes);
    }

    CODT_INLINE void evaluate(std::size_t i, const Boundary& previous, Boundary& at) const {
        const std::uint32_t last = buckets_ - 1;
        Int weight[pinball_parts], sum[pinball_parts];
        split(load(i, left_.weight[last]), all_.weight[last], weight_.r[i], all_weight_, weight);
        split(load(i, left_.sum[last]), all_.sum[last], sum_.r[i], all_sum_, sum);
        const auto quantile = static_cast<float>(targets_.quantile);
        Float share[pinball_parts];
        Int reach[pinball_parts];  // no more than the share
        Int low_weight[pinball_parts], low_sum[pinball_parts], high_weight[pinball_parts],
            high_sum[pinball_parts], index[pinball_parts], is_below[pinball_parts];
        Int reach_low[pinball_parts], reach_high[pinball_parts];
        Float lowest[pinball_parts], highest[pinball_parts];
        for (std::size_t p = 0; p < pinball_parts; ++p) {
            // 16 u are more than the roundings of these.
            const Float moved = in_floats(weight[p / 2 * 2] - load(i, previous.weight[p / 2 * 2]));
            const float down = p % 2 == 0 ? quantile : 1 - quantile, up = 1 - down;
            const Float of_part = quantile * in_floats(weight[p]);
            reach_low[p] = floor((of_part - down * moved) - 0x1p-20F * (of_part + moved));
            reach_high[p] = -floor(-(of_part + up * moved) - 0x1p-20F * (of_part + moved));
            lowest[p] = targets_.lowest[0] - Float{};
            highest[p] = targets_.highest[0] - Float{};
            store(i, weight[p], at.weight[p]);
            store(i, sum[p], at.sum[p]);
            share[p] = quantile * in_floats(weight[p]);
            reach[p] = __builtin_convertvector(share[p] * (1 - 0x1p-21F), Int);
            low_weight[p] = low_sum[p] = high_weight[p] = high_sum[p] = index[p] = Int{};
            is_below[p] = ~Int{};
        }
        Int left_weight{}, left_sum{};
        std::int32_t all_weight = 0, all_sum = 0;
        for (std::uint32_t b = 0; b < buckets_; ++b) {
            left_weight += load(i, before_.weight[b]);
            left_sum += load(i, before_.sum[b]);
            all_weight += all_before_.weight[b];
            all_sum += all_before_.sum[b];
            split(load(i, left_.weight[b]), all_.weight[b], left_weight, all_weight, weight);
            split(load(i, left_.sum[b]), all_.sum[b], left_sum, all_sum, sum);
#pragma GCC unroll 4
            for (std::size_t p = 0; p < pinball_parts; ++p) {
                // Above the share once only: where it was below before.
                high_weight[p] = is_below[p] ? weight[p] : high_weight[p];
                high_sum[p] = is_below[p] ? sum[p] : high_sum[p];
                is_below[p] = weight[p] <= reach[p];
                low_weight[p] = is_below[p] ? weight[p] : low_weight[p];
                low_sum[p] = is_below[p] ? sum[p] : low_sum[p];
                index[p] -= is_below[p];
                if (b < last) {
                    lowest[p] = weight[p] <= reach_low[p] ? targets_.lowest[b + 1] - Float{} : lowest[p];
                    highest[p] = weight[p] < reach_high[p] ? targets_.highest[b + 1] - Float{} : highest[p];
                }
            }
        }
        const auto above = static_cast<float>(targets_.error.above),
                   both = static_cast<float>(targets_.both());
        for (std::size_t p = 0; p < pinball_parts; ++p) {
            const Int width = high_weight[p] - low_weight[p];
            const Float slope =
                in_floats(high_sum[p] - low_sum[p]) / in_floats(width > 1 ? width : Int{} + 1);
            const Float chord = in_floats(low_sum[p]) + (share[p] - in_floats(low_weight[p])) * slope;
            const Float loss = above * in_floats(sum[p]) - both * chord;
            store(i, loss, at.loss[p]);
            store(i, lowest[p], at.lowest[p]);
            store(i, highest[p], at.highest[p]);
            store(i, index[p], at.bucket[p]);
            store(i, low_weight[p], at.low_weight[p]);
            store(i, low_sum[p], at.low_sum[p]);
            store(i, high_weight[p], at.high_weight[p]);
            store(i, high_sum[p], at.high_sum[p]);
        }
    }

    const PinballTargets& targets_;
    const LaneBuckets& left_;  // cumulated, like `all`
    const BucketSums& all_;
    const std::uint32_t buckets_;
    LaneBuckets before_;  // of the samples on the left before the boundary
    BucketSums all_before_;
    Ints weight_{}, sum_{};  // all buckets together
    std::int32_t all_weight_ = 0, all_sum_ = 0;
};

}  // namespace codt
