// Squared error (paper, appendix "Expansion"): the cost tuple of a sample is (y, y^2, 1), the loss of a tuple
// c1 - c0^2 / c2.
//
// The search works on targets shifted near their mean and scaled by a power of two to about [-1, 1], so that
// the tuples lose few digits to cancellation whatever the data's offset and unit. The shift is a short binary
// number: targets that are small integers stay exact. Everything reported is computed from the data as given.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "objectives/clusters.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/gaps.hpp"
#include "objectives/range.hpp"
#include "objectives/targets.hpp"
#include "scans/squared_error_scan.hpp"
#include "scans/tuple_scan.hpp"

namespace codt {

namespace {

struct Moments {
    std::vector<double> y;

    std::size_t size() const { return 3; }
    void add(std::uint32_t row, double* c) const {
        const double v = y[row];
        c[0] += v;
        c[1] += v * v;
        c[2] += 1.0;
    }
    double loss(const double* c) const { return std::max(0.0, c[1] - c[0] * c[0] / c[2]); }
    // The squared error of both sides is the sum of y^2 less this.
    double purity(const double* c) const { return c[0] * c[0] / c[2]; }
};

class SquaredError final : public CostTupleObjective<Moments> {
 public:
    SquaredError(Moments moments, std::vector<double> original, double unit)
        : CostTupleObjective(std::move(moments)), original_(std::move(original)), unit_(unit) {}

    // Beyond 16 clusters almost nothing is left of the error, while the cost of the dynamic programme keeps
    // growing; deeper nodes are bounded by the penalty of further splits.
    static constexpr std::uint32_t most_clusters = 16;

    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        std::vector<double> sorted;
        sorted.reserve(subset.size());
        double mean = 0;
        for (const std::uint32_t row : subset.samples()) mean += cost().y[row];
        mean /= subset.size();
        for (const std::uint32_t row : subset.samples()) sorted.push_back(cost().y[row] - mean);
        std::sort(sorted.begin(), sorted.end());
        return k_means_losses(sorted, std::min(count, most_clusters));
    }

    // The error of `count` equal slices of the range of y: one of many clusterings, so no better than the
    // best.
    double clustering_limit(const Subset& subset, std::uint32_t count) const override {
        count = std::min(count, most_clusters);
        const auto samples = subset.samples();
        const Range range = range_of(subset, cost().y);
        if (!(range.width() > 0)) return 0.0;
        const double scale = count / range.width();
        // In several tables, used in turn, so that no entry is read right after it was written. What rounding
        // does to an estimate decides at most whether the bound is computed.
        constexpr std::size_t tables = 4;
        double sums[tables][most_clusters] = {}, counts[tables][most_clusters] = {}, squares[tables] = {};
        for (std::size_t k = 0; k < samples.size(); ++k) {
            const double y = cost().y[samples[k]];
            const auto place = static_cast<std::uint32_t>((y - range.low) * scale);
            const std::uint32_t slice = std::min(place, count - 1);
            sums[k % tables][slice] += y;
            counts[k % tables][slice] += 1.0;
            squares[k % tables] += y * y;
        }
        double error = 0;
        for (const double square : squares) error += square;
        for (std::uint32_t slice = 0; slice < count; ++slice) {
            double sum = 0, size = 0;
            for (std::size_t table = 0; table < tables; ++table) {
                sum += sums[table][slice];
                size += counts[table][slice];
            }
            if (size > 0) error -= sum * sum / size;
        }
        return std::max(0.0, error);
    }

    // Leaf values are means of targets of the subset, so a sample's error is at most its squared distance to
    // the farther end of their range.
    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        const Range range = range_of(subset, cost().y);
        fill_by_sample(subset, worst, [&](std::uint32_t row) {
            const double reach = range.reach(cost().y[row]);
            return reach * reach;
        });
    }

    std::unique_ptr<Scanner> make_lane_scanner(KernelPath path, const LeafLimits& limits) const override {
        if (limits.any()) {
            std::vector<double> tuples;
            for (const double y : cost().y) tuples.insert(tuples.end(), {1.0, y * y, y});
            const auto kept = std::make_shared<const std::vector<double>>(std::move(tuples));
            return make_tuple_scanner({TupleLoss::squared_error, 3, *kept, {}, kept}, limits, path);
        }
        return make_squared_error_scanner(cost().y, path);
    }

    std::unique_ptr<BracketScanner> make_lane_brackets(KernelPath path) const override {
        return make_squared_error_brackets(cost().y, path);
    }

    // Two orders, and the targets in one of them.
    std::size_t scan_bytes() const override { return 2 * sizeof(std::uint32_t) + sizeof(double); }

    // Two passes in extended precision, independent of the tuples above.
    double reported_loss(std::span<const std::uint32_t> rows, const std::vector<double>&) const override {
        const long double mean = mean_distance(rows);
        long double error = 0;
        for (const std::uint32_t row : rows) {
            const long double distance = from_first(rows, row) - mean;
            error += distance * distance;
        }
        return static_cast<double>(error);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        return {static_cast<double>(original_[rows[0]] + mean_distance(rows))};
    }

    double unit() const override { return unit_; }

    std::unique_ptr<Objective> within(double ceiling) const override {
        const double widest = std::sqrt(2 * ceiling);
        // No gap is wider than the range; on many samples this saves sorting them.
        const auto [low, high] = std::minmax_element(original_.begin(), original_.end());
        if (*high - *low <= 2 * widest) return nullptr;
        const std::vector<double> moved =
            with_smaller_gaps(original_, {}, [&](double, double) { return widest; });
        return moved.empty() ? nullptr : make(moved, original_);
    }

    // Losses are reported on `original`; the search uses `y`.
    static std::unique_ptr<Objective> make(std::span<const double> y, std::vector<double> original);

 private:
    // Targets as distances from that of the first row: no digits are lost where all targets are far from
    // zero.
    long double from_first(std::span<const std::uint32_t> rows, std::uint32_t row) const {
        return static_cast<long double>(original_[row]) - original_[rows[0]];
    }
    long double mean_distance(std::span<const std::uint32_t> rows) const {
        long double sum = 0;
        for (const std::uint32_t row : rows) sum += from_first(rows, row);
        return sum / static_cast<long double>(rows.size());
    }

    std::vector<double> original_;
    double unit_;
};

std::unique_ptr<Objective> SquaredError::make(std::span<const double> y, std::vector<double> original) {
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    const double range = *high - *low;
    Moments moments;
    double unit = 1.0;
    if (range > 0) {
        int exponent = 0;
        std::frexp(range, &exponent);  // range < 2^exponent
        double mean = 0;
        for (const double v : y) mean += (v - *low) / static_cast<double>(y.size());
        const double grid = std::ldexp(1.0, exponent - 8);
        const double shift = grid > 0 ? std::round((*low + mean) / grid) * grid : *low;
        moments.y.reserve(y.size());
        for (const double v : y) moments.y.push_back(std::ldexp(v - shift, -exponent));
        unit = std::ldexp(1.0, 2 * exponent);
    } else {
        moments.y.assign(y.size(), 0.0);
    }
    return std::make_unique<SquaredError>(std::move(moments), std::move(original), unit);
}

}  // namespace

std::unique_ptr<Objective> make_squared_error(const Targets& targets) {
    const std::span<const double> y = targets.y;
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    const double range = *high - *low;
    if (!std::isfinite(range * range * static_cast<double>(y.size())))
        throw std::invalid_argument(
            "y: expected targets whose squared errors fit a 64-bit float, got values from " +
            std::to_string(*low) + " to " + std::to_string(*high));
    if (range > 0 && range * range < least_square)
        throw std::invalid_argument(
            "y: expected targets whose squared errors do not vanish in a 64-bit float, "
            "got a range that is too small");
    return SquaredError::make(y, {y.begin(), y.end()});
}

}  // namespace codt
