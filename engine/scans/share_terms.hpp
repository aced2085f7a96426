// The losses of share_scan.cpp. A side with L_c samples of class c, N in all, is split into leaves with p_c
// and p'_c = L_c - p_c samples, n and n' in all; a *value* grows where the loss of both leaves falls. Each of
// the two has
//
//     Sums      sums over the classes, from which values are computed: whole numbers, so that no error adds
//     up as
//               samples are moved
//     move      the counts of a class change; `kept` holds what the class keeps
//     place     a boundary: its value, and more for `rise`
//     rise      by how much a class can raise the value within a block, above that of its end
//     bend      what is to be added to the sum of these
//
// Entropy. With T(x) = x log x the loss is
//
//     H(n) - sum of h_c(p_c),    h_c(p) = T(p) + T(L_c - p),    H(n) = T(n) + T(N - n).
//
// T is computed in 32-bit floats and rounded to a whole number. H is convex, so that it is not below its
// tangent at the end of the block, n1:
//
//     sum of h_c(p_c) - H(n)  <=  sum of (h_c(p_c) - H'(n1) p_c) - H(n1) + H'(n1) n1,    H'(n) = log n -
//     log(N - n).
//
// Every term on the right is convex in its p_c, and largest where the block begins or where it ends.
// Errors, in bits, with u = 2^-24: a logarithm is off by u of itself and 3 u, T(x) by x times 4 u log N + 3 u
// and one unit of the whole numbers. The arguments of all T sum up to N for h and to N for H.
//
// Gini. The loss is N less v(p) + v(p'), v(p) = sum of p_c^2 / n. With the shares q_c where the block ends, B
// the sum of their squares, and d_c samples fewer of each class, d in all,
//
//     v(p) = v(p1) - sum of d_c (2 q_c - B) + sum of (d_c - d q_c)^2 / n,
//
// and likewise for p' with d_c samples more. The terms with d_c alone are largest at 0 or where the block
// begins; the last sum is no more than (sum of d_c^2 + d^2 B) / n. Squares are whole numbers below 2^30.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "scans/lane_logarithm.hpp"
#include "scans/lanes.hpp"

namespace codt {

template <std::size_t Bytes>
struct EntropyTerms {
    using P = Pack<float, Bytes>;
    using Whole = Pack<std::int32_t, Bytes>;
    using Register = typename P::Register;
    using Log = LaneLogarithm<float, Bytes>;
    using Value = Whole;
    struct Sums {
        Whole h;
        CODT_INLINE void clear() { h.clear(); }
    };
    struct Place {
        Value value;
        P slope;
    };

    float scale;  // units per bit

    static constexpr bool tabulated = true;    // terms depend on one count
    static constexpr double largest = 0x1p29;  // sum of units
    static constexpr double log_2 = 0.6931471805599453;
    static bool takes(double) { return true; }
    static float scale_for(double n) { return static_cast<float>(largest / (n * std::log2(n + 2))); }
    static double value_of(double, double loss, double scale) { return -loss / log_2 * scale; }
    static double loss_of(double, double value, double scale) { return -value / scale * log_2; }
    // 8 log n + 16 for terms, 4 log n + 8 for the slope of a tangent, along which a whole side may move
    // within a block.
    static double slack(double n, double classes, double scale) {
        return (n * 0x1p-24 * (12 * std::log2(n + 2) + 24) + (2 * classes + 8) / scale) * log_2;
    }

    CODT_INLINE typename Whole::Register term(const Register& x, const Register& log) const {
        return __builtin_convertvector(Register(x * log * scale), typename Whole::Register);
    }
    CODT_INLINE typename Whole::Register h(const Register& p, const Register& total) const {
        const Register rest = total - p;
        return term(p, Log::of(p).binary()) + term(rest, Log::of(rest).binary());
    }
    // A class with no samples so far.
    CODT_INLINE void begin(const P& total, std::int32_t* kept, Sums& sums) const {
        P none;
        none.clear();
        move(none, none, total, kept, sums);
    }
    CODT_INLINE void move(const P&, const P& to, const P& total, std::int32_t* kept, Sums& sums) const {
        Whole old, next;
        old.load(kept);
        for (std::size_t i = 0; i < P::registers; ++i) next.r[i] = h(to.r[i], total.r[i]);
        next.store(kept);
        sums.h.subtract(old);
        sums.h.add(next);
    }
    CODT_INLINE void place(const P& n, const P& all, const Sums& sums, Place& at) const {
        for (std::size_t i = 0; i < P::registers; ++i) {
            const Register rest = all.r[i] - n.r[i];
            const Register log_n = Log::of(n.r[i]).binary(), log_rest = Log::of(rest).binary();
            at.value.r[i] = sums.h.r[i] - term(n.r[i], log_n) - term(rest, log_rest);
            at.slope.r[i] = (log_n - log_rest) * scale;
        }
    }
    struct Class {
        P from, to, total;
        Whole old, next;  // kept
    };
    CODT_INLINE Register rise(std::size_t i, const Class& c, const Place&, const Place& at) const {
        const auto change = c.old.r[i] - c.next.r[i];
        const Register more =
            __builtin_convertvector(change, Register) + at.slope.r[i] * (c.to.r[i] - c.from.r[i]);
        return more > 0 ? more : Register{};
    }
    CODT_INLINE Register bend(std::size_t, const Register&, const Place&, const Place&) const {
        return Register{};
    }
    CODT_INLINE static Register room(std::size_t i, const Value& best, const Value& value) {
        return __builtin_convertvector(best.r[i] - value.r[i], Register);
    }
    // The same `d` samples beyond the place `at`, whose sums are `from`, by its tangent.
    CODT_INLINE static Register room_at(std::size_t i, const Value& best, const Place& at, const Sums& from,
                                        const Sums& sums, const Register& d) {
        const auto change = sums.h.r[i] - from.h.r[i];
        return __builtin_convertvector(best.r[i] - at.value.r[i] - change, Register) + at.slope.r[i] * d;
    }
};

template <std::size_t Bytes>
struct GiniTerms {
    using P = Pack<float, Bytes>;
    using Whole = Pack<std::int32_t, Bytes>;
    using Register = typename P::Register;
    using Value = P;
    struct Sums {
        Whole squares, rest;
        CODT_INLINE void clear() {
            squares.clear();
            rest.clear();
        }
    };
    struct Place {
        Value value;
        P per_n, per_rest, squares, rest;  // 1/n, 1/n', B and B'
    };

    float scale;

    static constexpr bool tabulated = false;
    static constexpr double largest = 0x1p40;
    static bool takes(double n) { return n < 0x1p15; }
    static float scale_for(double) { return 1; }
    static double value_of(double n, double loss, double) { return n - loss; }
    static double loss_of(double n, double value, double) { return n - value; }
    static double slack(double n, double classes, double) { return n * 0x1p-24 * (2 * classes + 32); }

    CODT_INLINE static typename Whole::Register square(const Register& x) {
        const auto whole = __builtin_convertvector(x, typename Whole::Register);
        return whole * whole;
    }
    CODT_INLINE void begin(const P& total, std::int32_t*, Sums& sums) const {
        for (std::size_t i = 0; i < P::registers; ++i) sums.rest.r[i] += square(total.r[i]);
    }
    CODT_INLINE void move(const P& from, const P& to, const P& total, std::int32_t*, Sums& sums) const {
        for (std::size_t i = 0; i < P::registers; ++i) {
            sums.squares.r[i] += square(to.r[i]) - square(from.r[i]);
            sums.rest.r[i] += square(total.r[i] - to.r[i]) - square(total.r[i] - from.r[i]);
        }
    }
    CODT_INLINE void place(const P& n, const P& all, const Sums& sums, Place& at) const {
        const Register one = Register{} + 1;
        for (std::size_t i = 0; i < P::registers; ++i) {
            const Register rest = all.r[i] - n.r[i];
            const Register squares = __builtin_convertvector(sums.squares.r[i], Register);
            const Register rest_squares = __builtin_convertvector(sums.rest.r[i], Register);
            at.per_n.r[i] = 1 / (n.r[i] > one ? n.r[i] : one);
            at.per_rest.r[i] = 1 / (rest > one ? rest : one);
            at.value.r[i] = squares * at.per_n.r[i] + rest_squares * at.per_rest.r[i];
            at.squares.r[i] = squares * at.per_n.r[i] * at.per_n.r[i];
            at.rest.r[i] = rest_squares * at.per_rest.r[i] * at.per_rest.r[i];
        }
    }
    struct Class {
        P from, to, total;
        Whole old, next;  // unused
    };
    CODT_INLINE Register rise(std::size_t i, const Class& c, const Place& start, const Place& at) const {
        const Register share = c.to.r[i] * at.per_n.r[i],
                       rest = (c.total.r[i] - c.to.r[i]) * at.per_rest.r[i];
        const Register slope = 2 * (share - rest) - (at.squares.r[i] - at.rest.r[i]);
        const Register d = c.to.r[i] - c.from.r[i];
        const Register more = -d * slope;
        return (more > 0 ? more : Register{}) + d * d * (start.per_n.r[i] + at.per_rest.r[i]);
    }
    CODT_INLINE Register bend(std::size_t i, const Register& d, const Place& start, const Place& at) const {
        return d * d * (at.squares.r[i] * start.per_n.r[i] + at.rest.r[i] * at.per_rest.r[i]);
    }
    CODT_INLINE static Register room(std::size_t i, const Value& best, const Value& value) {
        return best.r[i] - value.r[i];
    }
};

}  // namespace codt
