// Blocks of two classes without weights (two_sums_scan.cpp) in which few sides are in doubt, walked one by
// one: 16 boundaries at once instead of 16 thresholds.
//
// Six logarithms take as long for one lane as for all of them, and most walks are asked for by a few sides.
// What lies before each boundary of a block on one side of one threshold is a running count of the block's
// samples there, which are kept as bits. The counts are whole numbers, and values are computed of them as for
// all lanes. Other sides miss this boundary, but their bounds say that none inside the block is better.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"
#include "scans/two_class_counts.hpp"
#include "scans/two_sums_side.hpp"

namespace codt {

// For every byte the number of its bits up to and including each place, a byte each.
struct RunningCounts {
    std::uint64_t rows[256];

    constexpr RunningCounts() : rows{} {
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint64_t count = 0;
            for (std::uint32_t bit = 0; bit < 8; ++bit) {
                count += byte >> bit & 1U;
                rows[byte] |= count << (8 * bit);
            }
        }
    }
};
inline constexpr RunningCounts running_counts;

// The samples of a block of at most 64, a bit each in their order, from the lowest on.
template <std::uint32_t Lanes, std::size_t Bytes>
struct TwoClassBits {
    static constexpr std::uint32_t longest = 64;
    static constexpr std::uint32_t at_once = lane_count<float>;
    using P = Pack<float, Bytes>;
    using Whole = Pack<std::int32_t, Bytes>;

    std::uint64_t left[Lanes];  // those on the left of each threshold
    std::uint64_t all, ones;    // all samples, those of class 1

    // The samples on the right of a threshold.
    CODT_INLINE std::uint64_t right(std::size_t lane) const { return all & ~left[lane]; }

    CODT_INLINE void read(const std::uint32_t* ids, std::uint32_t size, const std::uint8_t* code,
                          const LaneRows<float, Lanes>& rows) {
        std::uint64_t in_bucket[missing_bucket<Lanes> + 1] = {};
        ones = 0;
        for (std::uint32_t p = 0; p < size; ++p) {
            const std::uint8_t c = code[ids[p]];
            in_bucket[c % class_bit] |= std::uint64_t{1} << p;
            ones |= static_cast<std::uint64_t>(c / class_bit) << p;
        }
        all = ~std::uint64_t{0} >> (longest - size);
        const std::uint64_t missing = in_bucket[missing_bucket<Lanes>];
        const float* const goes_left = rows[missing_bucket<Lanes>];
        std::uint64_t before = 0;
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            before |= in_bucket[lane];
            left[lane] = before | (goes_left[lane] > 0 ? missing : 0);
        }
    }

    // For the 16 places from `first` on: `before`, and how many of these samples come no later.
    CODT_INLINE static void count(std::uint64_t samples, std::uint32_t first, float before, P& counts) {
        const std::uint64_t some = samples >> first;
        const std::uint64_t low = running_counts.rows[some & 255];
        const std::uint64_t high = running_counts.rows[some >> 8 & 255] + (low >> 56) * 0x0101010101010101;
        const Words16 both{low, high};
        typedef std::uint8_t Narrow __attribute__((vector_size(P::per_register)));
        for (std::size_t i = 0; i < P::registers; ++i) {
            Narrow x;
            std::memcpy(&x, reinterpret_cast<const char*>(&both) + i * sizeof x, sizeof x);
            const auto whole = __builtin_convertvector(x, typename Whole::Register);
            counts.r[i] = before + __builtin_convertvector(whole, typename P::Register);
        }
    }
};

// The sides of one threshold after the other, in a pass over two sums (two_sums_pass.hpp).
template <class Pass, std::uint32_t Lanes, std::size_t Bytes>
struct TwoClassLaneWalk {
    using Bits = TwoClassBits<Lanes, Bytes>;
    using P = typename Bits::P;
    using Side = typename Pass::Side;

    Pass& pass;
    Bits bits;
    std::uint32_t size;
    std::uint64_t ends;  // the boundaries, a bit for each place behind a sample
    alignas(pack_bytes) float k[Lanes], s[Lanes];

    CODT_INLINE void walk(const typename Pass::Run& in, std::uint32_t in_left, std::uint32_t in_right) {
        in.before.k.store(k);
        in.before.s.store(s);
        walk_side(pass.left, pass.samples.sides[0], in_left,
                  [&](std::size_t lane) CODT_INLINE_LAMBDA { return bits.left[lane]; });
        for (std::size_t lane = 0; lane < Lanes; ++lane) {
            k[lane] = in.all.k - k[lane];
            s[lane] = in.all.s - s[lane];
        }
        walk_side(pass.right, pass.samples.sides[1], in_right,
                  [&](std::size_t lane) CODT_INLINE_LAMBDA { return bits.right(lane); });
    }

 private:
    template <class Members>
    CODT_INLINE void walk_side(Side& side, const TwoSumsLanes<float, Lanes>& lanes, std::uint32_t which,
                               const Members& members) {
        if (which == 0) return;
        alignas(pack_bytes) float best[Lanes];
        side.best.store(best);
        for (; which != 0; which &= which - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(which));
            const std::uint64_t here = members(lane);
            float before_k = k[lane], before_s = s[lane];
            for (std::uint32_t first = 0; first < size; first += Bits::at_once) {
                P some_k, some_s;
                Bits::count(here, first, before_k, some_k);
                Bits::count(here & bits.ones, first, before_s, some_s);
                best[lane] =
                    side.best_in_lane(pass.family, lanes, lane, some_k, some_s, ends >> first, best[lane]);
                const std::uint64_t mask = (here >> first) & 0xFFFF;
                before_k += static_cast<float>(std::popcount(mask));
                before_s += static_cast<float>(std::popcount(mask & (bits.ones >> first)));
            }
        }
        side.best.load(best);
        for (std::size_t i = 0; i < P::registers; ++i) side.aim(i);
    }
};

}  // namespace codt
