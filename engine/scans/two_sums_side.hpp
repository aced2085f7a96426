// One side of every threshold in a pass over two sums (two_sums_pass.hpp): what its splits gain, and a bound
// on that without logarithms.
//
// By several chords instead of one the bound is closer where means are far apart: from the mean to a knot,
// and from there to the end of their range. The function they bound is concave, so the least of all these
// lines is the one that holds. It takes longer, and is asked for at boundaries only.
//
// In *shares* the weight and the sum of a side are 1, lane by lane, so that its mean is 1 as well and the
// sums of a leaf are its shares k and s. They are known up to 5 u of themselves, u = 2^-24 the rounding of a
// float (rounded_sums.hpp), and what is formed of them
//
//   - c = s - k up to 11 u, and up to 32 u at a corner of a block (`tilt`): the computed place on the edge of
//     the parallelogram adds 18 u of the block's sum, the edge's direction a few;
//   - k and 1 - k in a bound up to 8 u, as parts of the whole side (`reach`), and products up to a few u of
//     themselves (`near`, `blur`);
//   - a value up to 40 u |c|, and some 30 u of itself (rounded_sums.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "scans/lanes.hpp"
#include "scans/two_sums_families.hpp"

namespace codt {

// Whether sums are as they are, or shares of their side.
enum class SumsAre { plain, shares };

// Per lane: weight, sum, mean and its reciprocal, the curvatures, roundings, the least weight of a leaf and
// half the least sum, and the best value so far; then the loss of a leaf, and what turns values into gains.
template <class Number, std::uint32_t Lanes>
struct alignas(pack_bytes) TwoSumsLanes {
    Number n[Lanes], sum[Lanes], mean[Lanes], per_mean[Lanes], tilt[Lanes], flat[Lanes], rise[Lanes],
        fall[Lanes], near_rise[Lanes], far_flat[Lanes], far_rise[Lanes], near_fall[Lanes], low_flat[Lanes],
        low_fall[Lanes], reach[Lanes], base[Lanes], least[Lanes], nothing[Lanes], best[Lanes];
    double loss[Lanes], start[Lanes], scale[Lanes], part[Lanes], error[Lanes], error_of_c[Lanes],
        per_value[Lanes];

    // Nothing beats a value this large.
    void close(std::size_t lane) {
        n[lane] = sum[lane] = mean[lane] = per_mean[lane] = tilt[lane] = rise[lane] = fall[lane] =
            reach[lane] = base[lane] = nothing[lane] = 0;
        near_rise[lane] = far_rise[lane] = near_fall[lane] = low_fall[lane] = 0;
        flat[lane] = far_flat[lane] = low_flat[lane] = least[lane] = 1;
        best[lane] = static_cast<Number>(0x1p60);
        loss[lane] = start[lane] = scale[lane] = part[lane] = error[lane] = error_of_c[lane] = 0;
    }

    // A side whose leaf loses `own`, of which `known` is the loss of some split. `off` is the error of c,
    // `weight_off` that of weights in bounds, and `wrong` that of a gain.
    void begin(std::size_t lane, const SideSums& side, const SideShape& shape, double near, double own,
               double known, double off, double weight_off, double wrong) {
        n[lane] = static_cast<Number>(side.n);
        sum[lane] = static_cast<Number>(side.sum);
        mean[lane] = static_cast<Number>(side.mean());
        per_mean[lane] = static_cast<Number>(1 / side.mean());
        tilt[lane] = static_cast<Number>(off);
        // So that roundings make bounds no lower.
        flat[lane] = static_cast<Number>(shape.flat * (1 - near));
        rise[lane] = static_cast<Number>(shape.rise - near * std::abs(shape.rise));
        fall[lane] = static_cast<Number>(shape.fall + near * std::abs(shape.fall));
        near_rise[lane] = static_cast<Number>(shape.near_rise - near * std::abs(shape.near_rise));
        far_flat[lane] = static_cast<Number>(shape.far_flat - near * std::abs(shape.far_flat));
        far_rise[lane] = static_cast<Number>(shape.far_rise - near * std::abs(shape.far_rise));
        near_fall[lane] = static_cast<Number>(shape.near_fall + near * std::abs(shape.near_fall));
        low_flat[lane] = static_cast<Number>(shape.low_flat - near * std::abs(shape.low_flat));
        low_fall[lane] = static_cast<Number>(shape.low_fall + near * std::abs(shape.low_fall));
        const double steepest =
            std::max({std::abs(shape.rise), std::abs(shape.fall), std::abs(shape.near_rise),
                      std::abs(shape.far_rise), std::abs(shape.near_fall), std::abs(shape.low_fall)});
        reach[lane] = static_cast<Number>(
            off * steepest * (1 + 2 * near) +
            weight_off * std::max({shape.flat, std::abs(shape.far_flat), std::abs(shape.low_flat)}));
        base[lane] = static_cast<Number>(shape.base);
        least[lane] = static_cast<Number>(side.least_weight);
        nothing[lane] = static_cast<Number>(side.least_sum / 2);
        start[lane] = shape.base;
        scale[lane] = shape.scale;
        part[lane] = shape.slack.part;
        error[lane] = wrong;
        error_of_c[lane] = 0;
        loss[lane] = own;
        best[lane] = static_cast<Number>(shape.base + std::max(0.0, (own - known) / shape.scale));
    }

    void bracket(std::size_t lane, double lambda, double& lower, double& upper) const {
        const double gain = scale[lane] * (static_cast<double>(best[lane]) - start[lane]);
        double slack = error[lane] + part[lane] * gain;
        if (error_of_c[lane] > 0) {
            const double most = (gain + slack + error_of_c[lane]) / scale[lane];
            slack += error_of_c[lane] * std::min(1.0, std::sqrt(per_value[lane] * most));
        }
        const auto value = [&](double g) {
            return std::min(loss[lane], std::max(0.0, loss[lane] - std::max(0.0, g)) + lambda);
        };
        upper = std::min(upper, value(gain - slack));
        lower = std::min(upper, value(gain + slack));
    }
};

enum class Chords { one, several };

// The sums of a leaf.
template <class Register>
struct SumsPoint {
    Register k, s;
};

// One side in registers.
template <class Family, class Number, std::uint32_t Lanes, std::size_t Bytes, SumsAre Are>
struct TwoSumsSide {
    using P = Pack<Number, Bytes, Lanes * sizeof(Number)>;
    using Register = typename P::Register;
    using Point = SumsPoint<Register>;
    using Place = SplitPlace<Register>;
    using Log = LaneLogarithm<Number, Bytes>;
    static constexpr Number blur = sizeof(Number) == 4 ? Number(0x1p-19) : Number(0x1p-40);

    // Of shares, n and sum are what one of the units is in which sums are kept.
    P n, sum, mean, per_mean, tilt, flat, rise, fall, near_rise, far_flat, far_rise, near_fall, low_flat,
        low_fall, reach, base, least, nothing, best, goal;
    std::size_t number;  // 0 is the left side

    CODT_INLINE void load(const TwoSumsLanes<Number, Lanes>& side, std::size_t which) {
        number = which;
        n.load(side.n);
        sum.load(side.sum);
        mean.load(side.mean);
        per_mean.load(side.per_mean);
        tilt.load(side.tilt);
        flat.load(side.flat);
        rise.load(side.rise);
        fall.load(side.fall);
        near_rise.load(side.near_rise);
        far_flat.load(side.far_flat);
        far_rise.load(side.far_rise);
        near_fall.load(side.near_fall);
        low_flat.load(side.low_flat);
        low_fall.load(side.low_fall);
        reach.load(side.reach);
        base.load(side.base);
        least.load(side.least);
        nothing.load(side.nothing);
        best.load(side.best);
        for (std::size_t i = 0; i < P::registers; ++i) aim(i);
    }

    // The gain that has to be beaten.
    CODT_INLINE void aim(std::size_t i) {
        const Register gain = Are == SumsAre::shares ? best.r[i] : best.r[i] - base.r[i];
        goal.r[i] = gain * (1 - blur);
    }

    CODT_INLINE static Register smaller(const Register& a, const Register& b) { return a < b ? a : b; }
    CODT_INLINE static Register larger(const Register& a, const Register& b) { return a > b ? a : b; }
    CODT_INLINE static Register size_of(const Register& a) { return larger(a, -a); }

    CODT_INLINE Register weight(std::size_t i) const {
        return Are == SumsAre::shares ? Register{} + 1 : n.r[i];
    }
    CODT_INLINE Point rest(std::size_t i, const Point& leaf) const {
        if constexpr (Are == SumsAre::shares) return {1 - leaf.k, 1 - leaf.s};
        return {n.r[i] - leaf.k, sum.r[i] - leaf.s};
    }
    CODT_INLINE Place place(std::size_t i, const Point& leaf) const { return place(i, leaf, rest(i, leaf)); }
    CODT_INLINE Place place(std::size_t i, const Point& leaf, const Point& rest) const {
        const Register expected = Are == SumsAre::shares ? leaf.k : leaf.k * mean.r[i];
        Place at;
        at.c = leaf.s - expected;
        at.k = larger(leaf.k, least.r[i]);
        at.rest_k = larger(rest.k, least.r[i]);
        at.s = leaf.s > nothing.r[i] ? leaf.s : Register{};
        at.rest_s = rest.s > nothing.r[i] ? rest.s : Register{};
        return at;
    }
    // Negative where a gain might be better than the best.
    template <Chords How = Chords::one>
    CODT_INLINE Register room(std::size_t i, const Place& at) const {
        const Register size = size_of(at.c) + tilt.r[i];
        if constexpr (Family::even) return goal.r[i] * (at.k * at.rest_k) - size * size * (at.k + at.rest_k);
        Register first, second;
        if constexpr (Are == SumsAre::shares && How == Chords::several) {
            const Register rising = near_rise.r[i] * at.c, falling = near_fall.r[i] * at.c,
                           far = far_rise.r[i] * at.c, low = low_fall.r[i] * at.c;
            first = smaller(smaller(flat.r[i] * at.k + smaller(rising, falling), far_flat.r[i] * at.k + far),
                            low_flat.r[i] * at.k + low) -
                    reach.r[i];
            second = smaller(smaller(flat.r[i] * at.rest_k - larger(rising, falling),
                                     far_flat.r[i] * at.rest_k - far),
                             low_flat.r[i] * at.rest_k - low) -
                     reach.r[i];
        } else {
            const Register rising = rise.r[i] * at.c, falling = fall.r[i] * at.c;
            first = (flat.r[i] * at.k - reach.r[i]) + smaller(rising, falling);
            second = (flat.r[i] * at.rest_k - reach.r[i]) - larger(rising, falling);
        }
        const Register room = goal.r[i] * (first * second) - size * size * (first + second);
        // Beyond the range of the means, by a rounding, the bound says nothing; nor does one that is no
        // number, of which `smaller` takes its second argument.
        return smaller(room, smaller(first, second));
    }
    CODT_INLINE Register value(const Family& family, std::size_t i, const Place& at) const {
        const Register per = Are == SumsAre::shares ? Register{} + 1 : per_mean.r[i];
        return family.template value<Log, Register>(at, per);
    }
    // The value of the split into these two leaves; the best one where one of them is empty.
    CODT_INLINE Register value_of(const Family& family, std::size_t i, const Point& leaf,
                                  const Point& rest) const {
        const Register found = value(family, i, place(i, leaf, rest));
        return smaller(leaf.k, rest.k) > least.r[i] / 2 ? found : best.r[i];
    }
    CODT_INLINE void take(const Family& family, std::size_t i, const Point& leaf, const Point& rest) {
        best.r[i] = larger(value_of(family, i, leaf, rest), best.r[i]);
        aim(i);
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
        one.least.r[0] = Register{} + lanes.least[lane];
        one.nothing.r[0] = Register{} + lanes.nothing[lane];
        const Register per = Register{} + lanes.per_mean[lane];
        P found, room;
        for (std::size_t i = 0; i < P::registers; ++i) {
            found.r[i] = family.template value<Log, Register>(one.place(0, {k.r[i], s.r[i]}), per);
            const Register size = smaller(k.r[i], one.n.r[0] - k.r[i]);
            room.r[i] = size > one.least.r[0] / 2 ? known - found.r[i] : Register{};
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
    CODT_INLINE void corners(std::size_t i, const Inside& in, const Run& run, Place& up, Place& down) const {
        Register lower = Register{} + run.lower, upper = Register{} + run.upper,
                 per_span = Register{} + run.per_span;
        if constexpr (Are == SumsAre::shares) {
            lower *= per_mean.r[i];
            upper *= per_mean.r[i];
            per_span *= mean.r[i];
        }
        const Register u = (in.more_s - in.more_k * lower) * per_span;
        const Register last = weight(i) - least.r[i];
        const Register rising = smaller(larger(u, least.r[i] - in.k), last - in.k);
        up = place(i, {in.k + rising, in.s + rising * upper});
        const Register k = in.k + in.more_k;
        const Register falling = larger(smaller(u, k - least.r[i]), k - last);
        down = place(i, {k - falling, (in.s + in.more_s) - falling * upper});
    }
};

}  // namespace codt
