#include "data/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace codt {

namespace {

// Bits whose unsigned order is the order of the doubles.
std::uint64_t sort_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0.0 + 0.0 is 0.0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? ~bits : bits | sign;
}

constexpr unsigned digit_bits = 8;
constexpr unsigned digits = 4;
constexpr std::size_t buckets = std::size_t{1} << digit_bits;

std::size_t digit(std::uint32_t key, unsigned d) {
    return (key >> (d * digit_bits)) & (buckets - 1);
}

// Sorts `entries` with the help of `other`, which is as long; returns the one that holds the result.
SortEntry* sort_by_upper_half(SortEntry* entries, SortEntry* other, std::size_t n, StopCondition* stop) {
    std::array<std::array<std::uint32_t, buckets>, digits> counts{};
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

// Below this many values the counters cost more than comparisons.
constexpr std::size_t few = 1024;

}  // namespace

void sort_order(std::span<const double> column, SortBuffers& buffers, std::span<std::uint32_t> order,
                StopCondition* stop) {
    const std::size_t n = column.size();
    if (stop) stop->check();
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return column[a] != column[b] ? column[a] < column[b] : a < b;
    };
    if (n < few) {
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), before);
        return;
    }
    buffers.entries.ensure(n);
    buffers.other.ensure(n);
    SortEntry* entries = buffers.entries.data();
    for (std::size_t i = 0; i < n; ++i)
        entries[i] = {static_cast<std::uint32_t>(sort_key(column[i]) >> 32), static_cast<std::uint32_t>(i)};
    entries = sort_by_upper_half(entries, buffers.other.data(), n, stop);
    for (std::size_t i = 0; i < n; ++i) order[i] = entries[i].index;
    // Values that share their upper half are mostly equal, or few.
    for (std::size_t first = 0; first < n;) {
        std::size_t last = first + 1;
        bool sorted = true;
        for (; last < n && entries[last].key == entries[first].key; ++last)
            sorted = sorted && !(column[order[last]] < column[order[last - 1]]);
        if (!sorted)
            std::sort(order.begin() + static_cast<std::ptrdiff_t>(first),
                      order.begin() + static_cast<std::ptrdiff_t>(last), before);
        first = last;
    }
}

}  // namespace codt
