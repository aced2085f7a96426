// The workspace of one thread of a search; none of it is shared.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random.hpp"
#include "data/subset.hpp"
#include "terminal/depth_two.hpp"

namespace codt {

struct Worker {
    Worker(const SearchSettings& settings, const Strategy& depth_two_strategy, const Objective& objective,
           const KernelChoice& kernel, std::uint64_t seed)
        : random(seed),
          depth_two(settings, depth_two_strategy, objective, kernel, random),
          splitter(kernel.path) {}

    Random random;
    DepthTwoSolver depth_two;
    Splitter splitter;

    // An upper bound on its size for data of this many rows and features, with the two subsets of the
    // expansion that it works on.
    static std::size_t bytes(std::size_t rows, std::size_t features, const Objective& objective) {
        return rows * objective.scan_bytes_of_sample() +
               rows * features * (std::size_t{4} * sizeof(std::uint32_t) + objective.scan_bytes()) +
               rows * 64;
    }
};

}  // namespace codt
