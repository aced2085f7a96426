// Similarity lower bounds (paper, "Similarity lower bounds and pruning").
//
// For a fixed feature let lambda be its price (rules/prices.hpp), and L(t) and R(t) be the optimal objectives
// of the left and right subproblem of threshold t. L never falls and R never rises with t, and between two
// thresholds each moves by at most w, the worst cost of the samples that change side. With evaluated
// neighbours p < t < q, lower bounds on L and R at both, and w(p, t) + w(t, q) = w(p, q):
//
//     lambda + L(p) + R(q)                     sub-interval pruning: holds for the whole interval
//     lambda + L(q) + R(p) - w(p, q)           both sides moved across: holds for the whole interval
//     lambda + L(p) + R(p) - w(p, t)           neighbourhood of p
//     lambda + L(q) + R(q) - w(t, q)           neighbourhood of q
//
// each bounds every tree that splits at t. The last two say how far around a solved threshold nothing better
// can be found (neighbourhood pruning) and, applied again with a later incumbent, how far an open interval
// can be cut from both ends (interval shrinking).
//
// L and R are the optima of all trees. Where not all are allowed (rules/settings.hpp,
// rules/leaf_limits.hpp) they still bound those that are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/buffer.hpp"
#include "common/check.hpp"
#include "data/subset.hpp"
#include "objectives/objective.hpp"
#include "rules/settings.hpp"

namespace codt {

// w(i, j): the worst cost of the samples between two thresholds i <= j of a feature.
class WorstCost {
 public:
    void reset(const Objective& objective, const Subset& subset) {
        objective_ = &objective;
        subset_ = &subset;
        if (tables_.size() < subset.features()) tables_.resize(subset.features());
        ready_.assign(subset.features(), 0);
        any_ready_ = false;
    }

    // Sums over the samples up to each threshold of one feature.
    struct Sums {
        const double* table;        // null where every sample costs one
        const std::uint32_t* ends;  // samples up to each threshold
        double operator[](std::uint32_t t) const { return table ? table[t] : ends[t]; }

        // The first threshold in first..last with a sum of at least `value`, or last + 1.
        std::uint32_t reaching(double value, std::uint32_t first, std::uint32_t last) const {
            return table ? reaching(table, value, first, last) : reaching(ends, value, first, last);
        }

     private:
        // By halving, without branches: nobody can foretell which way to go.
        template <class T>
        static std::uint32_t reaching(const T* sums, double value, std::uint32_t first, std::uint32_t last) {
            const T* here = sums + first;
            for (std::uint32_t count = last - first + 1; count > 1;) {
                const std::uint32_t half = count / 2;
                here += here[half - 1] < value ? half : 0;
                count -= half;
            }
            return static_cast<std::uint32_t>(here - sums) + (*here < value ? 1 : 0);
        }
    };

    Sums sums(std::uint32_t f) {
        if (!ready_[f]) fill(f);
        return {tables_[f].empty() ? nullptr : tables_[f].data(), subset_->group_end(f).data()};
    }

    // The worst cost of each sample, by its id; empty where every sample costs one.
    struct OfSamples {
        std::span<const double> costs;
        bool whole = true;  // and not too many for 32 bits
    };
    OfSamples of_samples() {
        if (!any_ready_) fill_samples();
        return {of_sample_, whole_};
    }

    double between(std::uint32_t f, std::uint32_t i, std::uint32_t j) {
        CODT_CHECK(i <= j);
        const Sums w = sums(f);
        return w[j] - w[i];
    }

    std::size_t bytes() const {
        std::size_t sum = ready_.capacity() + tables_.capacity() * sizeof(tables_[0]) +
                          (of_sample_.capacity() + running_.size()) * sizeof(double);
        for (const auto& table : tables_) sum += table.capacity() * sizeof(double);
        return sum;
    }

 private:
    void fill_samples() {
        objective_->worst_costs(*subset_, of_sample_);
        round_up(of_sample_);
        any_ready_ = true;
        double sum = 0;
        whole_ = true;
        for (const double cost : of_sample_) {
            sum += cost;
            whole_ = whole_ && cost == std::floor(cost);
        }
        whole_ = whole_ && 4 * sum < std::numeric_limits<std::int32_t>::max();
    }

    void fill(std::uint32_t f);

    // Rounds up to multiples of a power of two such that sums are exact: a sum may have many terms much
    // larger than the bound it is finally subtracted from, and its rounding must not make that bound too
    // high. Whole numbers stay unchanged.
    static void round_up(std::vector<double>& costs) {
        double sum = 0;
        for (const double cost : costs) sum += cost;
        int exponent = 0;
        std::frexp(sum, &exponent);
        // Rounded up, the sum is below 2^(exponent + 1): 2^53 times this.
        const double grid = std::ldexp(1.0, exponent - 52);
        if (!(grid > 0) || !std::isfinite(sum)) return;
        for (double& cost : costs) cost = std::ceil(cost / grid) * grid;
    }

    const Objective* objective_ = nullptr;
    const Subset* subset_ = nullptr;
    std::vector<double> of_sample_;  // filled with the first table
    Buffer<double> running_;         // see fill
    std::vector<std::vector<double>> tables_;
    std::vector<std::uint8_t> ready_;  // by feature
    bool any_ready_ = false, whole_ = true;
};

// An evaluated threshold: lower bounds on its two subproblems.
struct EvaluatedSplit {
    std::uint32_t threshold;
    double left_lower;
    double right_lower;
    double sum() const { return left_lower + right_lower; }
};

// An open interval {first..last} of one feature with its evaluated neighbours, null where there is none.
struct OpenInterval {
    std::uint32_t feature;
    std::uint32_t first, last;
    const EvaluatedSplit* before;
    const EvaluatedSplit* after;
};

// Bound on every split of the interval, without lambda, by the techniques that are switched on; by the cheap
// ones only, if these reach `enough`.
double interval_bound(const OpenInterval& interval, const BoundSwitches& on, WorstCost& worst,
                      double enough = std::numeric_limits<double>::infinity());

// Bounds on the two subproblems of the thresholds inside the interval.
class InheritedBounds {
 public:
    InheritedBounds(const OpenInterval& interval, const BoundSwitches& on, WorstCost& worst);

    double left(std::uint32_t t) const { return std::max(least_left_, after_left_ - (after_ - worst_[t])); }
    double right(std::uint32_t t) const {
        return std::max(least_right_, before_right_ - (worst_[t] - before_));
    }

 private:
    WorstCost::Sums worst_;
    double least_left_ = 0, least_right_ = 0;
    // Of the neighbours: worst costs of the samples up to them, and bounds on one side.
    double before_ = 0, after_ = 0;
    double before_right_ = -std::numeric_limits<double>::infinity(), after_left_ = before_right_;
};

// Upper bounds on the optima of the two subproblems of t, where the neighbours' lower bounds are at most
// `excess` below their optima. A scan that knows them need not look for anything worse.
void inherited_upper_bounds(const OpenInterval& interval, std::uint32_t t, double excess, WorstCost& worst,
                            double& left, double& right);

// Cuts from both ends the thresholds whose neighbourhood bound reaches `target` (a cutoff less lambda).
// Returns false if nothing is left.
bool shrink_interval(OpenInterval& interval, double target, WorstCost& worst);

}  // namespace codt
