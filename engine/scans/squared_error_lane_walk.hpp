// Blocks of squared errors with bounds (squared_error_brackets.cpp) in which few sides are in doubt, walked
// one by one: 16 boundaries at once instead of 16 thresholds.
//
// Many walks are asked for by a few sides, while they take as long for one lane as for all of them. For one
// side of one threshold what lies before each boundary is a running sum over the block's samples on that
// side. The sums are whole numbers, exact in any order, and the terms of a boundary are formed of them as for
// all lanes (`room`, `ratios`), so all that was said about errors holds here as well. Other sides miss this
// boundary, but their bound says that none inside the block beats what they have: their upper ratio, from
// above, stays valid, and the lower one is that of boundaries that were seen.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "scans/lane_bits.hpp"
#include "scans/lanes.hpp"
#include "scans/transpose.hpp"

namespace codt {

// For numbers in a register: those By places before, zeros first, picked from the register and zeros.
template <std::size_t Count, std::size_t By, std::size_t... I>
constexpr auto moved_up(std::index_sequence<I...>) {
    return std::index_sequence<(I < By ? Count + I : I - By)...>{};
}
template <std::size_t Place, std::size_t... I>
constexpr auto everywhere(std::index_sequence<I...>) {
    return std::index_sequence<(Place + 0 * I)...>{};
}

// Running sums of 16 whole numbers: of each and all before it.
template <std::size_t Bytes>
struct RunningSums : Pack<std::int32_t, Bytes> {
    using Base = Pack<std::int32_t, Bytes>;
    using Base::r;
    using typename Base::Register;
    static constexpr std::size_t count = Base::per_register;
    static constexpr auto places = std::make_index_sequence<count>{};

    // Replaces numbers by their running sums, which begin with `before`; returns the last one everywhere.
    CODT_INLINE Register add_up(Register before) {
        for (std::size_t i = 0; i < Base::registers; ++i) {
            add_moved<1>(r[i]);
            r[i] += before;
            before = pick<std::int32_t, Bytes>(r[i], r[i], everywhere<count - 1>(places));
        }
        return before;
    }

 private:
    template <std::size_t By>
    CODT_INLINE static void add_moved(Register& a) {
        a += pick<std::int32_t, Bytes>(a, Register{}, moved_up<count, By>(places));
        if constexpr (2 * By < count) add_moved<2 * By>(a);
    }
};

// The largest of the floats of a register, none of which is negative: they are in the order of their bits.
template <std::size_t Bytes, std::size_t By = Bytes / sizeof(float) / 2>
CODT_INLINE float largest_of(const typename Pack<std::int32_t, Bytes, Bytes>::Register& bits) {
    if constexpr (By == 0) {
        return std::bit_cast<float>(bits[0]);
    } else {
        constexpr auto places = std::make_index_sequence<Bytes / sizeof(float)>{};
        using Register = typename Pack<std::int32_t, Bytes, Bytes>::Register;
        const Register other = pick<std::int32_t, Bytes>(bits, bits, rotated<places.size(), By>(places));
        const Register largest = bits > other ? bits : other;
        return largest_of<Bytes, By / 2>(largest);
    }
}

// The samples of a block of at most 48, in their order, and for each whether a group ends with it. Places
// behind the block hold zeros and no end.
template <std::size_t Bytes>
class LaneWalk {
    using Whole = Pack<std::int32_t, Bytes>;
    using Register = typename Whole::Register;
    static constexpr std::uint32_t at_once = lane_count<std::int32_t>;
    static constexpr std::size_t parts = 3;

 public:
    static constexpr std::uint32_t longest = parts * at_once;

    // `code` and `target` are those of every id; `ends` has a bit for every place.
    CODT_INLINE void read(const std::uint32_t* ids, std::uint32_t size, std::uint64_t ends,
                          const LaneBits* code, const std::int32_t* target) {
#ifdef CODT_X86_BUILTINS
        if constexpr (Bytes == pack_bytes) {
            const std::uint64_t all = (std::uint64_t{1} << size) - 1;
            for (std::size_t j = 0; j < parts; ++j) {
                const auto here = static_cast<std::uint16_t>(all >> (j * at_once));
                const Register zero{};
                const Register id =
                    (Register)__builtin_ia32_loaddqusi512_mask((const int*)(ids + j * at_once), zero, here);
                code_[j].r[0] = (Register)__builtin_ia32_gathersiv16si(zero, code, id, here, 4);
                target_[j].r[0] = (Register)__builtin_ia32_gathersiv16si(zero, target, id, here, 4);
            }
        } else
#endif
        {
            std::int32_t codes[longest], targets[longest];
            for (std::uint32_t p = 0; p < longest; ++p) {
                codes[p] = p < size ? static_cast<std::int32_t>(code[ids[p]]) : 0;
                targets[p] = p < size ? target[ids[p]] : 0;
            }
            for (std::size_t j = 0; j < parts; ++j) {
                code_[j].load(codes + j * at_once);
                target_[j].load(targets + j * at_once);
            }
        }
        for (std::size_t j = 0; j < parts; ++j)
            for (std::size_t i = 0; i < Whole::registers; ++i) {
                const Register bit = (Register{} + 1) << numbers();
                const Register bits =
                    Register{} + static_cast<std::int32_t>(ends >> (j * at_once + i * Whole::per_register));
                end_[j].r[i] = (bits & bit) != 0;
            }
    }

    // Takes the boundaries for one side, given as its only lane: the left one if `left`, with `sum` of its
    // `count` samples before the block. Whether any was taken.
    template <class Side>
    CODT_INLINE bool offer(std::uint32_t lane, bool left, std::int32_t sum, std::int32_t count,
                           Side& side) const {
        using Real = typename Side::Register;
        const Register bit = Register{} + static_cast<std::int32_t>(1U << lane);
        const Register wanted = Register{} + static_cast<std::int32_t>(left ? 1U << lane : 0);
        Register sum_before = Register{} + sum;
        Register count_before = Register{} - count;  // counted downwards
        Pack<float, Bytes> s[parts], k[parts], room;
        for (std::size_t j = 0; j < parts; ++j) {
            RunningSums<Bytes> sums, counts;
            for (std::size_t i = 0; i < Whole::registers; ++i) {
                counts.r[i] = (code_[j].r[i] & bit) == wanted;
                sums.r[i] = target_[j].r[i] & counts.r[i];
            }
            sum_before = sums.add_up(sum_before);
            count_before = counts.add_up(count_before);
            for (std::size_t i = 0; i < Whole::registers; ++i) {
                s[j].r[i] = __builtin_convertvector(sums.r[i], Real);
                k[j].r[i] = __builtin_convertvector(-counts.r[i], Real);
                const Register here = (Register)side.room(0, s[j].r[i], k[j].r[i]) & end_[j].r[i];
                room.r[i] = (Real)(j == 0 ? here : here | (Register)room.r[i]);
            }
        }
        if (!any_negative(room)) return false;
        Register most{}, sure{};
        for (std::size_t j = 0; j < parts; ++j)
            for (std::size_t i = 0; i < Whole::registers; ++i) {
                Real above, below;
                side.ratios(0, s[j].r[i], k[j].r[i], above, below);
                const Register high = (Register)above & end_[j].r[i], low = (Register)below & end_[j].r[i];
                most = most > high ? most : high;
                sure = sure > low ? sure : low;
            }
        side.raise(0, Real{} + largest_of<Bytes>(most), Real{} + largest_of<Bytes>(sure));
        return true;
    }

 private:
    CODT_INLINE static Register numbers() {
        Register a;
        for (std::size_t l = 0; l < Whole::per_register; ++l) a[l] = static_cast<std::int32_t>(l);
        return a;
    }

    Whole code_[parts], target_[parts], end_[parts];
};

}  // namespace codt
