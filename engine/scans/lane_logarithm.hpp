// Logarithms in lanes, to the precision of a 32-bit float. With x = 2^e (1 + f), 1 + f between the roots of
// 1/2 and 2,
//
//     log x = e log 2 + f - f^2 q(f),
//
// where q is a polynomial in place of (f - log(1 + f)) / f^2, which it meets to within `error` of itself.
// That holds all digits of log(1 + f) for small f, too.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "scans/lanes.hpp"

namespace codt {

template <class Number, std::size_t Bytes>
struct LaneLogarithm {
    using Register = typename Pack<Number, Bytes>::Register;
    using Word = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
    using Words = typename Pack<Word, Bytes>::Register;

    using Scalar = Number;
    static constexpr int mantissa = sizeof(Number) == 4 ? 23 : 52;
    static constexpr double error = 3.1e-7;  // of q, as a part of it

    Register e, f, square_q;  // the last one is f^2 q(f)

    // Of numbers of at least zero. That of zero is finite, so that zero times it is zero.
    CODT_INLINE static LaneLogarithm of(const Register& x) {
        constexpr Word bias = sizeof(Number) == 4 ? 127 : 1023;
        constexpr Word root = std::bit_cast<Word>(static_cast<Number>(0.7071067811865476));
        const Words bits = (Words)x;
        const Words exponent = (bits + ((bias << mantissa) - root)) >> mantissa;  // with the bias
        // A float whose last bits are the exponent: the conversion of integers that every processor has.
        constexpr Number magic = static_cast<Number>(Word{1} << mantissa);
        LaneLogarithm out;
        out.e = (Register)(exponent | std::bit_cast<Word>(magic)) - (magic + static_cast<Number>(bias));
        out.f = (Register)(bits - ((exponent - bias) << mantissa)) - Number{1};
        Register q = out.f * Number(-0.08901954) + Number(0.14212721);
        q = q * out.f + Number(-0.14820291);
        q = q * out.f + Number(0.16581242);
        q = q * out.f + Number(-0.19972554);
        q = q * out.f + Number(0.25001396);
        q = q * out.f + Number(-0.33333666);
        q = q * out.f + Number(0.49999996);
        out.square_q = out.f * out.f * q;
        return out;
    }

    CODT_INLINE Register natural() const { return e * Number(0.6931471805599453) + (f - square_q); }
    CODT_INLINE Register binary() const { return e + (f - square_q) * Number(1.4426950408889634); }
};

}  // namespace codt
