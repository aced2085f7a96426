// A walk over the order of a second feature keeps the samples of every class on the left side of every
// threshold, a lane. Those on the right side are the samples so far less those on the left, and so are their
// totals. share_terms.hpp derives the values of boundaries and what a block can hold; blocks (blocks.hpp) are
// walked only where the value of their end, and what their classes can add to it, exceeds the best value in
// some lane. What is left out is no better by the same computation, so the best value is off by no more than
// one value is.
#include "scans/share_scan.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/buffer.hpp"
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
    std::uint32_t first_run, runs;
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

// What a pass works on.
template <class Number>
struct ShareWork {
    std::vector<ClassLanes> before, after, inside;  // by class: where a block begins and ends, and within
    std::vector<std::uint16_t> label;               // of every id
    Buffer<std::uint32_t> grouped;                  // ids of each feature, within each block by class
    std::vector<Run> runs;
    float scale = 1;
    ShareSide<Number> sides[2];
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
    CODT_INLINE void update(ClassLanes& own, const P& count, float more, State& state) const {
        P old, total;
        old.load(own.count);
        total.load(own.left_total);
        terms.move(old, count, total, own.kept[0], state.sums[0]);
        const P old_right = from(own.passed, old);
        own.passed += more;
        terms.move(old_right, from(own.passed, count), from(own.total, total), own.kept[1], state.sums[1]);
        count.store(own.count);
    }

    CODT_INLINE void take(const State& state, Place (&at)[2]) {
        terms.place(state.left, n[0], state.sums[0], at[0]);
        terms.place(from(state.all, state.left), n[1], state.sums[1], at[1]);
        best[0].maximum(at[0].value);
        best[1].maximum(at[1].value);
    }

    CODT_INLINE void walk(std::uint32_t begin, const ShareBlock& block, State state) {
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
                update(own, count, 1, state);
                state.left.add_row(rows[bucket[id]]);
                state.all += 1;
            },
            [&](std::uint32_t) CODT_INLINE_LAMBDA {
                Place at[2];
                take(state, at);
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

    // Whether a boundary inside a block might be better than the best.
    CODT_INLINE bool is_doubtful(const ShareBlock& block, const Place (&start)[2], const Place (&end)[2],
                                 const P& left, float all) const {
        P room[2];
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
        for (std::size_t i = 0; i < P::registers; ++i)
            room[0].r[i] = room[0].r[i] < room[1].r[i] ? room[0].r[i] : room[1].r[i];
        return any_negative(room[0]);
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
            if (block.several && is_doubtful(block, start, end, left, next.all - state.all))
                walk(begin, block, state);
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
    static constexpr std::uint32_t longest_block_of(std::uint32_t) { return 32; }
    using Block = ShareBlock;
    using Sums = std::vector<double>;  // samples of each class
    using Some = Terms<16>;            // what does not depend on registers
    using Number = std::remove_cvref_t<decltype(typename Some::Value{}.r[0][0])>;

    ShareKernel(std::span<const std::uint16_t> labels, std::uint32_t classes,
                std::function<double(const double*)> loss)
        : labels_(labels), classes_(classes), loss_(std::move(loss)) {}

    bool read(const Subset& subset) {
        const double n = subset.size();
        if (n > 0x1p20 || !Some::takes(n)) return false;
        const auto samples = subset.samples();
        work_.label.resize(subset.size());
        work_.grouped.ensure(static_cast<std::size_t>(subset.size()) * subset.features());
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
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        std::fill(place_.begin(), place_.end(), 0);
        for (std::uint32_t p = begin; p < block.end; ++p) ++place_[work_.label[order[p]]];
        block.first_run = static_cast<std::uint32_t>(work_.runs.size());
        std::uint32_t end = begin;
        for (std::uint32_t label = 0; label < classes_; ++label) {
            if (place_[label] == 0) continue;
            const std::uint32_t first = end;
            end += place_[label];
            place_[label] = first;
            work_.runs.push_back({label, end});
        }
        block.runs = static_cast<std::uint32_t>(work_.runs.size()) - block.first_run;
        std::uint32_t* const grouped = work_.grouped.data() + cell;
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
        work_.sides[0].n[lane] = static_cast<float>(work_.label.size());
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
    std::span<const std::uint16_t> labels_;
    std::uint32_t classes_;
    std::function<double(const double*)> loss_;
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
        return std::make_unique<LaneBracketScanner<ShareKernel<EntropyTerms>>>(path, labels, classes, loss);
    return std::make_unique<LaneBracketScanner<ShareKernel<GiniTerms>>>(path, labels, classes, loss);
}

}  // namespace codt
