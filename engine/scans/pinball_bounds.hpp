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

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "scans/lane_masks.hpp"
#include "scans/lanes.hpp"
#include "scans/pinball_buckets.hpp"
#include "scans/pinball_targets.hpp"

namespace codt {

// More than twice the errors above, as two parts of a boundary inside a block may overlap by the block. Those
// of chords inside blocks (PinballKernel::look_inside) are less.
inline constexpr double pinball_blur = 0x1p-16;  // 256 u

// The parts of a boundary: before and behind it on the left, before and behind it on the right.
inline constexpr std::size_t pinball_parts = 4;

struct alignas(pack_bytes) Boundary {
    float loss[pinball_parts][pinball_lanes];  // a lower bound
    std::int32_t weight[pinball_parts][pinball_lanes];
    std::int32_t sum[pinball_parts][pinball_lanes];
    // Between these a quantile lies wherever the boundary is in the block that ends here; only known where
    // MovingBoundary::find_reach was called.
    float lowest[pinball_parts][pinball_lanes], highest[pinball_parts][pinball_lanes];
    // The bucket in which the quantile lies, or the one before, and what the buckets below it amount to.
    std::int32_t bucket[pinball_parts][pinball_lanes], low_weight[pinball_parts][pinball_lanes],
        low_sum[pinball_parts][pinball_lanes];
    // The same with this bucket.
    std::int32_t high_weight[pinball_parts][pinball_lanes], high_sum[pinball_parts][pinball_lanes];
};

// What the samples before a moving boundary amount to.
//
// The quantiles of a part move little from one boundary to the next. So they are sought in the range of
// buckets in which those of all lanes lay at the boundary before. Weights below a bucket ascend with buckets:
// if none exceeds the share at the beginning of the range, and all do at its end, no quantile lies outside.
// Otherwise the range grows. The result is the same as that of a search in all buckets.
template <std::size_t Bytes>
class MovingBoundary {
 public:
    // `samples_per_block` is their mean.
    MovingBoundary(const PinballTargets& targets, const LaneCumulated& left, const CumulatedSums& all,
                   std::uint32_t samples_per_block)
        : targets_(targets),
          left_(left),
          all_(all),
          buckets_(targets.buckets),
          before_(buckets_, samples_per_block) {
        for (auto& parts : ranges_)
            for (Range& range : parts) range = {0, buckets_ - 1};
    }

    // Moves the boundary over some samples (see BucketsBefore).
    CODT_INLINE void add(const std::uint32_t* ranks, std::uint32_t count, const std::uint8_t* code) {
        before_.add(targets_, ranks, count, code);
    }

    CODT_INLINE void evaluate(Boundary& at) {
        before_.cumulate();
        for (std::size_t i = 0; i < Ints::registers; ++i) {
            evaluate<0>(i, at);
            evaluate<1>(i, at);
            evaluate<2>(i, at);
            evaluate<3>(i, at);
        }
    }

    // Where the quantiles of a side can be inside the block that ends at the boundary evaluated last, and
    // begins at `previous`.
    template <std::size_t Side>
    CODT_INLINE void find_reach(const Boundary& previous, Boundary& at) const {
        for (std::size_t i = 0; i < Ints::registers; ++i) {
            const Int all = load(i, at.weight[2 * Side]);
            const Float moved = in_floats(all - load(i, previous.weight[2 * Side]));
            find_reach<2 * Side>(i, moved, at);
            find_reach<2 * Side + 1>(i, moved, at);
        }
    }

 private:
    using Ints = Pack<std::int32_t, Bytes>;
    using Int = typename Ints::Register;
    using Float = typename Pack<float, Bytes>::Register;
    using Mask = LaneMask<Bytes>;

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
    CODT_INLINE static Int floor(const Float& lanes) {
        const Int whole = __builtin_convertvector(lanes, Int);  // towards zero
        return whole + (in_floats(whole) > lanes);
    }

    // What the samples of a part in the buckets below b amount to.
    template <std::size_t Part>
    CODT_INLINE Int weight(std::size_t i, std::uint32_t b) const {
        return of_part<Part>(load(i, before_.left.weight[b]), before_.all.weight[b], load(i, left_.weight[b]),
                             all_.weight[b]);
    }
    template <std::size_t Part>
    CODT_INLINE Int sum(std::size_t i, std::uint32_t b) const {
        return of_part<Part>(load(i, before_.left.sum[b]), before_.all.sum[b], load(i, left_.sum[b]),
                             all_.sum[b]);
    }
    template <std::size_t Part>
    CODT_INLINE static Int of_part(const Int& left_before, std::int32_t all_before, const Int& left,
                                   std::int32_t all) {
        if constexpr (Part == 0) return left_before;
        if constexpr (Part == 1) return left - left_before;
        if constexpr (Part == 2) return all_before - left_before;
        if constexpr (Part == 3) return (all - all_before) - (left - left_before);
    }

    template <std::size_t Part>
    CODT_INLINE void evaluate(std::size_t i, Boundary& at) {
        const Int all_weight = weight<Part>(i, buckets_), all_sum = sum<Part>(i, buckets_);
        const Float share = static_cast<float>(targets_.quantile) * in_floats(all_weight);
        const Int reach = __builtin_convertvector(share * (1 - 0x1p-21F), Int);  // no more than the share
        const Mask counts = Mask::below(Int{}, all_weight);  // an empty part has no quantile
        Range& range = ranges_[i][Part];
        std::uint32_t first = range.first;
        while (first > 0 && (counts & ~Mask::at_most(weight<Part>(i, first), reach)).any()) --first;
        std::uint32_t b = first;
        Int low_weight = weight<Part>(i, b), low_sum = sum<Part>(i, b), high_weight = low_weight,
            high_sum = low_sum, index = Int{} + static_cast<std::int32_t>(b);
        // The lanes in which all buckets so far are below the quantile; and in how many buckets these are all
        // lanes, or none.
        Mask is_below = Mask::all();
        std::uint32_t all = b, none = 0;
        do {
            ++b;
            const Int to_weight = weight<Part>(i, b), to_sum = sum<Part>(i, b);
            high_weight = is_below.choose(to_weight, high_weight);
            high_sum = is_below.choose(to_sum, high_sum);
            is_below = Mask::at_most(to_weight, reach);
            low_weight = is_below.choose(to_weight, low_weight);
            low_sum = is_below.choose(to_sum, low_sum);
            index = is_below.add(index, Int{} + 1);
            all += !(counts & ~is_below).any();
            none += !(counts & is_below).any();
        } while (b <= range.last || none == 0);
        // With a bucket to spare on both sides, lest the range changes all the time.
        range.first = std::min(std::max(first + 1, all) - 1, b - none);
        range.last = std::min(b - none + 1, b - 1);

        const Int width = high_weight - low_weight;
        const Float slope = in_floats(high_sum - low_sum) / in_floats(width > 1 ? width : Int{} + 1);
        const Float chord = in_floats(low_sum) + (share - in_floats(low_weight)) * slope;
        const Float loss = static_cast<float>(targets_.error.above) * in_floats(all_sum) -
                           static_cast<float>(targets_.both()) * chord;
        store(i, loss, at.loss[Part]);
        store(i, all_weight, at.weight[Part]);
        store(i, all_sum, at.sum[Part]);
        store(i, counts.choose(index, Int{} + static_cast<std::int32_t>(buckets_)), at.bucket[Part]);
        store(i, low_weight, at.low_weight[Part]);
        store(i, low_sum, at.low_sum[Part]);
        store(i, high_weight, at.high_weight[Part]);
        store(i, high_sum, at.high_sum[Part]);
    }

    template <std::size_t Part>
    CODT_INLINE void find_reach(std::size_t i, const Float& moved, Boundary& at) const {
        const auto quantile = static_cast<float>(targets_.quantile);
        const float down = Part % 2 == 0 ? quantile : 1 - quantile, up = 1 - down;
        const Float of_part = quantile * in_floats(load(i, at.weight[Part]));
        // 16 u are more than the roundings of these.
        const Int reach_low = floor((of_part - down * moved) - 0x1p-20F * (of_part + moved));
        const Int reach_high = -floor(-(of_part + up * moved) - 0x1p-20F * (of_part + moved));
        Float lowest = targets_.lowest[0] - Float{}, highest = targets_.highest[0] - Float{};
        for (std::uint32_t b = 1; b < buckets_; ++b) {
            const Int below = weight<Part>(i, b);
            lowest = below <= reach_low ? targets_.lowest[b] - Float{} : lowest;
            highest = below < reach_high ? targets_.highest[b] - Float{} : highest;
        }
        store(i, lowest, at.lowest[Part]);
        store(i, highest, at.highest[Part]);
    }

    struct Range {
        std::uint32_t first, last;
    };

    const PinballTargets& targets_;
    const LaneCumulated& left_;
    const CumulatedSums& all_;
    const std::uint32_t buckets_;
    BucketsBefore<Bytes> before_;
    Range ranges_[Ints::registers][pinball_parts];
};

}  // namespace codt
