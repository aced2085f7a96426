// Lanes over thresholds for pinball losses. Targets are rounded to whole units (pinball_targets.hpp), of
// which the scan finds the least loss:
//
//   - pinball_bounds.hpp bounds the losses of the parts before and behind the end of every block, for all
//     lanes at once. A part never loses less with more samples. So no boundary of a block loses less than the
//     part before its first sample and the part behind its last one together;
//   - where that does not rule out a side of a lane, pinball_walk.hpp finds the losses of all boundaries of
//     the block.
//
// The least loss, less or more the rounding, brackets the value. For the value itself, the losses of all
// candidates are computed with targets as they are: of the boundaries that are no worse than the best one but
// for rounding. There are few, unless targets are very far apart; then a plain scan takes over.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "common/buffer.hpp"
#include "scans/pinball_bounds.hpp"
#include "scans/pinball_walk.hpp"
#include "scans/scan_driver.hpp"

namespace codt {

class PinballKernel : public KernelDefaults {
 public:
    static constexpr std::uint32_t lanes = pinball_lanes;
    // Shorter than in other scans, because walks are slow and ends of blocks are not; the shorter, the fewer
    // samples there are, as a block can change more then. The ends of large subsets have more buckets to add
    // up, and their blocks may be still longer.
    static constexpr std::uint32_t shortest_block = 8, longest_block = 256;
    static std::uint32_t longest_block_of(std::uint32_t samples) {
        const std::uint32_t short_block = std::clamp(samples / 28, shortest_block, 64U);
        return std::clamp(samples / 64, short_block, longest_block);
    }
    using Block = BlockRange;
    using Sums = BucketSums;

    // Candidates are needed for values, not for brackets.
    PinballKernel(const PinballSamples& samples, bool keeps_candidates)
        : targets_(samples), keeps_candidates_(keeps_candidates) {}

    bool read(const Subset& subset) {
        if (!targets_.read(subset)) return false;
        const std::size_t cells = static_cast<std::size_t>(subset.size()) * subset.features();
        place_.ensure(cells);
        rank_.ensure(cells);
        code_.resize(subset.size());
        all_ = {};
        for (const auto& sample : targets_.whole) all_.add(sample);
        const CumulatedSums all = all_.cumulated(targets_.buckets);
        mean_weight_ = static_cast<double>(all.weight[targets_.buckets]) / subset.size();
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        for (std::uint32_t k = begin; k < block.end; ++k) {
            const std::uint32_t r = targets_.rank[order[k]];
            place_.data()[cell + r] = k;
            rank_.data()[cell + k] = r;
        }
    }

    // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): what the defaults are there for
    std::uint8_t code(std::uint32_t id, std::size_t bucket) {
        return code_[targets_.rank[id]] = static_cast<std::uint8_t>(bucket);
    }

    Sums nothing() {
        is_begun_ = false;
        return {};
    }
    void add(Sums& sums, std::uint32_t id) const { sums.add(targets_.whole[targets_.rank[id]]); }
    void rest(const Sums& left, Sums& right) const {
        for (std::uint32_t b = 0; b < targets_.buckets; ++b) {
            right.weight[b] = all_.weight[b] - left.weight[b];
            right.sum[b] = all_.sum[b] - left.sum[b];
        }
    }
    void start(std::size_t s, std::size_t lane, double, const Sums& sums, double known) {
        const CumulatedSums cumulated = sums.cumulated(targets_.buckets);
        if (s == 0) set_left(lane, cumulated);
        Side& side = sides_[s][lane];
        side.blur = pinball_blur * targets_.both() * targets_.farthest * cumulated.weight[targets_.buckets];
        // What attains it may lose more with rounded targets.
        side.best = known * targets_.unit + targets_.rounding;
        side.known = known;
        side.candidates.clear();
        side.is_sure = true;
        set_limit(s, lane);
    }
    void pad(std::size_t lane) {
        set_left(lane, all_.cumulated(targets_.buckets));
        for (auto& side : limit_) side[lane] = -std::numeric_limits<float>::infinity();
    }

    // Whether `value` is exact.
    bool is_sure(std::size_t s, std::size_t lane) const { return sides_[s][lane].is_sure; }

    double value(std::size_t s, std::size_t lane, double price) const {
        const Side& side = sides_[s][lane];
        double best = side.known;
        for (const Candidate& candidate : side.candidates)
            best = std::min(best, exact_loss(s, lane, candidate.cell, candidate.boundary));
        const double leaf = (side.whole - targets_.rounding) / targets_.unit;
        return best + price <= leaf ? best + price : std::min(best + price, exact_loss(s, lane, 0, 0));
    }

    void bracket(std::size_t s, std::size_t lane, double price, double& lower, double& upper) const {
        const Side& side = sides_[s][lane];
        const auto value = [&](double rounding) {
            const double best = std::max(0.0, side.best + rounding) / targets_.unit;
            return std::min(best + price, std::max(0.0, side.whole + rounding) / targets_.unit);
        };
        upper = std::min(upper, value(targets_.rounding));
        lower = std::min(upper, value(-targets_.rounding));
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(PinballKernel* kernel, const Stream<Block>* stream, const std::uint8_t*) {
        kernel->scan<Bytes>(*stream);
    }

 private:
    // The first samples of a feature, up to a boundary.
    struct Candidate {
        double loss;  // in units
        std::size_t cell;
        std::uint32_t boundary;
    };
    struct Side {
        double best, whole;  // the least loss so far and that of a leaf, in units
        double known;        // as it was given
        double blur;         // what bounds may be off
        Bits bits;           // its samples
        std::vector<Candidate> candidates;
        bool is_sure;  // whether these are all
        // The last boundary of the feature that was looked at, and the samples at the quantiles of the parts
        // before and behind it. (With nothing before it a boundary is the same for all features.)
        std::uint32_t looked_at;
        LowSamples low[2];
    };
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t most_candidates = 64;

    // This many blocks are bounded before any of them is walked: their ends give good losses.
    static constexpr std::uint32_t ahead = 64;

    // Not inlined into a loop over lanes: g++ 12 makes aligned moves of columns that are not.
    [[gnu::noinline]] void set_left(std::size_t lane, const CumulatedSums& column) {
        for (std::uint32_t b = 0; b <= targets_.buckets; ++b) {
            left_.weight[b][lane] = column.weight[b];
            left_.sum[b][lane] = column.sum[b];
        }
    }

    // Boundaries whose bounds reach it are no better, or no candidates.
    void set_limit(std::size_t s, std::size_t lane) {
        const Side& side = sides_[s][lane];
        const double margin = keeps_candidates_ ? 2 * targets_.rounding : 0;
        const double limit = std::min(0x1p100, (side.best + margin + side.blur) * (1 + 0x1p-20));
        limit_[s][lane] =
            side.best + margin > 0 ? static_cast<float>(limit) : -std::numeric_limits<float>::infinity();
    }

    void offer(std::size_t s, std::size_t lane, const Candidate& found);
    double exact_loss(std::size_t s, std::size_t lane, std::size_t cell, std::uint32_t boundary) const;
    template <class Before, class Behind>
    void find_quantiles(std::size_t s, std::size_t lane, const std::uint32_t* rank, std::uint32_t k,
                        const Boundary& at, Before& before, Behind& behind);
    double loss(std::size_t s, std::size_t lane, std::size_t cell, std::uint32_t k, const Boundary& at);
    void begin(const Boundary& nothing_before);
    void look(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t k,
              const Boundary& at);
    void walk(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t begin,
              const Block& block, const Boundary* ends);

    template <std::size_t Bytes>
    CODT_INLINE void scan(const Stream<Block>& stream);
    template <std::size_t Bytes>
    CODT_INLINE std::uint32_t better_at(std::size_t s, const Boundary& end) const;
    template <std::size_t Bytes>
    CODT_INLINE std::uint32_t doubtful(std::size_t s, const Boundary* ends) const;
    template <std::size_t Bytes>
    CODT_INLINE std::uint32_t look_inside(std::size_t s, const Stream<Block>& stream, std::uint32_t begin,
                                          const Block& block, const Boundary* ends) const;

    PinballTargets targets_;
    bool keeps_candidates_;
    std::vector<std::uint8_t> code_;      // by rank
    Buffer<std::uint32_t> place_, rank_;  // per feature: the place of every rank, and the rank at every place
    BucketSums all_;
    double mean_weight_ = 1;  // of a sample
    LaneCumulated left_;
    // The first samples of a feature, up to the block walked last.
    Bits before_;
    std::uint32_t before_end_ = 0;
    Side sides_[2][lanes];
    alignas(pack_bytes) float limit_[2][lanes];
    Boundary ends_[ahead + 1];
    bool is_begun_ = false;
};

// The lanes in which a boundary might be better, as bits.
template <std::size_t Bytes>
CODT_INLINE std::uint32_t PinballKernel::better_at(std::size_t s, const Boundary& end) const {
    Pack<float, Bytes> room, behind, limit;
    room.load(end.loss[2 * s]);
    behind.load(end.loss[2 * s + 1]);
    limit.load(limit_[s]);
    room.add(behind);
    room.subtract(limit);
    return negative_lanes(room);
}

// The lanes in which some boundary of a block might be better, as bits.
template <std::size_t Bytes>
CODT_INLINE std::uint32_t PinballKernel::doubtful(std::size_t s, const Boundary* ends) const {
    using Floats = Pack<float, Bytes>;
    using Ints = Pack<std::int32_t, Bytes>;
    Floats before, before_end, behind, limit, rooms;
    Ints weight, weight_end;
    before.load(ends[0].loss[2 * s]);
    before_end.load(ends[1].loss[2 * s]);
    behind.load(ends[1].loss[2 * s + 1]);
    limit.load(limit_[s]);
    weight.load(ends[0].weight[2 * s]);
    weight_end.load(ends[1].weight[2 * s]);
    for (std::size_t i = 0; i < Floats::registers; ++i) {
        // With one sample or none, the end of the block is the only boundary that may be new.
        const auto moved = weight_end.r[i] - weight.r[i];
        const auto first = moved < 2 * targets_.lightest ? before_end.r[i] : before.r[i];
        rooms.r[i] = moved != 0 ? first + behind.r[i] - limit.r[i] : typename Floats::Register{};
    }
    return negative_lanes(rooms);
}

// The lanes in which some boundary inside a block might be better, as bits.
//
// Of both parts the weights and sums below the bucket of the quantile where the block begins, and up to it,
// are kept for every boundary. They are two points of G (see pinball_bounds.hpp), and the chord between them
// is no less than G. Below the bucket G falls at least as fast as with the slope `lowest`, as the samples
// between the quantile and the bucket lie above the quantile; above the bucket it rises no faster than with
// the slope `highest`.
//
// With u = 2^-24 and F the farthest mean: q n is off by 3 u n, weights by u n, slopes by 4 u F, and all sums
// and products by a rounding, so that G is off by less than 20 u n F, and the loss of both parts together by
// less than 30 u (above + below) F times the weight of all.
template <std::size_t Bytes>
CODT_INLINE std::uint32_t PinballKernel::look_inside(std::size_t s, const Stream<Block>& stream,
                                                     std::uint32_t begin, const Block& block,
                                                     const Boundary* ends) const {
    using Floats = Pack<float, Bytes>;
    using Float = typename Floats::Register;
    using Int = typename Pack<std::int32_t, Bytes>::Register;
    using Mask = LaneMask<Bytes>;
    const std::uint32_t* const rank = rank_.data() + stream.cell;
    const auto quantile = static_cast<float>(targets_.quantile);
    const auto above = static_cast<float>(targets_.error.above), both = static_cast<float>(targets_.both());
    const auto in_floats = [](const Int& whole)
                               CODT_INLINE_LAMBDA { return __builtin_convertvector(whole, Float); };
    Floats room;
    for (std::size_t i = 0; i < Floats::registers; ++i) {
        const auto load = [&](const auto* row, auto& lanes_of_row) CODT_INLINE_LAMBDA {
            std::memcpy(&lanes_of_row, row + i * Floats::per_register, Bytes);
        };
        // What a part amounts to below the bucket and up to it.
        struct Part {
            Int weight, bucket, low_weight, low_sum, high_weight, high_sum;
            Float lowest, highest;
        };
        Part parts[2];
        Int sums[2];
        Float limit;
        for (std::size_t p = 0; p < 2; ++p) {
            Part& part = parts[p];
            load(ends[0].weight[2 * s + p], part.weight);
            load(ends[0].bucket[2 * s + p], part.bucket);
            load(ends[0].low_weight[2 * s + p], part.low_weight);
            load(ends[0].low_sum[2 * s + p], part.low_sum);
            load(ends[0].high_weight[2 * s + p], part.high_weight);
            load(ends[0].high_sum[2 * s + p], part.high_sum);
            load(ends[1].lowest[2 * s + p], part.lowest);
            load(ends[1].highest[2 * s + p], part.highest);
            load(ends[0].sum[2 * s + p], sums[p]);
        }
        load(limit_[s], limit);
        const auto add = [&](std::uint32_t r) CODT_INLINE_LAMBDA {
            const auto& sample = targets_.whole[r];
            const Int bucket = Int{} + static_cast<std::int32_t>(sample.bucket);
            const Mask left = Mask::from(code_[r], i), here = s == 0 ? left : ~left;
            const Int weight = Int{} + sample.weight, sum = Int{} + sample.sum;
            const Mask low[2] = {here & Mask::below(bucket, parts[0].bucket),
                                 here & Mask::below(bucket, parts[1].bucket)},
                       high[2] = {here & Mask::at_most(bucket, parts[0].bucket),
                                  here & Mask::at_most(bucket, parts[1].bucket)};
            parts[0].weight = here.add(parts[0].weight, weight);
            parts[0].low_weight = low[0].add(parts[0].low_weight, weight);
            parts[0].low_sum = low[0].add(parts[0].low_sum, sum);
            parts[0].high_weight = high[0].add(parts[0].high_weight, weight);
            parts[0].high_sum = high[0].add(parts[0].high_sum, sum);
            parts[1].weight = here.subtract(parts[1].weight, weight);
            parts[1].low_weight = low[1].subtract(parts[1].low_weight, weight);
            parts[1].low_sum = low[1].subtract(parts[1].low_sum, sum);
            parts[1].high_weight = high[1].subtract(parts[1].high_weight, weight);
            parts[1].high_sum = high[1].subtract(parts[1].high_sum, sum);
        };
        const auto most = [&](const Part& part) CODT_INLINE_LAMBDA {
            const Float share = quantile * in_floats(part.weight);
            const Float from_low = share - in_floats(part.low_weight),
                        from_high = share - in_floats(part.high_weight);
            const Int width = part.high_weight - part.low_weight;
            const Float chord =
                in_floats(part.high_sum - part.low_sum) / in_floats(width > 1 ? width : Int{} + 1);
            const Float slope = from_low < 0 ? part.lowest : from_high > 0 ? part.highest : chord;
            const Float from = from_high > 0 ? from_high : from_low;
            return in_floats(from_high > 0 ? part.high_sum : part.low_sum) + from * slope;
        };
        Float least = std::numeric_limits<float>::infinity() - Float{};
        const Float loss = above * in_floats(sums[0] + sums[1]) - limit;
        std::uint32_t k = begin;
        for (const std::uint32_t* group = stream.group_end + block.first_group; *group < block.end; ++group) {
            for (; k < *group; ++k) add(rank[k]);
            const Float rest = loss - both * (most(parts[0]) + most(parts[1]));
            least = rest < least ? rest : least;
        }
        room.r[i] = least;
    }
    return negative_lanes(room);
}

template <std::size_t Bytes>
CODT_INLINE void PinballKernel::scan(const Stream<Block>& stream) {
    const CumulatedSums all = all_.cumulated(targets_.buckets);
    MovingBoundary<Bytes> boundary(targets_, left_, all, targets_.size() / stream.block_count);
    const std::uint32_t* const rank = rank_.data() + stream.cell;
    boundary.evaluate(ends_[0]);
    for (auto& side : sides_)
        for (Side& lane : side) lane.looked_at = nowhere;
    if (!is_begun_) begin(ends_[0]);
    if (before_end_ > 0) std::fill(before_.begin(), before_.end(), 0);
    before_end_ = 0;
    std::uint32_t k = 0, begin_of_block = 0;
    for (std::uint32_t number = 0; number < stream.block_count;) {
        const Block* const blocks = stream.blocks + number;
        const std::uint32_t count = std::min(ahead, stream.block_count - number);
        // The end with the least bound of every lane.
        Pack<float, Bytes> least[2];
        Pack<std::int32_t, Bytes> best[2];
        for (std::size_t s = 0; s < 2; ++s) {
            least[s].load(limit_[s]);
            best[s].clear();
        }
        for (std::uint32_t b = 0; b < count; ++b) {
            boundary.add(rank + k, blocks[b].end - k, code_.data());
            k = blocks[b].end;
            boundary.evaluate(ends_[b + 1]);
            for (std::size_t s = 0; s < 2; ++s) {
                Pack<float, Bytes> loss, behind;
                loss.load(ends_[b + 1].loss[2 * s]);
                behind.load(ends_[b + 1].loss[2 * s + 1]);
                loss.add(behind);
                const auto end =
                    typename Pack<std::int32_t, Bytes>::Register{} + static_cast<std::int32_t>(b + 1);
                for (std::size_t i = 0; i < loss.registers; ++i)
                    best[s].r[i] = loss.r[i] < least[s].r[i] ? end : best[s].r[i];
                least[s].minimum(loss);
            }
            if (!blocks[b].several) continue;
            // Limits only fall, so that lanes without a doubt now will have none.
            if (doubtful<Bytes>(0, ends_ + b) != 0) boundary.template find_reach<0>(ends_[b], ends_[b + 1]);
            if (doubtful<Bytes>(1, ends_ + b) != 0) boundary.template find_reach<1>(ends_[b], ends_[b + 1]);
        }
        for (std::size_t s = 0; s < 2; ++s) {
            std::int32_t best_end[lanes];
            best[s].store(best_end);
            for (std::size_t lane = 0; lane < lanes; ++lane)
                if (const std::int32_t b = best_end[lane]; b > 0)
                    look(s, lane, stream, blocks[b - 1].end, ends_[b]);
        }
        for (std::uint32_t b = 0; b < count; ++b) {
            const Boundary* const ends = ends_ + b;
            for (std::size_t s = 0; s < 2; ++s) {
                std::uint32_t in_doubt = doubtful<Bytes>(s, ends);
                if (in_doubt == 0) continue;
                const std::uint32_t inside =
                    blocks[b].several ? look_inside<Bytes>(s, stream, begin_of_block, blocks[b], ends) : 0;
                in_doubt &= inside | better_at<Bytes>(s, ends[1]);
                for (; in_doubt != 0; in_doubt &= in_doubt - 1) {
                    const auto lane = static_cast<std::size_t>(std::countr_zero(in_doubt));
                    const std::int32_t moved = ends[1].weight[2 * s][lane] - ends[0].weight[2 * s][lane];
                    if ((inside >> lane & 1U) != 0 && moved >= 2 * targets_.lightest)
                        walk(s, lane, stream, begin_of_block, blocks[b], ends);
                    else
                        look(s, lane, stream, blocks[b].end, ends[1]);
                }
            }
            begin_of_block = blocks[b].end;
        }
        ends_[0] = ends_[count];
        number += count;
    }
}

}  // namespace codt
