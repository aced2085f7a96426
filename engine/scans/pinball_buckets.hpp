// Weights and sums of samples by bucket, where the buckets are those of PinballTargets: of the samples of a
// side, and of those on the left of a moving boundary, for all lanes.
#pragma once

#include <cstdint>
#include <cstring>

#include "scans/lane_masks.hpp"
#include "scans/lanes.hpp"
#include "scans/pinball_targets.hpp"

namespace codt {

inline constexpr std::uint32_t pinball_lanes = lane_count<float>;

// What the buckets below each amount to, and behind the last one all together.
struct CumulatedSums {
    std::int32_t weight[most_pinball_buckets + 1], sum[most_pinball_buckets + 1];
};
struct alignas(pack_bytes) LaneCumulated {
    std::int32_t weight[most_pinball_buckets + 1][pinball_lanes],
        sum[most_pinball_buckets + 1][pinball_lanes];
};

struct BucketSums {
    std::int32_t weight[most_pinball_buckets] = {}, sum[most_pinball_buckets] = {};

    void add(const PinballTargets::Whole& sample) {
        weight[sample.bucket] += sample.weight;
        sum[sample.bucket] += sample.sum;
    }
    CumulatedSums cumulated(std::uint32_t buckets) const {
        CumulatedSums result;
        result.weight[0] = result.sum[0] = 0;
        for (std::uint32_t b = 0; b < buckets; ++b) {
            result.weight[b + 1] = result.weight[b] + weight[b];
            result.sum[b + 1] = result.sum[b] + sum[b];
        }
        return result;
    }
};

// What the samples before a moving boundary amount to, those on the left in each lane and all.
//
// A sample is on the left from one lane on. In long blocks it is added in this first lane alone, and when the
// block ends lanes are summed up: adding to all lanes would take longer, above all where many samples one
// after the other are in the same bucket, as each of them waits for what the one before has stored.
template <std::size_t Bytes>
class BucketsBefore {
 public:
    BucketsBefore(std::uint32_t buckets, std::uint32_t samples_per_block)
        : buckets_(buckets), by_first_lane_(LaneMask<Bytes>::sums_up && is_long(samples_per_block)) {
        if (by_first_lane_) {
            std::memset(first_lanes_, 0, buckets_ * sizeof first_lanes_[0]);
        } else {
            std::memset(lanes_.weight, 0, buckets_ * sizeof lanes_.weight[0]);
            std::memset(lanes_.sum, 0, buckets_ * sizeof lanes_.sum[0]);
        }
        std::memset(left.weight[0], 0, sizeof left.weight[0]);
        std::memset(left.sum[0], 0, sizeof left.sum[0]);
    }

    // Moves the boundary over some samples, given their ranks. `code` is the first lane in which a sample is
    // on the left, by rank.
    CODT_INLINE void add(const PinballTargets& targets, const std::uint32_t* ranks, std::uint32_t count,
                         const std::uint8_t* code) {
        const PinballTargets::Whole* const samples = targets.whole.data();
        if (by_first_lane_) {
            for (std::uint32_t k = 0; k < count; ++k) {
                const PinballTargets::Whole& sample = samples[ranks[k]];
                FirstLanes& bucket = first_lanes_[sample.bucket];
                bucket.weight[code[ranks[k]]] += sample.weight;
                bucket.sum[code[ranks[k]]] += sample.sum;
            }
            return;
        }
        for (std::uint32_t k = 0; k < count; ++k) {
            const PinballTargets::Whole& sample = samples[ranks[k]];
            std::int32_t* const weights = lanes_.weight[sample.bucket];
            std::int32_t* const sums = lanes_.sum[sample.bucket];
            for (std::size_t i = 0; i < Ints::registers; ++i) {
                const auto lanes = LaneMask<Bytes>::from(code[ranks[k]], i);
                store(i, lanes.add(load(i, weights), Int{} + sample.weight), weights);
                store(i, lanes.add(load(i, sums), Int{} + sample.sum), sums);
            }
            all_.add(sample);
        }
    }

    // Cumulates what has been added so far.
    CODT_INLINE void cumulate() {
        if (by_first_lane_)
            cumulate_first_lanes();
        else
            cumulate_lanes();
    }

    // As they were cumulated last.
    LaneCumulated left;
    CumulatedSums all;

 private:
    using Ints = Pack<std::int32_t, Bytes>;
    using Int = typename Ints::Register;

    CODT_INLINE static Int load(std::size_t i, const std::int32_t* row) {
        Int lanes;
        std::memcpy(&lanes, row + i * Ints::per_register, Bytes);
        return lanes;
    }
    CODT_INLINE static void store(std::size_t i, const Int& lanes, std::int32_t* row) {
        std::memcpy(row + i * Ints::per_register, &lanes, Bytes);
    }

    CODT_INLINE void cumulate_lanes() {
        all = all_.cumulated(buckets_);
        for (std::size_t i = 0; i < Ints::registers; ++i) {
            Int weight{}, sum{};
            for (std::uint32_t b = 0; b < buckets_; ++b) {
                weight += load(i, lanes_.weight[b]);
                sum += load(i, lanes_.sum[b]);
                store(i, weight, left.weight[b + 1]);
                store(i, sum, left.sum[b + 1]);
            }
        }
    }

    CODT_INLINE void cumulate_first_lanes() {
        Int weight{}, sum{};
        std::int32_t right_weight = 0, right_sum = 0;  // in all lanes
        all.weight[0] = all.sum[0] = 0;
        for (std::uint32_t b = 0; b < buckets_; ++b) {
            const FirstLanes& bucket = first_lanes_[b];
            weight += load(0, bucket.weight);
            sum += load(0, bucket.sum);
            right_weight += bucket.weight[pinball_lanes];
            right_sum += bucket.sum[pinball_lanes];
            store(0, LaneMask<Bytes>::summed_up(weight), left.weight[b + 1]);
            store(0, LaneMask<Bytes>::summed_up(sum), left.sum[b + 1]);
            all.weight[b + 1] = left.weight[b + 1][pinball_lanes - 1] + right_weight;
            all.sum[b + 1] = left.sum[b + 1][pinball_lanes - 1] + right_sum;
        }
    }

    // The samples of a bucket by the first lane in which they are on the left, and behind the last lane those
    // that never are.
    struct FirstLanes {
        std::int32_t weight[24], sum[24];
    };
    struct alignas(pack_bytes) Lanes {
        std::int32_t weight[most_pinball_buckets][pinball_lanes], sum[most_pinball_buckets][pinball_lanes];
    };

    bool is_long(std::uint32_t samples_per_block) const {
#ifdef CODT_ASSERTS  // both ways in small problems, too, which all tests are made of
        return samples_per_block > 3;
#else
        return 2 * samples_per_block > buckets_;
#endif
    }

    const std::uint32_t buckets_;
    const bool by_first_lane_;
    alignas(pack_bytes) FirstLanes first_lanes_[most_pinball_buckets];
    Lanes lanes_;
    BucketSums all_;
};

}  // namespace codt
