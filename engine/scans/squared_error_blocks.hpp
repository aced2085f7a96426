// What the scans of squared errors in doubles (squared_error_scan.cpp) and with bounds on values
// (squared_error_brackets.cpp) have in common: blocks whose samples are grouped by the sign of their targets,
// and the bounds that decide whether to walk a block.
//
// Splitting a side of n samples with mean m behind its first k samples, whose sum is s, lowers its squared
// error by
//
//     n c^2 / (k (n - k)),   c = s - k m.
//
// A scan keeps the largest c^2 / (k (n - k)) so far as a ratio, so that a boundary that is no better can be
// rejected without a division. Blocks (see blocks.hpp) are grouped by the sign of y. With P and N the sums of
// the block's positive and negative targets on the side, s stays within [s0 - N, s0 + P] inside the block, k
// between its values at the ends, and k (n - k) is at least its smaller end (box_room).
//
// Where this does not rule the block out, a sharper bound is used (hexagon_room). No sample adds more to s
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
#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"
#include "scans/sign_groups.hpp"

namespace codt {

// `Value` is the type of targets: double, or an integer type, whose quotients are floats.
template <class Value>
struct SignedBlock : BlockRange {
    using Quotient = std::conditional_t<std::is_same_v<Value, double>, double, float>;

    std::uint32_t middle;         // its samples with y > 0 end here in `grouped`
    Value positive, negative;     // sum of its targets above zero, and of the others with their sign reversed
    Quotient per_rise, per_fall;  // 1 / y+ and 1 / y-, zero where there is none
};

// The loss of n samples in one leaf, given the sums of their targets and squares; and the loss of the best
// tree of depth at most one, given the gain of its split.
inline double leaf_error(double n, double sum, double squares) {
    return std::max(0.0, squares - sum * sum / n);
}
inline double best_value(double error, double gain, double price) {
    return std::min(error, std::max(0.0, error - gain) + price);
}

// Computed from the bits, because the compiler would branch.
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

// The samples with their targets: the part that the kernels have in common.
template <class Value>
class SignedSamples : public KernelDefaults {
 public:
    using Block = SignedBlock<Value>;
    // Doubles are stored again in the order of `grouped`, because many samples do not fit the cache. With 32
    // bits that gains nothing.
    static constexpr bool in_a_row = std::is_same_v<Value, double>;

    // `y` has a target for every row of the data set.
    explicit SignedSamples(std::span<const double> y) : y_(y) {}

    // Calls take(id, y) for all samples. The subset's mean is subtracted from the targets, so that sums stay
    // small and lose few digits.
    template <class Take>
    void read_targets(const Subset& subset, const Take& take) {
        const std::size_t cells = static_cast<std::size_t>(subset.size()) * subset.features();
        grouped_.ensure(cells);
        if constexpr (in_a_row) values_.ensure(cells);
        target.resize(subset.size());
        const auto samples = subset.samples();
        double mean = 0;
        for (const std::uint32_t row : samples) mean += y_[row];
        mean /= subset.size();
        for (std::uint32_t id = 0; id < subset.size(); ++id) take(id, y_[samples[id]] - mean);
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        std::uint32_t* const grouped = this->grouped(cell);
        [[maybe_unused]] Value* const values = values_.data() + (in_a_row ? cell : 0);
        std::uint32_t front = begin;
        std::uint32_t back = block.end;
        SignGroups<Value> groups;
        for (std::uint32_t p = begin; p < block.end; ++p) {
            // Both places are free, so both are written: no branch is needed.
            const std::uint32_t id = order[p];
            const Value y = target[id];
            grouped[front] = grouped[back - 1] = id;
            if constexpr (in_a_row) values[front] = values[back - 1] = y;
            front += is_positive(y);
            back -= 1 - is_positive(y);
            groups.positive += positive_part(y);
            groups.negative += positive_part(-y);
            groups.largest = std::max(groups.largest, y);
            groups.least = std::min(groups.least, y);
        }
        groups.positives = front - begin;
        describe(begin, groups, block);
    }

    std::vector<Value> target;  // of every id, as the kernel wants it

    // Calls visit(id, y) for the samples from p to `end` of those grouped by sign.
    template <class Visit>
    CODT_INLINE void for_each_grouped(std::size_t cell, std::uint32_t p, std::uint32_t end,
                                      const Visit& visit) const {
        for (; p < end; ++p) {
            const std::uint32_t id = grouped_.data()[cell + p];
            if constexpr (in_a_row)
                visit(id, values_.data()[cell + p]);
            else
                visit(id, target[id]);
        }
    }

 protected:
    // Where the grouped ids of a feature whose tables begin at `cell` are.
    std::uint32_t* grouped(std::size_t cell) { return grouped_.data() + cell; }

    static void describe(std::uint32_t begin, const SignGroups<Value>& groups, Block& block) {
        using Quotient = typename Block::Quotient;
        block.middle = begin + groups.positives;
        block.positive = groups.positive;
        block.negative = groups.negative;
        block.per_rise = groups.largest > 0 ? 1 / static_cast<Quotient>(groups.largest) : 0;
        block.per_fall = groups.least < 0 ? -1 / static_cast<Quotient>(groups.least) : 0;
    }

 private:
    std::span<const double> y_;
    Buffer<std::uint32_t> grouped_;  // ids of each feature, within each block those with y > 0 first
    Buffer<Value> values_;           // the targets of these
};

template <class Register>
CODT_INLINE Register smaller(const Register& a, const Register& b) {
    return a < b ? a : b;
}
template <class Register>
CODT_INLINE Register larger(const Register& a, const Register& b) {
    return a > b ? a : b;
}

// A pass over a stream. `Numbers` defines the arithmetic:
//
//     Sum, Counts          packs of sums, and of the samples of a block
//     Code                 in which lanes a sample goes left
//     add(sum, code, y), subtract(sum, code, y), count(counts, code)
//                          a sample in the lanes in which it goes left
//     Side                 one side with its best ratio so far, for each register i of lanes:
//       room(i, s, k), take(i, s, k)   negative where a boundary might beat the best; takes what does
//       box_room(i, reach, bottom)     negative where |c| <= reach over k (n - k) >= bottom might
//       corner_room(i, c, k)           negative where a corner of the hexagon might
template <class Numbers, class OfBlock>
struct SquaredErrorPass {
    using Block = OfBlock;
    using Side = typename Numbers::Side;
    using Sum = typename Numbers::Sum;
    using Room = typename Side::Pack;
    using Register = typename Room::Register;
    using Whole = typename Sum::Register;
    using Value = std::remove_cvref_t<decltype(Whole{}[0])>;

    const Numbers numbers;
    const SignedSamples<Value>& samples;
    const Stream<Block>& stream;
    const typename Numbers::Code* code;
    Side left, right;

    CODT_INLINE static Register real(const Whole& a) { return __builtin_convertvector(a, Register); }

    // Takes the boundary behind `passed` samples with sum `total`, of which `count` with sum `sum` are on the
    // left side, for one side or both.
    template <bool Left, bool Right>
    CODT_INLINE void offer(const Sum& sum, const Sum& count, Value total, Value passed) {
        Room room;
        for (std::size_t i = 0; i < Sum::registers; ++i) {
            if constexpr (Left) room.r[i] = left.room(i, real(sum.r[i]), real(count.r[i]));
            if constexpr (Right) {
                const Register other = right.room(i, real(total - sum.r[i]), real(passed - count.r[i]));
                room.r[i] = Left ? smaller<Register>(room.r[i], other) : other;
            }
        }
        if (!any_negative(room)) return;
        for (std::size_t i = 0; i < Sum::registers; ++i) {
            if constexpr (Left) left.take(i, real(sum.r[i]), real(count.r[i]));
            if constexpr (Right) right.take(i, real(total - sum.r[i]), real(passed - count.r[i]));
        }
    }

    // A block with the sums before it, and inside it on the left side: s0, k0, P, N and k1.
    struct Counted {
        const Block* block;
        std::uint32_t begin;
        Value total;
        Sum s, k, rise, fall, next;

        CODT_INLINE void start() {
            begin = 0;
            total = 0;
            s.clear();
            k.clear();
        }
        CODT_INLINE Sum end_sum() const {
            Sum sum;
            for (std::size_t i = 0; i < Sum::registers; ++i) sum.r[i] = s.r[i] + (rise.r[i] - fall.r[i]);
            return sum;
        }
        CODT_INLINE Value end_total() const { return total + (block->positive - block->negative); }
        // Moves on past the block.
        CODT_INLINE void go_on(const Sum& sum, Value all) {
            s = sum;
            k = next;
            total = all;
            begin = block->end;
        }
    };

    CODT_INLINE void count(const Block& block, Counted& now) const {
        Sum rise, fall;
        typename Numbers::Counts counts;
        rise.clear();
        fall.clear();
        counts.clear();
        samples.for_each_grouped(stream.cell, now.begin, block.middle,
                                 [&](std::uint32_t id, Value y) CODT_INLINE_LAMBDA {
                                     numbers.add(rise, code[id], y);
                                     numbers.count(counts, code[id]);
                                 });
        samples.for_each_grouped(stream.cell, block.middle, block.end,
                                 [&](std::uint32_t id, Value y) CODT_INLINE_LAMBDA {
                                     numbers.subtract(fall, code[id], y);
                                     numbers.count(counts, code[id]);
                                 });
        now.block = &block;
        now.rise = rise;
        now.fall = fall;
        for (std::size_t i = 0; i < Sum::registers; ++i)
            now.next.r[i] = now.k.r[i] + __builtin_convertvector(counts.r[i], Whole);
    }

    // A block as one side sees it: k from k0 to k1, s between `low` and `top`.
    struct Inside {
        Register low, top, k0, k1;
    };
    CODT_INLINE static Inside on_left(std::size_t i, const Counted& in) {
        return {real(in.s.r[i] - in.fall.r[i]), real(in.s.r[i] + in.rise.r[i]), real(in.k.r[i]),
                real(in.next.r[i])};
    }
    CODT_INLINE static Inside on_right(std::size_t i, const Counted& in) {
        const Whole before = in.total - in.s.r[i];
        return {real(before - (in.block->negative - in.fall.r[i])),
                real(before + (in.block->positive - in.rise.r[i])),
                real(static_cast<Value>(in.begin) - in.k.r[i]),
                real(static_cast<Value>(in.block->end) - in.next.r[i])};
    }

    // The bound by the box; positive where the side has no boundary.
    CODT_INLINE static Register box_room(const Side& side, std::size_t i, const Inside& in) {
        const Register one = Register{} + 1;
        const Register a = larger<Register>(in.k0, one);
        const Register b = smaller<Register>(in.k1, side.count.r[i] - one);
        const Register shift_a = a * side.mean.r[i];
        const Register shift_b = b * side.mean.r[i];
        const Register up = in.top - smaller<Register>(shift_a, shift_b);
        const Register down = larger<Register>(shift_a, shift_b) - in.low;
        const Register bottom = smaller<Register>(a * (side.count.r[i] - a), b * (side.count.r[i] - b));
        return a <= b ? side.box_room(i, larger<Register>(up, down), bottom) : one;
    }

    // The bound by the corners of the hexagon other than the block's ends; the block lifts s by `rise` in all
    // and lowers it by `fall`.
    CODT_INLINE static Register hexagon_room(const Side& side, std::size_t i, const Inside& in,
                                             const Register& rise, const Register& fall, const Block& block) {
        const Register one = Register{} + 1;
        const Register a = larger<Register>(in.k0, one);
        const Register b = smaller<Register>(in.k1, side.count.r[i] - one);
        const Register up = rise * block.per_rise;
        const Register down = fall * block.per_fall;
        const auto at = [&](const Register& s, const Register& place) CODT_INLINE_LAMBDA {
            const Register k = smaller<Register>(larger<Register>(place, a), b);
            return side.corner_room(i, s - k * side.mean.r[i], k);
        };
        const Register result =
            smaller<Register>(smaller<Register>(at(in.top, in.k0 + up), at(in.top, in.k1 - down)),
                              smaller<Register>(at(in.low, in.k0 + down), at(in.low, in.k1 - up)));
        return a <= b ? result : one;
    }

    // Whether one of a block's boundaries might beat the best, by the cheaper bound.
    CODT_INLINE bool is_doubtful(const Counted& in) const {
        Room room;
        for (std::size_t i = 0; i < Sum::registers; ++i)
            room.r[i] =
                smaller<Register>(box_room(left, i, on_left(i, in)), box_room(right, i, on_right(i, in)));
        return any_negative(room);
    }

    // For both sides, the bound on a block whose ends have been evaluated by the hexagon: negative where an
    // inner boundary might beat the best.
    CODT_INLINE void rooms(const Counted& in, Room& on_the_left, Room& on_the_right) const {
        const Block& block = *in.block;
        for (std::size_t i = 0; i < Sum::registers; ++i) {
            on_the_left.r[i] =
                hexagon_room(left, i, on_left(i, in), real(in.rise.r[i]), real(in.fall.r[i]), block);
            on_the_right.r[i] = hexagon_room(right, i, on_right(i, in), real(block.positive - in.rise.r[i]),
                                             real(block.negative - in.fall.r[i]), block);
        }
    }

    // Walks such a block for the sides on which that bound does not rule it out.
    CODT_INLINE void look_into(const Counted& in) {
        Room on_the_left, on_the_right;
        rooms(in, on_the_left, on_the_right);
        walk_sides(in, any_negative(on_the_left), any_negative(on_the_right));
    }
    CODT_INLINE void walk_sides(const Counted& in, bool walk_left, bool walk_right) {
        for_sides(walk_left, walk_right, [&](auto on_the_left, auto on_the_right) CODT_INLINE_LAMBDA {
            walk<on_the_left, on_the_right>(in);
        });
    }

    template <bool Left, bool Right>
    CODT_INLINE void walk(const Counted& in) {
        Sum sum = in.s, count = in.k;
        Value total = in.total;
        walk_groups<Walk::to_the_end>(
            stream, in.begin, *in.block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                const Value y = samples.target[id];
                numbers.add(sum, code[id], y);
                numbers.count(count, code[id]);
                total += y;
            },
            [&](std::uint32_t p)
                CODT_INLINE_LAMBDA { offer<Left, Right>(sum, count, total, static_cast<Value>(p)); });
    }
};

}  // namespace codt
