// Scans for losses that depend on two sums, a weight k and a sum s (two_sums_families.hpp): a pass finds the
// best gain of every lane, but for a known error.
//
// A gain is convex in (k, s). In a block every sample lies between two lines from the origin, s = y- k and
// s = y+ k, so inside the block (k, s) stays in the parallelogram of
//
//     (k0, s0)   (k0 + u, s0 + y+ u)   (k1 - u, s1 - y+ u)   (k1, s1),     u = (s1 - s0 - y- (k1 - k0)) / (y+
//     - y-),
//
// and the gain is largest at a corner. The first and the last are boundaries. Boundaries have k between the
// least weight and n less the least weight: a corner outside is moved there along the steeper line, which
// makes the parallelogram no smaller where boundaries are, but for places between its other corner and the
// line c = 0.
//
// Logarithms take long. By their curvature (two_sums_families.hpp) gains are no larger than
//
//     c^2 / (flat k + rise c) + c^2 / (flat k' - fall c)   if c > 0,
//     c^2 / (flat k + fall c) + c^2 / (flat k' - rise c)   if c < 0,
//
// which is convex as well, since rise <= fall makes both denominators concave. Only where that exceeds the
// best gain is the gain itself computed, for one side, if one needs it. Two blocks in a row make a run, which
// is treated as one block first: its end is evaluated, and it is kept with the lanes in which a corner may be
// better. When the ends of some runs to come have been seen, those lanes are looked at again: by the corners
// of the run, then, behind an evaluation of the end of its first block, by those of each of the two blocks,
// and where they are better, at all boundaries of the block: for all lanes at one boundary after the other,
// or at 16 boundaries for one lane after the other, whichever needs fewer values. In each of these steps a
// lane is left out for good once the bound, or the gain, at both corners between the ends is no more than its
// best: the ends themselves have been evaluated, or ruled out by their own bounds, so by convexity nothing in
// between is better.
//
// A place is left out only where the computed gain, or bound, is no more than the best one. So the best gain
// is off by no more than one gain is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"
#include "scans/two_sums_side.hpp"

namespace codt {

// Sums over samples, for all lanes together and for each of them.
template <class Number>
struct PlainTotal {
    Number k = 0, s = 0;

    CODT_INLINE void add(const PlainTotal& other) {
        k += other.k;
        s += other.s;
    }
};
template <class P>
struct PlainSums {
    P k, s;

    CODT_INLINE void clear() {
        k.clear();
        s.clear();
    }
    CODT_INLINE void add(const PlainSums& other) {
        k.add(other.k);
        s.add(other.s);
    }
    CODT_INLINE void subtract(const PlainSums& other) {
        k.subtract(other.k);
        s.subtract(other.s);
    }
    template <class Total>
    CODT_INLINE void subtract_from(const Total& total) {
        k.subtract_from(total.k);
        s.subtract_from(total.s);
    }
};

// What a pass asks of plain sums.
template <class Number, class P>
struct PlainSamples {
    using Total = PlainTotal<Number>;
    using Sums = PlainSums<P>;
    using Register = typename P::Register;
    using Point = SumsPoint<Register>;
    static constexpr SumsAre are = SumsAre::plain;

    // The sums of a lane as a place in the plane, and those of the other samples of `all`.
    template <class Side>
    CODT_INLINE static Point point(const Side&, std::size_t i, const Sums& sums) {
        return {sums.k.r[i], sums.s.r[i]};
    }
    template <class Side>
    CODT_INLINE static Point point_right(const Side&, std::size_t i, const Total& all, const Sums& sums) {
        return {all.k - sums.k.r[i], all.s - sums.s.r[i]};
    }
    // What a side holds beyond these sums.
    template <class Side>
    CODT_INLINE static Point rest(const Side& side, std::size_t i, const Sums& sums) {
        return side.rest(i, point(side, i, sums));
    }
};

template <class Number, class Total>
struct TwoSumsBlock : BlockRange {
    Total total;                    // of its samples
    Number lower, upper, per_span;  // y-, y+, 1 / (y+ - y-) or zero
};

// A pass over a stream. `Samples` knows what a sample adds:
//
//     Sums, Total                  sums in lanes, and over all samples (see above)
//     count(begin, block, sums)    the sums of a block's samples left of each threshold
//     step(id, left, all)          adds a sample to the sums left of each threshold, and to those of all
//     point, point_right, rest     sums as numbers (see PlainSamples)
//     prefers_lanes, walk_lanes    where walks_lanes: whether a block is better walked for one lane after the
//                                  other, and doing so
template <class Family, class Samples, class Number, std::uint32_t Lanes, std::size_t Bytes>
struct TwoSumsPass {
    using Side = TwoSumsSide<Family, Number, Lanes, Bytes, Samples::are>;
    using P = typename Side::P;
    using Register = typename P::Register;
    using Sums = typename Samples::Sums;
    using Total = typename Samples::Total;
    using Block = TwoSumsBlock<Number, Total>;
    using Inside = typename Side::Inside;
    using Point = typename Side::Point;
    using Place = typename Side::Place;

    const Family& family;
    const Stream<Block>& stream;
    Samples samples;
    Side left, right;

    // One block, or two in a row, with the sums before them and over them.
    struct Run {
        const Block* block;
        std::uint32_t begin;
        Total all, total;
        Number lower, upper, per_span;
        Sums before, more;

        CODT_INLINE void of(const Block& one) {
            block = &one;
            total = one.total;
            lower = one.lower;
            upper = one.upper;
            per_span = one.per_span;
        }
    };
    CODT_INLINE Inside on_left(std::size_t i, const Run& run) const {
        const Point before = samples.point(left, i, run.before), more = samples.point(left, i, run.more);
        return {before.k, before.s, more.k, more.s};
    }
    CODT_INLINE Inside on_right(std::size_t i, const Run& run) const {
        const Point before = samples.point_right(right, i, run.all, run.before);
        const Point more = samples.point_right(right, i, run.total, run.more);
        return {before.k, before.s, more.k, more.s};
    }
    // A run that might hold something better in the lanes `left` or `right`, and the sums over its first
    // block.
    struct Doubtful {
        Run run;
        std::uint32_t left, right;
        bool two;
        Sums first;
    };

    // A place in a block that is walked for the lanes `on_left` and `on_right`.
    CODT_INLINE void offer(const Sums& sums, const Total& all, std::uint32_t on_left,
                           std::uint32_t on_right) {
        P room;
        if (on_left != 0) {
            for (std::size_t i = 0; i < P::registers; ++i)
                room.r[i] =
                    left.template room<Chords::several>(i, left.place(i, samples.point(left, i, sums)));
            if (negative_lanes(room) & on_left) take(left, sums);
        }
        if (on_right != 0) {
            for (std::size_t i = 0; i < P::registers; ++i)
                room.r[i] = right.template room<Chords::several>(
                    i, right.place(i, samples.point_right(right, i, all, sums)));
            if (negative_lanes(room) & on_right) take_right(sums, all);
        }
    }
    CODT_INLINE void take(Side& side, const Sums& sums) {
        for (std::size_t i = 0; i < P::registers; ++i)
            side.take(family, i, samples.point(side, i, sums), samples.rest(side, i, sums));
    }
    CODT_INLINE void take_right(Sums sums, const Total& all) {
        sums.subtract_from(all);
        take(right, sums);
    }

    // Negative where the end of a run might be better than the best, or a corner.
    CODT_INLINE static Register room_of_end(const Side& side, std::size_t i, const Inside& in) {
        const Register room = side.room(i, side.place(i, {in.k + in.more_k, in.s + in.more_s}));
        return in.more_k > 0 ? room : Register{} + 1;
    }
    template <Chords How = Chords::one>
    CODT_INLINE static Register room_of_corners(const Side& side, std::size_t i, const Inside& in,
                                                const Run& run) {
        Place up, down;
        side.corners(i, in, run, up, down);
        const Register room = Side::smaller(side.template room<How>(i, up), side.template room<How>(i, down));
        return in.more_k > 0 ? room : Register{} + 1;
    }

    // Of the lanes `which`, those in which a corner of a run might be better than the best.
    template <bool Left>
    CODT_INLINE std::uint32_t doubtful_lanes(const Side& side, const Run& in, std::uint32_t which) const {
        if (which == 0) return 0;
        P room;
        for (std::size_t i = 0; i < P::registers; ++i)
            room.r[i] = room_of_corners<Chords::one>(side, i, Left ? on_left(i, in) : on_right(i, in), in);
        return which & negative_lanes(room);
    }
    // Those in which the gain of a corner is better than the best.
    template <bool Left>
    CODT_INLINE std::uint32_t better_lanes(const Side& side, const Run& in, std::uint32_t which) const {
        if (which == 0) return 0;
        P room;
        for (std::size_t i = 0; i < P::registers; ++i) {
            Place up, down;
            side.corners(i, Left ? on_left(i, in) : on_right(i, in), in, up, down);
            room.r[i] = side.best.r[i] - Side::larger(side.value(family, i, up), side.value(family, i, down));
        }
        return which & negative_lanes(room);
    }
    // Those in which something in a run might be better.
    CODT_INLINE void narrow(const Run& in, std::uint32_t& in_left, std::uint32_t& in_right) const {
        in_left = doubtful_lanes<true>(left, in, in_left);
        in_right = doubtful_lanes<false>(right, in, in_right);
        if constexpr (Samples::corners_decide) {
            in_left = better_lanes<true>(left, in, in_left);
            in_right = better_lanes<false>(right, in, in_right);
        }
    }
    // The run first, then each of its blocks; one after the other in one loop, or the code would be too long
    // to be kept close to the processor.
    CODT_INLINE void look_into(const Doubtful& in) {
        std::uint32_t left_of_run = in.left, right_of_run = in.right;
        Run part = in.run;
        for (std::uint32_t step = 0;; ++step) {
            std::uint32_t in_left = left_of_run, in_right = right_of_run;
            narrow(part, in_left, in_right);
            if (step == 0) {
                if ((in_left | in_right) == 0) return;
                if (in.two) {
                    left_of_run = in_left;
                    right_of_run = in_right;
                    part.of(*in.run.block);
                    part.more = in.first;
                    Sums sums = in.run.before;
                    sums.add(in.first);
                    Total all = part.all;
                    all.add(part.total);
                    offer(sums, all, in_left, in_right);
                    continue;
                }
            }
            if ((in_left | in_right) != 0) walk(part, in_left, in_right);
            if (!in.two || step == 2) return;
            part.begin = in.run.block->end;
            part.before.add(in.first);
            part.all.add(part.total);
            part.of(*(in.run.block + 1));
            part.more = in.run.more;
            part.more.subtract(in.first);
        }
    }
    CODT_INLINE void walk(const Run& in, std::uint32_t in_left, std::uint32_t in_right) {
        if constexpr (Samples::walks_lanes) {
            const std::uint64_t ends = ends_inside(in);
            if (samples.prefers_lanes(in.block->end - in.begin, std::popcount(ends), in_left, in_right))
                return samples.walk_lanes(*this, in, ends, in_left, in_right);
        }
        Sums sums = in.before;
        Total all = in.all;
        walk_groups<Walk::inside>(
            stream, in.begin, *in.block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA { samples.step(id, sums, all); },
            [&](std::uint32_t) CODT_INLINE_LAMBDA { offer(sums, all, in_left, in_right); });
    }

    // The boundaries inside a block, a bit for each place behind a sample.
    CODT_INLINE std::uint64_t ends_inside(const Run& in) const {
        std::uint64_t ends = 0;
        for (const std::uint32_t* end = stream.group_end + in.block->first_group; *end < in.block->end; ++end)
            ends |= std::uint64_t{1} << (*end - in.begin - 1);
        return ends;
    }

    // This many runs are counted before any of them is walked: their ends give good gains.
    static constexpr std::uint32_t ahead = 32;

    CODT_INLINE void run() {
        Doubtful doubtful[ahead];
        Doubtful now;
        Run& run = now.run;
        run.begin = 0;
        run.all = {};
        run.before.clear();
        const Block* block = stream.blocks;
        const Block* const end = block + stream.block_count;
        while (block < end) {
            std::uint32_t count = 0;
            for (std::uint32_t seen = 0; seen < ahead && block < end; ++seen) {
                run.of(*block);
                samples.count(run.begin, *block, run.more);
                now.two = block->several && block + 1 < end && block[1].several;
                if (now.two) {
                    const Block& second = block[1];
                    now.first = run.more;
                    Sums more;
                    samples.count(block->end, second, more);
                    run.more.add(more);
                    run.total.add(second.total);
                    run.lower = std::min(run.lower, second.lower);
                    run.upper = std::max(run.upper, second.upper);
                    run.per_span = run.upper > run.lower ? 1 / (run.upper - run.lower) : 0;
                    ++block;
                }
                Sums next = run.before;
                next.add(run.more);
                Total all = run.all;
                all.add(run.total);
                P ends[2], corners[2], least;
                for (std::size_t i = 0; i < P::registers; ++i) {
                    const Inside in_left = on_left(i, run), in_right = on_right(i, run);
                    ends[0].r[i] = room_of_end(left, i, in_left);
                    ends[1].r[i] = room_of_end(right, i, in_right);
                    least.r[i] = Side::smaller(ends[0].r[i], ends[1].r[i]);
                    if (!run.block->several) continue;
                    corners[0].r[i] = room_of_corners(left, i, in_left, run);
                    corners[1].r[i] = room_of_corners(right, i, in_right, run);
                    least.r[i] = Side::smaller(least.r[i], Side::smaller(corners[0].r[i], corners[1].r[i]));
                }
                if (any_negative(least)) {
                    if (any_negative(ends[0])) take(left, next);
                    if (any_negative(ends[1])) take_right(next, all);
                    if (run.block->several) {
                        now.left = negative_lanes(corners[0]);
                        now.right = negative_lanes(corners[1]);
                        doubtful[count] = now;
                        count += (now.left | now.right) != 0;
                    }
                }
                run.before = next;
                run.all = all;
                run.begin = block->end;
                ++block;
            }
            for (std::uint32_t d = 0; d < count; ++d) look_into(doubtful[d]);
        }
    }
};

}  // namespace codt
