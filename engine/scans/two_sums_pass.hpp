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
#include <cmath>
#include <cstdint>
#include <limits>

#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"
#include "scans/two_sums_families.hpp"

namespace codt {

template <class Number>
struct TwoSumsBlock : BlockRange {
    Number weight, sum;             // of its samples
    Number lower, upper, per_span;  // y-, y+, 1 / (y+ - y-) or zero
};

// Per lane: weight, sum, mean and its reciprocal, the least product of the weights of two leaves, the
// curvatures, and the best value so far; then the loss of a leaf, and what turns values into gains.
template <class Number, std::uint32_t Lanes>
struct alignas(pack_bytes) TwoSumsLanes {
    static constexpr double near = sizeof(Number) == 4 ? 0x1p-22 : 1e-12;  // room for roundings

    Number n[Lanes], sum[Lanes], mean[Lanes], per_mean[Lanes], tilt[Lanes], flat[Lanes], rise[Lanes],
        fall[Lanes], reach[Lanes], base[Lanes], best[Lanes];
    double loss[Lanes], start[Lanes], scale[Lanes], part[Lanes], error[Lanes];

    // Nothing beats a value this large.
    void close(std::size_t lane) {
        n[lane] = sum[lane] = mean[lane] = per_mean[lane] = tilt[lane] = rise[lane] = fall[lane] =
            reach[lane] = base[lane] = 0;
        flat[lane] = 1;
        best[lane] = static_cast<Number>(0x1p60);
        loss[lane] = start[lane] = scale[lane] = part[lane] = error[lane] = 0;
    }

    // A side whose leaf loses `own`, of which `known` is the loss of some split.
    void begin(std::size_t lane, const SideSums& side, const SideShape& shape, double own, double known,
               double error_of_sum, double error_of_weight) {
        n[lane] = static_cast<Number>(side.n);
        sum[lane] = static_cast<Number>(side.sum);
        mean[lane] = static_cast<Number>(side.mean());
        per_mean[lane] = static_cast<Number>(1 / side.mean());
        tilt[lane] = static_cast<Number>(4 * std::numeric_limits<Number>::epsilon() * side.sum +
                                         error_of_sum + error_of_weight * side.mean());
        // So that roundings make bounds no lower.
        flat[lane] = static_cast<Number>(shape.flat * (1 - near));
        rise[lane] = static_cast<Number>(shape.rise - near * std::abs(shape.rise));
        fall[lane] = static_cast<Number>(shape.fall + near * std::abs(shape.fall));
        reach[lane] = tilt[lane] * std::max(std::abs(rise[lane]), std::abs(fall[lane]));
        base[lane] = static_cast<Number>(shape.base);
        start[lane] = shape.base;
        scale[lane] = shape.scale;
        part[lane] = shape.slack.part;
        error[lane] = shape.scale * shape.slack.weight * side.n + shape.slack.of_sum * error_of_sum +
                      shape.slack.of_weight * error_of_weight;
        loss[lane] = own;
        best[lane] = static_cast<Number>(shape.base + std::max(0.0, (own - known) / shape.scale));
    }

    void bracket(std::size_t lane, double lambda, double& lower, double& upper) const {
        const double gain = scale[lane] * (static_cast<double>(best[lane]) - start[lane]);
        const double slack = error[lane] + part[lane] * gain;
        const auto value = [&](double g) {
            return std::min(loss[lane], std::max(0.0, loss[lane] - std::max(0.0, g)) + lambda);
        };
        upper = std::min(upper, value(gain - slack));
        lower = std::min(upper, value(gain + slack));
    }
};

// One side in registers.
template <class Family, class Number, std::uint32_t Lanes, std::size_t Bytes>
struct TwoSumsSide {
    using P = Pack<Number, Bytes, Lanes * sizeof(Number)>;
    using Register = typename P::Register;
    using Log = LaneLogarithm<Number, Bytes>;
    static constexpr Number blur = sizeof(Number) == 4 ? Number(0x1p-19) : Number(0x1p-40);

    P n, sum, mean, per_mean, tilt, flat, rise, fall, reach, base, best, goal;
    Number least;    // weight of a leaf
    Number nothing;  // a sum below this is zero

    CODT_INLINE void load(const TwoSumsLanes<Number, Lanes>& side, double least_weight, double least_sum) {
        n.load(side.n);
        sum.load(side.sum);
        mean.load(side.mean);
        per_mean.load(side.per_mean);
        tilt.load(side.tilt);
        flat.load(side.flat);
        rise.load(side.rise);
        fall.load(side.fall);
        reach.load(side.reach);
        base.load(side.base);
        best.load(side.best);
        for (std::size_t i = 0; i < P::registers; ++i) aim(i);
        least = static_cast<Number>(least_weight);
        nothing = static_cast<Number>(least_sum / 2);
    }

    // The gain that has to be beaten.
    CODT_INLINE void aim(std::size_t i) { goal.r[i] = (best.r[i] - base.r[i]) * (1 - blur); }

    CODT_INLINE static Register smaller(const Register& a, const Register& b) { return a < b ? a : b; }
    CODT_INLINE static Register larger(const Register& a, const Register& b) { return a > b ? a : b; }
    CODT_INLINE static Register size_of(const Register& a) { return larger(a, -a); }

    CODT_INLINE SplitPlace<Register> place(std::size_t i, const Register& k, const Register& s) const {
        const Register one = Register{} + least;
        SplitPlace<Register> at;
        at.c = s - k * mean.r[i];
        at.k = larger(k, one);
        at.rest_k = larger(n.r[i] - k, one);
        const Register rest_s = sum.r[i] - s;
        at.s = s > nothing ? s : Register{};
        at.rest_s = rest_s > nothing ? rest_s : Register{};
        return at;
    }
    // Negative where a gain might be better than the best.
    CODT_INLINE Register room(std::size_t i, const SplitPlace<Register>& at) const {
        const Register size = size_of(at.c) + tilt.r[i];
        if constexpr (Family::even) return goal.r[i] * (at.k * at.rest_k) - size * size * (at.k + at.rest_k);
        const Register rising = rise.r[i] * at.c, falling = fall.r[i] * at.c;
        const Register first = (flat.r[i] * at.k - reach.r[i]) + smaller(rising, falling);
        const Register second = (flat.r[i] * at.rest_k - reach.r[i]) - larger(rising, falling);
        const Register room = goal.r[i] * (first * second) - size * size * (first + second);
        // Beyond the range of the means, by a rounding, the bound says nothing.
        return smaller(room, smaller(first, second));
    }
    CODT_INLINE Register value(const Family& family, std::size_t i, const SplitPlace<Register>& at) const {
        return family.template value<Log, Register>(at, per_mean.r[i]);
    }
    CODT_INLINE void take(const Family& family, const P& k, const P& s) {
        for (std::size_t i = 0; i < P::registers; ++i) {
            const Register found = value(family, i, place(i, k.r[i], s.r[i]));
            const Register size = smaller(k.r[i], n.r[i] - k.r[i]);
            best.r[i] = larger(size > least / 2 ? found : best.r[i], best.r[i]);
            aim(i);
        }
    }

    // The best value of one lane at those of 16 places, with sums `k` and `s`, that are boundaries: the
    // lowest bits of `ends`; no less than `known`.
    CODT_INLINE Number best_in_lane(const Family& family, const TwoSumsLanes<Number, Lanes>& lanes,
                                    std::size_t lane, const P& k, const P& s, std::uint64_t ends,
                                    Number known) const {
        TwoSumsSide one;
        one.n.r[0] = Register{} + lanes.n[lane];
        one.sum.r[0] = Register{} + lanes.sum[lane];
        one.mean.r[0] = Register{} + lanes.mean[lane];
        one.least = least;
        one.nothing = nothing;
        const Register per = Register{} + lanes.per_mean[lane];
        P found, room;
        for (std::size_t i = 0; i < P::registers; ++i) {
            found.r[i] = family.template value<Log, Register>(one.place(0, k.r[i], s.r[i]), per);
            const Register size = smaller(k.r[i], one.n.r[0] - k.r[i]);
            room.r[i] = size > least / 2 ? known - found.r[i] : Register{};
        }
        if (std::uint64_t better = negative_lanes(room) & ends; better != 0) {
            alignas(pack_bytes) Number value[Lanes];
            found.store(value);
            for (; better != 0; better &= better - 1)
                known = std::max(known, value[std::countr_zero(better)]);
        }
        return known;
    }

    // The samples of a block on this side, and those before it.
    struct Inside {
        Register k, s, more_k, more_s;
    };
    // The two corners other than the block's ends.
    template <class Run>
    CODT_INLINE void corners(std::size_t i, const Inside& in, const Run& run, SplitPlace<Register>& up,
                             SplitPlace<Register>& down) const {
        const Register u = (in.more_s - in.more_k * run.lower) * run.per_span;
        const Register one = Register{} + least;
        const Register last = n.r[i] - one;
        const Register rise = smaller(larger(u, one - in.k), last - in.k);
        up = place(i, in.k + rise, in.s + rise * run.upper);
        const Register k = in.k + in.more_k;
        const Register fall = larger(smaller(u, k - one), k - last);
        down = place(i, k - fall, (in.s + in.more_s) - fall * run.upper);
    }
};

// A pass over a stream. `Samples` knows what a sample adds:
//
//     count(begin, block, k, s)    the sums of a block's samples left of each threshold
//     step(id, k, s, all_k, all_s) adds a sample to the sums left of each threshold, and to those of all
//     samples
//     read(begin, size, bits)      a block's samples as bits, where walks_lanes
template <class Family, class Samples, class Number, std::uint32_t Lanes, std::size_t Bytes>
struct TwoSumsPass {
    using Side = TwoSumsSide<Family, Number, Lanes, Bytes>;
    using P = typename Side::P;
    using Register = typename P::Register;
    using Block = TwoSumsBlock<Number>;
    using Inside = typename Side::Inside;
    using Place = SplitPlace<Register>;

    const Family& family;
    const Stream<Block>& stream;
    Samples samples;
    Side left, right;

    // One block, or two in a row, with the sums before them and over them.
    struct Run {
        const Block* block;
        std::uint32_t begin;
        Number all_k, all_s, weight, sum;
        Number lower, upper, per_span;
        P k, s, more_k, more_s;

        CODT_INLINE void of(const Block& one) {
            block = &one;
            weight = one.weight;
            sum = one.sum;
            lower = one.lower;
            upper = one.upper;
            per_span = one.per_span;
        }
        CODT_INLINE Inside on_left(std::size_t i) const { return {k.r[i], s.r[i], more_k.r[i], more_s.r[i]}; }
        CODT_INLINE Inside on_right(std::size_t i) const {
            return {all_k - k.r[i], all_s - s.r[i], weight - more_k.r[i], sum - more_s.r[i]};
        }
    };
    // A run that might hold something better in the lanes `left` or `right`, and the sums over its first
    // block.
    struct Doubtful {
        Run run;
        std::uint32_t left, right;
        bool two;
        P first_k, first_s;
    };

    // A place in a block that is walked for the lanes `on_left` and `on_right`.
    CODT_INLINE void offer(const P& k, const P& s, Number all_k, Number all_s, std::uint32_t on_left,
                           std::uint32_t on_right) {
        P room;
        if (on_left != 0) {
            for (std::size_t i = 0; i < P::registers; ++i)
                room.r[i] = left.room(i, left.place(i, k.r[i], s.r[i]));
            if (negative_lanes(room) & on_left) left.take(family, k, s);
        }
        if (on_right != 0) {
            for (std::size_t i = 0; i < P::registers; ++i)
                room.r[i] = right.room(i, right.place(i, all_k - k.r[i], all_s - s.r[i]));
            if (negative_lanes(room) & on_right) take_right(k, s, all_k, all_s);
        }
    }
    CODT_INLINE void take_right(P k, P s, Number all_k, Number all_s) {
        k.subtract_from(all_k);
        s.subtract_from(all_s);
        right.take(family, k, s);
    }

    // Negative where the end of a run might be better than the best, or a corner.
    CODT_INLINE static Register room_of_end(const Side& side, std::size_t i, const Inside& in) {
        const Register room = side.room(i, side.place(i, in.k + in.more_k, in.s + in.more_s));
        return in.more_k > 0 ? room : Register{} + 1;
    }
    CODT_INLINE static Register room_of_corners(const Side& side, std::size_t i, const Inside& in,
                                                const Run& run) {
        Place up, down;
        side.corners(i, in, run, up, down);
        const Register room = Side::smaller(side.room(i, up), side.room(i, down));
        return in.more_k > 0 ? room : Register{} + 1;
    }

    // Of the lanes `which`, those in which a corner of a run might be better than the best.
    template <bool Left>
    CODT_INLINE std::uint32_t doubtful_lanes(const Side& side, const Run& in, std::uint32_t which) const {
        if (which == 0) return 0;
        P room;
        for (std::size_t i = 0; i < P::registers; ++i)
            room.r[i] = room_of_corners(side, i, Left ? in.on_left(i) : in.on_right(i), in);
        return which & negative_lanes(room);
    }
    // Those in which the gain of a corner is better than the best.
    template <bool Left>
    CODT_INLINE std::uint32_t better_lanes(const Side& side, const Run& in, std::uint32_t which) const {
        if (which == 0) return 0;
        P room;
        for (std::size_t i = 0; i < P::registers; ++i) {
            Place up, down;
            side.corners(i, Left ? in.on_left(i) : in.on_right(i), in, up, down);
            room.r[i] = side.best.r[i] - Side::larger(side.value(family, i, up), side.value(family, i, down));
        }
        return which & negative_lanes(room);
    }
    // Those in which something in a run might be better.
    CODT_INLINE void narrow(const Run& in, std::uint32_t& on_left, std::uint32_t& on_right) const {
        on_left = doubtful_lanes<true>(left, in, on_left);
        on_right = doubtful_lanes<false>(right, in, on_right);
        if constexpr (Samples::corners_decide) {
            on_left = better_lanes<true>(left, in, on_left);
            on_right = better_lanes<false>(right, in, on_right);
        }
    }
    // The run first, then each of its blocks; one after the other in one loop, or the code would be too long
    // to be kept close to the processor.
    CODT_INLINE void look_into(const Doubtful& in) {
        std::uint32_t left_of_run = in.left, right_of_run = in.right;
        Run part = in.run;
        for (std::uint32_t step = 0;; ++step) {
            std::uint32_t on_left = left_of_run, on_right = right_of_run;
            narrow(part, on_left, on_right);
            if (step == 0) {
                if ((on_left | on_right) == 0) return;
                if (in.two) {
                    left_of_run = on_left;
                    right_of_run = on_right;
                    part.of(*in.run.block);
                    part.more_k = in.first_k;
                    part.more_s = in.first_s;
                    P k = in.run.k, s = in.run.s;
                    k.add(in.first_k);
                    s.add(in.first_s);
                    offer(k, s, part.all_k + part.weight, part.all_s + part.sum, on_left, on_right);
                    continue;
                }
            }
            if ((on_left | on_right) != 0) walk(part, on_left, on_right);
            if (!in.two || step == 2) return;
            part.begin = in.run.block->end;
            part.k.add(in.first_k);
            part.s.add(in.first_s);
            part.all_k += part.weight;
            part.all_s += part.sum;
            part.of(*(in.run.block + 1));
            part.more_k = in.run.more_k;
            part.more_s = in.run.more_s;
            part.more_k.subtract(in.first_k);
            part.more_s.subtract(in.first_s);
        }
    }
    CODT_INLINE void walk(const Run& in, std::uint32_t on_left, std::uint32_t on_right) {
        if constexpr (Samples::walks_lanes) {
            // For all lanes some boundaries are ruled out without a value, so that each takes half as long.
            const std::uint64_t ends = ends_inside(in);
            const std::uint32_t at_once = Samples::Bits::at_once;
            const std::uint32_t values = (in.block->end - in.begin + at_once - 1) / at_once;
            const int for_lanes =
                (std::popcount(on_left) + std::popcount(on_right)) * static_cast<int>(values);
            const int for_all = std::popcount(ends) * ((on_left != 0) + (on_right != 0));
            if (2 * for_lanes < for_all) return walk_lanes(in, ends, on_left, on_right);
        }
        P k = in.k, s = in.s;
        Number all_k = in.all_k, all_s = in.all_s;
        walk_groups<Walk::inside>(
            stream, in.begin, *in.block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA { samples.step(id, k, s, all_k, all_s); },
            [&](std::uint32_t) CODT_INLINE_LAMBDA { offer(k, s, all_k, all_s, on_left, on_right); });
    }

    // The boundaries inside a block, a bit for each place behind a sample.
    CODT_INLINE std::uint64_t ends_inside(const Run& in) const {
        std::uint64_t ends = 0;
        for (const std::uint32_t* end = stream.group_end + in.block->first_group; *end < in.block->end; ++end)
            ends |= std::uint64_t{1} << (*end - in.begin - 1);
        return ends;
    }
    CODT_INLINE void walk_lanes(const Run& in, std::uint64_t ends, std::uint32_t on_left,
                                std::uint32_t on_right) {
        typename Samples::Bits bits;
        const std::uint32_t size = in.block->end - in.begin;
        samples.read(in.begin, size, bits);
        alignas(pack_bytes) Number k[P::registers * P::per_register], s[P::registers * P::per_register];
        in.k.store(k);
        in.s.store(s);
        walk_lanes_of(left, samples.sides[0], on_left, k, s, bits.ones, size, ends,
                      [&](std::size_t lane) CODT_INLINE_LAMBDA { return bits.left[lane]; });
        for (std::size_t lane = 0; lane < P::registers * P::per_register; ++lane) {
            k[lane] = in.all_k - k[lane];
            s[lane] = in.all_s - s[lane];
        }
        walk_lanes_of(right, samples.sides[1], on_right, k, s, bits.ones, size, ends,
                      [&](std::size_t lane) CODT_INLINE_LAMBDA { return bits.right(lane); });
    }
    template <class Members>
    CODT_INLINE void walk_lanes_of(Side& side, const TwoSumsLanes<Number, Lanes>& lanes, std::uint32_t which,
                                   const Number* k, const Number* s, std::uint64_t ones, std::uint32_t size,
                                   std::uint64_t ends, const Members& members) {
        if (which == 0) return;
        using Bits = typename Samples::Bits;
        alignas(pack_bytes) Number best[P::registers * P::per_register];
        side.best.store(best);
        for (; which != 0; which &= which - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(which));
            const std::uint64_t here = members(lane);
            Number before_k = k[lane], before_s = s[lane];
            for (std::uint32_t first = 0; first < size; first += Bits::at_once) {
                P some_k, some_s;
                Bits::count(here, first, before_k, some_k);
                Bits::count(here & ones, first, before_s, some_s);
                best[lane] =
                    side.best_in_lane(family, lanes, lane, some_k, some_s, ends >> first, best[lane]);
                const std::uint64_t mask = (here >> first) & 0xFFFF;
                before_k += static_cast<Number>(std::popcount(mask));
                before_s += static_cast<Number>(std::popcount(mask & (ones >> first)));
            }
        }
        side.best.load(best);
        for (std::size_t i = 0; i < P::registers; ++i) side.aim(i);
    }

    // This many runs are counted before any of them is walked: their ends give good gains.
    static constexpr std::uint32_t ahead = 32;

    CODT_INLINE void run() {
        Doubtful doubtful[ahead];
        Doubtful now;
        Run& run = now.run;
        run.begin = 0;
        run.all_k = run.all_s = 0;
        run.k.clear();
        run.s.clear();
        const Block* block = stream.blocks;
        const Block* const end = block + stream.block_count;
        while (block < end) {
            std::uint32_t count = 0;
            for (std::uint32_t seen = 0; seen < ahead && block < end; ++seen) {
                run.of(*block);
                samples.count(run.begin, *block, run.more_k, run.more_s);
                now.two = block->several && block + 1 < end && block[1].several;
                if (now.two) {
                    const Block& second = block[1];
                    now.first_k = run.more_k;
                    now.first_s = run.more_s;
                    P more_k, more_s;
                    samples.count(block->end, second, more_k, more_s);
                    run.more_k.add(more_k);
                    run.more_s.add(more_s);
                    run.weight += second.weight;
                    run.sum += second.sum;
                    run.lower = std::min(run.lower, second.lower);
                    run.upper = std::max(run.upper, second.upper);
                    run.per_span = run.upper > run.lower ? 1 / (run.upper - run.lower) : 0;
                    ++block;
                }
                P next_k = run.k, next_s = run.s;
                next_k.add(run.more_k);
                next_s.add(run.more_s);
                const Number all_k = run.all_k + run.weight, all_s = run.all_s + run.sum;
                P ends[2], corners[2], least;
                for (std::size_t i = 0; i < P::registers; ++i) {
                    const Inside on_left = run.on_left(i), on_right = run.on_right(i);
                    ends[0].r[i] = room_of_end(left, i, on_left);
                    ends[1].r[i] = room_of_end(right, i, on_right);
                    least.r[i] = Side::smaller(ends[0].r[i], ends[1].r[i]);
                    if (!run.block->several) continue;
                    corners[0].r[i] = room_of_corners(left, i, on_left, run);
                    corners[1].r[i] = room_of_corners(right, i, on_right, run);
                    least.r[i] = Side::smaller(least.r[i], Side::smaller(corners[0].r[i], corners[1].r[i]));
                }
                if (any_negative(least)) {
                    if (any_negative(ends[0])) left.take(family, next_k, next_s);
                    if (any_negative(ends[1])) take_right(next_k, next_s, all_k, all_s);
                    if (run.block->several) {
                        now.left = negative_lanes(corners[0]);
                        now.right = negative_lanes(corners[1]);
                        doubtful[count] = now;
                        count += (now.left | now.right) != 0;
                    }
                }
                run.k = next_k;
                run.s = next_s;
                run.all_k = all_k;
                run.all_s = all_s;
                run.begin = block->end;
                ++block;
            }
            for (std::uint32_t d = 0; d < count; ++d) look_into(doubtful[d]);
        }
    }
};

}  // namespace codt
