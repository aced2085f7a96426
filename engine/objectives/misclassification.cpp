// Misclassification (paper, appendix "Expansion"): the cost tuple of a sample is its one-hot class, the loss
// of a tuple is its sum less its largest entry.
#include <algorithm>

#include "common/buffer.hpp"
#include "objectives/class_stumps.hpp"
#include "objectives/class_tuple.hpp"
#include "objectives/clusters.hpp"
#include "objectives/cost_tuple.hpp"
#include "objectives/targets.hpp"
#include "scans/many_class_scan.hpp"
#include "scans/tuple_scan.hpp"
#include "scans/two_class_scan.hpp"

namespace codt {

std::unique_ptr<Objective> make_weighted_misclassification(const Targets& targets);

namespace {

struct ClassCount : ClassTuple {
    void add(std::uint32_t row, double* c) const { c[labels[row]] += 1.0; }
};

class Misclassification final : public CostTupleObjective<ClassCount> {
 public:
    using CostTupleObjective::CostTupleObjective;

    double leaf_loss(const Subset& subset) const override {
        return cost().loss(reported_value(subset.samples()).data());
    }

    // The sums of squared counts change by a known amount with every sample, so a threshold costs two
    // divisions whatever the number of classes.
    void split_scores(const Subset& subset, const ScoreVisitor& visit) const override {
        const auto samples = subset.samples();
        std::vector<std::uint16_t> labels(samples.size());
        for (std::size_t id = 0; id < labels.size(); ++id) labels[id] = cost().labels[samples[id]];
        const std::vector<double> total = reported_value(samples);
        std::vector<double> left, right;
        Buffer<double> scores;
        scores.ensure(subset.size());
        double total_squares = 0;
        for (const double count : total) total_squares += count * count;
        for (std::uint32_t f = 0; f < subset.features(); ++f) {
            left.assign(cost().size(), 0.0);
            right = total;
            double left_squares = 0, right_squares = total_squares;
            const auto order = subset.order(f);
            const auto ends = subset.group_end(f);
            std::size_t i = 0;
            std::uint32_t k = 0;
            for (; i + 1 < ends.size(); ++i) {
                for (; k < ends[i]; ++k) {
                    const std::uint16_t label = labels[order[k]];
                    left_squares += 2 * left[label]++ + 1;
                    right_squares -= 2 * right[label]-- - 1;
                }
                scores.data()[i] = -(left_squares / k + right_squares / (subset.size() - k));
            }
            visit(f, {scores.data(), i});
        }
    }

    Stump best_stump(const Dataset& data, std::span<const std::uint32_t> rows, const LeafLimits& limits,
                     const Prices& prices, double enough) const override {
        if (limits.any()) return CostTupleObjective::best_stump(data, rows, limits, prices, enough);
        return best_class_stump(data, rows, cost().labels, cost().classes, prices, enough);
    }

    std::vector<double> clustering_losses(const Subset& subset, std::uint32_t count) const override {
        return frequent_class_losses(reported_value(subset.samples()), count);
    }

    // One sample adds at most one error.
    void worst_costs(const Subset&, std::vector<double>& worst) const override { worst.clear(); }

    std::unique_ptr<Scanner> make_lane_scanner(KernelPath path, const LeafLimits& limits) const override {
        if (limits.any()) {
            const auto ones = std::make_shared<const std::vector<double>>(cost().labels.size(), 1.0);
            return make_tuple_scanner(
                {TupleLoss::all_but_largest, cost().classes, *ones, cost().labels, ones}, limits, path);
        }
        if (cost().classes <= 2) return make_two_class_scanner(cost().labels, path);
        return make_many_class_scanner(cost().labels, cost().classes, path);
    }

    bool integral() const override { return true; }

    Maker maker_for_merged_rows() const override { return make_weighted_misclassification; }

    double reported_loss(std::span<const std::uint32_t>, const std::vector<double>& value) const override {
        return cost().loss(value.data());
    }
    std::vector<double> reported_value(std::span<const std::uint32_t> rows) const override {
        const std::size_t classes = cost().size();
        if (classes == 2) {
            std::uint32_t ones = 0;
            for (const std::uint32_t row : rows) ones += cost().labels[row];
            return {static_cast<double>(rows.size() - ones), static_cast<double>(ones)};
        }
        // Two tables, used in turn, so that no counter is read right after it was written.
        std::vector<std::uint32_t> counts(2 * classes, 0);
        std::size_t table = 0;
        for (const std::uint32_t row : rows) {
            ++counts[table + cost().labels[row]];
            table = classes - table;
        }
        std::vector<double> sums(classes);
        for (std::size_t c = 0; c < classes; ++c) sums[c] = counts[c] + counts[c + classes];
        return sums;
    }
};

}  // namespace

std::unique_ptr<Objective> make_misclassification(const Targets& targets) {
    return std::make_unique<Misclassification>(ClassCount{{class_codes(targets), targets.classes}});
}

}  // namespace codt
