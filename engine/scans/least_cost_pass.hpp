// The pass of least_cost_scan.cpp over the order of one second feature.
//
// Lanes are thresholds of the root feature, columns are predictions. A sample is added to one row of a table,
// that of its bucket (lane_rows.hpp): one addition for as many columns as a register holds, whatever the
// number of lanes. Where a block ends, sums of rows give the prefixes p of the left side in all lanes; square
// pieces of them are transposed, so that a register holds one column of several lanes, and the losses of the
// four leaves are least columns: with a the prefix of all samples, L and R the totals of the two sides,
//
//     left side:  p and L - p        right side:  a - p and R - (a - p)
//
// Blocks (see blocks.hpp): costs are not negative, so at no boundary inside a block does a side lose less
// than its first leaf where the block begins plus its second leaf where it ends. Where that is less than the
// best of a lane, the block is walked for it: together with other lanes in which the two leaves predict the
// same (look_into), or by itself, with columns in the registers. There, passing a sample, whose
// largest cost is w, lowers what a boundary loses by w at the most: the first leaf loses no less than before,
// and the second leaf, whatever it predicts, saves no more than w. So after a boundary that loses `gap` more
// than the best, the next boundaries are not evaluated until samples with more than that in sum have passed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"
#include "scans/scan_driver.hpp"
#include "scans/transpose.hpp"

namespace codt {

// Rows of `width` numbers. No register that begins at a multiple of its size crosses a line of the cache.
template <class Number>
class CostRows {
 public:
    void resize(std::size_t rows, std::size_t width) {
        width_ = width;
        lines_.resize((rows * width + per_line - 1) / per_line);
    }
    Number* operator[](std::size_t row) { return lines_[0].numbers + row * width_; }
    const Number* operator[](std::size_t row) const { return lines_[0].numbers + row * width_; }
    void clear() { std::fill(lines_.begin(), lines_.end(), Line{}); }

 private:
    static constexpr std::size_t per_line = pack_bytes / sizeof(Number);
    struct alignas(pack_bytes) Line {
        Number numbers[per_line];
    };
    std::vector<Line> lines_;
    std::size_t width_ = 0;
};

inline constexpr std::uint32_t cost_lanes = 32;
inline constexpr std::uint32_t cost_missing = missing_bucket<cost_lanes>;

// The losses of a boundary in all lanes: first and second leaf of the left side, first and second of the
// right side.
template <class Number>
struct alignas(pack_bytes) LeafLosses {
    Number leaf[4][cost_lanes];
};

// What a pass works on.
template <class Number>
struct CostWork {
    std::size_t predictions = 0;
    std::size_t width = 0;          // columns of a row
    std::uint32_t lanes = 0;        // with a threshold
    std::uint64_t missing = 0;      // the lanes in which samples of the missing bucket go left, as bits
    bool any_missing = false;       // whether there are such samples
    CostRows<Number> costs;         // of each id
    std::vector<Number> largest;    // of each id: its largest cost
    CostRows<Number> buckets;       // sums of the samples passed, by bucket
    CostRows<Number> prefix[2];     // by lane, where the block begins and where it ends; behind these `a`
    CostRows<Number> total[2];      // L and R, by lane
    CostRows<Number> columns[2];    // the same by column
    CostRows<Number> by_column[2];  // the prefixes by column
    CostRows<Number> walked;        // sums of a lane that is walked
    // All bits in the lanes in which a sample goes left.
    LaneRows<Number, cost_lanes> masks{-1};
    LeafLosses<Number> losses[2];
    alignas(pack_bytes) Number best[2][cost_lanes];
};

// `Columns` is the number of registers for a row, zero for any.
template <class Number, std::size_t Bytes, std::size_t Columns, std::size_t LaneBytes>
struct LeastCostPass {
    using Single = Pack<Number, Bytes, Bytes>;
    using Register = typename Single::Register;
    static constexpr std::size_t wide = Bytes / sizeof(Number);
    // With more predictions, candidates are not looked for.
    static constexpr std::size_t most_predictions = 64;
    // Lanes with more candidates for a leaf are walked by themselves.
    static constexpr std::size_t few_candidates = 4;

    CostWork<Number>& work;
    const Stream<BlockRange>& stream;
    const std::uint8_t* bucket;

    CODT_INLINE std::size_t columns() const { return Columns ? Columns : work.width / wide; }
    CODT_INLINE std::size_t width() const { return columns() * wide; }

    CODT_INLINE static Register load(const Number* p) {
        Register x;
        std::memcpy(&x, p, Bytes);
        return x;
    }
    CODT_INLINE static void store(Number* p, const Register& x) { std::memcpy(p, &x, Bytes); }
    CODT_INLINE static Register smaller(const Register& a, const Register& b) { return a < b ? a : b; }

    CODT_INLINE void add(const std::uint32_t* id, const std::uint32_t* last) {
        const std::uint8_t* const own = bucket;
        Number* const buckets = work.buckets[0];
        const Number* const all_costs = work.costs[0];
        const std::size_t stride = width();
        for (; id < last; ++id) {
            Number* const sums = buckets + own[*id] * stride;
            const Number* const costs = all_costs + *id * stride;
            for (std::size_t c = 0; c < columns(); ++c)
                store(sums + c * wide, load(sums + c * wide) + load(costs + c * wide));
        }
    }

    // The lanes in registers that hold a threshold; in the rest of them all samples are on the left.
    CODT_INLINE std::uint32_t filled_lanes() const {
        return static_cast<std::uint32_t>((work.lanes + wide - 1) / wide * wide);
    }

    // The prefixes by lane.
    CODT_INLINE void sum_up(CostRows<Number>& prefix) {
        const std::uint32_t filled = filled_lanes();
        const std::size_t stride = width();
        for (std::size_t c = 0; c < columns(); ++c) {
            Register sum{};
            const Number* from = work.buckets[0] + c * wide;
            Number* to = prefix[0] + c * wide;
            for (std::uint32_t lane = 0; lane < filled; ++lane, from += stride, to += stride) {
                sum += load(from);
                store(to, sum);
            }
            if (filled == work.lanes) sum += load(work.buckets[work.lanes] + c * wide);
            if (work.any_missing) {
                const Register missing = load(work.buckets[cost_missing] + c * wide);
                sum += missing;
                for (std::uint32_t lane = 0; lane < filled; ++lane)
                    if (work.missing >> lane & 1U)
                        store(prefix[lane] + c * wide, load(prefix[lane] + c * wide) + missing);
            }
            store(prefix[cost_lanes] + c * wide, sum);
        }
    }

    // Losses at the end of a block, in the lanes from `lane` on that a register holds.
    CODT_INLINE void leaves(const CostRows<Number>& prefix, std::uint32_t lane, CostRows<Number>& by_column,
                            Register (&loss)[4]) {
        const Register most = std::numeric_limits<Number>::max() - Register{};
        for (Register& leaf : loss) leaf = most;
        const std::size_t stride = width();
        const Number* const all = prefix[0] + cost_lanes * stride;
        const Number* const first = prefix[0] + lane * stride;
        Number* const column_first = by_column[0] + lane;
        const Number* const left_total = work.columns[0][0] + lane;
        const Number* const right_total = work.columns[1][0] + lane;
        for (std::size_t c = 0; c < columns(); ++c) {
            Register rows[wide];
            for (std::size_t i = 0; i < wide; ++i) rows[i] = load(first + i * stride + c * wide);
            transpose<Number, Bytes>(rows);
            for (std::size_t i = 0; i < wide; ++i) {
                const std::size_t column = c * wide + i;
                const Register rest = all[column] - rows[i];
                store(column_first + column * cost_lanes, rows[i]);
                loss[0] = smaller(loss[0], rows[i]);
                loss[1] = smaller(loss[1], load(left_total + column * cost_lanes) - rows[i]);
                loss[2] = smaller(loss[2], rest);
                loss[3] = smaller(loss[3], load(right_total + column * cost_lanes) - rest);
            }
        }
    }

    // Where a block begins, or ends.
    struct Place {
        CostRows<Number>*prefix, *by_column;
        LeafLosses<Number>* losses;

        CODT_INLINE const Number* all() const { return (*prefix)[cost_lanes]; }
    };

    CODT_INLINE void run() {
        work.buckets.clear();
        Place begin{&work.prefix[0], &work.by_column[0], &work.losses[0]};
        Place end{&work.prefix[1], &work.by_column[1], &work.losses[1]};
        begin.prefix->clear();
        for (std::uint32_t lane = 0; lane < work.lanes; lane += wide) {
            Register loss[4];
            leaves(*begin.prefix, lane, *begin.by_column, loss);
            for (std::size_t leaf = 0; leaf < 4; ++leaf) store(begin.losses->leaf[leaf] + lane, loss[leaf]);
        }
        std::uint32_t first = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const BlockRange block = stream.blocks[b];
            add(stream.ordered + first, stream.ordered + block.end);
            sum_up(*end.prefix);
            std::uint64_t doubtful[2] = {0, 0};  // lanes, as bits
            for (std::uint32_t lane = 0; lane < work.lanes; lane += wide) {
                Register loss[4];
                leaves(*end.prefix, lane, *end.by_column, loss);
                for (std::size_t side = 0; side < 2; ++side) {
                    const Register best =
                        smaller(load(work.best[side] + lane), loss[2 * side] + loss[2 * side + 1]);
                    store(work.best[side] + lane, best);
                    const Register room =
                        load(begin.losses->leaf[2 * side] + lane) + loss[2 * side + 1] - best;
                    doubtful[side] |= sign_bits<Number, Bytes>(room) << lane;
                }
                for (std::size_t leaf = 0; leaf < 4; ++leaf) store(end.losses->leaf[leaf] + lane, loss[leaf]);
            }
            if (block.several && (doubtful[0] | doubtful[1]) != 0)
                look_into(block, first, doubtful, begin, end);
            std::swap(begin, end);
            first = block.end;
        }
    }

    // Walks a block for the lanes of each side in which some boundary might beat the best. A prediction is a
    // candidate for the first leaf of a lane if its cost where the block begins is not above the leaf's loss
    // where it ends, and if with the second leaf's loss there it is below the best; for the second leaf
    // likewise from the other end. Most leaves have one candidate, so most boundaries lose the cost of the
    // same pair of predictions, and the lanes with this pair are walked together.
    CODT_INLINE void look_into(const BlockRange& block, std::uint32_t from,
                               const std::uint64_t (&doubtful)[2], const Place& begin, const Place& end) {
        const auto walk_lanes = [&](std::size_t side, std::uint64_t lanes) CODT_INLINE_LAMBDA {
            for (; lanes != 0; lanes &= lanes - 1)
                walk_lane(block, from, side, static_cast<std::size_t>(std::countr_zero(lanes)), begin, end);
        };
        if (work.predictions > most_predictions) {
            for (std::size_t side = 0; side < 2; ++side) walk_lanes(side, doubtful[side]);
            return;
        }
        // By side: the predictions that are a candidate of any lane, and these lanes as bits.
        struct Candidate {
            std::uint8_t column;
            std::uint32_t lanes;
        } candidates[2][2][most_predictions];
        std::size_t count[2][2] = {};
        std::uint64_t several[2] = {0, 0};  // lanes with too many candidates
        for (std::size_t side = 0; side < 2; ++side) {
            if (doubtful[side] == 0) continue;
            Wide most[2];
            for (std::size_t i = 0; i < Wide::registers; ++i) {
                const auto at = [&](const Number* numbers)
                                    CODT_INLINE_LAMBDA { return lanes_at(numbers, i); };
                const auto best = at(work.best[side]) - 1;
                const auto first_end = at(end.losses->leaf[2 * side]);
                const auto second_begin = at(begin.losses->leaf[2 * side + 1]);
                const auto first_room = best - at(end.losses->leaf[2 * side + 1]);
                const auto second_room = best - at(begin.losses->leaf[2 * side]);
                most[0].r[i] = first_end < first_room ? first_end : first_room;
                most[1].r[i] = second_begin < second_room ? second_begin : second_room;
            }
            std::uint64_t with[2][few_candidates] = {};  // lanes with so many candidates, or more
            for (std::size_t column = 0; column < work.predictions; ++column) {
                const Number* const before = (*begin.by_column)[column];
                const Number* const after = (*end.by_column)[column];
                const Number* const total = work.columns[side][column];
                Wide above[2];
                for (std::size_t i = 0; i < Wide::registers; ++i) {
                    auto first = lanes_at(before, i), passed = lanes_at(after, i);
                    if (side == 1) {
                        first = begin.all()[column] - first;
                        passed = end.all()[column] - passed;
                    }
                    above[0].r[i] = most[0].r[i] - first;
                    above[1].r[i] = most[1].r[i] - (lanes_at(total, i) - passed);
                }
                for (std::size_t leaf = 0; leaf < 2; ++leaf) {
                    const std::uint64_t lanes = ~bits_of(above[leaf]) & doubtful[side];
                    if (lanes == 0) continue;
                    candidates[side][leaf][count[side][leaf]++] = {static_cast<std::uint8_t>(column),
                                                                   static_cast<std::uint32_t>(lanes)};
                    several[side] |= with[leaf][few_candidates - 1] & lanes;
                    for (std::size_t n = few_candidates - 1; n > 0; --n)
                        with[leaf][n] |= with[leaf][n - 1] & lanes;
                    with[leaf][0] |= lanes;
                }
            }
            walk_lanes(side, several[side]);
        }
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t i = 0; i < count[side][0]; ++i)
                for (std::size_t j = 0; j < count[side][1]; ++j) {
                    const Candidate &a = candidates[side][0][i], &b = candidates[side][1][j];
                    const std::uint64_t lanes = a.lanes & b.lanes & ~several[side];
                    if (lanes != 0 && a.column != b.column)
                        walk_pair(block, from, side, a.column, b.column, lanes, begin);
                }
    }

    using Wide = Pack<Number, LaneBytes, cost_lanes * sizeof(Number)>;
    CODT_INLINE static typename Wide::Register lanes_at(const Number* numbers, std::size_t i) {
        typename Wide::Register x;
        std::memcpy(&x, numbers + i * Wide::per_register, LaneBytes);
        return x;
    }
    CODT_INLINE static std::uint64_t bits_of(const Wide& a) {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < Wide::registers; ++i)
            bits |= sign_bits<Number, LaneBytes>(a.r[i]) << i * Wide::per_register;
        return bits;
    }

    // Takes the boundaries inside the block at which the leaves of one side predict a and b, in the groups of
    // lanes that hold any of `lanes`. In all lanes of these they are leaves that a tree may have.
    CODT_INLINE void walk_pair(const BlockRange& block, std::uint32_t from, std::size_t side, std::size_t a,
                               std::size_t b, std::uint64_t lanes, const Place& begin) {
        using Lanes = Pack<Number, LaneBytes>;
        constexpr std::size_t count = lane_count<Number>;
        const Number* const all_costs = work.costs[0];
        const std::uint8_t* const own = bucket;
        const std::size_t stride = width();
        for (std::size_t group = 0; group < cost_lanes; group += count) {
            if ((lanes >> group & (~std::uint64_t{0} >> (64 - count))) == 0) continue;
            // What the leaves lose at a boundary, less what they lose where the block begins, which has been
            // evaluated.
            Lanes sum, least;
            sum.clear();
            least.clear();
            const Number* const masks = work.masks.rows[0] + group;
            if (side == 0) {
                walk_groups<Walk::inside>(
                    stream, from, block,
                    [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                        const Number* const costs = all_costs + id * stride;
                        sum.add_masked(masks + own[id] * cost_lanes, costs[a] - costs[b]);
                    },
                    [&](std::uint32_t) CODT_INLINE_LAMBDA { least.minimum(sum); });
            } else {
                Number all = 0;
                walk_groups<Walk::inside>(
                    stream, from, block,
                    [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                        const Number* const costs = all_costs + id * stride;
                        const Number difference = costs[a] - costs[b];
                        sum.add_masked(masks + own[id] * cost_lanes, difference);
                        all += difference;
                    },
                    [&](std::uint32_t) CODT_INLINE_LAMBDA {
                        Lanes rest = sum;
                        rest.subtract_from(all);
                        least.minimum(rest);
                    });
            }
            Lanes first, second, total, best;
            first.load((*begin.by_column)[a] + group);
            second.load((*begin.by_column)[b] + group);
            if (side == 1) {
                first.subtract_from(begin.all()[a]);
                second.subtract_from(begin.all()[b]);
            }
            total.load(work.columns[side][b] + group);
            total.subtract(second);
            first.add(total);
            first.add(least);
            best.load(work.best[side] + group);
            best.minimum(first);
            best.store(work.best[side] + group);
        }
    }

    // Walks one side of one lane.
    CODT_INLINE void walk_lane(const BlockRange& block, std::uint32_t first, std::size_t side,
                               std::size_t lane, const Place& begin, const Place& end) {
        const LeafLosses<Number>& at_begin = *begin.losses;
        const Number second = end.losses->leaf[2 * side + 1][lane];
        Number& best = work.best[side][lane];
        // Of the first leaf: in registers, or in memory where there are too many.
        Register in_registers[Columns ? Columns : 1];
        const auto sum = [&](std::size_t c) CODT_INLINE_LAMBDA {
            return Columns ? in_registers[c] : load(work.walked[0] + c * wide);
        };
        const auto set_sum = [&](std::size_t c, const Register& x) CODT_INLINE_LAMBDA {
            if constexpr (Columns)
                in_registers[c] = x;
            else
                store(work.walked[0] + c * wide, x);
        };
        const Number* const left = (*begin.prefix)[lane];
        const Number* const all = begin.all();
        for (std::size_t c = 0; c < columns(); ++c)
            set_sum(c, side == 0 ? load(left + c * wide) : load(all + c * wide) - load(left + c * wide));
        const Number* const total = work.total[side][lane];
        const auto missing_here = static_cast<bool>(work.missing >> lane & 1U);
        const Number* const all_costs = work.costs[0];
        const Number* const largest = work.largest.data();
        const std::size_t stride = width();
        Number gap = at_begin.leaf[2 * side][lane] + at_begin.leaf[2 * side + 1][lane] - best;
        Number spent = 0;
        std::uint32_t k = first;
        for (const std::uint32_t* group = stream.group_end + block.first_group; *group < block.end; ++group) {
            for (; k < *group; ++k) {
                const std::uint32_t id = stream.ordered[k];
                const std::uint8_t own = bucket[id];
                const bool is_left = (own <= lane) | ((own == cost_missing) & missing_here);
                const auto mask = static_cast<Number>(-static_cast<Number>(is_left == (side == 0)));
                const Number* const costs = all_costs + id * stride;
                for (std::size_t c = 0; c < columns(); ++c)
                    set_sum(c, sum(c) + (load(costs + c * wide) & mask));
                spent += largest[id] & mask;
            }
            if (spent <= gap) continue;
            Register least = sum(0);
            Register rest = load(total) - least;
            for (std::size_t c = 1; c < columns(); ++c) {
                least = smaller(least, sum(c));
                rest = smaller(rest, load(total + c * wide) - sum(c));
            }
            const Number own = least_of<Number, Bytes>(least);
            const Number value = own + least_of<Number, Bytes>(rest);
            best = std::min(best, value);
            if (own + second >= best) return;
            gap = value - best;
            spent = 0;
        }
    }
};

}  // namespace codt
