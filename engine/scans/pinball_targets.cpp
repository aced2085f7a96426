#include "scans/pinball_targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace codt {

namespace {

// Sums of weights and of weighted targets stay below twice this.
constexpr double most_units = 0x1p30;
// Bounds that are further apart rule out too little.
constexpr double most_rounding = 0x1p-12 * most_units;

// So many units that a sum comes close to the most. A power of two leaves short binary numbers as they are.
// Not finite for sums near the least numbers there are.
double units_of(double sum) {
    return std::exp2(std::floor(std::log2(most_units / sum)));
}
double units_for(double sum) {
    const double units = units_of(sum);
    return units > 0 && std::isfinite(units) ? units : 1;
}

std::int32_t nearest(double units) {
    return static_cast<std::int32_t>(std::floor(units + 0.5));
}

// Of the ranks as shares of all, those near the quantile count more, as the quantiles of most parts lie
// there; the less so, the closer it is to the median.
class Nearness {
 public:
    explicit Nearness(double quantile)
        : quantile_(quantile), scale_(std::max(0.1, 2 * std::min(quantile, 1 - quantile))) {}

    // From 0 to 1, like its argument.
    double share_of(double rank) const { return (below(rank) - below(0)) / (below(1) - below(0)); }

 private:
    double below(double rank) const {
        const double away = std::exp(-std::abs(rank - quantile_) / scale_);
        return rank < quantile_ ? away : 2 - away;
    }

    double quantile_, scale_;
};

}  // namespace

PinballTargets::PinballTargets(const PinballSamples& samples)
    : error(samples), quantile(samples.above / (samples.above + samples.below)) {
    const auto [light, heavy] = std::minmax_element(error.weights.begin(), error.weights.end());
    equal_weights_ = *light == *heavy;
}

bool PinballTargets::read(const Subset& subset) {
    const auto rows = subset.samples();
    const std::uint32_t size = subset.size();
    sort(rows);
    rank.resize(size);
    y_.resize(size);
    weight_.resize(size);
    const double middle = error.y[rows[order_[size / 2]]];
    double all = 0, sum = 0;
    for (std::uint32_t r = 0; r < size; ++r) {
        const std::uint32_t id = order_[r];
        const double y = error.y[rows[id]];
        rank[id] = r;
        y_[r] = y;
        weight_[r] = error.weights[rows[id]];
        all += weight_[r];
        sum += weight_[r] * std::abs(y - middle);
    }
    // Such targets cannot be told apart in units.
    if (sum > 0 && !std::isfinite(units_of(sum))) return false;
    unit = units_for(sum);
    round(middle, all);
    return rounding <= most_rounding;
}

void PinballTargets::sort(std::span<const std::uint32_t> rows) {
    order_.resize(rows.size());
    // Many of all rows are sooner picked than sorted.
    if (16 * rows.size() < error.order.size()) {
        std::iota(order_.begin(), order_.end(), 0U);
        std::sort(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return error.y[rows[a]] < error.y[rows[b]]; });
        return;
    }
    constexpr std::uint32_t elsewhere = UINT32_MAX;
    id_.assign(error.order.size(), elsewhere);
    for (std::uint32_t id = 0; id < rows.size(); ++id) id_[rows[id]] = id;
    std::size_t count = 0;
    for (std::size_t i = 0; count < rows.size(); ++i) {
        const std::uint32_t id = id_[error.order[i]];
        order_[count] = id;
        count += id != elsewhere;
    }
}

void PinballTargets::round(double middle, double all) {
    whole.resize(size());
    mean.resize(size());
    const double weight_unit = equal_weights_ ? 1 / weight_[0] : units_for(all);
    double weights_moved = 0;
    rounding = farthest = 0;
    lightest = std::numeric_limits<std::int32_t>::max();
    buckets = pinball_buckets_of(size());
    std::fill(std::begin(first), std::end(first), size());
    std::fill(std::begin(uniform), std::end(uniform), true);
    // The chord of a bucket (pinball_bounds.hpp) is off by its weight times its width, which is the same for
    // all buckets that have the same sum of roots of gaps between targets. But quantiles lie where the weight
    // is, near the quantile of all. So buckets are cut by both.
    const auto root_of_gap = [&](std::uint32_t r) { return r > 0 ? std::sqrt(y_[r] - y_[r - 1]) : 0.0; };
    double all_gaps = std::numeric_limits<double>::min();
    for (std::uint32_t r = 0; r < size(); ++r) all_gaps += root_of_gap(r);
    const Nearness nearness(quantile);
    double before = 0, gaps = 0;
    for (std::uint32_t r = 0; r < size();) {
        gaps += root_of_gap(r);
        std::uint32_t end = r;
        double run = 0;
        for (; end < size() && y_[end] == y_[r]; ++end) run += weight_[end];
        const double share = 0.5 * nearness.share_of((before + 0.5 * run) / all) + 0.5 * gaps / all_gaps;
        const auto bucket = std::min(buckets - 1, static_cast<std::uint32_t>(buckets * share));
        before += run;
        first[bucket] = std::min(first[bucket], r);
        for (; r < end; ++r) {
            const double units = weight_[r] * (y_[r] - middle) * unit;
            const double weight_units = weight_[r] * weight_unit;
            Whole& sample = whole[r];
            sample.bucket = bucket;
            sample.weight = equal_weights_ ? 1 : std::max(1, nearest(weight_units));
            sample.sum = nearest(units);
            mean[r] = static_cast<double>(sample.sum) / sample.weight;
            const Whole& other = whole[first[bucket]];
            uniform[bucket] = uniform[bucket] && other.weight == sample.weight && other.sum == sample.sum;
            lightest = std::min(lightest, sample.weight);
            farthest = std::max({farthest, std::abs(mean[r]), std::abs(y_[r] - middle) * unit / weight_unit});
            rounding += std::abs(units - sample.sum);
            if (!equal_weights_) weights_moved += std::abs(weight_units - sample.weight);
        }
    }
    for (std::uint32_t b = buckets; b-- > 0;) first[b] = std::min(first[b], first[b + 1]);
    // Means ascend with targets but for the rounding of weights.
    const auto [low, high] = std::minmax_element(mean.begin(), mean.end());
    auto most = static_cast<float>(*low), least = static_cast<float>(*high);
    for (std::uint32_t b = 0; b < buckets; ++b) {
        for (std::uint32_t r = first[b]; r < first[b + 1]; ++r)
            most = std::max(most, static_cast<float>(mean[r]));
        highest[b] = most;
    }
    for (std::uint32_t b = buckets; b-- > 0;) {
        for (std::uint32_t r = first[b]; r < first[b + 1]; ++r)
            least = std::min(least, static_cast<float>(mean[r]));
        lowest[b] = least;
    }
    const double hair = 1 + 1e-6;  // for the roundings of this sum
    rounding = hair * std::max(error.above, error.below) * (rounding + weights_moved * farthest);
}

double PinballTargets::loss(std::span<const std::uint32_t> ranks) const {
    if (ranks.empty()) return 0;
    std::size_t m = 0;  // the place of the quantile
    if (equal_weights_) {
        const auto share = static_cast<std::size_t>(quantile * static_cast<double>(ranks.size()));
        m = std::min(ranks.size() - 1, share);
    } else {
        double all = 0, sum = 0;
        for (const std::uint32_t r : ranks) all += weight_[r];
        while (m + 1 < ranks.size() && (sum += weight_[ranks[m]]) < quantile * all) ++m;
    }
    const double prediction = y_[ranks[m]];
    const auto distances = [&](std::size_t from, std::size_t to) {
        double sums[4] = {};
        std::size_t i = from;
        for (; i + 4 <= to; i += 4)
            for (std::size_t j = 0; j < 4; ++j)
                sums[j] += weight_[ranks[i + j]] * (y_[ranks[i + j]] - prediction);
        for (; i < to; ++i) sums[0] += weight_[ranks[i]] * (y_[ranks[i]] - prediction);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    };
    return error.above * distances(m, ranks.size()) - error.below * distances(0, m);
}

}  // namespace codt
