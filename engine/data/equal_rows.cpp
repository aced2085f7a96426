#include "data/equal_rows.hpp"

#include <bit>

namespace codt {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

bool equal(const Dataset& data, std::span<const double> labels, std::uint32_t a, std::uint32_t b) {
    if (labels[a] != labels[b]) return false;
    for (std::uint32_t f = 0; f < data.features(); ++f)
        if (data.ranks(f)[a] != data.ranks(f)[b]) return false;
    return true;
}

}  // namespace

std::optional<EqualRows> find_equal_rows(const Dataset& data, std::span<const double> labels,
                                         std::uint32_t most) {
    for (std::uint32_t f = 0; f < data.features(); ++f)
        if (data.values(f).size() > most) return std::nullopt;
    std::vector<std::uint64_t> hash(data.samples());
    for (std::uint32_t i = 0; i < data.samples(); ++i) hash[i] = std::bit_cast<std::uint64_t>(labels[i]);
    for (std::uint32_t f = 0; f < data.features(); ++f) {
        const auto ranks = data.ranks(f);
        for (std::uint32_t i = 0; i < data.samples(); ++i) hash[i] = mix(hash[i], ranks[i]);
    }

    // Open addressing, at most half full; an entry is the number of a set of equal rows plus one.
    std::vector<std::uint32_t> table(std::bit_ceil(std::size_t{2} * most + 2), 0);
    const std::size_t mask = table.size() - 1;
    EqualRows rows;
    for (std::uint32_t i = 0; i < data.samples(); ++i) {
        std::size_t place = (hash[i] ^ (hash[i] >> 32)) & mask;
        while (table[place] != 0 && !equal(data, labels, rows.first[table[place] - 1], i))
            place = (place + 1) & mask;
        if (table[place] != 0) {
            ++rows.count[table[place] - 1];
            continue;
        }
        if (rows.first.size() == most) return std::nullopt;
        rows.first.push_back(i);
        rows.count.push_back(1);
        table[place] = static_cast<std::uint32_t>(rows.first.size());
    }
    return rows;
}

}  // namespace codt
