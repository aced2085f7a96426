// A walk over the order of a second feature keeps the samples of every class on the left side of every
// threshold, a lane. Those on the right side are the samples so far less those on the left, and so are their
// totals. share_terms.hpp derives the values of boundaries and what a block can hold; blocks (blocks.hpp) are
// walked only where the value of their end, and what their classes can add to it, exceeds the best value in
// some lane; two in a row are taken for one block first, which spares the terms of every other end. Most
// often that is so in few lanes: with the terms of all counts in a table, these are walked one by one, which
// computes the same whole numbers as a walk of all lanes. What is left out is no better by the same
// computation, so the best value is off by no more than one value is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/buffer.hpp"
#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"

namespace codt {

inline constexpr std::uint32_t lanes_of_floats = lane_count<float>;

// The samples of one class in a block.
struct ShareRun {
    std::uint32_t label, end;  // where they end in `grouped`
};

struct ShareBlock : BlockRange {
    std::size_t first_run;  // of the runs of all blocks of all features
    std::uint64_t classes;  // that it has, a bit each: there are no more than 64
    std::uint32_t runs;
};

// A class, by lane: its samples on the left side, before some place and in all, and what the terms of both
// sides keep; then its samples on both sides, before that place and in all.
struct alignas(pack_bytes) ClassLanes {
    float count[lanes_of_floats], left_total[lanes_of_floats];
    std::int32_t kept[2][lanes_of_floats];
    float passed, total;
};

// Per lane: samples, the best value so far, and the loss of a leaf.
template <class Number>
struct alignas(pack_bytes) ShareSide {
    float n[lanes_of_floats];
    Number best[lanes_of_floats];
    double loss[lanes_of_floats];
};

// The terms of share_terms.hpp for 0, 1, ... samples, and what each differs from the one before, with which a
// few lanes are walked one by one.
struct TermTable {
    std::vector<std::int32_t> term, step;
    int few = 0;  // so many lanes
};

// What a pass works on.
template <class Number>
struct ShareWork {
    // By class: where a block, or two, begin and end, where two meet, and within one.
    std::vector<ClassLanes> before, after, middle, inside;
    std::vector<std::uint16_t> label;  // of every id
    Buffer<std::uint32_t> grouped;     // ids of each feature, within each block by class
    std::vector<ShareRun> runs;
    float scale = 1;
    ShareSide<Number> sides[2];
    TermTable terms;                          // of as many samples as there are, or empty
    std::vector<std::int32_t> lane_count[2];  // of one lane, by class: samples before a place, and the others
};

template <class Terms, class Number>
struct SharePass {
    using P = typename Terms::P;
    using Sums = typename Terms::Sums;
    using Place = typename Terms::Place;
    using Class = typename Terms::Class;
    using Register = typename P::Register;
    static constexpr LaneRows<float, lanes_of_floats> rows{1};

    ShareWork<Number>& work;
    const Stream<ShareBlock>& stream;
    const std::uint8_t* bucket;
    Terms terms;
    P n[2];  // samples of a side
    typename Terms::Value best[2];

    // Some place in the order, with the samples before it.
    struct State {
        P left;
        float all;
        Sums sums[2];
    };

    CODT_INLINE static P from(float all, const P& left) {
        P right = left;
        right.subtract_from(all);
        return right;
    }

    // Takes the new count of a class, of which `more` samples have been passed.
    template <bool Left = true, bool Right = true>
    CODT_INLINE void update(ClassLanes& own, const P& count, float more, State& state) const {
        P old, total;
        old.load(own.count);
        total.load(own.left_total);
        if constexpr (Left) terms.move(old, count, total, own.kept[0], state.sums[0]);
        const P old_right = from(own.passed, old);
        own.passed += more;
        if constexpr (Right)
            terms.move(old_right, from(own.passed, count), from(own.total, total), own.kept[1],
                       state.sums[1]);
        count.store(own.count);
    }

    template <bool Left = true, bool Right = true>
    CODT_INLINE void take(const State& state, Place (&at)[2]) {
        if constexpr (Left) {
            terms.place(state.left, n[0], state.sums[0], at[0]);
            best[0].maximum(at[0].value);
        }
        if constexpr (Right) {
            terms.place(from(state.all, state.left), n[1], state.sums[1], at[1]);
            best[1].maximum(at[1].value);
        }
    }

    // Walks a block for the lanes `on_left` and `on_right`, at least.
    CODT_INLINE void walk(std::uint32_t begin, const ShareBlock& block, const State& state, const State& next,
                          const Place (&end)[2], std::uint32_t on_left, std::uint32_t on_right) {
        if (std::popcount(on_left) + std::popcount(on_right) <= work.terms.few)
            return walk_lanes(begin, block, state, on_left, on_right);
        // A tangent needs no logarithms; in short blocks it rules out few boundaries.
        const bool by_tangent = block.end - begin > 32;
        for_sides(on_left != 0, on_right != 0, [&](auto left, auto right) CODT_INLINE_LAMBDA {
            walk_sides<left, right>(begin, block, state, [&](const State& here) CODT_INLINE_LAMBDA {
                Place at[2];
                if constexpr (left)
                    if (!by_tangent || (negative_lanes(room_at<0>(here, next, end)) & on_left) != 0)
                        take<true, false>(here, at);
                if constexpr (right)
                    if (!by_tangent || (negative_lanes(room_at<1>(here, next, end)) & on_right) != 0)
                        take<false, true>(here, at);
            });
        });
    }
    // By how much a boundary must be better than the best, by the tangent at the end of its block.
    template <std::size_t Side>
    CODT_INLINE P room_at(const State& here, const State& next, const Place (&end)[2]) const {
        const P to_go = Side == 0 ? next.left : from(next.all, next.left);
        const P so_far = Side == 0 ? here.left : from(here.all, here.left);
        P room;
        for (std::size_t i = 0; i < P::registers; ++i)
            room.r[i] = terms.room_at(i, best[Side], end[Side], next.sums[Side], here.sums[Side],
                                      so_far.r[i] - to_go.r[i]);
        return room;
    }
    CODT_INLINE void walk_lanes(std::uint32_t begin, const ShareBlock& block, const State& state,
                                std::uint32_t on_left, std::uint32_t on_right) {
        alignas(pack_bytes) float before[lanes_of_floats];
        state.left.store(before);
        for (std::size_t side = 0; side < 2; ++side) {
            std::uint32_t which = side == 0 ? on_left : on_right;
            if (which == 0) continue;
            alignas(pack_bytes) std::int32_t sums[lanes_of_floats], found[lanes_of_floats];
            state.sums[side].h.store(sums);
            best[side].store(found);
            for (; which != 0; which &= which - 1) {
                const auto lane = static_cast<std::uint32_t>(std::countr_zero(which));
                const float passed = side == 0 ? before[lane] : state.all - before[lane];
                found[lane] = best_in_lane(side == 0, lane, begin, block, passed,
                                           work.sides[side].n[lane] - passed, sums[lane], found[lane]);
            }
            best[side].load(found);
        }
    }
    CODT_INLINE std::int32_t best_in_lane(bool on_left, std::uint32_t lane, std::uint32_t begin,
                                          const ShareBlock& block, float before, float after, std::int32_t h,
                                          std::int32_t found) const {
        std::int32_t* const count = work.lane_count[0].data();
        std::int32_t* const rest = work.lane_count[1].data();
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const std::uint32_t label = work.runs[block.first_run + r].label;
            const ClassLanes& own = work.before[label];
            const float p = on_left ? own.count[lane] : own.passed - own.count[lane];
            const float all = on_left ? own.left_total[lane] : own.total - own.left_total[lane];
            count[label] = static_cast<std::int32_t>(p);
            rest[label] = static_cast<std::int32_t>(all - p);
        }
        const std::int32_t* const term = work.terms.term.data();
        const std::int32_t* const step = work.terms.step.data();
        auto n = static_cast<std::int32_t>(before), rest_n = static_cast<std::int32_t>(after);
        walk_groups<Walk::inside>(
            stream, begin, block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                const std::uint16_t label = work.label[id];
                const std::int32_t here = (bucket[id] <= lane) == on_left ? 1 : 0;
                const std::int32_t p = count[label], q = rest[label];
                h += (step[p + 1] - step[q]) & -here;
                count[label] = p + here;
                rest[label] = q - here;
                n += here;
                rest_n -= here;
            },
            [&](std::uint32_t) CODT_INLINE_LAMBDA { found = std::max(found, h - term[n] - term[rest_n]); });
        return found;
    }
    template <bool Left, bool Right, class Boundary>
    CODT_INLINE void walk_sides(std::uint32_t begin, const ShareBlock& block, State state,
                                const Boundary& boundary) {
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const std::uint32_t label = work.runs[block.first_run + r].label;
            work.inside[label] = work.before[label];
        }
        walk_groups<Walk::inside>(
            stream, begin, block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                ClassLanes& own = work.inside[work.label[id]];
                P count;
                count.load(own.count);
                count.add_row(rows[bucket[id]]);
                update<Left, Right>(own, count, 1, state);
                state.left.add_row(rows[bucket[id]]);
                state.all += 1;
            },
            [&](std::uint32_t) CODT_INLINE_LAMBDA { boundary(state); });
    }

    // Visits the classes of a set.
    template <class Visit>
    CODT_INLINE static void for_each_class(std::uint64_t classes, const Visit& visit) {
        for (; classes != 0; classes &= classes - 1)
            visit(static_cast<std::size_t>(std::countr_zero(classes)));
    }

    // Counts the samples of a block.
    CODT_INLINE void count(std::uint32_t p, const ShareBlock& block, State& state) {
        state.all += static_cast<float>(block.end - p);
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const ShareRun& run = work.runs[block.first_run + r];
            ClassLanes& own = work.after[run.label];
            own.passed += static_cast<float>(run.end - p);
            P more, sum;
            more.clear();
            for (; p < run.end; ++p) more.add_row(rows[bucket[work.grouped.data()[stream.cell + p]]]);
            sum.load(own.count);
            sum.add(more);
            sum.store(own.count);
            state.left.add(more);
        }
    }
    // The sums of a place up to which these classes have been counted, from those of the place before.
    template <bool Left = true, bool Right = true>
    CODT_INLINE void add_up(std::uint64_t classes, const std::vector<ClassLanes>& before,
                            std::vector<ClassLanes>& after, State& state) const {
        for_each_class(classes, [&](std::size_t label) CODT_INLINE_LAMBDA {
            const ClassLanes& old = before[label];
            ClassLanes& own = after[label];
            P from_left, to_left, total;
            from_left.load(old.count);
            to_left.load(own.count);
            total.load(own.left_total);
            if constexpr (Left) terms.move(from_left, to_left, total, own.kept[0], state.sums[0]);
            if constexpr (Right)
                terms.move(from(old.passed, from_left), from(own.passed, to_left), from(own.total, total),
                           own.kept[1], state.sums[1]);
        });
    }

    // The lanes of each side.
    struct Lanes {
        std::uint32_t left, right;
        bool any() const { return (left | right) != 0; }
    };
    // Those in which a boundary between two places might be better than the best: by how much it must be,
    // less what it can be, is negative.
    template <bool Left = true, bool Right = true>
    CODT_INLINE Lanes doubtful(std::uint64_t classes, const std::vector<ClassLanes>& before,
                               const std::vector<ClassLanes>& after, const Place (&start)[2],
                               const Place (&end)[2], const State& state, const State& next) const {
        P room[2];
        const float all = next.all - state.all;
        for (std::size_t i = 0; i < P::registers; ++i) {
            const Register left = next.left.r[i] - state.left.r[i];
            if constexpr (Left)
                room[0].r[i] = Terms::room(i, best[0], end[0].value) - terms.bend(i, left, start[0], end[0]);
            if constexpr (Right)
                room[1].r[i] =
                    Terms::room(i, best[1], end[1].value) - terms.bend(i, all - left, start[1], end[1]);
        }
        for_each_class(classes, [&](std::size_t label) CODT_INLINE_LAMBDA {
            const ClassLanes &old = before[label], &own = after[label];
            Class on_left, on_right;
            on_left.from.load(old.count);
            on_left.to.load(own.count);
            on_left.total.load(own.left_total);
            if constexpr (Left) {
                on_left.old.load(old.kept[0]);
                on_left.next.load(own.kept[0]);
                for (std::size_t i = 0; i < P::registers; ++i)
                    room[0].r[i] -= terms.rise(i, on_left, start[0], end[0]);
            }
            if constexpr (Right) {
                on_right.from = from(old.passed, on_left.from);
                on_right.to = from(own.passed, on_left.to);
                on_right.total = from(own.total, on_left.total);
                on_right.old.load(old.kept[1]);
                on_right.next.load(own.kept[1]);
                for (std::size_t i = 0; i < P::registers; ++i)
                    room[1].r[i] -= terms.rise(i, on_right, start[1], end[1]);
            }
        });
        return {Left ? negative_lanes(room[0]) : 0, Right ? negative_lanes(room[1]) : 0};
    }

    CODT_INLINE void walk_block(std::uint32_t begin, const ShareBlock& block, const Lanes& in,
                                const State& state, const State& next, const Place (&end)[2]) {
        if constexpr (Terms::tabulated)
            walk(begin, block, state, next, end, in.left, in.right);
        else
            walk_sides<true, true>(begin, block, state, [&](const State& here) CODT_INLINE_LAMBDA {
                Place at[2];
                take(here, at);
            });
    }
    CODT_INLINE static void copy(std::uint64_t classes, const std::vector<ClassLanes>& from,
                                 std::vector<ClassLanes>& to) {
        for_each_class(classes, [&](std::size_t label) CODT_INLINE_LAMBDA { to[label] = from[label]; });
    }

    // Where terms take long, two blocks in a row are taken for one, and apart only where this is in doubt:
    // only the sides and lanes that are.
    CODT_INLINE void run(State state) {
        std::uint32_t begin = 0;
        Place start[2], end[2];
        take(state, start);
        const ShareBlock* block = stream.blocks;
        const ShareBlock* const last = block + stream.block_count - 1;
        for (; block <= last; ++block) {
            const ShareBlock& first = *block;
            const bool two = Terms::tabulated && first.several && block < last && block[1].several;
            State middle = state;
            count(begin, first, middle);
            State next = middle;
            std::uint64_t classes = first.classes;
            if (two) {
                for_each_class(classes, [&](std::size_t label) CODT_INLINE_LAMBDA {
                    ClassLanes& own = work.middle[label];
                    P counted;
                    counted.load(work.after[label].count);
                    counted.store(own.count);
                    own.passed = work.after[label].passed;
                });
                count(first.end, *++block, next);
                classes |= block->classes;
            }
            add_up(classes, work.before, work.after, next);
            take(next, end);
            if (first.several) {
                Lanes in = doubtful(classes, work.before, work.after, start, end, state, next);
                if (in.any()) {
                    if (two) {
                        Place half[2] = {start[0], start[1]};
                        Lanes now{};
                        for_sides(in.left != 0, in.right != 0, [&](auto left, auto right) CODT_INLINE_LAMBDA {
                            for_each_class(first.classes, [&](std::size_t label) CODT_INLINE_LAMBDA {
                                std::memcpy(work.middle[label].kept, work.before[label].kept,
                                            sizeof work.middle[label].kept);
                            });
                            add_up<left, right>(first.classes, work.before, work.middle, middle);
                            take<left, right>(middle, half);
                            now = doubtful<left, right>(first.classes, work.before, work.middle, start, half,
                                                        state, middle);
                        });
                        now.left &= in.left;
                        now.right &= in.right;
                        if (now.any()) walk_block(begin, first, now, state, middle, half);
                        copy(first.classes, work.middle, work.before);
                        for_sides(in.left != 0, in.right != 0, [&](auto left, auto right) CODT_INLINE_LAMBDA {
                            now = doubtful<left, right>(block->classes, work.before, work.after, half, end,
                                                        middle, next);
                        });
                        in.left &= now.left;
                        in.right &= now.right;
                    }
                    if (in.any())
                        walk_block(two ? first.end : begin, *block, in, two ? middle : state, next, end);
                }
            }
            copy(classes, work.after, work.before);
            state = next;
            start[0] = end[0];
            start[1] = end[1];
            begin = block->end;
        }
    }
};

}  // namespace codt
