// Misclassification (paper, appendix "Expansion"): the cost tuple of a sample is its one-hot class, the loss
// of a tuple is its sum less its largest entry.
#include <algorithm>

#include "bounds/clustering.hpp"
#include "objectives/class_tuple.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"
#include "terminal/many_class_scan.hpp"
#include "terminal/tuple_scan.hpp"
#include "terminal/two_class_scan.hpp"

namespace codt {

namespace {

struct ClassCount : ClassTuple {
    void add(std::uint32_t row, double* c) const { c[labels[row]] += 1.0; }
};

// The threshold between the group and the next one with a labelled row.
double threshold_behind(const Dataset& data, std::uint32_t f, std::uint32_t group,
                        const std::vector<std::uint16_t>& label) {
    const auto order = data.order(f);
    std::uint32_t k = data.group_end(f)[group];
    while (label[order[k]] == 0) ++k;
    return data.threshold_between(f, group, data.ranks(f)[order[k]]);
}

class Misclassification final : public CostTupleObjective<ClassCount> {
 public:
    using CostTupleObjective::CostTupleObjective;

    double leaf_loss(const Subset& subset) const override {
        // Two tables by turns: a counter is not read back right after it was written.
        std::vector<std::uint32_t> counts(2 * cost().size(), 0);
        std::size_t table = 0;
        for (const std::uint32_t row : subset.samples()) {
            ++counts[table + cost().labels[row]];
            table = cost().size() - table;
        }
        std::uint32_t most = 0;
        for (std::size_t c = 0; c < cost().size(); ++c)
            most = std::max(most, counts[c] + counts[c + cost().size()]);
        return subset.size() - most;
    }

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

    // With whole numbers. The left side's most frequent class can only be the one just counted; the right
    // side's largest count only falls, so an old one bounds it.
    Stump best_stump(const Dataset& data, std::span<const std::uint32_t> rows, double lambda) const override {
        if (leaf_limits().any()) return CostTupleObjective::best_stump(data, rows, lambda);
        const std::size_t classes = cost().size();
        // The class of each row here, from one on; zero elsewhere.
        std::vector<std::uint16_t> label(data.samples(), 0);
        std::vector<std::uint32_t> total(classes + 1, 0), left;
        for (const std::uint32_t row : rows) {
            label[row] = static_cast<std::uint16_t>(cost().labels[row] + 1);
            ++total[label[row]];
        }
        const auto count = static_cast<double>(rows.size());
        const std::uint32_t leaf = *std::max_element(total.begin(), total.end());
        Stump best;
        best.objective = count - leaf;
        std::uint32_t best_group = 0;
        for (std::uint32_t f = 0; f < data.features(); ++f) {
            if (best.objective <= lambda) break;
            const auto order = data.order(f);
            const auto ends = data.group_end(f);
            left.assign(classes + 1, 0);
            std::uint32_t left_most = 0, right_most = leaf;
            for (std::uint32_t group = 0, k = 0; group < ends.size(); ++group) {
                const std::uint32_t most_before = left_most;
                for (; k < ends[group]; ++k) {
                    const std::uint32_t c = label[order[k]];
                    const std::uint32_t seen = ++left[c];
                    left_most = std::max(left_most, c ? seen : 0);
                }
                // Nothing is gained where the left side's largest count has not grown.
                if (left_most == most_before || count - left_most - right_most + lambda >= best.objective)
                    continue;
                right_most = 0;
                for (std::size_t c = 1; c <= classes; ++c)
                    right_most = std::max(right_most, total[c] - left[c]);
                const double objective = count - left_most - right_most + lambda;
                if (objective < best.objective) {
                    best = {objective, true, f, 0};
                    best_group = group;
                }
            }
        }
        if (best.splits) best.threshold = threshold_behind(data, best.feature, best_group, label);
        return best;
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

    std::unique_ptr<Scanner> make_scanner(const KernelChoice& kernel,
                                          const LeafLimits& limits) const override {
        if (kernel.path == KernelPath::scalar) return CostTupleObjective::make_scanner(kernel, limits);
        if (limits.any()) {
            const auto ones = std::make_shared<const std::vector<double>>(cost().labels.size(), 1.0);
            return make_tuple_scanner(
                {TupleLoss::all_but_largest, cost().classes, *ones, cost().labels, ones}, limits,
                kernel.path);
        }
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

std::unique_ptr<Objective> make_misclassification(const Targets& targets) {
    return std::make_unique<Misclassification>(ClassCount{{class_codes(targets), targets.classes}});
}

}  // namespace codt
