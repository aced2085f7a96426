// The samples of a block grouped by class, 16 at a time, with the widest registers: all labels are looked up,
// and then for every class the samples that have it are told apart.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/kernel_paths.hpp"

namespace codt {

// The samples of one class within a block that is grouped.
struct ClassRun {
    std::uint32_t label;
    std::uint32_t length;
};

class ClassGroups {
 public:
    static constexpr std::uint32_t most_classes = 16;
    // Behind what is grouped so many cells may be overwritten, and behind the labels so many are read.
    static constexpr std::uint32_t spare = 16, spare_labels = 1;

    // Whether that is faster than to count and sort them, one by one.
    static bool suits(KernelPath path, std::uint32_t classes);

    std::span<const ClassRun> runs() const { return std::span(runs_).first(count_); }

    // Writes the ids, of 16 or 32 bits, to `grouped`: by class, and then as they were.
    template <class Id>
    void group(const std::uint32_t* ids, std::uint32_t size, const std::uint16_t* labels,
               std::uint32_t classes, Id* grouped);

 private:
    std::array<ClassRun, most_classes> runs_;
    std::uint32_t count_ = 0;
    std::vector<std::uint32_t> labels_;  // of the block
};

}  // namespace codt
