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
#include "scans/pinball_scan.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/buffer.hpp"
#include "scans/pinball_bounds.hpp"
#include "scans/pinball_walk.hpp"
#include "scans/scan_driver.hpp"

namespace codt {

namespace {

class PinballKernel : public KernelDefaults {
 public:
    static constexpr std::uint32_t lanes = pinball_lanes;
    // Shorter than in other scans, because walks are slow and ends of blocks are not.
    static constexpr std::uint32_t longest_block = 16;
    using Block = BlockRange;
    using Sums = BucketSums;

    explicit PinballKernel(const PinballSamples& samples) : targets_(samples) {}

    bool read(const Subset& subset) {
        if (!targets_.read(subset)) return false;
        const std::size_t cells = static_cast<std::size_t>(subset.size()) * subset.features();
        place_.ensure(cells);
        rank_.ensure(cells);
        code_.resize(subset.size());
        all_ = {};
        for (const auto& sample : targets_.whole) all_.add(sample);
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        for (std::uint32_t k = begin; k < block.end; ++k) {
            const std::uint32_t r = targets_.rank[order[k]];
            place_.data()[cell + r] = k;
            rank_.data()[cell + k] = r;
        }
    }

    std::uint8_t code(std::uint32_t id, std::size_t bucket) {
        return code_[targets_.rank[id]] = static_cast<std::uint8_t>(bucket);
    }

    Sums nothing() {
        is_begun_ = false;
        return {};
    }
    void add(Sums& sums, std::uint32_t id) const { sums.add(targets_.whole[targets_.rank[id]]); }
    void rest(const Sums& left, Sums& right) const {
        for (std::uint32_t b = 0; b < pinball_buckets; ++b) {
            right.weight[b] = all_.weight[b] - left.weight[b];
            right.sum[b] = all_.sum[b] - left.sum[b];
        }
    }
    void start(std::size_t s, std::size_t lane, double, const Sums& sums, double known) {
        const BucketSums cumulated = sums.cumulated();
        if (s == 0) set_left(lane, cumulated);
        Side& side = sides_[s][lane];
        side.blur =
            pinball_blur * targets_.both() * targets_.farthest * cumulated.weight[pinball_buckets - 1];
        // What attains it may lose more with rounded targets.
        side.best = known * targets_.unit + targets_.rounding;
        side.known = known;
        side.candidates.clear();
        side.is_sure = true;
        set_limit(s, lane);
    }
    void pad(std::size_t lane) {
        set_left(lane, all_.cumulated());
        for (auto& side : limit_) side[lane] = -std::numeric_limits<float>::infinity();
    }

    // Whether `value` is exact.
    bool is_sure(std::size_t s, std::size_t lane) const { return sides_[s][lane].is_sure; }

    double value(std::size_t s, std::size_t lane, double lambda) const {
        const Side& side = sides_[s][lane];
        double best = side.known;
        for (const Candidate& candidate : side.candidates)
            best = std::min(best, exact_loss(s, lane, candidate.cell, candidate.boundary));
        const double leaf = (side.whole - targets_.rounding) / targets_.unit;
        return best + lambda <= leaf ? best + lambda : std::min(best + lambda, exact_loss(s, lane, 0, 0));
    }

    void bracket(std::size_t s, std::size_t lane, double lambda, double& lower, double& upper) const {
        const Side& side = sides_[s][lane];
        const auto value = [&](double rounding) {
            const double best = std::max(0.0, side.best + rounding) / targets_.unit;
            return std::min(best + lambda, std::max(0.0, side.whole + rounding) / targets_.unit);
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
    };
    static constexpr std::size_t most_candidates = 8;

    // This many blocks are bounded before any of them is walked: their ends give good losses.
    static constexpr std::uint32_t ahead = 64;

    // Not inlined into a loop over lanes: g++ 12 makes aligned moves of columns that are not.
    [[gnu::noinline]] void set_left(std::size_t lane, const BucketSums& column) {
        for (std::uint32_t b = 0; b < pinball_buckets; ++b) {
            left_.weight[b][lane] = column.weight[b];
            left_.sum[b][lane] = column.sum[b];
        }
    }

    // Boundaries whose bounds reach it are no candidates.
    void set_limit(std::size_t s, std::size_t lane) {
        const Side& side = sides_[s][lane];
        const double slack = side.blur + 2 * targets_.rounding;
        const double limit = std::min(0x1p100, (side.best + slack) * (1 + 0x1p-20));
        limit_[s][lane] = side.best > 0 || targets_.rounding > 0 ? static_cast<float>(limit)
                                                                 : -std::numeric_limits<float>::infinity();
    }

    void offer(std::size_t s, std::size_t lane, const Candidate& found);
    double exact_loss(std::size_t s, std::size_t lane, std::size_t cell, std::uint32_t boundary) const;
    double loss(std::size_t s, std::size_t lane, const std::uint32_t* place, std::uint32_t k,
                const Boundary& at) const;
    void begin(const Boundary& nothing_before);
    void look(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t k,
              const Boundary& at);
    void walk(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t begin,
              const Block& block, const Boundary* ends);

    template <std::size_t Bytes>
    CODT_INLINE void scan(const Stream<Block>& stream);
    template <std::size_t Bytes>
    CODT_INLINE bool is_doubtful(std::size_t s, const Boundary* ends, float* room) const;

    PinballTargets targets_;
    std::vector<std::uint8_t> code_;      // by rank
    Buffer<std::uint32_t> place_, rank_;  // per feature: the place of every rank, and the rank at every place
    BucketSums all_;
    LaneBuckets left_;  // cumulated
    Bits before_;       // the samples before the block
    Side sides_[2][lanes];
    alignas(pack_bytes) float limit_[2][lanes];
    Boundary ends_[ahead + 1];
    bool is_begun_ = false;
};

void PinballKernel::offer(std::size_t s, std::size_t lane, const Candidate& found) {
    Side& side = sides_[s][lane];
    const auto is_no_candidate = [&](const Candidate& candidate) {
        return candidate.loss > side.best + 2 * targets_.rounding;
    };
    if (found.loss < side.best) {
        // So are those that there was no room for, if the best of all is none any more.
        side.is_sure |= side.best > found.loss + 2 * targets_.rounding;
        side.best = found.loss;
        set_limit(s, lane);
        std::erase_if(side.candidates, is_no_candidate);
    } else if (targets_.rounding == 0 || is_no_candidate(found)) {
        return;
    }
    if (side.candidates.size() < most_candidates)
        side.candidates.push_back(found);
    else
        side.is_sure = false;
}

// The loss of a side that is split at a boundary of a feature, with targets as they are.
double PinballKernel::exact_loss(std::size_t s, std::size_t lane, std::size_t cell,
                                 std::uint32_t boundary) const {
    const std::uint32_t* const place = place_.data() + cell;
    std::vector<std::uint32_t> parts[2];
    for (auto& part : parts) part.resize(targets_.size() + 1);  // one spare, for what is in neither part
    std::size_t sizes[2] = {0, 0};
    for (std::uint32_t r = 0; r < targets_.size(); ++r) {
        const bool is_here = (code_[r] <= lane) == (s == 0), is_before = place[r] < boundary;
        parts[0][sizes[0]] = parts[1][sizes[1]] = r;
        sizes[0] += is_here && is_before;
        sizes[1] += is_here && !is_before;
    }
    return targets_.loss(std::span(parts[0]).first(sizes[0])) +
           targets_.loss(std::span(parts[1]).first(sizes[1]));
}

// The loss of a side that is split behind the first k samples of a feature; `place` are theirs in its order.
double PinballKernel::loss(std::size_t s, std::size_t lane, const std::uint32_t* place, std::uint32_t k,
                           const Boundary& at) const {
    double sum = 0, lowest = 0;
    for (std::size_t p = 2 * s; p < 2 * s + 2; ++p) {
        sum += at.sum[p][lane];
        lowest += at.low_sum[p][lane];
        double open = targets_.quantile * at.weight[p][lane] - at.low_weight[p][lane];
        for (std::uint32_t r = targets_.first[at.bucket[p][lane]]; open > 0; ++r) {
            const bool is_here = (code_[r] <= lane) == (s == 0), is_before = place[r] < k;
            if (!is_here || is_before != (p % 2 == 0)) continue;
            const double part = std::min<double>(open, targets_.whole[r].weight);
            lowest += part * targets_.mean[r];
            open -= part;
        }
    }
    return targets_.error.above * sum - targets_.both() * lowest;
}

// Before the first pass: which samples are on which side, and the losses of leaves.
void PinballKernel::begin(const Boundary& nothing_before) {
    is_begun_ = true;
    before_.assign(targets_.size() / 64 + 1, 0);
    for (Side& left : sides_[0]) left.bits.assign(before_.size(), 0);
    for (std::uint32_t r = 0; r < targets_.size(); ++r)
        if (code_[r] < lanes) flip(sides_[0][code_[r]].bits, r);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        Bits& left = sides_[0][lane].bits;
        Bits& right = sides_[1][lane].bits;
        right.resize(left.size());
        for (std::size_t w = 0; w < left.size(); ++w) {
            if (lane > 0) left[w] |= sides_[0][lane - 1].bits[w];
            right[w] = ~left[w];
        }
        right.back() &= ~(~std::uint64_t{0} << (targets_.size() % 64));
        for (std::size_t s = 0; s < 2; ++s)
            sides_[s][lane].whole = loss(s, lane, place_.data(), 0, nothing_before);
    }
}

// Evaluates a boundary, if its bound does not rule it out.
void PinballKernel::look(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t k,
                         const Boundary& at) {
    if (k == targets_.size()) return;
    if (at.loss[2 * s][lane] + at.loss[2 * s + 1][lane] < limit_[s][lane])
        offer(s, lane, {loss(s, lane, place_.data() + stream.cell, k, at), stream.cell, k});
}

// Evaluates the boundaries of a block: ends[0] is where it begins, ends[1] where it ends.
void PinballKernel::walk(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t begin,
                         const Block& block, const Boundary* ends) {
    const Bits& side = sides_[s][lane].bits;
    // The samples of the side and the ends of their groups, gathered without a branch.
    struct Step {
        std::uint32_t rank, boundary;
    };
    Step steps[longest_block + 1];
    std::size_t count = 0;
    const std::uint32_t* const rank = rank_.data() + stream.cell;
    std::uint32_t k = begin;
    for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
        for (; k < *group; ++k) {
            steps[count] = {rank[k], *group};
            count += holds(side, rank[k]);
        }
    }
    steps[count].boundary = 0;

    WalkedPart<true> before(targets_, side, before_);
    WalkedPart<false> behind(targets_, side, before_);
    const auto start = [&](auto& part, std::size_t p) {
        part.start(ends[0].weight[p][lane], ends[0].bucket[p][lane], ends[0].low_weight[p][lane],
                   ends[0].low_sum[p][lane]);
    };
    start(before, 2 * s);
    start(behind, 2 * s + 1);
    const double above = targets_.error.above, both = targets_.both();
    double sum_before = ends[0].sum[2 * s][lane];
    const double sum = sum_before + ends[0].sum[2 * s + 1][lane];
    std::size_t done = 0;
    while (done < count) {
        const auto [r, boundary] = steps[done];
        flip(before_, r);
        before.insert(r);
        behind.erase(r);
        sum_before += targets_.whole[r].sum;
        if (boundary == steps[++done].boundary) continue;
        const double lowest = before.lowest();
        offer(s, lane, {above * sum - both * (lowest + behind.lowest()), stream.cell, boundary});
        // No boundary from here on loses less than this.
        if (above * sum_before - both * lowest + ends[1].loss[2 * s + 1][lane] >= limit_[s][lane]) break;
    }
    while (done > 0) flip(before_, steps[--done].rank);
}

// Whether some boundary of a block might be better, in any lane: those with room below zero.
template <std::size_t Bytes>
CODT_INLINE bool PinballKernel::is_doubtful(std::size_t s, const Boundary* ends, float* room) const {
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
    rooms.store(room);
    return any_negative(rooms);
}

template <std::size_t Bytes>
CODT_INLINE void PinballKernel::scan(const Stream<Block>& stream) {
    const BucketSums all = all_.cumulated();
    MovingBoundary<Bytes> boundary(targets_, left_, all);
    const std::uint32_t* const rank = rank_.data() + stream.cell;
    boundary.evaluate(ends_[0]);
    if (!is_begun_) begin(ends_[0]);
    std::fill(before_.begin(), before_.end(), 0);
    std::uint32_t k = 0, begin_of_block = 0;
    for (std::uint32_t number = 0; number < stream.block_count;) {
        const Block* const blocks = stream.blocks + number;
        const std::uint32_t count = std::min(ahead, stream.block_count - number);
        // The end with the least bound of every lane.
        alignas(pack_bytes) float least[2][lanes];
        std::uint32_t best[2][lanes] = {};
        std::memcpy(least, limit_, sizeof least);
        for (std::uint32_t b = 0; b < count; ++b) {
            for (; k < blocks[b].end; ++k) boundary.add(targets_.whole[rank[k]], code_[rank[k]]);
            const Boundary& end = ends_[b + 1];
            boundary.evaluate(ends_[b + 1]);
            for (std::size_t s = 0; s < 2; ++s) {
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const float loss = end.loss[2 * s][lane] + end.loss[2 * s + 1][lane];
                    best[s][lane] = loss < least[s][lane] ? b + 1 : best[s][lane];
                    least[s][lane] = loss < least[s][lane] ? loss : least[s][lane];
                }
            }
        }
        for (std::size_t s = 0; s < 2; ++s)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                if (const std::uint32_t b = best[s][lane]; b > 0)
                    look(s, lane, stream, blocks[b - 1].end, ends_[b]);
        for (std::uint32_t b = 0; b < count; ++b) {
            const Boundary* const ends = ends_ + b;
            for (std::size_t s = 0; s < 2; ++s) {
                alignas(pack_bytes) float room[lanes];
                if (!is_doubtful<Bytes>(s, ends, room)) continue;
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    if (!(room[lane] < 0)) continue;
                    const std::int32_t moved = ends[1].weight[2 * s][lane] - ends[0].weight[2 * s][lane];
                    if (blocks[b].several && moved >= 2 * targets_.lightest)
                        walk(s, lane, stream, begin_of_block, blocks[b], ends);
                    else
                        look(s, lane, stream, blocks[b].end, ends[1]);
                }
            }
            for (; begin_of_block < blocks[b].end; ++begin_of_block) flip(before_, rank[begin_of_block]);
        }
        ends_[0] = ends_[count];
        number += count;
    }
}

class PinballScanner final : public Scanner {
 public:
    PinballScanner(const PinballSamples& samples, std::unique_ptr<SingleScanner> plain, KernelPath path)
        : driver_(path, samples), plain_(std::move(plain)) {}

    std::uint32_t lanes() const override { return PinballKernel::lanes; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        is_usable_ = driver_.prepare(subset, feature_rank);
        is_plain_prepared_ = false;
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        if (is_usable_ && !driver_.run(f, thresholds, lambda, {left, right}, stop)) return false;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const PinballKernel& kernel = driver_.kernel();
            if (is_usable_ && kernel.is_sure(0, j) && kernel.is_sure(1, j)) {
                left[j] = std::min(left[j], kernel.value(0, j, lambda));
                right[j] = std::min(right[j], kernel.value(1, j, lambda));
                continue;
            }
            if (!is_plain_prepared_) plain_->prepare(*subset_, {});
            is_plain_prepared_ = true;
            if (!plain_->scan(f, thresholds.subspan(j, 1), lambda, left + j, right + j, stop)) return false;
        }
        return true;
    }

 private:
    ScanDriver<PinballKernel> driver_;
    std::unique_ptr<SingleScanner> plain_;
    const Subset* subset_ = nullptr;
    bool is_usable_ = false, is_plain_prepared_ = false;
};

}  // namespace

std::unique_ptr<Scanner> make_pinball_scanner(const PinballSamples& samples,
                                              std::unique_ptr<SingleScanner> plain, KernelPath path) {
    return std::make_unique<PinballScanner>(samples, std::move(plain), path);
}

std::unique_ptr<BracketScanner> make_pinball_brackets(const PinballSamples& samples, KernelPath path) {
    return std::make_unique<LaneBracketScanner<PinballKernel>>(path, samples);
}

}  // namespace codt
