// The samples of rates and amounts for a pass over two sums (two_sums_pass.hpp), in half the bits.
//
// Weights and sums are rounded to whole numbers of a power of two, so that their sums are exact in any order.
// Where 30 bits hold all of them without a rounding, as with counts and events, a sample is one such number;
// otherwise it has two parts, of which the lower has as many bits as the sum of all lower parts leaves room
// for. A pass turns the sums of a leaf into floats, in units of the sums of its side: shares, whose mean is 1
// (two_sums_side.hpp). Converted, added up and multiplied, a share is off by at most 4 u of itself, u =
// 2^-24, and that of two added up by 5 u, however small it is.
//
// Values. With shares k and s of a leaf, t = s / k and the divergence d(t), k d(t) is off by some 30 u of
// itself and by a multiple of u |c|, c = s - k: t is off by 9 u of itself, which changes k d(t) by at most 9
// u k |t d'(t)|, and a logarithm by 7 u of itself. In each family t |d'(t)|, t |log t| and |log t| where they
// occur are at most d(t) + |t - 1|, and k |t - 1| = |c|: 18 u |c| for a leaf (poisson), 17 u |c| (gamma) and,
// without logarithms, 5 u |c| (roots). Where the value of a split is v, c is small as well (`ErrorOfC`):
//
//     poisson    v is the divergence of the shares (s, 1 - s) from (k, 1 - k), at least 2 c^2 (Pinsker)
//     gamma      d(t) >= (t - 1)^2 / 2 / max(t, 1), so that a leaf has at least c^2 / 2, v at least c^2
//     roots      2 |c| is the sum over the leaves of k |sqrt(t) - 1| (sqrt(t) + 1), at most sqrt(2 v) sqrt(4)
//
// Rounding of the samples. A leaf whose weight is off by e changes its part of the gain by no more than
//
//     poisson     e |1 - t|
//     gamma       e |log t|
//     roots       e |1 - sqrt(t)| / 2
//
// and one whose sum is off by e by
//
//     poisson     e |log t|
//     gamma       e |1 - 1 / t|
//     roots       e |1 - 1 / sqrt(t)| / 2
//
// as follows from the derivatives of k d(s / k). All of it is at most e (2 + |log t|), and tiny, as e is no
// more than what all samples are off by, but for e t and e / t, of which roots have less than half. With e a
// part p of the sum of a leaf, e |1 - 1 / t| is p |c|. And e t is at most the sum of the leaf times the part
// that its weight is off by. Samples off by less than 2^-26 of themselves add up to no more than 2^-26 of
// all. Let the other ones, the *light* ones, be off by no more than p of themselves and by E together, have
// the sum S, and let y be the largest mean of the samples that are not light. Then a leaf adds at most
//
//     p S + y E:
//
// its light samples have at most S, of which the part is p, and its others at most y times their weight, by
// which E is divided.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "scans/lane_bits.hpp"
#include "scans/numbers_in_parts.hpp"
#include "scans/two_sums_pass.hpp"
#include "scans/two_sums_scan.hpp"

namespace codt {

template <class Family>
struct RoundedSums : KernelDefaults {
    static constexpr std::uint32_t lanes = lane_count<float>;
    static constexpr bool keeps_sums = true;
    static constexpr std::uint32_t longest_block_of(std::uint32_t samples) {
        return block_size_for(samples, 16);
    }
    // Weight and sum, the lower parts first, of a sample or of several.
    struct Parts {
        std::array<std::int32_t, 4> of{};

        CODT_INLINE void add(const Parts& other) {
            for (std::size_t part = 0; part < of.size(); ++part) of[part] += other.of[part];
        }
    };
    using Block = TwoSumsBlock<float, Parts>;
    using Code = LaneBits;
    struct Sums {
        Parts parts;
        std::array<double, TwoSums::most_entries> tuple{};
    };
    struct alignas(pack_bytes) SideLanes : TwoSumsLanes<float, lanes> {
        std::array<std::int32_t, lanes> total[4];
    };

    explicit RoundedSums(const TwoSums& sums) : given_(sums) {}

    bool read(const Subset& subset) {
        samples_ = subset.samples();
        const std::uint32_t size = subset.size();
        const auto round = [&](std::span<const double> given, NumbersInParts& numbers,
                               std::vector<std::int64_t>& whole) {
            given_of_ids_.resize(size);
            for (std::uint32_t id = 0; id < size; ++id) given_of_ids_[id] = given[samples_[id]];
            return numbers.round(given_of_ids_, whole);
        };
        if (!round(given_.weights, weights_, whole_weights_) || !round(given_.sums, sums_, whole_sums_))
            return false;
        parts_.resize(size);
        means_.resize(size);
        all_ = {};
        constexpr double infinity = std::numeric_limits<double>::infinity();
        least_ = {1, 1, infinity, infinity, infinity, 0};
        for (std::uint32_t id = 0; id < size; ++id) {
            parts_[id] = {{low(weights_, whole_weights_[id]), low(sums_, whole_sums_[id]),
                           high(weights_, whole_weights_[id]), high(sums_, whole_sums_[id])}};
            const auto k = static_cast<double>(whole_weights_[id]), s = static_cast<double>(whole_sums_[id]);
            const double mean = s / k;
            means_[id] = static_cast<float>(mean * mean_unit());
            least_.least_weight = std::min(least_.least_weight, k);
            if (s > 0) least_.least_sum = std::min(least_.least_sum, s);
            least_.least_mean = std::min(least_.least_mean, mean);
            least_.most_mean = std::max(least_.most_mean, mean);
            add(all_, id);
        }
        return is_spread() && measure_rounding();
    }
    void summarise(const std::uint32_t* order, std::size_t, std::uint32_t begin, Block& block) const {
        float lower = std::numeric_limits<float>::infinity(), upper = 0;
        block.total = {};
        for (std::uint32_t p = begin; p < block.end; ++p) {
            const std::uint32_t id = order[p];
            block.total.add(parts_[id]);
            lower = std::min(lower, means_[id]);
            upper = std::max(upper, means_[id]);
        }
        block.lower = lower * (1 - 0x1p-20F);
        block.upper = std::max(upper * (1 + 0x1p-20F), 0x1p-40F);  // its reciprocal is still a float
        block.per_span = 1 / (block.upper - block.lower);
    }

    Sums nothing() const { return {}; }
    void add(Sums& sums, std::uint32_t id) const {
        sums.parts.add(parts_[id]);
        const double* const tuple = given_.tuples.data() + samples_[id] * given_.entries;
        for (std::size_t e = 0; e < given_.entries; ++e) sums.tuple[e] += tuple[e];
    }
    void rest(const Sums& left, Sums& right) const {
        for (std::size_t part = 0; part < 4; ++part)
            right.parts.of[part] = all_.parts.of[part] - left.parts.of[part];
        for (std::size_t e = 0; e < given_.entries; ++e) right.tuple[e] = all_.tuple[e] - left.tuple[e];
    }
    LaneBits code(std::uint32_t, std::size_t bucket) const { return 0xFFFFU << bucket & 0xFFFFU; }

    void start(std::size_t s, std::size_t lane, double, const Sums& sums, double known) {
        SideLanes& side = sides_[s];
        const double weight = number(weights_, sums.parts.of[0], sums.parts.of[2]);
        const double sum = number(sums_, sums.parts.of[1], sums.parts.of[3]);
        const double loss = given_.loss(sums.tuple.data());
        if (!(loss > 0) || !(sum > 0)) return close(side, lane);
        const double mean = sum / weight;
        const SideSums own{1,
                           1,
                           least_.least_weight / weight,
                           least_.least_sum / sum,
                           least_.least_mean / mean,
                           least_.most_mean / mean};
        SideShape shape = family_.shape(own);
        shape.scale = scale_of(weight, sum);
        shape.slack.part *= 4;
        const double logarithm = own.logarithm();
        const double value_off =
            (2 + logarithm) * (weights_.off / (weight * weights_.unit) + sums_.off / (sum * sums_.unit)) +
            rounding_ + light_ / sum;
        constexpr double tilt = 0x1p-19, weight_off = 0x1p-21, near = 0x1p-20;
        side.begin(lane, own, shape, near, loss, known, tilt, weight_off, shape.scale * value_off);
        const ErrorOfC in_floats = family_.error_in_floats();
        side.error_of_c[lane] = shape.scale * in_floats.times * float_rounding;
        side.per_value[lane] = in_floats.per_value;
        side.mean[lane] = static_cast<float>(mean * mean_unit());
        side.per_mean[lane] = static_cast<float>(1 / (mean * mean_unit()));
        side.n[lane] = static_cast<float>(1 / weight);
        side.sum[lane] = static_cast<float>(1 / sum);
        for (std::size_t part = 0; part < 4; ++part) side.total[part][lane] = sums.parts.of[part];
    }
    void pad(std::size_t lane) {
        for (SideLanes& side : sides_) close(side, lane);
    }
    void bracket(std::size_t side, std::size_t lane, double lambda, double& lower, double& upper) const {
        sides_[side].bracket(lane, lambda, lower, upper);
    }

    template <std::size_t Bytes>
    struct Samples {
        using Total = Parts;
        using Floats = Pack<float, Bytes>;
        using Register = typename Floats::Register;
        using Whole = BitPack<Bytes>;
        using Point = SumsPoint<Register>;
        static constexpr SumsAre are = SumsAre::shares;
        static constexpr bool corners_decide = false, walks_lanes = false;

        struct Sums {
            Whole of[4];

            CODT_INLINE void clear() {
                for (Whole& part : of) part.clear();
            }
            CODT_INLINE void add(const Sums& other) {
                for (std::size_t part = 0; part < 4; ++part) of[part].add(other.of[part]);
            }
            CODT_INLINE void subtract(const Sums& other) {
                for (std::size_t part = 0; part < 4; ++part) of[part].subtract(other.of[part]);
            }
            CODT_INLINE void subtract_from(const Parts& total) {
                for (std::size_t part = 0; part < 4; ++part) of[part].subtract_from(total.of[part]);
            }
        };

        const Parts* parts;
        const std::uint32_t* ordered;
        const LaneBits* code;
        const SideLanes* sides;
        bool wide_weight, wide_sum;
        float high_weight, high_sum;  // what a unit of a higher part is worth

        template <bool WideWeight, bool WideSum>
        CODT_INLINE void add(std::uint32_t id, Sums& sums) const {
            const LaneBits lanes_left = code[id];
            const Parts& sample = parts[id];
            sums.of[0].add_where(lanes_left, sample.of[0]);
            sums.of[1].add_where(lanes_left, sample.of[1]);
            if constexpr (WideWeight) sums.of[2].add_where(lanes_left, sample.of[2]);
            if constexpr (WideSum) sums.of[3].add_where(lanes_left, sample.of[3]);
        }
        template <bool WideWeight, bool WideSum>
        CODT_INLINE void add_all(std::uint32_t begin, std::uint32_t end, Sums& sums) const {
            for (std::uint32_t p = begin; p < end; ++p) add<WideWeight, WideSum>(ordered[p], sums);
        }
        CODT_INLINE void count(std::uint32_t begin, const Block& block, Sums& sums) const {
            sums.clear();
            if (wide_weight)
                wide_sum ? add_all<true, true>(begin, block.end, sums)
                         : add_all<true, false>(begin, block.end, sums);
            else
                wide_sum ? add_all<false, true>(begin, block.end, sums)
                         : add_all<false, false>(begin, block.end, sums);
        }
        CODT_INLINE void step(std::uint32_t id, Sums& sums, Parts& all) const {
            add<true, true>(id, sums);
            all.add(parts[id]);
        }

        using Integers = typename Whole::Register;
        CODT_INLINE static Register real(const Integers& whole) {
            return __builtin_convertvector(whole, Register);
        }
        template <class Side>
        CODT_INLINE Point shares(const Side& side, std::size_t i, const Integers& k_low,
                                 const Integers& s_low, const Integers& k_high,
                                 const Integers& s_high) const {
            Register k = real(k_low), s = real(s_low);
            if (wide_weight) k += real(k_high) * high_weight;
            if (wide_sum) s += real(s_high) * high_sum;
            return {k * side.n.r[i], s * side.sum.r[i]};
        }
        template <class Side>
        CODT_INLINE Point point(const Side& side, std::size_t i, const Sums& sums) const {
            return shares(side, i, sums.of[0].r[i], sums.of[1].r[i], sums.of[2].r[i], sums.of[3].r[i]);
        }
        template <class Side>
        CODT_INLINE Point point_right(const Side& side, std::size_t i, const Parts& all,
                                      const Sums& sums) const {
            return shares(side, i, all.of[0] - sums.of[0].r[i], all.of[1] - sums.of[1].r[i],
                          all.of[2] - sums.of[2].r[i], all.of[3] - sums.of[3].r[i]);
        }
        template <class Side>
        CODT_INLINE Point rest(const Side& side, std::size_t i, const Sums& sums) const {
            Integers total[4];
            for (std::size_t part = 0; part < 4; ++part)
                std::memcpy(&total[part], sides[side.number].total[part].data() + i * Floats::per_register,
                            Bytes);
            return shares(side, i, total[0] - sums.of[0].r[i], total[1] - sums.of[1].r[i],
                          total[2] - sums.of[2].r[i], total[3] - sums.of[3].r[i]);
        }
    };

    template <std::size_t Bytes>
    CODT_INLINE static void run(RoundedSums* kernel, const Stream<Block>* stream, const LaneBits* code) {
        TwoSumsPass<Family, Samples<Bytes>, float, lanes, Bytes> pass{
            kernel->family_,
            *stream,
            {kernel->parts_.data(), stream->ordered, code, kernel->sides_, kernel->weights_.in_two_parts(),
             kernel->sums_.in_two_parts(), std::ldexp(1.0F, kernel->weights_.low_bits),
             std::ldexp(1.0F, kernel->sums_.low_bits)},
            {},
            {}};
        pass.left.load(kernel->sides_[0], 0);
        pass.right.load(kernel->sides_[1], 1);
        pass.run();
        pass.left.best.store(kernel->sides_[0].best);
        pass.right.best.store(kernel->sides_[1].best);
    }

 private:
    // More rounding than this, as a part of the sums, or a smaller value of the samples in leaves of their
    // own, and bounds would not be close.
    static constexpr double most_rounding = 0x1p-18, least_value = 0x1p-10;
    static constexpr double negligible = 0x1p-26;

    static std::int32_t low(const NumbersInParts& numbers, std::int64_t whole) {
        return static_cast<std::int32_t>(
            numbers.in_two_parts() ? whole & ((std::int64_t{1} << numbers.low_bits) - 1) : whole);
    }
    static std::int32_t high(const NumbersInParts& numbers, std::int64_t whole) {
        return static_cast<std::int32_t>(numbers.in_two_parts() ? whole >> numbers.low_bits : 0);
    }
    static double number(const NumbersInParts& numbers, std::int32_t low, std::int32_t high) {
        return low + std::ldexp(static_cast<double>(high), numbers.low_bits);
    }
    // Means of samples are near 1 in these units.
    double mean_unit() const { return std::ldexp(1.0, weights_.low_bits - sums_.low_bits); }

    static void close(SideLanes& side, std::size_t lane) {
        side.close(lane);
        for (auto& part : side.total) part[lane] = 0;
    }

    // Where the samples hardly differ, shares do not tell them apart well enough.
    bool is_spread() const {
        const double weight = number(weights_, all_.parts.of[0], all_.parts.of[2]);
        const double sum = number(sums_, all_.parts.of[1], all_.parts.of[3]);
        const double value = given_.loss(all_.tuple.data()) / scale_of(weight, sum);
        return value >= least_value;
    }
    // What a gain is worth in these units.
    double scale_of(double weight, double sum) const {
        return family_.scale(sum / weight * (sums_.unit / weights_.unit)) * (weight * weights_.unit);
    }

    // See the head of this file; false if the samples lose too many digits.
    bool measure_rounding() {
        rounding_ = light_ = 0;
        if (weights_.off > 0) {
            rounding_ = 2 * negligible;
            double sum = 0, off = 0, part = 0, heavy_mean = 0;
            for (std::uint32_t id = 0; id < samples_.size(); ++id) {
                const auto k = static_cast<double>(whole_weights_[id]),
                           s = static_cast<double>(whole_sums_[id]);
                const double wrong = std::abs(given_.weights[samples_[id]] / weights_.unit - k);
                if (wrong <= negligible * k) {
                    heavy_mean = std::max(heavy_mean, s / k);
                } else {
                    part = std::max(part, wrong / k);
                    sum += s;
                    off += wrong;
                }
            }
            if (part > 0.5) return false;
            light_ = 2 * (part * sum + heavy_mean * off);
        }
        if (Family::sums_need_digits) rounding_ += 2 * sums_.most_part;
        return rounding_ + light_ / number(sums_, all_.parts.of[1], all_.parts.of[3]) < most_rounding;
    }

    TwoSums given_;
    static constexpr Family family_{};
    std::span<const std::uint32_t> samples_;
    std::vector<double> given_of_ids_;
    std::vector<std::int64_t> whole_weights_, whole_sums_;  // of every id
    NumbersInParts weights_, sums_;
    std::vector<Parts> parts_;
    std::vector<float> means_;
    Sums all_;
    SideSums least_{};
    double rounding_ = 0, light_ = 0;
    SideLanes sides_[2];
};

}  // namespace codt
