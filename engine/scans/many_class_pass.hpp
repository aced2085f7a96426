// A depth-one tree that splits a side's n samples at boundary p classifies correctly
//
//     head(p) + tail(p),   head(p) = max_c a_c(p),   tail(p) = max_c (n_c - a_c(p)),
//
// where a_c(p) counts the side's samples of class c before p. Along the order the heads a_c only grow and the
// tails n_c - a_c only fall. So for every boundary of a block (see blocks.hpp), the head of class c at the
// block's end plus the tail of class d at its start, or at any place before, bounds their sum. Two kinds of
// pairs can be skipped: c = d is a leaf, and a class c that does not occur in the block has the same head as
// at the block's start, where the pair was no better than the best found so far. While no other pair can beat
// the best, in any lane on either side, only counts are needed, and these do not depend on the order inside
// the block: its samples are grouped by class, and each group is counted in a register. A block that might do
// better is walked twice, backwards for tail and forwards for head.
//
// Missing values (see dataset.hpp): with these first instead of last, the heads are larger by the missing
// samples of their class and the tails smaller. One pass over the other samples keeps the bounds of both
// orders; only the first boundary of the second order, between missing and other samples, has to be offered
// beforehand, because heads do not begin at zero there.
//
// A sample of weight w counts as w samples. Weights are whole numbers, so they are held in integers: of 16
// bits if the total weight of the subset fits, else of 32, else of 64, which always suffice. The sum of a
// head and a tail of one class may exceed that weight, but its distance to the best found does not, so lanes
// that wrap around still have the right distance.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "common/buffer.hpp"
#include "scans/class_groups.hpp"
#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"

namespace codt {

struct ClassBlock : BlockRange {
    std::uint32_t runs;  // as many as it has classes
    std::size_t first_run;
};

// Whether the counters count samples or sum up weights.
enum class Counting { samples, weights };

// The counts of one class, a row of lanes each; weights are summed instead of samples if these are counted.
// The totals are fixed by the thresholds, all others change during a pass.
template <class Int>
struct alignas(pack_bytes) ClassRows {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int total[2][lanes];     // samples of the class left of each threshold, and right of it
    Int tail[2][lanes];      // those still to come, as of the last call of take_tails
    Int count[lanes];        // samples passed so far that are left of each threshold
    Int start_count[lanes];  // `count` at the start of the block
    Int passed;              // all samples passed so far
    Int start_passed;        // `passed` at the start of the block
};

// What is different in the second order of a feature that misses values.
template <class Int>
struct alignas(pack_bytes) SecondRows {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int missing[2][lanes];  // samples of the class that miss the value, left and right of each threshold
    Int total[2][lanes];    // all others
    Int tail[2][lanes];
};

template <class Int>
struct ClassTable {
    std::vector<ClassRows<Int>> rows;
    std::vector<SecondRows<Int>> second;
};

// The samples of the subset, by id.
template <class Int, Counting What>
struct ClassSamples {
    static constexpr bool weighted = What == Counting::weights;
    // Ids fit a counter that can count all samples; with weights there may be more samples, as some weigh
    // nothing.
    using Id = std::conditional_t<weighted, std::uint32_t, std::make_unsigned_t<Int>>;

    std::vector<std::uint16_t> label;
    std::vector<Int> weight;     // if weights are counted
    Buffer<Id> grouped;          // the ids of each block of each feature, grouped by class
    std::vector<ClassRun> runs;  // of all blocks

    CODT_INLINE Int weight_of([[maybe_unused]] std::uint32_t id) const {
        if constexpr (weighted)
            return weight[id];
        else
            return 1;
    }
};

// Where the lanes of a sample are read: by its bucket, or in a row of its own.
enum class RowsBy { bucket, sample };

template <class Int, Counting What, std::size_t Bytes, RowsBy Rows>
struct ManyClassPass {
    using P = Pack<Int, Bytes>;
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr bool weighted = What == Counting::weights;
    enum class Order { first, second };

    // One number per lane on each side.
    struct Both {
        P left, right;
        CODT_INLINE void clear() {
            left.clear();
            right.clear();
        }
        CODT_INLINE void maximum(const Both& a) {
            left.maximum(a.left);
            right.maximum(a.right);
        }
        CODT_INLINE void minimum(const Both& a) {
            left.minimum(a.left);
            right.minimum(a.right);
        }
        CODT_INLINE void add(const Both& a) {
            left.add(a.left);
            right.add(a.right);
        }
        CODT_INLINE void subtract(const Both& a) {
            left.subtract(a.left);
            right.subtract(a.right);
        }
    };

    const LaneRows<Int, lanes>&plus, &minus;
    const ClassSamples<Int, What>& samples;
    const Stream<ClassBlock>& stream;
    const std::uint8_t* bucket;  // or the rows of all samples
    ClassTable<Int>& table;
    Both best;

    CODT_INLINE std::span<const ClassRun> runs_of(const ClassBlock& block) const {
        return {samples.runs.data() + block.first_run, block.runs};
    }
    // Adds a sample to a count, or removes it. Masks work because all bits of minus one are set.
    CODT_INLINE void enter(P& count, std::uint32_t id) const {
        [[maybe_unused]] const std::uint8_t* const row = bucket + std::size_t{lanes} * id;
        if constexpr (Rows == RowsBy::sample && weighted)
            count.add_widened(row, samples.weight[id]);
        else if constexpr (Rows == RowsBy::sample)
            count.add_widened(row);
        else if constexpr (weighted)
            count.add_masked(minus[bucket[id]], samples.weight[id]);
        else
            count.add_row(plus[bucket[id]]);
    }
    CODT_INLINE void leave(P& count, std::uint32_t id) const {
        [[maybe_unused]] const std::uint8_t* const row = bucket + std::size_t{lanes} * id;
        if constexpr (Rows == RowsBy::sample && weighted)
            count.add_widened(row, static_cast<Int>(-samples.weight[id]));
        else if constexpr (Rows == RowsBy::sample)
            count.subtract_widened(row);
        else if constexpr (weighted)
            count.subtract_masked(minus[bucket[id]], samples.weight[id]);
        else
            count.add_row(minus[bucket[id]]);
    }

    // What an order says of a class.
    template <Order Which>
    CODT_INLINE const Int (&total_of(std::size_t c) const)[2][lanes] {
        if constexpr (Which == Order::first)
            return table.rows[c].total;
        else
            return table.second[c].total;
    }
    template <Order Which>
    CODT_INLINE Int (&tail_of(std::size_t c))[2][lanes] {
        if constexpr (Which == Order::first)
            return table.rows[c].tail;
        else
            return table.second[c].tail;
    }
    // The head of a class where `left` of its samples are passed on the left side and `passed` on both.
    template <Order Which>
    CODT_INLINE void head_of(std::size_t c, const P& left, Int passed, Both& head) const {
        head.left = head.right = left;
        head.right.subtract_from(passed);
        if constexpr (Which == Order::second) {
            P missing;
            missing.load(table.second[c].missing[0]);
            head.left.add(missing);
            missing.load(table.second[c].missing[1]);
            head.right.add(missing);
        }
    }
    // The tail of a class at the same place.
    template <Order Which>
    CODT_INLINE void rest_of(std::size_t c, P left, Int passed, Both& rest) const {
        rest.left.load(total_of<Which>(c)[0]);
        rest.left.subtract(left);
        left.subtract_from(passed);
        rest.right.load(total_of<Which>(c)[1]);
        rest.right.subtract(left);
    }

    // The two largest tails of different classes at the start of the block.
    template <Order Which>
    CODT_INLINE void take_tails(Both& first, Both& second) {
        first.clear();
        second.clear();
        for (std::size_t c = 0; c < table.rows.size(); ++c) {
            const ClassRows<Int>& rows = table.rows[c];
            P count;
            count.load(rows.start_count);
            Both rest;
            rest_of<Which>(c, count, rows.start_passed, rest);
            rest.left.store(tail_of<Which>(c)[0]);
            rest.right.store(tail_of<Which>(c)[1]);
            Both lesser = first;
            lesser.minimum(rest);
            second.maximum(lesser);
            first.maximum(rest);
        }
    }

    // The largest sum of the head of a class of the block, at its end, and the tail of another class.
    template <Order Which>
    CODT_INLINE void pair_bound(const ClassBlock& block, const Both& first, const Both& second, Both& bound) {
        Both both = first;
        both.add(second);
        bound.clear();
        for (const ClassRun& run : runs_of(block)) {
            const ClassRows<Int>& rows = table.rows[run.label];
            P count;
            count.load(rows.count);
            Both head, tail;
            head_of<Which>(run.label, count, rows.passed, head);
            tail.left.load(tail_of<Which>(run.label)[0]);
            tail.right.load(tail_of<Which>(run.label)[1]);
            // The largest tail of another class: `second` if this class has the first, else `first`.
            tail.maximum(second);
            head.add(both);
            head.subtract(tail);
            bound.maximum(head);
        }
    }

    // The largest heads at the start of the block, and heads and tails at its end.
    template <Order Which>
    CODT_INLINE void take_ends(Both& start_head, Both& head, Both& tail) const {
        start_head.clear();
        head.clear();
        tail.clear();
        for (std::size_t c = 0; c < table.rows.size(); ++c) {
            const ClassRows<Int>& rows = table.rows[c];
            P count;
            Both of_class;
            count.load(rows.start_count);
            head_of<Which>(c, count, rows.start_passed, of_class);
            start_head.maximum(of_class);
            count.load(rows.count);
            head_of<Which>(c, count, rows.passed, of_class);
            head.maximum(of_class);
            rest_of<Which>(c, count, rows.passed, of_class);
            tail.maximum(of_class);
        }
    }

    CODT_INLINE void offer(const Both& head, const Both& tail) {
        Both sum = head;
        sum.add(tail);
        best.maximum(sum);
    }

    // Whether best < bound in any lane.
    CODT_INLINE bool beaten_by(const Both& bound) const {
        P slack = best.left, other = best.right;
        slack.subtract(bound.left);
        other.subtract(bound.right);
        slack.minimum(other);
        return any_negative(slack);
    }

    // Visits the boundaries inside a block: backwards from its end, where `tail` is that of the end, then
    // forwards.
    template <Order Which>
    CODT_INLINE void walk(std::uint32_t begin, const ClassBlock& block, Both head, Both tail) {
        Both tails[block_size];
        for (std::uint32_t k = block.end; k-- > begin;) {
            tails[k - begin] = tail;
            const std::uint32_t id = stream.ordered[k];
            const std::size_t c = samples.label[id];
            ClassRows<Int>& rows = table.rows[c];
            P count;
            const Int weight = samples.weight_of(id);
            count.load(rows.count);
            leave(count, id);
            count.store(rows.count);
            rows.passed = static_cast<Int>(rows.passed - weight);
            Both rest;
            rest_of<Which>(c, count, rows.passed, rest);
            tail.maximum(rest);
        }
        walk_groups<Walk::to_the_end>(
            stream, begin, block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                const std::size_t c = samples.label[id];
                ClassRows<Int>& rows = table.rows[c];
                const Int weight = samples.weight_of(id);
                P count;
                count.load(rows.count);
                enter(count, id);
                count.store(rows.count);
                rows.passed = static_cast<Int>(rows.passed + weight);
                Both of_class;
                head_of<Which>(c, count, rows.passed, of_class);
                head.maximum(of_class);
            },
            [&](std::uint32_t k) CODT_INLINE_LAMBDA { offer(head, tails[k - 1 - begin]); });
    }

    // Adds the samples of a run, from place k on, to a count; returns their weight.
    CODT_INLINE Int add_run(const ClassRun& run, std::uint32_t& k, P& count) const {
        const auto* const grouped = samples.grouped.data() + stream.cell;
        [[maybe_unused]] Int passed = 0;
        for (const std::uint32_t stop = k + run.length; k < stop; ++k) {
            const std::uint32_t id = grouped[k];
            enter(count, id);
            if constexpr (weighted) passed = static_cast<Int>(passed + samples.weight_of(id));
        }
        return weighted ? passed : static_cast<Int>(run.length);
    }

    // Counts the samples of a block; `heads` are the largest of its classes at its end, in each order.
    template <bool Two>
    CODT_INLINE void count_block(std::uint32_t k, const ClassBlock& block, Both (&heads)[2]) {
        heads[0].clear();
        if constexpr (Two) heads[1].clear();
        for (const ClassRun& run : runs_of(block)) {
            ClassRows<Int>& rows = table.rows[run.label];
            P count;
            count.load(rows.count);
            const Int passed = add_run(run, k, count);
            count.store(rows.count);
            rows.passed = static_cast<Int>(rows.passed + passed);
            Both head;
            head_of<Order::first>(run.label, count, rows.passed, head);
            heads[0].maximum(head);
            if constexpr (Two) {
                head_of<Order::second>(run.label, count, rows.passed, head);
                heads[1].maximum(head);
            }
        }
    }

    // Counts the samples that miss the value, and offers the boundary behind them.
    CODT_INLINE void begin_second_order() {
        const P zero{};
        for (std::size_t c = 0; c < table.rows.size(); ++c) {
            zero.store(table.second[c].missing[0]);
            zero.store(table.second[c].missing[1]);
        }
        std::uint32_t k = stream.block_count ? stream.blocks[stream.block_count - 1].end : 0;
        for (const ClassRun& run : runs_of(*stream.missing)) {
            P left{};
            const Int passed = add_run(run, k, left);
            left.store(table.second[run.label].missing[0]);
            left.subtract_from(passed);
            left.store(table.second[run.label].missing[1]);
        }
        Both head, tail;
        head.clear();
        tail.clear();
        for (std::size_t c = 0; c < table.rows.size(); ++c) {
            SecondRows<Int>& second = table.second[c];
            Both missing, rest;
            missing.left.load(second.missing[0]);
            missing.right.load(second.missing[1]);
            rest.left.load(table.rows[c].total[0]);
            rest.right.load(table.rows[c].total[1]);
            rest.subtract(missing);
            rest.left.store(second.total[0]);
            rest.right.store(second.total[1]);
            head.maximum(missing);
            tail.maximum(rest);
        }
        offer(head, tail);
    }

    // Looks into a block whose heads, with the largest tails known, might beat the best.
    template <Order Which>
    CODT_INLINE void look_into(std::uint32_t begin, const ClassBlock& block, Both (&largest)[2]) {
        Both bound;
        pair_bound<Which>(block, largest[0], largest[1], bound);
        if (!beaten_by(bound)) return;
        take_tails<Which>(largest[0], largest[1]);
        pair_bound<Which>(block, largest[0], largest[1], bound);
        if (!beaten_by(bound)) return;
        Both start_head, head, tail;
        take_ends<Which>(start_head, head, tail);
        offer(head, tail);
        if (block.several && beaten_by(bound)) walk<Which>(begin, block, start_head, tail);
    }

    template <bool Two>
    CODT_INLINE void run() {
        const P zero{};
        for (ClassRows<Int>& rows : table.rows) {
            zero.store(rows.count);
            zero.store(rows.start_count);
            rows.passed = rows.start_passed = 0;
        }
        if constexpr (Two) begin_second_order();
        Both largest[2][2];  // of each order: the two largest tails
        take_tails<Order::first>(largest[0][0], largest[0][1]);
        if constexpr (Two) take_tails<Order::second>(largest[1][0], largest[1][1]);
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const ClassBlock block = stream.blocks[b];
            Both heads[2];
            count_block<Two>(begin, block, heads);
            heads[0].add(largest[0][0]);
            if (beaten_by(heads[0])) look_into<Order::first>(begin, block, largest[0]);
            if constexpr (Two) {
                heads[1].add(largest[1][0]);
                if (beaten_by(heads[1])) look_into<Order::second>(begin, block, largest[1]);
            }
            for (const ClassRun& run : runs_of(block)) {
                ClassRows<Int>& rows = table.rows[run.label];
                P count;
                count.load(rows.count);
                count.store(rows.start_count);
                rows.start_passed = rows.passed;
            }
            begin = block.end;
        }
    }
};

}  // namespace codt
