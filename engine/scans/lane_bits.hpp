// The lanes in which a sample goes left, as the lowest 16 bits of one word. The widest registers
// have instructions that add in the lanes whose bits are set; the others read a row of masks for every byte.
#pragma once

#include <cstdint>
#include <cstring>

#include "scans/lanes.hpp"

namespace codt {

// Row b holds a mask (all bits set, or none) for every bit of the byte b.
struct alignas(pack_bytes) ByteMasks {
    std::int32_t rows[256][8];

    constexpr ByteMasks() : rows{} {
        for (int byte = 0; byte < 256; ++byte)
            for (int bit = 0; bit < 8; ++bit) rows[byte][bit] = -(byte >> bit & 1);
    }
};
inline constexpr ByteMasks byte_masks;

// More than the lanes need, because the widest registers gather such words.
using LaneBits = std::uint32_t;

// Sums of 16 whole numbers, one for each lane.
template <std::size_t Bytes>
struct BitPack : Pack<std::int32_t, Bytes> {
    using Base = Pack<std::int32_t, Bytes>;
    using Base::r;
    using typename Base::Register;

    CODT_INLINE void add_where(LaneBits lanes, std::int32_t value) {
#ifdef CODT_X86_BUILTINS
        if constexpr (Bytes == pack_bytes) {
            r[0] = (Register)__builtin_ia32_paddd512_mask(r[0], Register{} + value, r[0],
                                                          static_cast<std::uint16_t>(lanes));
            return;
        }
#endif
        for (std::size_t i = 0; i < Base::registers; ++i) r[i] += mask(lanes, i) & value;
    }
    CODT_INLINE void subtract_where(LaneBits lanes, std::int32_t value) {
#ifdef CODT_X86_BUILTINS
        if constexpr (Bytes == pack_bytes) {
            r[0] = (Register)__builtin_ia32_psubd512_mask(r[0], Register{} + value, r[0],
                                                          static_cast<std::uint16_t>(lanes));
            return;
        }
#endif
        for (std::size_t i = 0; i < Base::registers; ++i) r[i] -= mask(lanes, i) & value;
    }
    CODT_INLINE void count_where(LaneBits lanes) {
#ifdef CODT_X86_BUILTINS
        if constexpr (Bytes == pack_bytes) {
            r[0] = (Register)__builtin_ia32_psubd512_mask(r[0], Register{} - 1, r[0],
                                                          static_cast<std::uint16_t>(lanes));
            return;
        }
#endif
        for (std::size_t i = 0; i < Base::registers; ++i) r[i] -= mask(lanes, i);
    }

 private:
    // The masks of a register's lanes.
    CODT_INLINE static Register mask(LaneBits lanes, std::size_t i) {
        constexpr std::size_t here = Base::per_register;
        Register x;
        if constexpr (here <= 8) {
            std::memcpy(&x, byte_masks.rows[lanes >> (i * here / 8 * 8) & 255] + i * here % 8, Bytes);
        } else {
            std::int32_t both[16];
            for (std::size_t half = 0; half < 2; ++half)
                std::memcpy(both + 8 * half, byte_masks.rows[lanes >> (8 * half) & 255], sizeof both / 2);
            std::memcpy(&x, both, Bytes);
        }
        return x;
    }
};

}  // namespace codt
