// A walk over the order of a second feature keeps the samples of every class on the left side of every
// threshold, a lane. Those on the right side are the samples so far less those on the left, and so are their
// totals. share_terms.hpp derives the values of boundaries and what a block can hold; blocks (blocks.hpp) are
// walked only where the value of their end, and what their classes can add to it, exceeds the best value in
// some lane. Most often that is so in few lanes: with the terms of all counts in a table, these are walked
// one by one, which computes the same whole numbers as a walk of all lanes. What is left out is no better by
// the same computation, so the best value is off by no more than one value is.
#include "scans/share_scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/buffer.hpp"
#include "scans/class_groups.hpp"
#include "scans/lane_rows.hpp"
#include "scans/scan_driver.hpp"
#include "scans/share_terms.hpp"

namespace codt {

namespace {

constexpr std::uint32_t lanes_of_floats = lane_count<float>;

// The samples of one class in a block.
struct Run {
    std::uint32_t label, end;  // where they end in `grouped`
};

struct ShareBlock : BlockRange {
    std::size_t first_run;  // of the runs of all blocks of all features
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
    std::vector<ClassLanes> before, after, inside;  // by class: where a block begins and ends, and within
    std::vector<std::uint16_t> label;               // of every id
    Buffer<std::uint32_t> grouped;                  // ids of each feature, within each block by class
    std::vector<Run> runs;
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
    CODT_INLINE void walk(std::uint32_t begin, const ShareBlock& block, const State& state,
                          std::uint32_t on_left, std::uint32_t on_right) {
        if (std::popcount(on_left) + std::popcount(on_right) <= work.terms.few)
            return walk_lanes(begin, block, state, on_left, on_right);
        for_sides(on_left != 0, on_right != 0, [&](auto left, auto right) CODT_INLINE_LAMBDA {
            walk_sides<left, right>(begin, block, state);
        });
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
    template <bool Left, bool Right>
    CODT_INLINE void walk_sides(std::uint32_t begin, const ShareBlock& block, State state) {
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
            [&](std::uint32_t) CODT_INLINE_LAMBDA {
                Place at[2];
                take<Left, Right>(state, at);
            });
    }

    // Adds the samples of a block.
    CODT_INLINE void count(std::uint32_t p, const ShareBlock& block, State& state) {
        state.all += static_cast<float>(block.end - p);
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const Run& run = work.runs[block.first_run + r];
            ClassLanes& own = work.after[run.label];
            const auto passed = static_cast<float>(run.end - p);
            P more, sum;
            more.clear();
            for (; p < run.end; ++p) more.add_row(rows[bucket[work.grouped.data()[stream.cell + p]]]);
            sum.load(own.count);
            sum.add(more);
            state.left.add(more);
            update(own, sum, passed, state);
        }
    }

    // By how much the boundaries inside a block must be better than the best; negative where they might be.
    CODT_INLINE void rooms(const ShareBlock& block, const Place (&start)[2], const Place (&end)[2],
                           const P& left, float all, P (&room)[2]) const {
        for (std::size_t i = 0; i < P::registers; ++i) {
            room[0].r[i] = Terms::room(i, best[0], end[0].value) - terms.bend(i, left.r[i], start[0], end[0]);
            room[1].r[i] =
                Terms::room(i, best[1], end[1].value) - terms.bend(i, all - left.r[i], start[1], end[1]);
        }
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const std::uint32_t label = work.runs[block.first_run + r].label;
            const ClassLanes &old = work.before[label], &next = work.after[label];
            Class on_left, on_right;
            on_left.from.load(old.count);
            on_left.to.load(next.count);
            on_left.total.load(next.left_total);
            on_right.from = from(old.passed, on_left.from);
            on_right.to = from(next.passed, on_left.to);
            on_right.total = from(next.total, on_left.total);
            on_left.old.load(old.kept[0]);
            on_left.next.load(next.kept[0]);
            on_right.old.load(old.kept[1]);
            on_right.next.load(next.kept[1]);
            for (std::size_t i = 0; i < P::registers; ++i) {
                room[0].r[i] -= terms.rise(i, on_left, start[0], end[0]);
                room[1].r[i] -= terms.rise(i, on_right, start[1], end[1]);
            }
        }
    }

    CODT_INLINE void run(State state) {
        std::uint32_t begin = 0;
        Place start[2], end[2];
        take(state, start);
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const ShareBlock& block = stream.blocks[b];
            State next = state;
            count(begin, block, next);
            take(next, end);
            P left = next.left;
            left.subtract(state.left);
            if (block.several) {
                P room[2];
                rooms(block, start, end, left, next.all - state.all, room);
                if constexpr (Terms::tabulated) {
                    const std::uint32_t on_left = negative_lanes(room[0]), on_right = negative_lanes(room[1]);
                    if (on_left | on_right) walk(begin, block, state, on_left, on_right);
                } else {
                    for (std::size_t i = 0; i < P::registers; ++i)
                        room[0].r[i] = room[0].r[i] < room[1].r[i] ? room[0].r[i] : room[1].r[i];
                    if (any_negative(room[0])) walk_sides<true, true>(begin, block, state);
                }
            }
            for (std::uint32_t r = 0; r < block.runs; ++r) {
                const std::uint32_t label = work.runs[block.first_run + r].label;
                work.before[label] = work.after[label];
            }
            state = next;
            start[0] = end[0];
            start[1] = end[1];
            begin = block.end;
        }
    }
};

template <template <std::size_t> class Terms>
struct ShareKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lanes_of_floats;
    static constexpr std::uint32_t longest_block_of(std::uint32_t samples) {
        return block_size_for(samples, 32);
    }
    static constexpr int most_few = 5;
    static constexpr std::uint32_t largest_table = 1U << 16U;  // samples
    using Block = ShareBlock;
    using Sums = std::vector<double>;  // samples of each class
    using Some = Terms<16>;            // what does not depend on registers
    using Number = std::remove_cvref_t<decltype(typename Some::Value{}.r[0][0])>;

    ShareKernel(std::span<const std::uint16_t> labels, std::uint32_t classes,
                std::function<double(const double*)> loss, KernelPath path)
        : labels_(labels),
          classes_(classes),
          loss_(std::move(loss)),
          groups_widely_(ClassGroups::suits(path, classes)) {}

    bool read(const Subset& subset) {
        const double n = subset.size();
        if (n > 0x1p20 || !Some::takes(n)) return false;
        const auto samples = subset.samples();
        work_.label.resize(subset.size() + ClassGroups::spare_labels);
        work_.grouped.ensure(static_cast<std::size_t>(subset.size()) * subset.features() +
                             ClassGroups::spare);
        work_.runs.clear();
        all_.assign(classes_, 0.0);
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            work_.label[id] = labels_[samples[id]];
            add(all_, id);
        }
        start_.assign(classes_, ClassLanes{});
        for (std::uint32_t c = 0; c < classes_; ++c) start_[c].total = static_cast<float>(all_[c]);
        work_.inside = start_;
        place_.resize(classes_);
        work_.scale = Some::scale_for(n);
        if constexpr (Some::tabulated) tabulate(subset.size());
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        block.first_run = work_.runs.size();
        std::uint32_t* const grouped = work_.grouped.data() + cell;
        std::uint32_t end = begin;
        if (groups_widely_) {
            groups_.group(order + begin, block.end - begin, work_.label.data(), classes_, grouped + begin);
            for (const ClassRun& run : groups_.runs()) work_.runs.push_back({run.label, end += run.length});
            block.runs = static_cast<std::uint32_t>(work_.runs.size() - block.first_run);
            return;
        }
        std::fill(place_.begin(), place_.end(), 0);
        for (std::uint32_t p = begin; p < block.end; ++p) ++place_[work_.label[order[p]]];
        for (std::uint32_t label = 0; label < classes_; ++label) {
            if (place_[label] == 0) continue;
            const std::uint32_t first = end;
            end += place_[label];
            place_[label] = first;
            work_.runs.push_back({label, end});
        }
        block.runs = static_cast<std::uint32_t>(work_.runs.size() - block.first_run);
        for (std::uint32_t p = begin; p < block.end; ++p) grouped[place_[work_.label[order[p]]]++] = order[p];
    }

    Sums nothing() const { return Sums(classes_, 0.0); }
    void add(Sums& sums, std::uint32_t id) const { sums[work_.label[id]] += 1; }
    void rest(const Sums& left, Sums& right) const {
        for (std::uint32_t c = 0; c < classes_; ++c) right[c] = all_[c] - left[c];
    }
    void start(std::size_t s, std::size_t lane, double n, const Sums& sums, double known) {
        if (s == 0)
            for (std::uint32_t c = 0; c < classes_; ++c)
                start_[c].left_total[lane] = static_cast<float>(sums[c]);
        ShareSide<Number>& side = work_.sides[s];
        side.n[lane] = static_cast<float>(n);
        side.loss[lane] = loss_(sums.data());
        const double attained = std::max(0.0, std::min(side.loss[lane], known));
        side.best[lane] = static_cast<Number>(side.loss[lane] > 0 ? Some::value_of(n, attained, work_.scale)
                                                                  : Some::largest);
    }
    void pad(std::size_t lane) {
        for (std::uint32_t c = 0; c < classes_; ++c) start_[c].left_total[lane] = static_cast<float>(all_[c]);
        for (auto& side : work_.sides) {
            side.n[lane] = 0;
            side.best[lane] = static_cast<Number>(Some::largest);
        }
        work_.sides[0].n[lane] = static_cast<float>(work_.label.size() - ClassGroups::spare_labels);
    }
    void bracket(std::size_t s, std::size_t lane, double lambda, double& lower, double& upper) const {
        const ShareSide<Number>& side = work_.sides[s];
        const double n = side.n[lane];
        const double found =
            std::max(0.0, Some::loss_of(n, static_cast<double>(side.best[lane]), work_.scale));
        const double slack = Some::slack(n, classes_, work_.scale);
        upper = std::min({upper, side.loss[lane], found + slack + lambda});
        lower = std::min({upper, side.loss[lane], std::max(0.0, found - slack) + lambda});
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(ShareKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        ShareWork<Number>& work = kernel->work_;
        using Pass = SharePass<Terms<Bytes>, Number>;
        Pass pass{work, *stream, bucket, {work.scale}, {}, {}};
        typename Pass::State state;
        state.left.clear();
        state.all = 0;
        for (std::size_t s = 0; s < 2; ++s) {
            pass.n[s].load(work.sides[s].n);
            pass.best[s].load(work.sides[s].best);
            state.sums[s].clear();
        }
        work.after = kernel->start_;
        for (ClassLanes& own : work.after) {
            typename Pass::P total;
            total.load(own.left_total);
            pass.terms.begin(total, own.kept[0], state.sums[0]);
            pass.terms.begin(Pass::from(own.total, total), own.kept[1], state.sums[1]);
        }
        work.before = work.after;
        pass.run(state);
        for (std::size_t s = 0; s < 2; ++s) pass.best[s].store(work.sides[s].best);
    }

 private:
    void tabulate(std::uint32_t n) {
        TermTable& table = work_.terms;
        table.few = n <= largest_table ? most_few : 0;
        if (table.few == 0) return;
        constexpr std::size_t at_once = Some::P::per_register;
        table.term.resize(n + at_once);
        table.step.resize(n + at_once + 1);
        for (std::size_t x = 0; x <= n; x += at_once) {
            typename Some::Register numbers{};
            for (std::size_t j = 0; j < at_once; ++j) numbers[j] = static_cast<float>(x + j);
            const auto terms = Some{work_.scale}.term(numbers, Some::Log::of(numbers).binary());
            std::memcpy(table.term.data() + x, &terms, sizeof(terms));
        }
        table.step[0] = 0;
        for (std::size_t x = 0; x < n; ++x) table.step[x + 1] = table.term[x + 1] - table.term[x];
        for (auto& counts : work_.lane_count) counts.resize(classes_);
    }

    std::span<const std::uint16_t> labels_;
    std::uint32_t classes_;
    std::function<double(const double*)> loss_;
    bool groups_widely_;
    ClassGroups groups_;
    Sums all_;
    std::vector<ClassLanes> start_;     // before the first block
    std::vector<std::uint32_t> place_;  // by class
    ShareWork<Number> work_;
};

}  // namespace

std::unique_ptr<BracketScanner> make_share_brackets(ShareLoss family, std::span<const std::uint16_t> labels,
                                                    std::uint32_t classes,
                                                    const std::function<double(const double*)>& loss,
                                                    KernelPath path) {
    if (family == ShareLoss::entropy)
        return std::make_unique<LaneBracketScanner<ShareKernel<EntropyTerms>>>(path, labels, classes, loss,
                                                                               path);
    return std::make_unique<LaneBracketScanner<ShareKernel<GiniTerms>>>(path, labels, classes, loss, path);
}

}  // namespace codt
