#include "data/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace codt {

namespace {

constexpr unsigned digit_bits = 8;
constexpr unsigned most_digits = 3;
constexpr std::size_t buckets = std::size_t{1} << digit_bits;

std::size_t digit(std::uint32_t key, unsigned d) {
    return (key >> (d * digit_bits)) & (buckets - 1);
}

// Sorts `entries` with the help of `other`, which has the same length; returns the one that holds the result.
SortEntry* sort_by_digits(SortEntry* entries, SortEntry* other, std::size_t n, unsigned digits,
                          StopCondition* stop) {
    std::array<std::array<std::uint32_t, buckets>, most_digits> counts{};
    for (std::size_t i = 0; i < n; ++i)
        for (unsigned d = 0; d < digits; ++d) ++counts[d][digit(entries[i].key, d)];
    for (unsigned d = 0; d < digits; ++d) {
        if (stop) stop->check();
        auto& count = counts[d];
        if (count[digit(entries[0].key, d)] == n) continue;  // the same digit everywhere
        std::uint32_t start = 0;
        for (std::uint32_t& c : count) {
            const std::uint32_t size = c;
            c = start;
            start += size;
        }
        for (std::size_t i = 0; i < n; ++i) other[count[digit(entries[i].key, d)]++] = entries[i];
        std::swap(entries, other);
    }
    return entries;
}

// Below the first number the counters cost more than comparisons; below the second, keys that share two
// digits are few.
constexpr std::size_t few = 128;
constexpr std::size_t many = 4096;

}  // namespace

std::uint32_t rank_column(std::span<const std::uint64_t> keys, SortBuffers& buffers, std::uint32_t* order,
                          std::uint32_t* rank, std::uint32_t* ends, StopCondition* stop) {
    const std::size_t n = keys.size();
    if (stop) stop->check();
    buffers.entries.ensure(n);
    buffers.other.ensure(n);
    std::uint64_t base = keys[0], largest = keys[0];
    for (const std::uint64_t key : keys) {
        base = std::min(base, key);
        largest = std::max(largest, key);
    }
    const unsigned digits = n < few ? 0 : n < many ? 2 : 3;
    const int shift =
        std::max(0, static_cast<int>(std::bit_width(largest - base)) - static_cast<int>(digits * digit_bits));
    SortEntry* entries = buffers.entries.data();
    for (std::uint32_t i = 0; i < n; ++i)
        entries[i] = {digits == 0 ? 0 : static_cast<std::uint32_t>((keys[i] - base) >> shift), i};
    if (digits > 0) entries = sort_by_digits(entries, buffers.other.data(), n, digits, stop);

    // Whole keys are compared where the leading bits are the same; keys that share these are mostly equal, or
    // few.
    const auto before = [&](const SortEntry& a, const SortEntry& b) {
        return keys[a.index] != keys[b.index] ? keys[a.index] < keys[b.index] : a.index < b.index;
    };
    buffers.sorted.ensure(n);
    std::uint64_t* const sorted = buffers.sorted.data();
    for (std::size_t k = 0; k < n; ++k) sorted[k] = keys[entries[k].index];
    for (std::size_t k = 1; k < n; ++k) {
        if (sorted[k - 1] <= sorted[k]) continue;
        std::size_t first = k, last = k;
        while (first > 0 && entries[first - 1].key == entries[k].key) --first;
        while (last < n && entries[last].key == entries[k].key) ++last;
        std::sort(entries + first, entries + last, before);
        for (std::size_t i = first; i < last; ++i) sorted[i] = keys[entries[i].index];
        k = last - 1;
    }
    std::uint32_t groups = 0;
    for (std::size_t k = 0; k < n; ++k) {
        groups += k == 0 || sorted[k - 1] != sorted[k];
        order[k] = entries[k].index;
        rank[order[k]] = groups - 1;
        ends[groups - 1] = static_cast<std::uint32_t>(k + 1);
    }
    return groups;
}

}  // namespace codt
