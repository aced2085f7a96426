// What all scans of many thresholds have in common (Scanner and BracketScanner): the driver keeps the blocks
// of every feature, the streams and the buckets, and runs a kernel over them. A kernel is written for one
// kind of numbers; it has
//
//     lanes                        how many thresholds it takes at once
//     Block                        a BlockRange, and what a pass needs to know of the samples in it
//     Sums                         what it adds up over the samples of a side
//     read(subset)                 reads the samples; false if it cannot scan them
//     summarise(order, cell, begin, block)
//                                  fills in the block of order[begin], order[begin + 1], ...; its own tables
//                                  of the feature begin at `cell`
//     nothing(), add(sums, id)     the sums over no samples; adds a sample to them
//     rest(left, right)            the sums of the other side
//     start(side, lane, n, sums, known)
//                                  a side of a threshold has n samples with these sums; `known` is a loss
//                                  that some split of the side attains, perhaps infinite
//     pad(lane)                    the lane has no threshold, every sample is on its left: it must never ask
//                                  for a walk
//     run<Bytes>(kernel, stream, code)
//                                  a pass over one second feature, with registers of so many bytes
//     value(side, lane, lambda)    what the passes have found; a kernel of brackets has `bracket` instead
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/stop.hpp"
#include "data/subset.hpp"
#include "scans/blocks.hpp"
#include "scans/dispatch.hpp"
#include "scans/lanes.hpp"
#include "scans/scanner.hpp"

namespace codt {

// The samples from the end of the previous block to `end`.
struct BlockRange {
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;  // more than one group of equal values
};

// The order of one second feature.
template <class Block>
struct Stream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const Block* blocks;
    std::uint32_t block_count;
    const Block*
        missing;  // the samples behind the last block miss the value, and may come first as well; or null
    std::size_t cell;  // where its part of a table with one place per sample and feature begins
};

// Walks the groups of a block from its first sample on: step(id) for every sample, boundary(k) behind each
// group, k samples from the beginning of the order. `inside` leaves out the last group, behind which
// the block ends.
enum class Walk { inside, to_the_end };
template <Walk Where, class Block, class Step, class Boundary>
CODT_INLINE void walk_groups(const Stream<Block>& stream, std::uint32_t begin, const Block& block,
                             const Step& step, const Boundary& boundary) {
    std::uint32_t k = begin;
    const std::uint32_t* group = stream.group_end + block.first_group;
    for (; Where == Walk::inside ? *group < block.end : k < block.end; ++group) {
        for (; k < *group; ++k) step(stream.ordered[k]);
        boundary(k);
    }
}

// Defaults that suit most kernels.
struct KernelDefaults {
    // Whether a pass takes both orders of a feature that misses values; otherwise each has a pass of its own.
    static constexpr bool takes_two_orders = false;
    static constexpr std::uint32_t longest_block = block_size;
    // What a pass looks up for a sample: its bucket (see lane_rows.hpp), to which a kernel may add more.
    static std::uint8_t code(std::uint32_t, std::size_t bucket) { return static_cast<std::uint8_t>(bucket); }
};

template <class Kernel>
class ScanDriver {
 public:
    template <class... Args>
    explicit ScanDriver(KernelPath path, const Args&... args)
        : kernel_(args...),
          pass_(kernel_function<Kernel, Kernel*, const Stream<Block>*, const std::uint8_t*>(path)) {}

    const Kernel& kernel() const { return kernel_; }

    bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) {
        subset_ = &subset;
        if (!kernel_.read(subset)) return false;
        code_.resize(subset.size());
        blocks_.refill(subset.features(), [&](std::uint32_t f) { add_blocks(f); });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            const bool differs = f > 0 && subset.two_orders(f - 1);
            if (subset.second_order(f) && (Kernel::takes_two_orders || !differs)) return;
            const std::uint32_t count = blocks_.count(f), missing = takes_two_orders(f) ? 1 : 0;
            streams_.push_back({subset.order(f).data(), subset.group_end(f).data(), blocks_.of(f),
                                count - missing, missing ? blocks_.of(f) + count - 1 : nullptr, cell(f)});
        });
        return true;
    }

    // Passes over all second features; values[side][j] holds an objective known beforehand. False if stopped.
    bool run(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda,
             const double* const (&values)[2], StopCondition& stop) {
        const std::uint32_t size = subset_->size();
        const auto order = subset_->order(f);
        const auto ends = subset_->group_end(f);
        std::uint8_t* const code = code_.data();
        auto left = kernel_.nothing();
        auto right = left;
        std::uint32_t k = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (const std::uint32_t end = ends[thresholds[j]]; k < end; ++k) {
                const std::uint32_t id = order[k];
                kernel_.add(left, id);
                code[id] = kernel_.code(id, j);
            }
            kernel_.rest(left, right);
            kernel_.start(0, j, k, left, values[0][j] - lambda);
            kernel_.start(1, j, size - k, right, values[1][j] - lambda);
        }
        for (; k < size; ++k) code[order[k]] = kernel_.code(order[k], thresholds.size());
        for (std::size_t j = thresholds.size(); j < Kernel::lanes; ++j) kernel_.pad(j);
        for (const Stream<Block>& stream : streams_) {
            if (stop.reached_after(size)) return false;
            pass_(&kernel_, &stream, code);
        }
        return true;
    }

 private:
    using Block = typename Kernel::Block;

    std::size_t cell(std::uint32_t f) const { return static_cast<std::size_t>(f) * subset_->size(); }

    bool takes_two_orders(std::uint32_t f) const {
        return Kernel::takes_two_orders && subset_->two_orders(f);
    }

    void add_blocks(std::uint32_t f) {
        const std::uint32_t* const order = subset_->order(f).data();
        const auto add = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t first_group,
                             std::uint32_t groups) {
            Block block;
            static_cast<BlockRange&>(block) = {end, first_group, groups > 1};
            kernel_.summarise(order, cell(f), begin, block);
            blocks_.items.push_back(block);
        };
        const auto ends = subset_->group_end(f);
        const std::size_t apart = takes_two_orders(f) ? 1 : 0;  // the group of missing values
        const auto present = ends.first(ends.size() - apart);
        for_each_block<Kernel::longest_block>(present, add);
        if (apart) add(present.back(), ends.back(), static_cast<std::uint32_t>(present.size()), 1);
    }

    Kernel kernel_;
    void (*pass_)(Kernel*, const Stream<Block>*, const std::uint8_t*);
    const Subset* subset_ = nullptr;
    std::vector<std::uint8_t> code_;  // of every id
    PerFeature<Block> blocks_;
    std::vector<Stream<Block>> streams_;
};

template <class Kernel>
class LaneScanner final : public Scanner {
 public:
    template <class... Args>
    explicit LaneScanner(KernelPath path, const Args&... args) : driver_(path, args...) {}

    std::uint32_t lanes() const override { return Kernel::lanes; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        driver_.prepare(subset, feature_rank);
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        if (!driver_.run(f, thresholds, lambda, {left, right}, stop)) return false;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            left[j] = std::min(left[j], driver_.kernel().value(0, j, lambda));
            right[j] = std::min(right[j], driver_.kernel().value(1, j, lambda));
        }
        return true;
    }

 private:
    ScanDriver<Kernel> driver_;
};

template <class Kernel>
class LaneBracketScanner final : public BracketScanner {
 public:
    template <class... Args>
    explicit LaneBracketScanner(KernelPath path, const Args&... args) : driver_(path, args...) {}

    std::uint32_t lanes() const override { return Kernel::lanes; }

    bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        return driver_.prepare(subset, feature_rank);
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda,
              const Brackets (&sides)[2], StopCondition& stop) override {
        if (!driver_.run(f, thresholds, lambda, {sides[0].upper, sides[1].upper}, stop)) return false;
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t j = 0; j < thresholds.size(); ++j)
                driver_.kernel().bracket(side, j, lambda, sides[side].lower[j], sides[side].upper[j]);
        return true;
    }

 private:
    ScanDriver<Kernel> driver_;
};

}  // namespace codt
