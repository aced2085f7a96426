// What the scans of two classes share, with and without weights: the extremes of d and the walk over blocks.
// two_class_scan.cpp has the derivation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"

namespace codt {

// Per lane and side: the samples (or weights) of both classes, and the extremes so far of d on the left and
// of e on the right.
template <class Int>
struct alignas(pack_bytes) TwoClassSides {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int low[2][lanes], high[2][lanes];
    std::int64_t count[2][2][lanes];  // of a side and class

    // A boundary behind the last sample is a leaf, so zero and the side's total are extremes from the start;
    // and so is the sum that gives `known`, a number of errors that some split attains.
    void start(std::size_t side, std::size_t lane, std::int64_t n0, std::int64_t n1, double known) {
        count[side][0][lane] = n0;
        count[side][1][lane] = n1;
        std::int64_t least = std::min<std::int64_t>(0, n1 - n0);
        std::int64_t most = std::max<std::int64_t>(0, n1 - n0);
        if (known < static_cast<double>(std::min(n0, n1))) {
            const auto errors = static_cast<std::int64_t>(std::ceil(known));
            least = std::min(least, errors - n0);
            most = std::max(most, n1 - errors);
        }
        low[side][lane] = static_cast<Int>(least);
        high[side][lane] = static_cast<Int>(most);
    }

    // A lane with all samples on its left cannot pass the extremes that stand for no errors at all.
    void pad(std::size_t lane, std::int64_t n0, std::int64_t n1) {
        start(0, lane, n0, n1, 0);
        start(1, lane, 0, 0, 0);
    }

    double value(std::size_t side, std::size_t lane, double price) const {
        const std::int64_t n0 = count[side][0][lane];
        const std::int64_t n1 = count[side][1][lane];
        const std::int64_t errors = std::min(n0 + low[side][lane], n1 - high[side][lane]);
        return std::min(static_cast<double>(std::min(n0, n1)), static_cast<double>(errors) + price);
    }
};

// A pass over a stream. `Samples` knows what a sample and a block count:
//
//     step(id, sum, total)              adds a sample to d and to both sides' total
//     count(begin, block, ones, zeros)  a block's samples of each class left of each threshold
//     ones(begin, block), zeros(begin, block)
//                                       a block's samples of each class on both sides together
template <class Int, std::size_t Bytes>
struct TwoClassPass {
    using P = Pack<Int, Bytes>;

    P d, left_min, left_max, right_min, right_max;

    // Takes the boundary where the left side's sum is `sum` and both sides' `total`.
    CODT_INLINE void offer(const P& sum, Int total) {
        left_min.minimum(sum);
        left_max.maximum(sum);
        P other = sum;
        other.subtract_from(total);
        right_min.minimum(other);
        right_max.maximum(other);
    }

    // Whether a boundary inside a block, before which both sides' sum is `total`, might pass an extreme.
    CODT_INLINE bool might_pass(const P& ones, const P& zeros, Int total, Int block_ones,
                                Int block_zeros) const {
        // Room to the four extremes: negative where the block might pass one of them.
        P low = d, high = left_max, other_low = d, other_high = d;
        low.subtract(zeros);
        low.subtract(left_min);
        high.subtract(d);
        high.subtract(ones);
        other_low.subtract_from(static_cast<Int>(total - block_zeros));
        other_low.add(zeros);
        other_low.subtract(right_min);
        other_high.subtract_from(static_cast<Int>(total + block_ones));
        other_high.subtract(ones);
        other_high.subtract(right_max);
        other_high.subtract_from(0);
        low.minimum(high);
        low.minimum(other_low);
        low.minimum(other_high);
        return any_negative(low);
    }

    template <class Block, class Samples>
    CODT_INLINE void run(const Stream<Block>& stream, const Samples& samples, TwoClassSides<Int>& sides) {
        left_min.load(sides.low[0]);
        left_max.load(sides.high[0]);
        right_min.load(sides.low[1]);
        right_max.load(sides.high[1]);
        // With the missing samples first, sums are larger by those of the missing ones; the extremes are
        // moved instead.
        P shift_low[2], shift_high[2];
        if (stream.missing) {
            const std::uint32_t first = stream.block_count ? stream.blocks[stream.block_count - 1].end : 0;
            P ones, zeros, none;
            none.clear();
            samples.count(first, *stream.missing, ones, zeros);
            ones.subtract(zeros);
            for (int side = 0; side < 2; ++side) {
                if (side == 1)
                    ones.subtract_from(static_cast<Int>(samples.ones(first, *stream.missing) -
                                                        samples.zeros(first, *stream.missing)));
                shift_low[side] = shift_high[side] = ones;
                shift_low[side].minimum(none);
                shift_high[side].maximum(none);
            }
            left_min.subtract(shift_low[0]);
            left_max.subtract(shift_high[0]);
            right_min.subtract(shift_low[1]);
            right_max.subtract(shift_high[1]);
        }
        d.clear();
        Int total = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            P ones, zeros;
            samples.count(begin, block, ones, zeros);
            const Int block_ones = samples.ones(begin, block);
            const Int block_zeros = samples.zeros(begin, block);
            P next = d;
            next.add(ones);
            next.subtract(zeros);
            const Int next_total = static_cast<Int>(total + block_ones - block_zeros);
            offer(next, next_total);
            if (block.several && might_pass(ones, zeros, total, block_ones, block_zeros)) {
                P sum = d;
                Int sum_total = total;
                walk_groups<Walk::inside>(
                    stream, begin, block,
                    [&](std::uint32_t id) CODT_INLINE_LAMBDA { samples.step(id, sum, sum_total); },
                    [&](std::uint32_t) CODT_INLINE_LAMBDA { offer(sum, sum_total); });
            }
            d = next;
            total = next_total;
            begin = block.end;
        }
        if (stream.missing) {
            left_min.add(shift_low[0]);
            left_max.add(shift_high[0]);
            right_min.add(shift_low[1]);
            right_max.add(shift_high[1]);
        }
        left_min.store(sides.low[0]);
        left_max.store(sides.high[0]);
        right_min.store(sides.low[1]);
        right_max.store(sides.high[1]);
    }
};

}  // namespace codt
