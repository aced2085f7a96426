// The pinball losses of the two parts of a side, in the whole units of PinballTargets, while the boundary
// between them moves sample by sample.
//
// With n the weight of a part, q the quantile and G(x) the sum of its smallest targets of weight x (of the
// last one only the share that fits), the loss of the part is
//
//     above * sum - (above + below) * G(q n).
//
// The samples of a part are bits in the order of their targets. A sample that comes or goes moves the place
// where the weight q n is reached by a sample or two, which are the next bits.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "scans/pinball_targets.hpp"

namespace codt {

using Bits = std::vector<std::uint64_t>;  // by rank

inline void flip(Bits& bits, std::uint32_t r) {
    bits[r / 64] ^= std::uint64_t{1} << (r % 64);
}
inline bool holds(const Bits& bits, std::uint32_t r) {
    return (bits[r / 64] >> (r % 64) & 1) != 0;
}

// The part of a side before the boundary, or the part behind it. The caller keeps the bits.
template <bool Before>
class WalkedPart {
 public:
    WalkedPart(const PinballTargets& targets, const Bits& side, const Bits& before)
        : targets_(targets), side_(side), before_(before) {}

    // The weight of the part, and a bucket near its quantile with what the buckets below amount to.
    void start(std::int32_t weight, std::int32_t bucket, std::int32_t low_weight, std::int32_t low_sum) {
        weight_ = weight;
        low_weight_ = low_weight;
        low_sum_ = low_sum;
        at_ = targets_.first[bucket];
        if (weight_ == 0) return;
        if (low_weight_ == weight_)
            step_down();
        else
            step_up_from(bucket);
        settle();
    }

    void insert(std::uint32_t r) {
        const auto& sample = targets_.whole[r];
        if (weight_ == 0)
            at_ = r;
        else if (r < at_)
            add_low(sample, 1);
        weight_ += sample.weight;
        settle();
    }

    void erase(std::uint32_t r) {
        const auto& sample = targets_.whole[r];
        weight_ -= sample.weight;
        if (weight_ == 0) return;
        if (r < at_) {
            add_low(sample, -1);
        } else if (r == at_) {
            if (low_weight_ < weight_)
                at_ = from(r + 1);
            else
                step_down();
        }
        settle();
    }

    // G(q n).
    double lowest() const { return weight_ == 0 ? 0.0 : low_sum_ + open_ * targets_.mean[at_]; }

 private:
    double share() const { return targets_.quantile * weight_; }

    void settle() {
        while (low_weight_ > share()) step_down();
        while (low_weight_ + targets_.whole[at_].weight < share()) {
            add_low(targets_.whole[at_], 1);
            at_ = from(at_ + 1);
        }
        open_ = share() - low_weight_;
    }

    // Like `settle`, for more than a few samples.
    void step_up_from(std::int32_t bucket) {
        const std::uint32_t end = targets_.first[bucket + 1];
        std::size_t w = at_ / 64;
        std::uint64_t bits = word(w) & (~std::uint64_t{0} << (at_ % 64));
        const auto& sample = targets_.whole[at_];
        // Equal samples need not be looked at one by one.
        while (targets_.uniform[bucket] && 64 * w + 64 <= end &&
               low_weight_ + std::popcount(bits) * sample.weight < share()) {
            low_weight_ += std::popcount(bits) * sample.weight;
            low_sum_ += std::popcount(bits) * sample.sum;
            bits = word(++w);
        }
        for (;; bits &= bits - 1) {
            while (bits == 0) bits = word(++w);
            at_ = static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(bits));
            if (low_weight_ + targets_.whole[at_].weight >= share()) return;
            add_low(targets_.whole[at_], 1);
        }
    }

    void step_down() {
        at_ = until(at_);
        add_low(targets_.whole[at_], -1);
    }

    void add_low(const PinballTargets::Whole& sample, std::int32_t sign) {
        low_weight_ += sign * sample.weight;
        low_sum_ += sign * sample.sum;
    }

    std::uint64_t word(std::size_t w) const { return side_[w] & (Before ? before_[w] : ~before_[w]); }

    // The first sample of the part from rank r on, and the last one below r; there must be one.
    std::uint32_t from(std::uint32_t r) const {
        std::size_t w = r / 64;
        std::uint64_t bits = word(w) & (~std::uint64_t{0} << (r % 64));
        while (bits == 0) bits = word(++w);
        return static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    std::uint32_t until(std::uint32_t r) const {
        std::size_t w = r / 64;
        std::uint64_t bits = word(w) & ~(~std::uint64_t{0} << (r % 64));
        while (bits == 0) bits = word(--w);
        return static_cast<std::uint32_t>(64 * w) + 63 - static_cast<std::uint32_t>(std::countl_zero(bits));
    }

    const PinballTargets& targets_;
    const Bits& side_;
    const Bits& before_;
    std::int32_t weight_ = 0;
    std::uint32_t at_ = 0;                       // the sample at the quantile
    std::int32_t low_weight_ = 0, low_sum_ = 0;  // of the samples below it
    double open_ = 0;                            // the weight up to the quantile that these leave open
};

}  // namespace codt
