// Misclassification (paper, appendix "Expansion"): the cost tuple of a sample is its one-hot class, the loss
// of a tuple is its sum less its largest entry.
#include <algorithm>
#include <stdexcept>

#include "bounds/clustering.hpp"
#include "objectives/cost_tuple.hpp"
#include "terminal/many_class_scan.hpp"
#include "terminal/two_class_scan.hpp"

namespace codt {

namespace {

struct ClassCount {
    std::vector<std::uint16_t> labels;
    std::uint32_t classes;

    std::size_t size() const { return classes; }
    void add(std::uint32_t row, double* c) const { c[labels[row]] += 1.0; }
    double loss(const double* c) const {
        double sum = 0, most = 0;
        for (std::uint32_t i = 0; i < classes; ++i) {
            sum += c[i];
            most = std::max(most, c[i]);
        }
        return sum - most;
    }
    // Sum of squared counts over their sum: n times one less the Gini impurity.
    double purity(const double* c) const {
        double sum = 0, squares = 0;
        for (std::uint32_t i = 0; i < classes; ++i) {
            sum += c[i];
            squares += c[i] * c[i];
        }
        return squares / sum;
    }
};

class Misclassification final : public CostTupleObjective<ClassCount> {
 public:
    using CostTupleObjective::CostTupleObjective;

    // The sums of squared counts change by a known amount with every sample, so a threshold costs two
    // divisions whatever the number of classes.
    void split_scores(const Subset& subset, const ScoreVisitor& visit) const override {
        const auto samples = subset.samples();
        std::vector<std::uint16_t> labels(samples.size());
        for (std::size_t id = 0; id < labels.size(); ++id) labels[id] = cost().labels[samples[id]];
        std::vector<double> total(cost().size()), left, right, scores;
        total_cost(cost(), subset, total.data());
        double total_squares = 0;
        for (const double count : total) total_squares += count * count;
        for (std::uint32_t f = 0; f < subset.features(); ++f) {
            left.assign(cost().size(), 0.0);
            right = total;
            double left_squares = 0, right_squares = total_squares;
            const auto order = subset.order(f);
            const auto ends = subset.group_end(f);
            scores.clear();
            std::uint32_t k = 0;
            for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
                for (; k < ends[i]; ++k) {
                    const std::uint16_t label = labels[order[k]];
                    left_squares += 2 * left[label]++ + 1;
                    right_squares -= 2 * right[label]-- - 1;
                }
                scores.push_back(-(left_squares / k + right_squares / (subset.size() - k)));
            }
            visit(f, scores);
        }
    }

    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        std::vector<double> total(cost().size());
        total_cost(cost(), subset, total.data());
        return frequent_class_losses(std::move(total), count);
    }

    // One sample adds at most one error.
    void worst_costs(const Subset&, std::uint32_t, std::vector<double>& worst) const override {
        worst.clear();
    }

    std::unique_ptr<Scanner> make_scanner(const KernelChoice& kernel) const override {
        if (kernel.path == KernelPath::scalar) return CostTupleObjective::make_scanner(kernel);
        if (cost().classes <= 2) return make_two_class_scanner(cost().labels, kernel.path);
        return make_many_class_scanner(cost().labels, cost().classes, kernel.path);
    }

    bool integral() const override { return true; }

    double reported_loss(std::span<const std::uint32_t> rows) const override {
        return cost().loss(reported_value(rows).data());
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        std::vector<double> counts(cost().size(), 0.0);
        for (const std::uint32_t row : rows) cost().add(row, counts.data());
        return counts;
    }
};

}  // namespace

std::unique_ptr<Objective> make_misclassification(std::span<const double> y, std::uint32_t classes) {
    ClassCount cost{{}, classes};
    cost.labels.reserve(y.size());
    for (const double label : y) {
        const auto code = static_cast<std::uint16_t>(label);
        if (!(label >= 0) || label >= classes || static_cast<double>(code) != label)
            throw std::invalid_argument("y: expected class codes 0.." + std::to_string(classes - 1) +
                                        ", got " + std::to_string(label));
        cost.labels.push_back(code);
    }
    return std::make_unique<Misclassification>(std::move(cost));
}

}  // namespace codt
