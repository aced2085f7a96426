// Objectives of leaves that predict class shares p: with the weights c of the classes, W their sum,
//
//     log-loss    the sum of -log p over the samples, W times the entropy:      sum of c log(W / c)
//     gini        their squared errors (Brier's score), W times the Gini index:  sum of c (W - c) / W
//
// Both are concave in c and multiplied by t where all weights are. So a sample of weight w adds least where
// its class is frequent, and most to a leaf that holds all samples of the other classes and none of its own:
// no more than the loss of a leaf with these two weights (similarity bounds). Groups of a partition are best
// made of whole classes, and an impurity is at least a multiple of the share of all classes but the largest
// (1 for the Gini index, 2 log 2 for the entropy), which bounds k groups from below (clustering).
//
// Exactness: weights are whole numbers, in one part or two (whole_units.hpp), so that the weights of both
// sides are exact sums. Only numbers of one sign are added after that: the loss of a leaf is off by a few
// roundings of itself, and a tree's loss is, too. Compared with trees near a ceiling, leaves that lose more
// than it need no precise loss, so that `within` lowers their losses to the ceiling: no other loss changes,
// and all losses are of the magnitude that matters.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"
#include "objectives/whole_units.hpp"
#include "scans/share_scan.hpp"
#include "scans/two_sums_scan.hpp"

namespace codt {

namespace {

// For which the loss of samples between thresholds is bounded.
constexpr std::uint32_t most_groups = 4;

// Impurities of a class of weight c, and the rest of the weight of its leaf, both above zero.
struct Entropy {
    template <class Real>
    static Real of_class(Real c, Real rest) {
        return c * std::log1p(rest / c);
    }
    static constexpr double least_part = 1.3862943611198906;  // 2 log 2
    static constexpr TwoSumsLoss brackets = TwoSumsLoss::entropy;
    static constexpr ShareLoss shares = ShareLoss::entropy;
    // The least loss of k groups. Losses are concave in the weights of the classes, so a partition that keeps
    // each class together loses least. Groups of whole classes lose the entropy of the classes less that of
    // the partition. The group with the largest class has a share s of the weight, no less than this class
    // has; the partition has no more entropy than if the other groups were equal, h(s) + (1 - s) log (k - 1),
    // which falls from s = 1 / k on. Sums of weights are off by 256 roundings of themselves at most, and so
    // are both entropies but for that part of the weight; there is room for that.
    static double of_groups(std::span<const double> weights, double total, std::uint32_t count) {
        double most = 0, classes = 0;
        for (const double w : weights) {
            if (!(w > 0)) continue;
            most = std::max(most, w);
            classes += w * std::log(total / w);
        }
        const double first = std::max(most, total / count), rest = total - first;
        double groups = first > 0 ? first * std::log(total / first) : 0.0;
        if (rest > 0) groups += rest * std::log(total / rest * (count - 1));
        return std::max(0.0, classes - groups - 1e-13 * (classes + groups + 2 * total));
    }
    // The most that the loss can change when a weight changes by d beside a total of W: the loss grows by
    // log(W / c) for every unit of c.
    static double change(double d, double total) { return d * (1 + std::log(std::max(1.0, total / d))); }
};

struct Gini {
    template <class Real>
    static Real of_class(Real c, Real rest) {
        return c * (rest / (c + rest));
    }
    static constexpr double least_part = 1.0;
    static constexpr TwoSumsLoss brackets = TwoSumsLoss::gini;
    static constexpr ShareLoss shares = ShareLoss::gini;
    // A group loses no less than the weight of all its classes but the largest.
    static double of_groups(std::span<const double> weights, double total, std::uint32_t count) {
        double largest[most_groups] = {};  // in descending order
        for (double w : weights)
            for (std::uint32_t k = 0; k < count; ++k)
                if (w > largest[k]) std::swap(w, largest[k]);
        double rest = total;
        for (const double w : largest) rest -= w;
        return std::max(0.0, rest - 1e-13 * total);
    }
    static double change(double d, double) { return 2 * d; }
};

template <class Impurity>
double impurity_of_two(double c, double rest) {
    if (!(c > 0 && rest > 0)) return 0;
    return Impurity::of_class(c, rest) + Impurity::of_class(rest, c);
}

// For each of some numbers the sum of all others; nothing is subtracted, so that no digits are lost.
template <class Real>
std::vector<Real> sums_of_others(const std::vector<double>& numbers) {
    std::vector<Real> sums(numbers.size());
    Real before = 0, after = 0;
    for (std::size_t k = 0; k < numbers.size(); before += numbers[k++]) sums[k] = before;
    for (std::size_t k = numbers.size(); k-- > 0; after += numbers[k]) sums[k] += after;
    return sums;
}

// The weights of all classes, and then their low parts, if there are any.
template <class Impurity>
struct ClassShares {
    static constexpr bool whole_entries = true;

    std::vector<std::uint16_t> labels;
    std::uint32_t classes;
    WholeParts weights;
    double ceiling = std::numeric_limits<double>::infinity();  // internal units

    std::size_t size() const { return weights.low.empty() ? classes : 2 * classes; }
    void add(std::uint32_t row, double* c) const {
        c[labels[row]] += weights.high[row];
        if (!weights.low.empty()) c[classes + labels[row]] += weights.low[row];
    }
    double loss(const double* c) const { return std::min(ceiling, impurity(c)); }
    double purity(const double* c) const { return -impurity(c); }

    double weight(std::uint32_t row) const {
        return weights.high[row] + (weights.low.empty() ? 0.0 : weights.low[row] * weights.ratio);
    }
    double weight_of(const double* c, std::uint32_t k) const {
        return c[k] + (weights.low.empty() ? 0.0 : c[classes + k] * weights.ratio);
    }

 private:
    double impurity(const double* c) const {
        if (weights.low.empty()) {
            if (classes == 2) return impurity_of_two<Impurity>(c[0], c[1]);
            double total = 0;
            for (std::uint32_t k = 0; k < classes; ++k) total += c[k];
            double sum = 0;
            for (std::uint32_t k = 0; k < classes; ++k) {
                const double rest = total - c[k];  // exact
                if (c[k] > 0 && rest > 0) sum += Impurity::of_class(c[k], rest);
            }
            return sum;
        }
        double high = 0, low = 0;
        for (std::uint32_t k = 0; k < classes; ++k) {
            high += c[k];
            low += c[classes + k];
        }
        double sum = 0;
        for (std::uint32_t k = 0; k < classes; ++k) {
            const double own = weight_of(c, k);
            const double rest = (high - c[k]) + (low - c[classes + k]) * weights.ratio;
            if (own > 0 && rest > 0) sum += Impurity::of_class(own, rest);
        }
        return sum;
    }
};

template <class Impurity>
class ClassSharesObjective final : public CostTupleObjective<ClassShares<Impurity>> {
    using Cost = ClassShares<Impurity>;
    using Base = CostTupleObjective<Cost>;
    using Base::cost;

 public:
    ClassSharesObjective(Cost shares, std::vector<double> original, bool weighted)
        : Base(std::move(shares)), original_(std::move(original)), weighted_(weighted) {
        std::vector<double> total(cost().size(), 0.0);
        for (std::uint32_t row = 0; row < original_.size(); ++row) cost().add(row, total.data());
        whole_loss_ = cost().loss(total.data());
        const std::vector<double> weights = weights_of(total);
        const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (const double d : cost().weights.distortions)
            if (d > 0) distortion_ += Impurity::change(d, weight);
        if (cost().classes == 2)
            for (std::uint32_t row = 0; row < original_.size(); ++row)
                of_class_1_.push_back(cost().labels[row] * cost().weights.high[row]);
    }

    static std::unique_ptr<Objective> make(const Targets& targets) {
        std::vector<double> original(targets.rows());
        for (std::size_t i = 0; i < original.size(); ++i) original[i] = targets.weight(i);
        const double total = std::accumulate(original.begin(), original.end(), 0.0);
        Cost shares{class_codes(targets), targets.classes, in_whole_parts(original, total)};
        return std::make_unique<ClassSharesObjective>(std::move(shares), std::move(original),
                                                      !targets.weights.empty());
    }

    std::unique_ptr<Objective> within(double ceiling) const override {
        if (!(ceiling / unit() < whole_loss_)) return nullptr;
        Cost lowered = cost();
        lowered.ceiling = ceiling / unit();
        return std::make_unique<ClassSharesObjective>(std::move(lowered), original_, weighted_);
    }

    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        std::vector<double> total(cost().size());
        total_cost(cost(), subset, total.data());
        std::vector<double> weights = weights_of(total);
        std::sort(weights.begin(), weights.end());
        // The weight of all classes but the k largest: lighter ones first, so that every sum is off by some
        // roundings of itself at most, for which there is room.
        std::partial_sum(weights.begin(), weights.end(), weights.begin());
        const double room =
            1 - 2 * std::numeric_limits<double>::epsilon() * static_cast<double>(weights.size() + 4);
        std::vector<double> losses{cost().loss(total.data())};
        for (std::size_t k = 2; k <= count && losses.back() > 0; ++k) {
            const double others = k < weights.size() ? weights[weights.size() - 1 - k] : 0.0;
            losses.push_back(std::min(cost().ceiling, Impurity::least_part * others * room));
        }
        return losses;
    }

    bool has_group_losses(std::uint32_t count) const override {
        return count <= most_groups && cost().classes > count && cost().classes <= most_classes &&
               !std::isfinite(cost().ceiling);
    }
    void group_losses(std::span<const std::uint32_t> rows, std::uint32_t count,
                      std::span<const std::uint32_t> ends, double* losses) const override {
        double weights[most_classes] = {};
        double total = 0;
        std::size_t i = 0;
        for (const std::uint32_t end : ends) {
            for (; i < end; ++i) {
                const double weight = cost().weight(rows[i]);
                weights[cost().labels[rows[i]]] += weight;
                total += weight;
            }
            *losses++ = Impurity::of_groups(std::span(weights, cost().classes), total, count);
        }
    }

    void worst_costs(const Subset& subset, std::vector<double>& worst) const override {
        std::vector<double> total(cost().size());
        total_cost(cost(), subset, total.data());
        const double most = cost().loss(total.data());
        const auto others = sums_of_others<double>(weights_of(total));
        // Most samples of a class weigh the same.
        struct Known {
            double weight = 0, cost = 0;
        };
        std::vector<Known> known(cost().classes);
        fill_by_sample(subset, worst, [&](std::uint32_t row) {
            const std::uint16_t label = cost().labels[row];
            Known& last = known[label];
            if (const double weight = cost().weight(row); weight != last.weight) {
                const double own = impurity_of_two<Impurity>(weight, others[label]);
                last = {weight, std::min(most, own * (1 + 4e-16 * static_cast<double>(others.size() + 16)))};
            }
            return last.cost;
        });
    }

    // Bounds first; not for losses that are cut off.
    std::unique_ptr<BracketScanner> make_lane_brackets(KernelPath path) const override {
        if (!cost().weights.low.empty() || std::isfinite(cost().ceiling)) return nullptr;
        const bool counts = !weighted_ && cost().weights.unit == 1;
        const auto loss = [this](const double* c) { return cost().loss(c); };
        if (cost().classes != 2)
            return counts && cost().classes <= most_classes
                       ? make_share_brackets(Impurity::shares, cost().labels, cost().classes, loss, path)
                       : nullptr;
        if (counts)
            return make_two_class_brackets(
                Impurity::brackets, cost().labels,
                [](double n, double ones) { return impurity_of_two<Impurity>(ones, n - ones); }, path);
        auto tuples = std::make_shared<std::vector<double>>(2 * original_.size());
        for (std::uint32_t row = 0; row < original_.size(); ++row)
            cost().add(row, tuples->data() + std::size_t{2} * row);
        return make_two_sums_brackets(
            {Impurity::brackets, cost().weights.high, of_class_1_, true, 2, *tuples, loss, tuples}, path);
    }

    // Weights would be lost.
    Objective::Maker maker_for_merged_rows() const override { return weighted_ ? nullptr : make; }

    double unit() const override { return cost().weights.unit; }
    double distortion() const override { return distortion_; }
    // Weights of classes are exact; what is rounded is the sum over the classes.
    double rounding() const override {
        const auto terms = static_cast<double>(cost().classes + 64);
        return std::numeric_limits<double>::epsilon() * terms * whole_loss_;
    }
    bool sums_are_exact() const override { return true; }

    double reported_loss(std::span<const std::uint32_t>, const std::vector<double>& weights) const override {
        const auto others = sums_of_others<long double>(weights);
        long double sum = 0;
        for (std::size_t k = 0; k < weights.size(); ++k)
            if (weights[k] > 0 && others[k] > 0)
                sum += Impurity::of_class(static_cast<long double>(weights[k]), others[k]);
        return static_cast<double>(sum);
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        std::vector<long double> sums(cost().classes, 0);
        for (const std::uint32_t row : rows) sums[cost().labels[row]] += original_[row];
        return {sums.begin(), sums.end()};
    }

 private:
    static constexpr std::uint32_t most_classes = 64;  // for which every lane keeps a count

    std::vector<double> weights_of(const std::vector<double>& total) const {
        std::vector<double> weights(cost().classes);
        for (std::uint32_t k = 0; k < weights.size(); ++k) weights[k] = cost().weight_of(total.data(), k);
        return weights;
    }

    std::vector<double> original_, of_class_1_;
    bool weighted_;
    double whole_loss_ = 0, distortion_ = 0;
};

}  // namespace

std::unique_ptr<Objective> make_log_loss(const Targets& targets) {
    return ClassSharesObjective<Entropy>::make(targets);
}

std::unique_ptr<Objective> make_gini(const Targets& targets) {
    return ClassSharesObjective<Gini>::make(targets);
}

}  // namespace codt
