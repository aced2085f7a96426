// How the samples of a subset are told apart for the two sides of a split: for every feature the places of
// both sides, in the order of the whole. That is done for every expansion, and takes as long as a few scans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/kernel_paths.hpp"

namespace codt {

class Splitter {
 public:
    explicit Splitter(KernelPath path = best_kernel_path()) : path_(path) {}

    // What is written may be followed by so many cells of no meaning.
    static constexpr std::size_t spare = 16;

    // Begins a split: the samples at the first `left_size` places of `order` go left, the others right. Both
    // sides get their rows of `rows`, in the order of the ids here, which makes the new ids.
    void begin(std::span<const std::uint32_t> order, std::uint32_t left_size, const std::uint32_t* rows,
               std::uint32_t* left_rows, std::uint32_t* right_rows);

    // A side of the order of a feature: new ids, where its groups of equal values end, how many there are,
    // and how many samples it has before the last group of the whole.
    struct Side {
        std::uint32_t* order;
        std::uint32_t* group_end;
        std::uint32_t groups = 0, before_last = 0;
    };
    void split(std::span<const std::uint32_t> order, std::span<const std::uint32_t> group_end, Side& left,
               Side& right);

 private:
    [[maybe_unused]] KernelPath path_;  // without wide registers there is one way only
    std::uint32_t left_size_ = 0;
    std::vector<std::uint32_t> target_;  // of every id: twice the new one, and 1 if it goes right
    std::vector<std::uint32_t> lefts_;   // how many samples up to a place go left
};

}  // namespace codt
