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

inline void flip(std::uint64_t* bits, std::uint32_t r) {
    bits[r / 64] ^= std::uint64_t{1} << (r % 64);
}
inline bool holds(const std::uint64_t* bits, std::uint32_t r) {
    return (bits[r / 64] >> (r % 64) & 1) != 0;
}

// The first bit from r on, and the last one below r, of the words that `word` returns; there must be one.
template <class Word>
std::uint32_t bit_from(const Word& word, std::uint32_t r) {
    std::size_t w = r / 64;
    std::uint64_t bits = word(w) & (~std::uint64_t{0} << (r % 64));
    while (bits == 0) bits = word(++w);
    return static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(bits));
}
template <class Word>
std::uint32_t bit_until(const Word& word, std::uint32_t r) {
    std::size_t w = r / 64;
    std::uint64_t bits = word(w) & ~(~std::uint64_t{0} << (r % 64));
    while (bits == 0) bits = word(--w);
    return static_cast<std::uint32_t>(64 * w) + 63 - static_cast<std::uint32_t>(std::countl_zero(bits));
}

// The samples of a side that `before` holds, or those that it does not hold. The caller keeps the bits, and
// may change them.
template <bool Before>
struct PartByBits {
    const std::uint64_t* side;
    const std::uint64_t* before;

    std::uint64_t word(std::size_t w) const { return side[w] & (Before ? before[w] : ~before[w]); }
    std::uint32_t from(std::uint32_t r) const {
        return bit_from([this](std::size_t w) { return word(w); }, r);
    }
    std::uint32_t until(std::uint32_t r) const {
        return bit_until([this](std::size_t w) { return word(w); }, r);
    }
};

// The samples of a side that are among the first k of an order, or those that are not; `place` is by rank.
template <bool Before>
struct PartByPlaces {
    const std::uint64_t* side;
    const std::uint32_t* place;
    std::uint32_t k;

    bool holds(std::uint32_t r) const { return (place[r] < k) == Before; }
    std::uint32_t from(std::uint32_t r) const {
        const auto word = [this](std::size_t w) { return side[w]; };
        for (r = bit_from(word, r); !holds(r);) r = bit_from(word, r + 1);
        return r;
    }
    std::uint32_t until(std::uint32_t r) const {
        const auto word = [this](std::size_t w) { return side[w]; };
        for (r = bit_until(word, r); !holds(r);) r = bit_until(word, r);
        return r;
    }
};

// A rank, and what the samples of a part below it amount to.
struct LowSamples {
    std::uint32_t rank = 0;
    std::int32_t weight = 0, sum = 0;
};

// One part of a side: the samples before the boundary or those behind it, whichever `Samples` are.
template <class Samples>
class WalkedPart {
 public:
    WalkedPart(const PinballTargets& targets, const Samples& samples)
        : targets_(targets), samples_(samples) {}

    // The weight of the part, and any rank to begin with, the nearer to its quantile the better.
    void start(std::int32_t weight, const LowSamples& low) {
        weight_ = weight;
        low_weight_ = low.weight;
        low_sum_ = low.sum;
        at_ = low.rank;
        if (weight_ == 0) return;
        if (low_weight_ == weight_)
            step_down();
        else
            at_ = samples_.from(at_);
        settle();
    }

    // The same from the first rank of a bucket that is the quantile's, or the one below.
    void start_in_bucket(std::int32_t weight, std::int32_t bucket, LowSamples low) {
        if constexpr (requires { samples_.word(0); }) {
            if (low.weight < weight && targets_.uniform[bucket]) skip_equal(weight, bucket, low);
        }
        start(weight, low);
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
                at_ = samples_.from(r + 1);
            else
                step_down();
        }
        settle();
    }

    // G(q n).
    double lowest() const { return weight_ == 0 ? 0.0 : low_sum_ + open_ * targets_.mean[at_]; }
    // The sample at the quantile; at the beginning of the order if there is none.
    LowSamples low() const { return weight_ == 0 ? LowSamples{} : LowSamples{at_, low_weight_, low_sum_}; }

 private:
    double share() const { return targets_.quantile * weight_; }

    // Equal samples below the quantile need not be looked at one by one.
    void skip_equal(std::int32_t weight, std::int32_t bucket, LowSamples& low) const {
        const auto& sample = targets_.whole[low.rank];
        for (;;) {
            const std::uint32_t next = 64 * (low.rank / 64 + 1);
            if (next > targets_.first[bucket + 1]) return;
            const int held =
                std::popcount(samples_.word(low.rank / 64) & (~std::uint64_t{0} << (low.rank % 64)));
            if (low.weight + held * sample.weight >= targets_.quantile * weight) return;
            low = {next, low.weight + held * sample.weight, low.sum + held * sample.sum};
        }
    }

    void settle() {
        while (low_weight_ > share()) step_down();
        while (low_weight_ + targets_.whole[at_].weight < share()) {
            add_low(targets_.whole[at_], 1);
            at_ = samples_.from(at_ + 1);
        }
        open_ = share() - low_weight_;
    }

    void step_down() {
        at_ = samples_.until(at_);
        add_low(targets_.whole[at_], -1);
    }

    void add_low(const PinballTargets::Whole& sample, std::int32_t sign) {
        low_weight_ += sign * sample.weight;
        low_sum_ += sign * sample.sum;
    }

    const PinballTargets& targets_;
    const Samples samples_;
    std::int32_t weight_ = 0;
    std::uint32_t at_ = 0;                       // the sample at the quantile
    std::int32_t low_weight_ = 0, low_sum_ = 0;  // of the samples below it
    double open_ = 0;                            // the weight up to the quantile that these leave open
};

}  // namespace codt
