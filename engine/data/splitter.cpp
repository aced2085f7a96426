// Without branches: everything is written to both sides and counted on one. With the widest registers 16
// samples at a time are told apart by their sides; the ends of groups are then looked up in a count of the
// samples that go left.
#include "data/splitter.hpp"

#include <numeric>

#ifdef CODT_WIDE_PATH
#include <immintrin.h>
#endif

namespace codt {

namespace {

using Side = Splitter::Side;

bool all_single(std::span<const std::uint32_t> order, std::span<const std::uint32_t> group_end) {
    return group_end.size() == order.size();
}

// Groups of one sample each, the last of which is on the side `last`.
void end_single_groups(std::uint32_t lefts, std::uint32_t rights, std::uint32_t last, Side& left,
                       Side& right) {
    std::iota(left.group_end, left.group_end + lefts, 1U);
    std::iota(right.group_end, right.group_end + rights, 1U);
    left.groups = lefts;
    right.groups = rights;
    left.before_last = lefts - (1 - last);
    right.before_last = rights - last;
}

void number(const std::uint32_t* rows, std::uint32_t size, std::uint32_t* target, std::uint32_t* left_rows,
            std::uint32_t* right_rows) {
    std::uint32_t lefts = 0, rights = 0;
    for (std::uint32_t id = 0; id < size; ++id) {
        const std::uint32_t side = target[id];
        left_rows[lefts] = right_rows[rights] = rows[id];
        target[id] = (side ? rights : lefts) << 1U | side;
        rights += side;
        lefts += 1 - side;
    }
}

void split_singles(std::span<const std::uint32_t> order, const std::uint32_t* target, Side& left,
                   Side& right) {
    std::uint32_t lefts = 0, rights = 0, t = 0;
    for (const std::uint32_t id : order) {
        t = target[id];
        left.order[lefts] = right.order[rights] = t >> 1U;
        rights += t & 1U;
        lefts += ~t & 1U;
    }
    end_single_groups(lefts, rights, t & 1U, left, right);
}

void split_groups(std::span<const std::uint32_t> order, std::span<const std::uint32_t> group_end,
                  const std::uint32_t* target, Side& left, Side& right) {
    std::uint32_t lefts = 0, rights = 0, left_groups = 0, right_groups = 0;
    std::uint32_t k = 0;
    for (const std::uint32_t end : group_end) {
        left.before_last = lefts;
        right.before_last = rights;
        for (; k < end; ++k) {
            const std::uint32_t t = target[order[k]];
            left.order[lefts] = right.order[rights] = t >> 1U;
            rights += t & 1U;
            lefts += ~t & 1U;
        }
        left.group_end[left_groups] = lefts;
        right.group_end[right_groups] = rights;
        left_groups += lefts != left.before_last;
        right_groups += rights != right.before_last;
    }
    left.groups = left_groups;
    right.groups = right_groups;
}

#ifdef CODT_WIDE_PATH

#define CODT_WIDELY [[gnu::target(CODT_WIDE)]]

constexpr std::uint32_t lanes = 16;

// Those of the next lanes that exist.
CODT_WIDELY inline __mmask16 lanes_from(std::uint32_t k, std::uint32_t size) {
    return static_cast<__mmask16>(size - k >= lanes ? 0xFFFFU : (1U << (size - k)) - 1);
}

CODT_WIDELY inline __m512i all_lanes(std::uint32_t x) {
    return _mm512_set1_epi32(static_cast<int>(x));
}

CODT_WIDELY inline __m512i lane_numbers() {
    return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

CODT_WIDELY inline std::uint32_t count(__mmask16 mask) {
    return static_cast<std::uint32_t>(__builtin_popcount(mask));
}

// Writes the chosen lanes one after the other, and whatever behind them.
CODT_WIDELY inline void put(std::uint32_t* to, __mmask16 which, __m512i x) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(which, x));
}

CODT_WIDELY void number_widely(const std::uint32_t* rows, std::uint32_t size, std::uint32_t* target,
                               std::uint32_t* left_rows, std::uint32_t* right_rows) {
    std::uint32_t lefts = 0, rights = 0;
    for (std::uint32_t id = 0; id < size; id += lanes) {
        const __mmask16 here = lanes_from(id, size);
        const __m512i side = _mm512_maskz_loadu_epi32(here, target + id);
        const __m512i row = _mm512_maskz_loadu_epi32(here, rows + id);
        const __mmask16 on_right = _mm512_test_epi32_mask(side, side);
        const auto on_left = static_cast<__mmask16>(here & ~on_right);
        put(left_rows + lefts, on_left, row);
        put(right_rows + rights, on_right, row);
        const __m512i on_lefts =
            _mm512_maskz_expand_epi32(on_left, _mm512_add_epi32(lane_numbers(), all_lanes(lefts)));
        const __m512i numbers =
            _mm512_mask_expand_epi32(on_lefts, on_right, _mm512_add_epi32(lane_numbers(), all_lanes(rights)));
        _mm512_mask_storeu_epi32(target + id, here, _mm512_or_si512(_mm512_slli_epi32(numbers, 1), side));
        lefts += count(on_left);
        rights += count(on_right);
    }
}

// `lefts_at`, unless null, receives how many samples up to each place go left.
CODT_WIDELY void split_widely(const std::uint32_t* order, std::uint32_t size, const std::uint32_t* target,
                              std::uint32_t* left, std::uint32_t* right, std::uint32_t* lefts_at) {
    std::uint32_t lefts = 0, rights = 0;
    for (std::uint32_t k = 0; k < size; k += lanes) {
        const __mmask16 here = lanes_from(k, size);
        const __m512i ids = _mm512_maskz_loadu_epi32(here, order + k);
        const __m512i t = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), here, ids, target, 4);
        const __mmask16 on_right = _mm512_test_epi32_mask(t, _mm512_set1_epi32(1));
        const auto on_left = static_cast<__mmask16>(here & ~on_right);
        const __m512i numbers = _mm512_srli_epi32(t, 1);
        put(left + lefts, on_left, numbers);
        put(right + rights, on_right, numbers);
        if (lefts_at) {
            // On the left the samples before it and itself; on the right all before it but those on the
            // right.
            const __m512i of_left =
                _mm512_maskz_expand_epi32(on_left, _mm512_add_epi32(lane_numbers(), all_lanes(lefts + 1)));
            const __m512i of_all = _mm512_mask_sub_epi32(
                of_left, on_right, _mm512_add_epi32(lane_numbers(), all_lanes(k - rights)),
                _mm512_maskz_expand_epi32(on_right, lane_numbers()));
            _mm512_mask_storeu_epi32(lefts_at + k, here, of_all);
        }
        lefts += count(on_left);
        rights += count(on_right);
    }
}

// A group of the whole makes one on each side that it adds samples to.
CODT_WIDELY void end_groups_widely(std::span<const std::uint32_t> group_end, const std::uint32_t* lefts_at,
                                   Side& left, Side& right) {
    const auto size = static_cast<std::uint32_t>(group_end.size());
    __m512i lefts_before = _mm512_setzero_si512(), rights_before = lefts_before;
    std::uint32_t left_groups = 0, right_groups = 0;
    for (std::uint32_t g = 0; g < size; g += lanes) {
        const __mmask16 here = lanes_from(g, size);
        const __m512i ends = _mm512_maskz_loadu_epi32(here, group_end.data() + g);
        const __m512i places = _mm512_sub_epi32(ends, _mm512_set1_epi32(1));
        const __m512i lefts = _mm512_mask_i32gather_epi32(ends, here, places, lefts_at, 4);
        const __m512i rights = _mm512_sub_epi32(ends, lefts);
        const __mmask16 new_left =
            _mm512_mask_cmpneq_epi32_mask(here, lefts, _mm512_alignr_epi32(lefts, lefts_before, 15));
        const __mmask16 new_right =
            _mm512_mask_cmpneq_epi32_mask(here, rights, _mm512_alignr_epi32(rights, rights_before, 15));
        put(left.group_end + left_groups, new_left, lefts);
        put(right.group_end + right_groups, new_right, rights);
        left_groups += count(new_left);
        right_groups += count(new_right);
        lefts_before = lefts;
        rights_before = rights;
    }
    left.groups = left_groups;
    right.groups = right_groups;
    const std::uint32_t last = size > 1 ? group_end[size - 2] : 0;
    left.before_last = last > 0 ? lefts_at[last - 1] : 0;
    right.before_last = last - left.before_last;
}

#undef CODT_WIDELY

bool is_wide(KernelPath path) {
    return path == KernelPath::CODT_WIDE_PATH;
}

#endif

}  // namespace

void Splitter::begin(std::span<const std::uint32_t> order, std::uint32_t left_size, const std::uint32_t* rows,
                     std::uint32_t* left_rows, std::uint32_t* right_rows) {
    left_size_ = left_size;
    const auto size = static_cast<std::uint32_t>(order.size());
    if (target_.size() < size) target_.resize(size);
    for (std::uint32_t k = 0; k < size; ++k) target_[order[k]] = k >= left_size;
#ifdef CODT_WIDE_PATH
    if (is_wide(path_)) return number_widely(rows, size, target_.data(), left_rows, right_rows);
#endif
    number(rows, size, target_.data(), left_rows, right_rows);
}

void Splitter::split(std::span<const std::uint32_t> order, std::span<const std::uint32_t> group_end,
                     Side& left, Side& right) {
#ifdef CODT_WIDE_PATH
    if (is_wide(path_)) {
        const auto size = static_cast<std::uint32_t>(order.size());
        if (lefts_.size() < size) lefts_.resize(size);
        const bool single = all_single(order, group_end);
        split_widely(order.data(), size, target_.data(), left.order, right.order,
                     single ? nullptr : lefts_.data());
        return single ? end_single_groups(left_size_, size - left_size_, target_[order[size - 1]] & 1U, left,
                                          right)
                      : end_groups_widely(group_end, lefts_.data(), left, right);
    }
#endif
    if (all_single(order, group_end))
        split_singles(order, target_.data(), left, right);
    else
        split_groups(order, group_end, target_.data(), left, right);
}

}  // namespace codt
