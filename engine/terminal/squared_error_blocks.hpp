// What the two scans of squared errors share: blocks whose samples are grouped by the sign of their targets,
// and bounds on the boundaries inside a block.
//
// Splitting a side of n samples with mean m behind its first k samples, whose sum is s, lowers its squared
// error by
//
//     n c^2 / (k (n - k)),   c = s - k m.
//
// A scan keeps the largest c^2 / (k (n - k)) so far as a ratio, so that a boundary can be told to be no
// better without a division. Blocks (see blocks.hpp) are grouped by the sign of y. With P and N the sums of
// the block's positive and negative targets on the side, s stays within [s0 - N, s0 + P] inside the block, k
// between its values at the ends, and k (n - k) is at least its smaller end (box_room).
//
// Where this does not rule the block out, a sharper bound is asked (hexagon_room). No sample adds more to s
// than the block's largest target, y+, and none takes away more than its least one, y- with its sign
// reversed. So inside the block (k, s) stays in the hexagon of
//
//     (k0, s0)   (k0 + P / y+, s0 + P)   (k1 - N / y-, s0 + P)
//     (k1, s1)   (k0 + N / y-, s0 - N)   (k1 - P / y+, s0 - N)
//
// and n c^2 / (k (n - k)) = c^2 / k + c^2 / (n - k) is convex in both, so that it is largest at a corner. The
// first and the last are boundaries that were evaluated. Places with k < 1 or k > n - 1 are moved there,
// which makes the hexagon no smaller where boundaries are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "common/buffer.hpp"
#include "data/subset.hpp"
#include "terminal/blocks.hpp"
#include "terminal/lanes.hpp"

namespace codt {

// `Value` is the type of targets: double, or whole numbers, whose quotients are floats then.
template <class Value>
struct SignedBlock {
    using Quotient = std::conditional_t<std::is_same_v<Value, double>, double, float>;

    std::uint32_t middle;  // its samples with y > 0 end here in `grouped`
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;                 // more than one group of equal values
    Value positive, negative;     // sum of its targets above zero, and of the others with their sign reversed
    Quotient per_rise, per_fall;  // 1 / y+ and 1 / y-, zero where there is none
};

template <class Value>
struct SignedStream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* grouped;    // the same ids, within each block those with y > 0 first
    const Value* values;             // the targets of these: in a row, as many samples do not fit a cache
    const std::uint32_t* group_end;  // where its groups of equal values end
    const SignedBlock<Value>* blocks;
    std::uint32_t block_count;
};

// Told by bits where the compiler would branch.
inline std::uint32_t is_positive(std::int32_t y) {
    return static_cast<std::uint32_t>(-y) >> 31U;
}
inline std::int32_t positive_part(std::int32_t y) {
    return y & ~(y >> 31);
}
inline std::uint32_t is_positive(double y) {
    return y > 0;
}
inline double positive_part(double y) {
    return std::max(y, 0.0);
}

// The streams of a subset, with blocks of at most `Size` samples unless they are equal.
template <class Value, std::uint32_t Size>
class SignedStreams {
 public:
    // `target` holds the targets of the samples, by id, while the streams are in use.
    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank, const Value* target) {
        const std::uint32_t size = subset.size();
        const std::size_t cells = static_cast<std::size_t>(size) * subset.features();
        grouped_.ensure(cells);
        values_.ensure(cells);
        blocks_.refill(subset.features(), [&](std::uint32_t f) { group(subset, f, target); });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            const std::size_t base = static_cast<std::size_t>(f) * size;
            streams_.push_back({subset.order(f).data(), grouped_.data() + base, values_.data() + base,
                                subset.group_end(f).data(), blocks_.of(f), blocks_.count(f)});
        });
    }

    auto begin() const { return streams_.begin(); }
    auto end() const { return streams_.end(); }

 private:
    using Quotient = typename SignedBlock<Value>::Quotient;

    void group(const Subset& subset, std::uint32_t f, const Value* target) {
        const std::size_t base = static_cast<std::size_t>(f) * subset.size();
        const auto order = subset.order(f);
        std::uint32_t* const grouped = grouped_.data() + base;
        Value* const values = values_.data() + base;
        for_each_block<Size>(subset.group_end(f), [&](std::uint32_t begin, std::uint32_t end,
                                                      std::uint32_t first_group, std::uint32_t groups) {
            std::uint32_t front = begin;
            std::uint32_t back = end;
            Value positive = 0, negative = 0, largest = 0, least = 0;
            for (std::uint32_t p = begin; p < end; ++p) {
                // Both places are free, so both are written: there is nothing to branch on.
                const std::uint32_t id = order[p];
                const Value y = target[id];
                grouped[front] = grouped[back - 1] = id;
                values[front] = values[back - 1] = y;
                front += is_positive(y);
                back -= 1 - is_positive(y);
                positive += positive_part(y);
                negative += positive_part(-y);
                largest = std::max(largest, y);
                least = std::min(least, y);
            }
            blocks_.items.push_back({front, end, first_group, groups > 1, positive, negative,
                                     largest > 0 ? 1 / static_cast<Quotient>(largest) : 0,
                                     least < 0 ? -1 / static_cast<Quotient>(least) : 0});
        });
    }

    Buffer<std::uint32_t> grouped_;
    Buffer<Value> values_;
    PerFeature<SignedBlock<Value>> blocks_;
    std::vector<SignedStream<Value>> streams_;
};

template <class Register>
CODT_INLINE Register smaller(const Register& a, const Register& b) {
    return a < b ? a : b;
}
template <class Register>
CODT_INLINE Register larger(const Register& a, const Register& b) {
    return a > b ? a : b;
}

// A block as one side sees it: k from k0 to k1, s between `low` and `top`; and that side's n and m.
template <class Register>
struct BlockSide {
    Register low, top, k0, k1;
    const Register &count, &mean;
};

// The bound by the box: room(reach, bottom), which tells by its sign whether c^2 <= reach^2 over
// k (n - k) >= bottom beats the best ratio; positive where the side has no boundary.
template <class Register, class Room>
CODT_INLINE Register box_room(const BlockSide<Register>& in, const Room& room) {
    const Register one = Register{} + 1;
    const Register a = larger<Register>(in.k0, one);
    const Register b = smaller<Register>(in.k1, in.count - one);
    const Register shift_a = a * in.mean;
    const Register shift_b = b * in.mean;
    const Register up = in.top - smaller<Register>(shift_a, shift_b);
    const Register down = larger<Register>(shift_a, shift_b) - in.low;
    const Register bottom = smaller<Register>(a * (in.count - a), b * (in.count - b));
    const Register result = room(larger<Register>(up, down), bottom);
    return a <= b ? result : one;
}

// The bound by the corners of the hexagon other than the block's ends: the least room(c, k) of them. In the
// block s rises and falls over `up` = P / y+ and `down` = N / y- samples at least.
template <class Register, class Room>
CODT_INLINE Register hexagon_room(const BlockSide<Register>& in, const Register& up, const Register& down,
                                  const Room& room) {
    const Register one = Register{} + 1;
    const Register a = larger<Register>(in.k0, one);
    const Register b = smaller<Register>(in.k1, in.count - one);
    const auto at = [&](const Register& s, const Register& place) CODT_INLINE_LAMBDA {
        const Register k = smaller<Register>(larger<Register>(place, a), b);
        return room(s - k * in.mean, k);
    };
    const Register result =
        smaller<Register>(smaller<Register>(at(in.top, in.k0 + up), at(in.top, in.k1 - down)),
                          smaller<Register>(at(in.low, in.k0 + down), at(in.low, in.k1 - up)));
    return a <= b ? result : one;
}

}  // namespace codt
