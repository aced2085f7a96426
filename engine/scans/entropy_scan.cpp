// With T(x) = x log x, a side with L_c samples of class c, N in all, loses, split into p and L - p,
//
//     H(n) - sum of h_c(p_c),    h_c(p) = T(p) + T(L_c - p),    H(n) = T(n) + T(N - n),
//
// where n is the sum of all p_c. A scan keeps the sum of all h_c in each lane; a sample changes one of them.
// T is computed in 32-bit floats and rounded to a whole number, so that no error adds up: any number of
// changes later the sum is still that of T of the present counts.
//
// Blocks (see blocks.hpp). H is convex, so no n loses less by it than by its tangent at the end of the block,
// n1:
//
//     sum of h_c(p_c) - H(n)  <=  sum of (h_c(p_c) - H'(n1) p_c) - H(n1) + H'(n1) n1,    H'(n) = log n -
//     log(N - n).
//
// Every term on the right is convex in its p_c, and largest where the block begins or where it ends. So
// inside a block no boundary is better than its end by more than
//
//     sum over the classes in it of max(0, h_c(p_c0) - h_c(p_c1) - H'(n1) (p_c0 - p_c1)).
//
// Errors, in bits, with u = 2^-24: a logarithm is off by u of itself and 3 u, T(x) by x times 4 u log N + 3 u
// and one unit of the whole numbers. The arguments of all T sum up to N for h and to N for H.
#include "scans/entropy_scan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/buffer.hpp"
#include "scans/lane_logarithm.hpp"
#include "scans/lane_rows.hpp"
#include "scans/scan_driver.hpp"

namespace codt {

namespace {

constexpr std::uint32_t lanes_of_floats = lane_count<float>;
constexpr double largest_sum = 0x1p29;  // of whole numbers: twice this fits 32 bits
constexpr double log_2 = 0.6931471805599453;

// The samples of one class in a block.
struct Run {
    std::uint32_t label, end;  // where they end in `grouped`
};

struct EntropyBlock : BlockRange {
    std::uint32_t first_run, runs;
};

// A class, by lane: its samples on the left side before some place, on the whole left side, and h on both
// sides; then its samples on both sides, before that place and in all.
struct alignas(pack_bytes) ClassLanes {
    float count[lanes_of_floats], left_total[lanes_of_floats];
    std::int32_t left[lanes_of_floats], right[lanes_of_floats];
    float passed, total;
};

// Per lane: samples, the largest sum of h - H so far, and the loss of a leaf.
struct alignas(pack_bytes) EntropySide {
    float n[lanes_of_floats];
    std::int32_t best[lanes_of_floats];
    double loss[lanes_of_floats];
};

// What a pass works on.
struct EntropyWork {
    std::vector<ClassLanes> before, after, inside;  // by class: where a block begins and ends, and within
    std::vector<std::uint16_t> label;               // of every id
    Buffer<std::uint32_t> grouped;                  // ids of each feature, within each block by class
    std::vector<Run> runs;
    float scale = 1;  // units per bit
    EntropySide sides[2];
};

template <std::size_t Bytes>
struct EntropyPass {
    using P = Pack<float, Bytes>;
    using Whole = Pack<std::int32_t, Bytes>;
    using Register = typename P::Register;
    using Log = LaneLogarithm<float, Bytes>;
    static constexpr LaneRows<float, lanes_of_floats> rows{1};

    EntropyWork& work;
    const Stream<EntropyBlock>& stream;
    const std::uint8_t* bucket;
    P n[2];         // samples of a side
    Whole best[2];  // of h - H
    P k;            // samples on the left side so far
    float all;      // and on both
    Whole sum[2];   // of h

    CODT_INLINE typename Whole::Register term(const Register& x, const Register& log) const {
        return __builtin_convertvector(Register(x * log * work.scale), typename Whole::Register);
    }
    CODT_INLINE typename Whole::Register term(const Register& x) const {
        return term(x, Log::of(x).binary());
    }

    // Takes the new counts of a class, and brings the sums of h up to date.
    CODT_INLINE void update(ClassLanes& rows_of, const P& count, Whole (&to)[2]) const {
        P total;
        total.load(rows_of.left_total);
        Whole left, right, old;
        for (std::size_t i = 0; i < P::registers; ++i) {
            left.r[i] = term(count.r[i]) + term(total.r[i] - count.r[i]);
            const Register passed = rows_of.passed - count.r[i];
            right.r[i] = term(passed) + term((rows_of.total - total.r[i]) - passed);
        }
        old.load(rows_of.left);
        to[0].add(left);
        to[0].subtract(old);
        old.load(rows_of.right);
        to[1].add(right);
        to[1].subtract(old);
        count.store(rows_of.count);
        left.store(rows_of.left);
        right.store(rows_of.right);
    }

    // h - H of both sides at a boundary, and H' in bits.
    CODT_INLINE void values(const P& left, float passed, const Whole (&of)[2], Whole (&value)[2],
                            P (&slope)[2]) const {
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t i = 0; i < P::registers; ++i) {
                const Register x = side == 0 ? left.r[i] : passed - left.r[i];
                const Register rest = n[side].r[i] - x;
                const Register log_x = Log::of(x).binary(), log_rest = Log::of(rest).binary();
                value[side].r[i] = of[side].r[i] - term(x, log_x) - term(rest, log_rest);
                slope[side].r[i] = log_x - log_rest;
            }
    }

    CODT_INLINE void walk(std::uint32_t begin, const EntropyBlock& block) {
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const std::uint32_t label = work.runs[block.first_run + r].label;
            work.inside[label] = work.before[label];
        }
        Whole now[2] = {sum[0], sum[1]};
        P left = k;
        float passed = all;
        walk_groups<Walk::inside>(
            stream, begin, block,
            [&](std::uint32_t id) CODT_INLINE_LAMBDA {
                ClassLanes& own = work.inside[work.label[id]];
                P count;
                count.load(own.count);
                count.add_row(rows[bucket[id]]);
                own.passed += 1;
                update(own, count, now);
                left.add_row(rows[bucket[id]]);
                passed += 1;
            },
            [&](std::uint32_t) CODT_INLINE_LAMBDA {
                Whole value[2];
                P slope[2];
                values(left, passed, now, value, slope);
                best[0].maximum(value[0]);
                best[1].maximum(value[1]);
            });
    }

    CODT_INLINE void run() {
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const EntropyBlock& block = stream.blocks[b];
            Whole next[2] = {sum[0], sum[1]};
            P left = k;
            std::uint32_t p = begin;
            for (std::uint32_t r = 0; r < block.runs; ++r) {
                const Run& run = work.runs[block.first_run + r];
                ClassLanes& own = work.after[run.label];
                P count;
                count.load(own.count);
                own.passed += static_cast<float>(run.end - p);
                P more;
                more.clear();
                for (; p < run.end; ++p) more.add_row(rows[bucket[work.grouped.data()[stream.cell + p]]]);
                count.add(more);
                left.add(more);
                update(own, count, next);
            }
            const float passed = all + static_cast<float>(block.end - begin);
            Whole value[2];
            P slope[2];
            values(left, passed, next, value, slope);
            best[0].maximum(value[0]);
            best[1].maximum(value[1]);
            if (block.several && is_doubtful(block, value, slope)) walk(begin, block);
            for (std::uint32_t r = 0; r < block.runs; ++r) {
                const std::uint32_t label = work.runs[block.first_run + r].label;
                work.before[label] = work.after[label];
            }
            sum[0] = next[0];
            sum[1] = next[1];
            k = left;
            all = passed;
            begin = block.end;
        }
    }

    // Whether a boundary inside a block might be better than the best, given the values and slopes at its
    // end.
    CODT_INLINE bool is_doubtful(const EntropyBlock& block, const Whole (&value)[2],
                                 const P (&slope)[2]) const {
        P more[2];
        more[0].clear();
        more[1].clear();
        for (std::uint32_t r = 0; r < block.runs; ++r) {
            const std::uint32_t label = work.runs[block.first_run + r].label;
            const ClassLanes &from = work.before[label], &to = work.after[label];
            P start, end;
            start.load(from.count);
            end.load(to.count);
            Whole old[2], next[2];
            old[0].load(from.left);
            next[0].load(to.left);
            old[1].load(from.right);
            next[1].load(to.right);
            for (std::size_t i = 0; i < P::registers; ++i) {
                const Register left = end.r[i] - start.r[i];
                const Register right = (to.passed - from.passed) - left;
                const Register gain[2] = {__builtin_convertvector(old[0].r[i] - next[0].r[i], Register) +
                                              slope[0].r[i] * left * work.scale,
                                          __builtin_convertvector(old[1].r[i] - next[1].r[i], Register) +
                                              slope[1].r[i] * right * work.scale};
                for (std::size_t side = 0; side < 2; ++side)
                    more[side].r[i] += gain[side] > 0 ? gain[side] : Register{};
            }
        }
        P room;
        for (std::size_t i = 0; i < P::registers; ++i) {
            const Register left =
                __builtin_convertvector(best[0].r[i] - value[0].r[i], Register) - more[0].r[i];
            const Register right =
                __builtin_convertvector(best[1].r[i] - value[1].r[i], Register) - more[1].r[i];
            room.r[i] = left < right ? left : right;
        }
        return any_negative(room);
    }
};

struct EntropyKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lanes_of_floats;
    using Block = EntropyBlock;
    using Sums = std::vector<double>;  // samples of each class

    EntropyKernel(std::span<const std::uint16_t> labels, std::uint32_t classes,
                  std::function<double(const double*)> loss)
        : labels_(labels), classes_(classes), loss_(std::move(loss)) {}

    bool read(const Subset& subset) {
        if (subset.size() > (1U << 20U)) return false;
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
        work_.inside = start_;
        place_.resize(classes_);
        const double n = subset.size();
        work_.scale = static_cast<float>(largest_sum / (n * std::log2(n + 2)));
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
        EntropySide& side = work_.sides[s];
        side.n[lane] = static_cast<float>(n);
        side.loss[lane] = loss_(sums.data());
        side.best[lane] = static_cast<std::int32_t>(
            side.loss[lane] > 0 ? -std::max(0.0, std::min(side.loss[lane], known)) / log_2 * work_.scale
                                : largest_sum);
    }
    void pad(std::size_t lane) {
        for (std::uint32_t c = 0; c < classes_; ++c) start_[c].left_total[lane] = static_cast<float>(all_[c]);
        for (EntropySide& side : work_.sides) {
            side.n[lane] = 0;
            side.best[lane] = static_cast<std::int32_t>(largest_sum);
        }
        work_.sides[0].n[lane] = static_cast<float>(work_.label.size());
    }
    void bracket(std::size_t s, std::size_t lane, double lambda, double& lower, double& upper) const {
        const EntropySide& side = work_.sides[s];
        const double n = side.n[lane];
        const double found = std::max(0.0, -static_cast<double>(side.best[lane]) / work_.scale);
        const double slack = n * 0x1p-24 * (8 * std::log2(n + 2) + 16) + (2 * classes_ + 8) / work_.scale;
        const auto value = [&](double bits) {
            return std::min(side.loss[lane], std::max(0.0, bits) * log_2 + lambda);
        };
        upper = std::min(upper, value(found + slack));
        lower = std::min(upper, value(found - slack));
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(EntropyKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        EntropyWork& work = kernel->work_;
        EntropyPass<Bytes> pass{work, *stream, bucket, {}, {}, {}, 0, {}};
        pass.k.clear();
        for (std::size_t s = 0; s < 2; ++s) {
            pass.n[s].load(work.sides[s].n);
            pass.best[s].load(work.sides[s].best);
            pass.sum[s].clear();
        }
        typename EntropyPass<Bytes>::P none;
        none.clear();
        work.after = kernel->start_;
        for (std::uint32_t c = 0; c < kernel->classes_; ++c) {
            work.after[c].total = static_cast<float>(kernel->all_[c]);
            pass.update(work.after[c], none, pass.sum);
        }
        work.before = work.after;
        pass.run();
        for (std::size_t s = 0; s < 2; ++s) pass.best[s].store(work.sides[s].best);
    }

 private:
    std::span<const std::uint16_t> labels_;
    std::uint32_t classes_;
    std::function<double(const double*)> loss_;
    Sums all_;
    std::vector<ClassLanes> start_;     // before the first block
    std::vector<std::uint32_t> place_;  // by class
    EntropyWork work_;
};

}  // namespace

std::unique_ptr<BracketScanner> make_entropy_brackets(std::span<const std::uint16_t> labels,
                                                      std::uint32_t classes,
                                                      std::function<double(const double*)> loss,
                                                      KernelPath path) {
    return std::make_unique<LaneBracketScanner<EntropyKernel>>(path, labels, classes, loss);
}

}  // namespace codt
