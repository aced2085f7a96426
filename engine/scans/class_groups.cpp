#include "scans/class_groups.hpp"

#include "common/check.hpp"

#ifdef CODT_WIDE_PATH
#include <immintrin.h>
#endif

namespace codt {

namespace {

#ifdef CODT_WIDE_PATH

constexpr std::uint32_t lanes = 16;

[[gnu::target(CODT_WIDE)]] inline __mmask16 lanes_from(std::uint32_t k, std::uint32_t size) {
    return static_cast<__mmask16>(size - k >= lanes ? 0xFFFFU : (1U << (size - k)) - 1);
}

[[gnu::target(CODT_WIDE)]] inline void put(std::uint16_t* to, __mmask16 which, __m512i ids) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(which, ids)));
}

[[gnu::target(CODT_WIDE)]] inline void put(std::uint32_t* to, __mmask16 which, __m512i ids) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(which, ids));
}

[[gnu::target(CODT_WIDE)]] void look_up(const std::uint32_t* ids, std::uint32_t size,
                                        const std::uint16_t* labels, std::uint32_t* found) {
    for (std::uint32_t k = 0; k < size; k += lanes) {
        const __mmask16 here = lanes_from(k, size);
        const __m512i id = _mm512_maskz_loadu_epi32(here, ids + k);
        const __m512i pairs = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), here, id, labels, 2);
        _mm512_mask_storeu_epi32(found + k, here, _mm512_and_si512(pairs, _mm512_set1_epi32(0xFFFF)));
    }
}

// Writes the samples of a class; returns how many there are.
template <class Id>
[[gnu::target(CODT_WIDE)]] std::uint32_t take_class(const std::uint32_t* ids, std::uint32_t size,
                                                    const std::uint32_t* labels, std::uint32_t label,
                                                    Id* taken) {
    const __m512i wanted = _mm512_set1_epi32(static_cast<int>(label));
    std::uint32_t count = 0;
    for (std::uint32_t k = 0; k < size; k += lanes) {
        const __mmask16 here = lanes_from(k, size);
        const __mmask16 which =
            _mm512_mask_cmpeq_epi32_mask(here, _mm512_maskz_loadu_epi32(here, labels + k), wanted);
        put(taken + count, which, _mm512_maskz_loadu_epi32(here, ids + k));
        count += static_cast<std::uint32_t>(__builtin_popcount(which));
    }
    return count;
}

bool is_wide(KernelPath path) {
    return path == KernelPath::CODT_WIDE_PATH;
}

#else

void look_up(const std::uint32_t*, std::uint32_t, const std::uint16_t*, std::uint32_t*) {}

template <class Id>
std::uint32_t take_class(const std::uint32_t*, std::uint32_t, const std::uint32_t*, std::uint32_t, Id*) {
    return 0;
}

bool is_wide(KernelPath) {
    return false;
}

#endif

}  // namespace

bool ClassGroups::suits(KernelPath path, std::uint32_t classes) {
    return is_wide(path) && classes <= most_classes;
}

template <class Id>
void ClassGroups::group(const std::uint32_t* ids, std::uint32_t size, const std::uint16_t* labels,
                        std::uint32_t classes, Id* grouped) {
    CODT_CHECK(classes <= most_classes);
    if (labels_.size() < size) labels_.resize(size);
    look_up(ids, size, labels, labels_.data());
    count_ = 0;
    std::uint32_t filled = 0;
    for (std::uint32_t c = 0; c < classes && filled < size; ++c) {
        const std::uint32_t length = take_class(ids, size, labels_.data(), c, grouped + filled);
        runs_[count_] = {c, length};
        count_ += length > 0;
        filled += length;
    }
    CODT_CHECK(filled == size);
}

template void ClassGroups::group(const std::uint32_t*, std::uint32_t, const std::uint16_t*, std::uint32_t,
                                 std::uint16_t*);
template void ClassGroups::group(const std::uint32_t*, std::uint32_t, const std::uint16_t*, std::uint32_t,
                                 std::uint32_t*);

}  // namespace codt
