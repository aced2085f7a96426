// Shuffles of vectors: transposing a square of numbers, and the least number of a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "scans/lanes.hpp"

namespace codt {

// The numbers of two registers, picked by their places in both together.
template <class T, std::size_t Bytes, std::size_t... Place>
CODT_INLINE typename Pack<T, Bytes, Bytes>::Register pick(const typename Pack<T, Bytes, Bytes>::Register& a,
                                                          const typename Pack<T, Bytes, Bytes>::Register& b,
                                                          std::index_sequence<Place...>) {
#ifdef __clang__
    return __builtin_shufflevector(a, b, static_cast<int>(Place)...);
#else
    using Places = typename Pack<T, Bytes, Bytes>::Register;  // any integers of the same size
    return __builtin_shuffle(a, b, Places{static_cast<T>(Place)...});
#endif
}

// For `count` numbers in a register: a0 b0 a1 b1 ... from place `First` on.
template <std::size_t Count, std::size_t First, std::size_t... I>
constexpr auto alternating(std::index_sequence<I...>) {
    return std::index_sequence<(First + I / 2 + I % 2 * Count)...>{};
}
template <std::size_t Count, std::size_t By, std::size_t... I>
constexpr auto rotated(std::index_sequence<I...>) {
    return std::index_sequence<((I + By) % Count)...>{};
}

// Rows become columns. Merging the first half of all numbers with the second, as a pack of cards is shuffled,
// rotates the bits of a number's place by one; as many times as a row's place has bits, rows and columns are
// exchanged.
template <class T, std::size_t Bytes, std::size_t Count = Bytes / sizeof(T)>
CODT_INLINE void transpose(typename Pack<T, Bytes, Bytes>::Register (&rows)[Count]) {
    using Register = typename Pack<T, Bytes, Bytes>::Register;
    constexpr auto all = std::make_index_sequence<Count>{};
    for (std::size_t bit = 1; bit < Count; bit *= 2) {
        Register merged[Count];
        for (std::size_t i = 0; i < Count / 2; ++i) {
            merged[2 * i] = pick<T, Bytes>(rows[i], rows[i + Count / 2], alternating<Count, 0>(all));
            merged[2 * i + 1] =
                pick<T, Bytes>(rows[i], rows[i + Count / 2], alternating<Count, Count / 2>(all));
        }
        for (std::size_t i = 0; i < Count; ++i) rows[i] = merged[i];
    }
}

// The least number of a register.
template <class T, std::size_t Bytes, std::size_t By = Bytes / sizeof(T) / 2>
CODT_INLINE T least_of(const typename Pack<T, Bytes, Bytes>::Register& a) {
    if constexpr (By == 0) {
        return a[0];
    } else {
        constexpr std::size_t count = Bytes / sizeof(T);
        using Register = typename Pack<T, Bytes, Bytes>::Register;
        const Register b = pick<T, Bytes>(a, a, rotated<count, By>(std::make_index_sequence<count>{}));
        const Register least = a < b ? a : b;
        return least_of<T, Bytes, By / 2>(least);
    }
}

// The signs of a register as bits.
template <class T, std::size_t Bytes>
CODT_INLINE std::uint64_t sign_bits(const typename Pack<T, Bytes, Bytes>::Register& a) {
#ifdef CODT_X86_BUILTINS
    typedef float Floats16 __attribute__((vector_size(16)));
    typedef float Floats32 __attribute__((vector_size(32)));
    if constexpr (sizeof(T) == 4 && Bytes == 64)
        return static_cast<std::uint16_t>(__builtin_ia32_cvtd2mask512(a));
    else if constexpr (sizeof(T) == 4 && Bytes == 32)
        return static_cast<std::uint64_t>(__builtin_ia32_movmskps256((Floats32)a));
    else if constexpr (sizeof(T) == 4 && Bytes == 16)
        return static_cast<std::uint64_t>(__builtin_ia32_movmskps((Floats16)a));
    else
#endif
    {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < Bytes / sizeof(T); ++i) bits |= std::uint64_t{a[i] < 0} << i;
        return bits;
    }
}

}  // namespace codt
