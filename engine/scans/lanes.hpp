// Vector lanes for the scans. One lane is one threshold of the root feature; a pack holds 64 bytes of
// lanes on every processor, in as many registers as its instruction set needs. The same source is
// compiled for each instruction set (kernel_paths.hpp), so every path computes the same numbers in the
// same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__clang__)
#define CODT_X86_BUILTINS
#include <immintrin.h>  // declares the builtins below
#endif

#define CODT_INLINE [[gnu::always_inline]] inline
#define CODT_INLINE_LAMBDA __attribute__((always_inline))

namespace codt {

inline constexpr std::size_t pack_bytes = 64;

template <class T>
inline constexpr std::uint32_t lane_count = pack_bytes / sizeof(T);

// Larger than any number of this type that a scan forms.
template <class T>
inline constexpr T none =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

// `Bytes` is the size of one register.
template <class T, std::size_t Bytes, std::size_t Total = pack_bytes>
struct Pack {
    static constexpr std::size_t registers = Total / Bytes;
    static constexpr std::size_t per_register = Bytes / sizeof(T);
    typedef T Register __attribute__((vector_size(Bytes)));

    Register r[registers];

    CODT_INLINE void clear() {
        for (std::size_t i = 0; i < registers; ++i) r[i] = Register{};
    }
    CODT_INLINE void load(const T* p) {
        for (std::size_t i = 0; i < registers; ++i) std::memcpy(&r[i], p + i * per_register, Bytes);
    }
    CODT_INLINE void store(T* p) const {
        for (std::size_t i = 0; i < registers; ++i) std::memcpy(p + i * per_register, &r[i], Bytes);
    }

    // *this += a row of lanes in memory.
    CODT_INLINE void add_row(const T* row) {
        for (std::size_t i = 0; i < registers; ++i) {
            Register x;
            std::memcpy(&x, row + i * per_register, Bytes);
            r[i] += x;
        }
    }
    // *this += a row of bytes in memory.
    CODT_INLINE void add_widened(const std::uint8_t* row) {
        typedef std::uint8_t Narrow __attribute__((vector_size(per_register)));
        for (std::size_t i = 0; i < registers; ++i) {
            Narrow x;
            std::memcpy(&x, row + i * per_register, per_register);
            if constexpr (std::is_floating_point_v<T>) {
                using Whole = typename Pack<std::int32_t, sizeof(std::int32_t) * per_register>::Register;
                const Whole whole = __builtin_convertvector(x, Whole);
                r[i] += __builtin_convertvector(whole, Register);
            } else {
                r[i] += __builtin_convertvector(x, Register);
            }
        }
    }
    CODT_INLINE void subtract_widened(const std::uint8_t* row) {
        typedef std::uint8_t Narrow __attribute__((vector_size(per_register)));
        for (std::size_t i = 0; i < registers; ++i) {
            Narrow x;
            std::memcpy(&x, row + i * per_register, per_register);
            r[i] -= __builtin_convertvector(x, Register);
        }
    }
    // *this += value times a row of bytes in memory.
    CODT_INLINE void add_widened(const std::uint8_t* row, T value) {
        typedef std::uint8_t Narrow __attribute__((vector_size(per_register)));
        for (std::size_t i = 0; i < registers; ++i) {
            Narrow x;
            std::memcpy(&x, row + i * per_register, per_register);
            r[i] += __builtin_convertvector(x, Register) * value;
        }
    }
    // *this += value in the lanes selected by a row of masks (all bits set, or none).
    CODT_INLINE void add_masked(const T* mask, T value) {
        for (std::size_t i = 0; i < registers; ++i) {
            Register x;
            std::memcpy(&x, mask + i * per_register, Bytes);
            r[i] += x & value;
        }
    }
    CODT_INLINE void subtract_masked(const T* mask, T value) {
        for (std::size_t i = 0; i < registers; ++i) {
            Register x;
            std::memcpy(&x, mask + i * per_register, Bytes);
            r[i] -= x & value;
        }
    }
    // *this += value times a row of lanes in memory.
    CODT_INLINE void add_scaled(const T* row, T value) {
        for (std::size_t i = 0; i < registers; ++i) {
            Register x;
            std::memcpy(&x, row + i * per_register, Bytes);
            r[i] += x * value;
        }
    }
    CODT_INLINE void add_square(const Pack& a) {
        for (std::size_t i = 0; i < registers; ++i) r[i] += a.r[i] * a.r[i];
    }
    // *this /= a; zero where `a` is not above zero.
    CODT_INLINE void divide_or_zero(const Pack& a) {
        for (std::size_t i = 0; i < registers; ++i) r[i] = a.r[i] > T{0} ? r[i] / a.r[i] : Register{};
    }
    // *this = "none" where `a` is below `least`.
    CODT_INLINE void forbid_below(const Pack& a, T least) {
        const Register forbidden = none<T> - Register{};
        for (std::size_t i = 0; i < registers; ++i) r[i] = a.r[i] < least ? forbidden : r[i];
    }
    CODT_INLINE void add(const Pack& a) {
        for (std::size_t i = 0; i < registers; ++i) r[i] += a.r[i];
    }
    CODT_INLINE void subtract(const Pack& a) {
        for (std::size_t i = 0; i < registers; ++i) r[i] -= a.r[i];
    }
    CODT_INLINE void subtract_from(T value) {
        for (std::size_t i = 0; i < registers; ++i) r[i] = value - r[i];
    }
    CODT_INLINE void minimum(const Pack& a) {
        for (std::size_t i = 0; i < registers; ++i) r[i] = r[i] < a.r[i] ? r[i] : a.r[i];
    }
    CODT_INLINE void maximum(const Pack& a) {
        for (std::size_t i = 0; i < registers; ++i) r[i] = r[i] > a.r[i] ? r[i] : a.r[i];
    }
};

// The bits set in any of the words. Halves are combined word by word, because compilers turn this form into
// register moves.
typedef std::uint64_t Words16 __attribute__((vector_size(16)));
typedef std::uint64_t Words32 __attribute__((vector_size(32)));
typedef std::uint64_t Words64 __attribute__((vector_size(64)));
CODT_INLINE std::uint64_t any_word(const Words16& w) {
    return w[0] | w[1];
}
CODT_INLINE std::uint64_t any_word(const Words32& w) {
    const Words16 low{w[0], w[1]}, high{w[2], w[3]};
    return any_word(low | high);
}
CODT_INLINE std::uint64_t any_word(const Words64& w) {
    const Words32 low{w[0], w[1], w[2], w[3]}, high{w[4], w[5], w[6], w[7]};
    return any_word(low | high);
}

// True if the sign bit of any lane is set. Comparisons are written so that this one test ends them. AVX-512
// has an instruction that gathers the signs; GCC's code for the portable version takes ten.
template <class T, std::size_t Bytes, std::size_t Total>
CODT_INLINE bool any_negative(const Pack<T, Bytes, Total>& a) {
#ifdef CODT_X86_BUILTINS
    if constexpr (Bytes == 64) {
        typename Pack<long long, Bytes>::Register signs{};
        for (const auto& x : a.r) signs |= (decltype(signs))x;  // between vectors, this cast keeps the bits
        if constexpr (sizeof(T) == sizeof(std::int64_t))
            return __builtin_ia32_cvtq2mask512(signs) != 0;
        else if constexpr (sizeof(T) == sizeof(std::int32_t))
            return __builtin_ia32_cvtd2mask512((typename Pack<std::int32_t, Bytes>::Register)signs) != 0;
        else
            return __builtin_ia32_cvtw2mask512((typename Pack<std::int16_t, Bytes>::Register)signs) != 0;
    }
#endif
    using Words = typename Pack<std::uint64_t, Bytes>::Register;
    Words bits{};
    for (const auto& x : a.r) bits |= (Words)x;
    std::uint64_t sign = 0;
    for (std::size_t bit = 8 * sizeof(T); bit <= 64; bit += 8 * sizeof(T))
        sign |= std::uint64_t{1} << (bit - 1);
    return (any_word(bits) & sign) != 0;
}

// The lanes whose sign bit is set, as bits.
template <class T, std::size_t Bytes, std::size_t Total>
CODT_INLINE std::uint32_t negative_lanes(const Pack<T, Bytes, Total>& a) {
    static_assert(sizeof(T) == sizeof(std::int32_t) || sizeof(T) == sizeof(std::int64_t));
    using P = Pack<T, Bytes, Total>;
    constexpr bool narrow = sizeof(T) == sizeof(std::int32_t);
    std::uint32_t lanes = 0;
    for (std::size_t i = 0; i < P::registers; ++i) {
        std::uint32_t some = 0;
#ifdef CODT_X86_BUILTINS
        using Signs = typename Pack<std::conditional_t<narrow, std::int32_t, long long>, Bytes>::Register;
        using Floats = typename Pack<std::conditional_t<narrow, float, double>, Bytes>::Register;
        if constexpr (Bytes == 64 && narrow)
            some = __builtin_ia32_cvtd2mask512((Signs)a.r[i]);
        else if constexpr (Bytes == 64)
            some = __builtin_ia32_cvtq2mask512((Signs)a.r[i]);
        else if constexpr (Bytes == 32 && narrow)
            some = static_cast<std::uint32_t>(__builtin_ia32_movmskps256((Floats)a.r[i]));
        else if constexpr (Bytes == 32)
            some = static_cast<std::uint32_t>(__builtin_ia32_movmskpd256((Floats)a.r[i]));
        else if constexpr (narrow)
            some = static_cast<std::uint32_t>(__builtin_ia32_movmskps((Floats)a.r[i]));
        else
            some = static_cast<std::uint32_t>(__builtin_ia32_movmskpd((Floats)a.r[i]));
#else
        using Words =
            typename Pack<std::conditional_t<narrow, std::uint32_t, std::uint64_t>, Bytes>::Register;
        const Words signs = (Words)a.r[i] >> (8 * sizeof(T) - 1);
        for (std::size_t lane = 0; lane < P::per_register; ++lane)
            some |= static_cast<std::uint32_t>(signs[lane]) << lane;
#endif
        lanes |= some << (i * P::per_register);
    }
    return lanes;
}

}  // namespace codt
