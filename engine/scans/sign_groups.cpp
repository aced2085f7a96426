#include "scans/sign_groups.hpp"

#include "common/check.hpp"

#ifdef CODT_WIDE_PATH
#include <immintrin.h>
#endif

namespace codt {

#ifdef CODT_WIDE_PATH

namespace {

#define CODT_WIDELY [[gnu::target(CODT_WIDE)]]

constexpr std::uint32_t lanes = 16;

CODT_WIDELY inline __mmask16 first_lanes(std::uint32_t count) {
    return static_cast<__mmask16>((1U << count) - 1);
}

CODT_WIDELY inline std::uint32_t count_of(__mmask16 which) {
    return static_cast<std::uint32_t>(__builtin_popcount(which));
}

// Nothing is written behind the chosen ids. (To compress into a register and store a part of it is faster
// than to compress into memory.)
CODT_WIDELY inline void put(std::uint32_t* to, __mmask16 which, __m512i ids) {
    _mm512_mask_storeu_epi32(to, first_lanes(count_of(which)), _mm512_maskz_compress_epi32(which, ids));
}

}  // namespace

bool groups_signs_widely(KernelPath path) {
    return path == KernelPath::CODT_WIDE_PATH;
}

CODT_WIDELY SignGroups<std::int32_t> group_signs_widely(const std::uint32_t* ids, std::uint32_t size,
                                                        const std::int32_t* targets, std::uint32_t* grouped) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i positive = zero, sum = zero, largest = zero, least = zero;
    std::uint32_t front = 0, back = size;
    for (std::uint32_t k = 0; k < size; k += lanes) {
        const __mmask16 here = first_lanes(size - k < lanes ? size - k : lanes);
        const __m512i id = _mm512_maskz_loadu_epi32(here, ids + k);
        const __m512i y = _mm512_mask_i32gather_epi32(zero, here, id, targets, sizeof *targets);
        const __mmask16 above = _mm512_mask_cmpgt_epi32_mask(here, y, zero);
        const auto others = static_cast<__mmask16>(here & ~above);
        back -= count_of(others);
        put(grouped + front, above, id);
        put(grouped + back, others, id);
        front += count_of(above);
        positive = _mm512_mask_add_epi32(positive, above, positive, y);
        sum = _mm512_add_epi32(sum, y);
        largest = _mm512_max_epi32(largest, y);
        least = _mm512_min_epi32(least, y);
    }
    CODT_CHECK(front == back);
    SignGroups<std::int32_t> groups;
    groups.positives = front;
    groups.positive = _mm512_reduce_add_epi32(positive);
    groups.negative = groups.positive - _mm512_reduce_add_epi32(sum);
    groups.largest = _mm512_reduce_max_epi32(largest);
    groups.least = _mm512_reduce_min_epi32(least);
    return groups;
}

#undef CODT_WIDELY

#else

bool groups_signs_widely(KernelPath) {
    return false;
}

SignGroups<std::int32_t> group_signs_widely(const std::uint32_t*, std::uint32_t, const std::int32_t*,
                                            std::uint32_t*) {
    return {};
}

#endif

}  // namespace codt
