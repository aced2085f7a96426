#include "data/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace codt {

namespace {

struct Entry {
    std::uint64_t key;
    std::uint32_t index;
};

// Bits whose unsigned order is the order of the doubles.
std::uint64_t sort_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0.0 + 0.0 is 0.0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? ~bits : bits | sign;
}

constexpr unsigned digit_bits = 11;
constexpr unsigned digits = 6;  // 66 bits
constexpr std::size_t buckets = std::size_t{1} << digit_bits;

std::size_t digit(std::uint64_t key, unsigned d) {
    return (key >> (d * digit_bits)) & (buckets - 1);
}

// Below this many values the counters cost more than comparisons.
constexpr std::size_t few = 1024;

}  // namespace

std::vector<std::uint32_t> sorted_order(std::span<const double> column) {
    const std::size_t n = column.size();
    std::vector<Entry> entries(n);
    for (std::size_t i = 0; i < n; ++i) entries[i] = {sort_key(column[i]), static_cast<std::uint32_t>(i)};
    if (n < few) {
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return a.key != b.key ? a.key < b.key : a.index < b.index;
        });
    } else {
        std::vector<std::array<std::uint32_t, buckets>> counts(digits);
        for (const Entry& entry : entries)
            for (unsigned d = 0; d < digits; ++d) ++counts[d][digit(entry.key, d)];
        std::vector<Entry> other(n);
        for (unsigned d = 0; d < digits; ++d) {
            auto& count = counts[d];
            if (count[digit(entries[0].key, d)] == n) continue;  // the same digit everywhere
            std::uint32_t start = 0;
            for (std::uint32_t& c : count) {
                const std::uint32_t size = c;
                c = start;
                start += size;
            }
            for (const Entry& entry : entries) other[count[digit(entry.key, d)]++] = entry;
            std::swap(entries, other);
        }
    }
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = entries[i].index;
    return order;
}

}  // namespace codt
