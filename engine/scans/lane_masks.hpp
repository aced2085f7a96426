// Some of the lanes of a register of 32-bit whole numbers. The widest registers have masks of their own, with
// which they add and choose; for the others a mask has all bits of a lane set, or none.
#pragma once

#include <cstdint>
#include <cstring>

#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"

namespace codt {

template <std::size_t Bytes>
class LaneMask {
    using P = Pack<std::int32_t, Bytes>;
    using Int = typename P::Register;

 public:
    CODT_INLINE static LaneMask all() { return LaneMask(~Int{}); }
    // The lanes of a pack from one on, in its i-th register.
    CODT_INLINE static LaneMask from(std::uint8_t first, std::size_t i) {
        Int lanes;
        std::memcpy(&lanes, rows[first] + i * P::per_register, Bytes);
        return LaneMask(lanes);
    }
    CODT_INLINE static LaneMask below(const Int& a, const Int& b) { return LaneMask(a < b); }
    CODT_INLINE static LaneMask at_most(const Int& a, const Int& b) { return LaneMask(a <= b); }

    CODT_INLINE LaneMask operator~() const { return LaneMask(~lanes_); }
    CODT_INLINE LaneMask operator&(const LaneMask& other) const { return LaneMask(lanes_ & other.lanes_); }
    CODT_INLINE bool any() const { return any_negative(Pack<std::int32_t, Bytes, Bytes>{{lanes_}}); }

    CODT_INLINE Int choose(const Int& inside, const Int& outside) const { return lanes_ ? inside : outside; }
    // Adds in these lanes alone.
    CODT_INLINE Int add(const Int& sums, const Int& values) const { return sums + (lanes_ & values); }
    CODT_INLINE Int subtract(const Int& sums, const Int& values) const { return sums - (lanes_ & values); }

    // Whether there is `summed_up`: every lane with those before it added.
    static constexpr bool sums_up = false;
    CODT_INLINE static Int summed_up(const Int& lanes) { return lanes; }

 private:
    static constexpr LaneRows<std::int32_t, lane_count<std::int32_t>> rows{-1};

    CODT_INLINE explicit LaneMask(const Int& lanes) : lanes_(lanes) {}

    Int lanes_;
};

#ifdef CODT_X86_BUILTINS
template <>
class LaneMask<pack_bytes> {
    using Int = typename Pack<std::int32_t, pack_bytes>::Register;

 public:
    CODT_INLINE static LaneMask all() { return LaneMask(0xffff); }
    CODT_INLINE static LaneMask from(std::uint8_t first, std::size_t) { return LaneMask(0xffffU << first); }
    CODT_INLINE static LaneMask below(const Int& a, const Int& b) { return compare<1>(a, b); }
    CODT_INLINE static LaneMask at_most(const Int& a, const Int& b) { return compare<2>(a, b); }

    CODT_INLINE LaneMask operator~() const { return LaneMask(~lanes_ & 0xffffU); }
    CODT_INLINE LaneMask operator&(const LaneMask& other) const {
        return LaneMask(static_cast<std::uint32_t>(lanes_ & other.lanes_));
    }
    CODT_INLINE bool any() const { return lanes_ != 0; }

    CODT_INLINE Int choose(const Int& inside, const Int& outside) const {
        return (Int)__builtin_ia32_blendmd_512_mask(outside, inside, lanes_);
    }
    CODT_INLINE Int add(const Int& sums, const Int& values) const {
        return (Int)__builtin_ia32_paddd512_mask(sums, values, sums, lanes_);
    }
    CODT_INLINE Int subtract(const Int& sums, const Int& values) const {
        return (Int)__builtin_ia32_psubd512_mask(sums, values, sums, lanes_);
    }

    static constexpr bool sums_up = true;
    CODT_INLINE static Int summed_up(Int lanes) {
        lanes += moved<1>(lanes);
        lanes += moved<2>(lanes);
        lanes += moved<4>(lanes);
        return lanes + moved<8>(lanes);
    }

 private:
    CODT_INLINE explicit LaneMask(std::uint32_t lanes) : lanes_(static_cast<std::uint16_t>(lanes)) {}
    // Every lane moved so many lanes up.
    template <int By>
    CODT_INLINE static Int moved(const Int& lanes) {
        return (Int)__builtin_ia32_alignd512_mask(lanes, Int{}, 16 - By, lanes, 0xffff);
    }
    template <int Operator>
    CODT_INLINE static LaneMask compare(const Int& a, const Int& b) {
        return LaneMask(static_cast<std::uint32_t>(__builtin_ia32_cmpd512_mask(a, b, Operator, 0xffff)));
    }

    std::uint16_t lanes_;
};
#endif

}  // namespace codt
