#include "objectives/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace codt {

namespace {

// Squared error of sorted[i..j) by prefix sums of y and y^2.
class RangeError {
 public:
    explicit RangeError(std::span<const double> sorted)
        : sum_(sorted.size() + 1, 0.0), square_(sorted.size() + 1, 0.0) {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            sum_[i + 1] = sum_[i] + sorted[i];
            square_[i + 1] = square_[i] + sorted[i] * sorted[i];
        }
    }
    double operator()(std::size_t i, std::size_t j) const {
        if (j <= i) return 0.0;
        const double s = sum_[j] - sum_[i];
        return std::max(0.0, (square_[j] - square_[i]) - s * s / static_cast<double>(j - i));
    }

    // A bound on the rounding error of any result.
    double rounding() const {
        return 8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(square_.size()) *
               square_.back();
    }

 private:
    std::vector<double> sum_;
    std::vector<double> square_;
};

// Squared error of weighted numbers sorted[i..j), by prefix sums of w, w y and w y^2.
class WeightedRangeError {
 public:
    WeightedRangeError(std::span<const double> sorted, std::span<const double> weights)
        : weight_(sorted.size() + 1, 0.0), sum_(sorted.size() + 1, 0.0), square_(sorted.size() + 1, 0.0) {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            weight_[i + 1] = weight_[i] + weights[i];
            sum_[i + 1] = sum_[i] + weights[i] * sorted[i];
            square_[i + 1] = square_[i] + weights[i] * sorted[i] * sorted[i];
        }
        farthest_ = sorted.empty() ? 0.0 : std::max(std::abs(sorted.front()), std::abs(sorted.back()));
    }
    double operator()(std::size_t i, std::size_t j) const {
        if (j <= i) return 0.0;
        const double s = sum_[j] - sum_[i];
        return std::max(0.0, (square_[j] - square_[i]) - s * s / (weight_[j] - weight_[i]));
    }

    // The rounding errors of sums of w, w y and w y^2 are proportional to the total weight times at most this
    // distance squared; so is that of the loss of a light cluster far from heavy ones.
    double rounding() const {
        return 8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(square_.size()) *
               weight_.back() * farthest_ * farthest_;
    }

 private:
    std::vector<double> weight_, sum_, square_;
    double farthest_;
};

// The pinball loss of a weighted quantile, by prefix sums of w and w y.
class WeightedRangeDeviation {
 public:
    WeightedRangeDeviation(std::span<const double> sorted, std::span<const double> weights,
                           const Pinball& error)
        : error_(error), sorted_(sorted), weight_(sorted.size() + 1, 0.0), sum_(sorted.size() + 1, 0.0) {
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            weight_[i + 1] = weight_[i] + weights[i];
            sum_[i + 1] = sum_[i] + weights[i] * sorted[i];
        }
        farthest_ = sorted.empty() ? 0.0 : std::max(std::abs(sorted.front()), std::abs(sorted.back()));
        equal_weights_ = !weights.empty() && std::ranges::all_of(weights, [&](double weight) {
            return weight == weights.front();
        });
    }
    double operator()(std::size_t i, std::size_t j) const {
        if (j <= i + 1) return 0.0;
        const std::size_t m = quantile(i, j);
        const double y = sorted_[m - 1];
        const double below = y * (weight_[m] - weight_[i]) - (sum_[m] - sum_[i]);
        const double above = (sum_[j] - sum_[m]) - y * (weight_[j] - weight_[m]);
        return std::max(0.0, error_.below * below + error_.above * above);
    }
    double rounding() const {
        return 8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(sum_.size()) *
               weight_.back() * farthest_;
    }

 private:
    // How many are before the quantile, and itself: the first whose weight, with those before it, is the
    // share of the cluster's that the quantile has.
    std::size_t quantile(std::size_t i, std::size_t j) const {
        if (equal_weights_) {
            // One place more or less is as good where the share is a whole number but for rounding.
            const auto share = std::ceil(error_.quantile * static_cast<double>(j - i));
            return std::clamp(i + static_cast<std::size_t>(share), i + 1, j);
        }
        const auto first = weight_.begin() + static_cast<std::ptrdiff_t>(i);
        const auto last = weight_.begin() + static_cast<std::ptrdiff_t>(j);
        const auto found = std::lower_bound(first + 1, last, *first + error_.quantile * (*last - *first));
        return static_cast<std::size_t>(found - weight_.begin());
    }

    Pinball error_;
    std::span<const double> sorted_;
    std::vector<double> weight_, sum_;
    double farthest_;
    bool equal_weights_;
};

// `error(i, j)` is the loss of a cluster of the numbers i to j - 1.
template <class Error>
std::vector<double> best_partitions(const Error& error, std::size_t n, std::uint32_t count) {
    std::vector<double> previous(n + 1), current(n + 1);
    for (std::size_t j = 0; j <= n; ++j) previous[j] = error(0, j);
    std::vector<double> losses{previous[n]};
    // More numbers never lose less, but for the rounding of every cluster.
    const double slack = 2 * count * error.rounding();
    for (std::uint32_t k = 2; k <= count && k <= n && losses.back() > error.rounding(); ++k) {
        // best start of the last cluster moves right with its end, so the middle end halves the candidates
        struct Range {
            std::size_t low, high, first, last;
        };
        std::vector<Range> todo{{k < count ? 0 : n, n, 0, n}};  // of the last round only the end is needed
        while (!todo.empty()) {
            const auto [low, high, first, last] = todo.back();
            todo.pop_back();
            const std::size_t middle = low + (high - low) / 2;
            double best = std::numeric_limits<double>::infinity(), enough = best;
            std::size_t best_start = first;
            for (std::size_t start = first; start <= std::min(middle, last); ++start) {
                if (previous[start] >= enough) break;
                const double loss = previous[start] + error(start, middle);
                if (loss < best) {
                    best = loss;
                    enough = best + slack;
                    best_start = start;
                }
            }
            current[middle] = best;
            if (low < middle) todo.push_back({low, middle - 1, first, best_start});
            if (middle < high) todo.push_back({middle + 1, high, best_start, last});
        }
        losses.push_back(current[n]);
        std::swap(previous, current);
    }
    // Differences of prefix sums carry rounding errors; a lower bound must not.
    const double margin = error.rounding();
    for (double& loss : losses) loss = std::max(0.0, loss - margin);
    return losses;
}

// Few numbers, kept sorted, and their least loss in clusters.
class SortedFew {
 public:
    explicit SortedFew(const Pinball& error) : error_(error) {
        sorted_[0] = -std::numeric_limits<double>::infinity();
    }

    void insert(const double* numbers, const double* weights, std::size_t count) {
        for (std::size_t i = 0; i < count; i += most_at_once)
            insert_few(numbers + i, weights + i, std::min(count - i, most_at_once));
    }

    double least_loss(std::uint32_t clusters) {
        if (size_ <= clusters) return 0.0;
        const double *const y = sorted_ + 1, *const weight = weights_ + 1;
        if (clusters > 2) {
            const auto losses = k_quantile_losses({y, size_}, {weight, size_}, error_, clusters);
            return losses.size() < clusters ? 0.0 : losses.back();
        }
        double weights = 0, sum = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            before_[i] = {weights, sum};
            weights += weight[i];
            sum += weight[i] * y[i];
        }
        before_[size_] = {weights, sum};
        std::size_t first_quantile = 0, second_quantile = 0;
        double least = loss(0, size_, second_quantile);
        second_quantile = 0;
        for (std::size_t i = 1; i < size_ && clusters == 2; ++i)
            least = std::min(least, loss(0, i, first_quantile) + loss(i, size_, second_quantile));
        const double farthest = std::max(std::abs(y[0]), std::abs(y[size_ - 1]));
        const double rounding =
            8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(size_) * weights * farthest;
        return std::max(0.0, least - rounding);
    }

 private:
    static constexpr std::size_t most_at_once = 32;

    // Without branches, as it cannot be foreseen how any two numbers compare: each goes to the place that so
    // many others have before it, and all of them are merged into those that were there.
    void insert_few(const double* numbers, const double* weights, std::size_t count) {
        double few[most_at_once], weights_of_few[most_at_once];
        for (std::size_t i = 0; i < count; ++i) {
            std::int64_t place = 0;
            for (std::size_t j = 0; j < i; ++j) place += numbers[j] <= numbers[i];
            for (std::size_t j = i + 1; j < count; ++j) place += numbers[j] < numbers[i];
            few[place] = numbers[i];
            weights_of_few[place] = weights[i];
        }
        std::size_t old = size_, added = count;
        size_ += count;
        for (std::size_t to = size_; added > 0; --to) {
            const bool is_old = sorted_[old] > few[added - 1];
            sorted_[to] = *(is_old ? sorted_ + old : few + added - 1);
            weights_[to] = *(is_old ? weights_ + old : weights_of_few + added - 1);
            old -= is_old;
            added -= !is_old;
        }
    }

    // Of the numbers i to j - 1. `quantile` is a place no higher than that of their quantile, and becomes
    // this: it moves up with both i and j.
    double loss(std::size_t i, std::size_t j, std::size_t& quantile) const {
        if (j <= i + 1) return 0.0;
        const double share = before_[i].weight + error_.quantile * (before_[j].weight - before_[i].weight);
        quantile = std::max(quantile, i);
        while (quantile + 1 < j && before_[quantile + 1].weight < share) ++quantile;
        const Before& at = before_[quantile];
        const double y = sorted_[quantile + 1];
        const double below = y * (at.weight - before_[i].weight) - (at.sum - before_[i].sum);
        const double above = (before_[j].sum - at.sum) - y * (before_[j].weight - at.weight);
        return std::max(0.0, error_.below * below + error_.above * above);
    }

    Pinball error_;
    std::size_t size_ = 0;
    double sorted_[most_grouped + 1], weights_[most_grouped + 1];  // behind one that is below all
    struct Before {
        double weight, sum;
    };
    Before before_[most_grouped + 1];
};

}  // namespace

std::vector<double> k_means_losses(std::span<const double> sorted, std::uint32_t count) {
    return best_partitions(RangeError(sorted), sorted.size(), count);
}

std::vector<double> k_means_losses(std::span<const double> sorted, std::span<const double> weights,
                                   std::uint32_t count) {
    return best_partitions(WeightedRangeError(sorted, weights), sorted.size(), count);
}

std::vector<double> k_quantile_losses(std::span<const double> sorted, std::span<const double> weights,
                                      const Pinball& error, std::uint32_t count) {
    return best_partitions(WeightedRangeDeviation(sorted, weights, error), sorted.size(), count);
}

void k_quantile_losses_of_prefixes(std::span<const double> numbers, std::span<const double> weights,
                                   const Pinball& error, std::uint32_t count,
                                   std::span<const std::uint32_t> ends, double* losses) {
    SortedFew few(error);
    std::uint32_t k = 0;
    for (std::size_t j = 0; j < ends.size(); ++j) {
        few.insert(numbers.data() + k, weights.data() + k, ends[j] - k);
        k = ends[j];
        losses[j] = few.least_loss(count);
    }
}

std::vector<double> frequent_class_losses(std::vector<double> class_counts, std::uint32_t count) {
    std::sort(class_counts.begin(), class_counts.end(), std::greater<>());
    double rest = 0;
    for (const double c : class_counts) rest += c;
    std::vector<double> losses;
    for (std::size_t k = 0; k < class_counts.size() && k < count; ++k) {
        rest -= class_counts[k];
        losses.push_back(rest);
        if (rest <= 0) break;
    }
    return losses;
}

}  // namespace codt
