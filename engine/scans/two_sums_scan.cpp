// The samples of the scans by two sums: those of two classes without weights are counted in bytes,
// 16 thresholds at a time, with places and gains in 32-bit floats, which hold whole numbers up to 2^24. Rates
// and amounts are rounded (rounded_sums.hpp) where that brings close bounds. All others are summed up in
// 64-bit floats, 16 thresholds at a time.
#include "scans/two_sums_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/buffer.hpp"
#include "scans/lane_rows.hpp"
#include "scans/rounded_sums.hpp"
#include "scans/two_class_counts.hpp"
#include "scans/two_class_lane_walk.hpp"
#include "scans/two_sums_pass.hpp"

namespace codt {

namespace {

template <class Family>
struct TwoClassShares : KernelDefaults {
    static constexpr std::uint32_t lanes = 16;
    static constexpr bool joins_orders = true;
    static constexpr std::uint32_t longest_block_of(std::uint32_t samples) {
        return block_size_for(samples, 16);
    }
    using Block = TwoSumsBlock<float, PlainTotal<float>>;
    using Sums = std::uint32_t;  // samples of class 1

    TwoClassShares(std::span<const std::uint16_t> labels, std::function<double(double, double)> loss)
        : labels_(labels), loss_(std::move(loss)) {}

    bool read(const Subset& subset) {
        if (subset.size() > (1U << 20U)) return false;
        bit_.resize(subset.size());
        ones_ = 0;
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            bit_[id] = static_cast<std::uint8_t>(labels_[subset.samples()[id]] * class_bit);
            add(ones_, id);
        }
        return true;
    }
    void summarise(const std::uint32_t* order, std::size_t, std::uint32_t begin, Block& block) const {
        Sums ones = 0;
        for (std::uint32_t k = begin; k < block.end; ++k) add(ones, order[k]);
        block.total = {static_cast<float>(block.end - begin), static_cast<float>(ones)};
        block.lower = 0;
        block.upper = block.per_span = 1;
    }

    Sums nothing() const { return 0; }
    void add(Sums& ones, std::uint32_t id) const { ones += bit_[id] / class_bit; }
    std::uint8_t code(std::uint32_t id, std::size_t bucket) const {
        return static_cast<std::uint8_t>(bit_[id] + bucket);
    }
    void rest(Sums left, Sums& right) const { right = ones_ - left; }
    void start(std::size_t side, std::size_t lane, double n, double ones, double known) {
        if (!(ones > 0 && ones < n)) return sides_[side].close(lane);
        const SideSums sums{n, ones, 1, 1, 0, 1};
        const SideShape shape = Family{}.shape(sums);
        constexpr double near = 0x1p-22, rounding = 0x1p-21;
        sides_[side].begin(lane, sums, shape, near, loss_(n, ones), known, rounding * ones, 0,
                           shape.scale * shape.slack.weight * n);
    }
    void pad(std::size_t lane) {
        for (auto& side : sides_) side.close(lane);
    }
    void missing_left(std::uint64_t left) {
        counts_.set(missing_bucket<lanes>, left);
        rows_.missing_left(left);
    }
    void bracket(std::size_t side, std::size_t lane, double lambda, double& lower, double& upper) const {
        sides_[side].bracket(lane, lambda, lower, upper);
    }

    template <std::size_t Bytes>
    struct Samples : PlainSamples<float, Pack<float, Bytes, lanes * sizeof(float)>> {
        using Base = PlainSamples<float, Pack<float, Bytes, lanes * sizeof(float)>>;
        using typename Base::Sums;
        using typename Base::Total;
        static constexpr bool corners_decide = true;
        static constexpr bool walks_lanes = !Family::even;  // otherwise values take no longer than bounds
        using Bits = TwoClassBits<lanes, Bytes>;
        static_assert(longest_block_of(std::numeric_limits<std::uint32_t>::max()) <= Bits::longest);

        const ClassCounts<lanes>& counts;
        const LaneRows<float, lanes>& rows;
        const std::uint32_t* ordered;
        const std::uint8_t* code;
        const TwoSumsLanes<float, lanes>* sides;

        // For all lanes some boundaries are ruled out without a value, so that each takes half as long.
        CODT_INLINE static bool prefers_lanes(std::uint32_t size, int boundaries, std::uint32_t in_left,
                                              std::uint32_t in_right) {
            const auto values = static_cast<int>((size + Bits::at_once - 1) / Bits::at_once);
            const int for_lanes = (std::popcount(in_left) + std::popcount(in_right)) * values;
            return 2 * for_lanes < boundaries * ((in_left != 0) + (in_right != 0));
        }
        template <class Pass, class Run>
        CODT_INLINE static void walk_lanes(Pass& pass, const Run& in, std::uint64_t ends,
                                           std::uint32_t in_left, std::uint32_t in_right) {
            const Samples& samples = pass.samples;
            const std::uint32_t size = in.block->end - in.begin;
            TwoClassLaneWalk<Pass, lanes, Bytes> walk{pass, {}, size, ends, {}, {}};
            walk.bits.read(samples.ordered + in.begin, size, samples.code, samples.rows);
            walk.walk(in, in_left, in_right);
        }

        CODT_INLINE void count(std::uint32_t begin, const Block& block, Sums& sums) const {
            counts.template count<Bytes>(ordered, code, begin, block.end, sums.s, sums.k);
            sums.k.add(sums.s);
        }
        CODT_INLINE void step(std::uint32_t id, Sums& sums, Total& all) const {
            const std::uint8_t c = code[id];
            const float y = c & class_bit ? 1.0F : 0.0F;
            const float* const row = rows[c % class_bit];
            sums.k.add_row(row);
            sums.s.add_scaled(row, y);
            all.add({1, y});
        }
    };

    template <std::size_t Bytes>
    CODT_INLINE static void run(TwoClassShares* kernel, const Stream<Block>* stream,
                                const std::uint8_t* code) {
        const Family family;
        TwoSumsPass<Family, Samples<Bytes>, float, lanes, Bytes> pass{
            family,
            *stream,
            {{}, kernel->counts_, kernel->rows_, stream->ordered, code, kernel->sides_},
            {},
            {}};
        pass.left.load(kernel->sides_[0], 0);
        pass.right.load(kernel->sides_[1], 1);
        pass.run();
        pass.left.best.store(kernel->sides_[0].best);
        pass.right.best.store(kernel->sides_[1].best);
    }

 private:
    std::span<const std::uint16_t> labels_;
    std::function<double(double, double)> loss_;
    ClassCounts<lanes> counts_;
    LaneRows<float, lanes> rows_{1};
    std::vector<std::uint8_t> bit_;  // of every id
    Sums ones_ = 0;
    TwoSumsLanes<float, lanes> sides_[2];
};

template <class Family>
struct RealSums : KernelDefaults {
    static constexpr std::uint32_t lanes = 16;
    static constexpr std::uint32_t longest_block_of(std::uint32_t samples) {
        return block_size_for(samples, 16);
    }
    using Block = TwoSumsBlock<double, PlainTotal<double>>;
    struct Sums {
        double k = 0, s = 0;
        std::array<double, TwoSums::most_entries> tuple{};
    };

    explicit RealSums(const TwoSums& sums, const Family& family = {}) : given_(sums), family_(family) {}

    bool read(const Subset& subset) {
        samples_ = subset.samples();
        k_.resize(subset.size());
        s_.resize(subset.size());
        all_ = {};
        constexpr double infinity = std::numeric_limits<double>::infinity();
        least_ = {0, 0, infinity, infinity, infinity, 0};
        double heaviest = 0;
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            k_[id] = given_.weights[samples_[id]];
            s_[id] = given_.sums[samples_[id]];
            add(all_, id);
            heaviest = std::max(heaviest, k_[id]);
            least_.least_weight = std::min(least_.least_weight, k_[id]);
            if (s_[id] > 0) least_.least_sum = std::min(least_.least_sum, s_[id]);
            least_.least_mean = std::min(least_.least_mean, s_[id] / k_[id]);
            least_.most_mean = std::max(least_.most_mean, s_[id] / k_[id]);
        }
        const double error = given_.whole ? 0 : subset.size() * 0x1p-51;
        error_of_weight_ = heaviest > least_.least_weight ? error * all_.k : 0;
        error_of_sum_ = error * all_.s;
        // So that sums of nothing are told from sums of something, and means are known to within `off`.
        const double off = 2 * (error_of_weight_ / least_.least_weight + error_of_sum_ / least_.least_sum);
        least_.least_mean *= 1 - off;
        least_.most_mean *= 1 + off;
        return off < 0.25;
    }
    void summarise(const std::uint32_t* order, std::size_t, std::uint32_t begin, Block& block) const {
        double lower = std::numeric_limits<double>::infinity(), upper = 0;
        block.total = {};
        for (std::uint32_t p = begin; p < block.end; ++p) {
            const std::uint32_t id = order[p];
            block.total.add({k_[id], s_[id]});
            const double y = s_[id] / k_[id];
            lower = std::min(lower, y);
            upper = std::max(upper, y);
        }
        block.lower = lower;
        block.upper = upper;
        block.per_span = upper > lower ? 1 / (upper - lower) : 0;
    }

    Sums nothing() const { return {}; }
    void add(Sums& sums, std::uint32_t id) const {
        sums.k += k_[id];
        sums.s += s_[id];
        const double* const tuple = given_.tuples.data() + samples_[id] * given_.entries;
        for (std::size_t e = 0; e < given_.entries; ++e) sums.tuple[e] += tuple[e];
    }
    void rest(const Sums& left, Sums& right) const {
        right.k = all_.k - left.k;
        right.s = all_.s - left.s;
        for (std::size_t e = 0; e < given_.entries; ++e) right.tuple[e] = all_.tuple[e] - left.tuple[e];
    }
    void start(std::size_t side, std::size_t lane, double, const Sums& sums, double known) {
        SideSums own = least_;
        own.n = sums.k;
        own.sum = sums.s;
        const double loss = given_.loss(sums.tuple.data());
        if (!(loss > 0)) return sides_[side].close(lane);
        const SideShape shape = family_.shape(own);
        constexpr double near = 1e-12, rounding = 0x1p-50;
        sides_[side].begin(lane, own, shape, near, loss, known,
                           rounding * own.sum + error_of_sum_ + error_of_weight_ * own.mean(), 0,
                           shape.scale * shape.slack.weight * own.n + shape.slack.of_sum * error_of_sum_ +
                               shape.slack.of_weight * error_of_weight_);
    }
    void pad(std::size_t lane) {
        for (auto& side : sides_) side.close(lane);
    }
    void bracket(std::size_t side, std::size_t lane, double lambda, double& lower, double& upper) const {
        sides_[side].bracket(lane, lambda, lower, upper);
    }

    template <std::size_t Bytes>
    struct Samples : PlainSamples<double, Pack<double, Bytes, lanes * sizeof(double)>> {
        using Base = PlainSamples<double, Pack<double, Bytes, lanes * sizeof(double)>>;
        using typename Base::Sums;
        using typename Base::Total;
        static constexpr bool corners_decide = false;
        static constexpr bool walks_lanes = false;
        static constexpr LaneRows<double, lanes> rows{1};

        const RealSums& kernel;
        const std::uint32_t* ordered;
        const std::uint8_t* bucket;

        CODT_INLINE void add(std::uint32_t id, Sums& sums) const {
            const double* const row = rows[bucket[id]];
            sums.k.add_scaled(row, kernel.k_[id]);
            sums.s.add_scaled(row, kernel.s_[id]);
        }
        CODT_INLINE void count(std::uint32_t begin, const Block& block, Sums& sums) const {
            sums.clear();
            for (std::uint32_t p = begin; p < block.end; ++p) add(ordered[p], sums);
        }
        CODT_INLINE void step(std::uint32_t id, Sums& sums, Total& all) const {
            add(id, sums);
            all.add({kernel.k_[id], kernel.s_[id]});
        }
    };

    template <std::size_t Bytes>
    CODT_INLINE static void run(RealSums* kernel, const Stream<Block>* stream, const std::uint8_t* bucket) {
        TwoSumsPass<Family, Samples<Bytes>, double, lanes, Bytes> pass{
            kernel->family_, *stream, {{}, *kernel, stream->ordered, bucket}, {}, {}};
        pass.left.load(kernel->sides_[0], 0);
        pass.right.load(kernel->sides_[1], 1);
        pass.run();
        pass.left.best.store(kernel->sides_[0].best);
        pass.right.best.store(kernel->sides_[1].best);
    }

 private:
    TwoSums given_;
    Family family_;
    std::span<const std::uint32_t> samples_;
    std::vector<double> k_, s_;  // of every id
    Sums all_;
    SideSums least_{};
    double error_of_weight_ = 0, error_of_sum_ = 0;
    TwoSumsLanes<double, lanes> sides_[2];
};

// Rounded sums where these bring close bounds, else sums of 64-bit floats.
class RoundedOrReal final : public BracketScanner {
 public:
    RoundedOrReal(std::unique_ptr<BracketScanner> rounded, std::unique_ptr<BracketScanner> real)
        : rounded_(std::move(rounded)), real_(std::move(real)) {
        CODT_CHECK(rounded_->lanes() == real_->lanes() && rounded_->joins_orders() == real_->joins_orders());
    }

    std::uint32_t lanes() const override { return rounded_->lanes(); }
    bool joins_orders() const override { return rounded_->joins_orders(); }
    bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        now_ = rounded_.get();
        if (now_->prepare(subset, feature_rank)) return true;
        now_ = real_.get();
        return now_->prepare(subset, feature_rank);
    }
    bool scan(std::span<const Brackets> orders, const Prices& prices, StopCondition& stop) override {
        return now_->scan(orders, prices, stop);
    }

 private:
    std::unique_ptr<BracketScanner> rounded_, real_;
    BracketScanner* now_ = nullptr;
};

template <class Family>
std::unique_ptr<BracketScanner> make_rates(const TwoSums& sums, KernelPath path) {
    return std::make_unique<RoundedOrReal>(
        std::make_unique<LaneBracketScanner<RoundedSums<Family>>>(path, sums),
        std::make_unique<LaneBracketScanner<RealSums<Family>>>(path, sums));
}

}  // namespace

std::unique_ptr<BracketScanner> make_two_sums_brackets(const TwoSums& sums, KernelPath path) {
    switch (sums.family) {
        case TwoSumsLoss::entropy:
            return std::make_unique<LaneBracketScanner<RealSums<EntropyOfTwo>>>(path, sums);
        case TwoSumsLoss::gini:
            return std::make_unique<LaneBracketScanner<RealSums<GiniOfTwo>>>(path, sums);
        case TwoSumsLoss::poisson:
            return make_rates<PoissonOfTwo>(sums, path);
        case TwoSumsLoss::gamma:
            return make_rates<GammaOfTwo>(sums, path);
        case TwoSumsLoss::tweedie:
            if (sums.exponent == 0.5) return make_rates<RootTweedieOfTwo>(sums, path);
            return std::make_unique<LaneBracketScanner<RealSums<TweedieOfTwo>>>(path, sums,
                                                                                TweedieOfTwo{sums.exponent});
    }
    return nullptr;
}

std::unique_ptr<BracketScanner> make_two_class_brackets(TwoSumsLoss family,
                                                        std::span<const std::uint16_t> labels,
                                                        const std::function<double(double, double)>& loss,
                                                        KernelPath path) {
    if (family == TwoSumsLoss::entropy)
        return std::make_unique<LaneBracketScanner<TwoClassShares<EntropyOfTwo>>>(path, labels, loss);
    return std::make_unique<LaneBracketScanner<TwoClassShares<GiniOfTwo>>>(path, labels, loss);
}

}  // namespace codt
