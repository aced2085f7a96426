#include "objectives/class_stumps.hpp"

#include <algorithm>
#include <vector>

namespace codt {

namespace {

// A split of one feature, and how many of some rows it classifies correctly.
struct StumpPlace {
    std::uint32_t correct = 0;
    std::uint32_t group = 0;  // the last on the left
};

// The best stump for two classes: a boundary behind a samples of the first class and b of the second, of A
// and B, classifies B + (a - b) or A - (a - b) correctly, so only the extremes of a - b matter.
class TwoClassStumps {
 public:
    TwoClassStumps(std::span<const std::uint16_t> labels, std::span<const std::uint32_t> rows)
        : step_(labels.size(), 0) {
        for (const std::uint32_t row : rows) {
            step_[row] = labels[row] == 0 ? 1 : -1;
            ++total_[labels[row]];
        }
    }
    bool here(std::uint32_t row) const { return step_[row] != 0; }
    std::uint32_t leaf() const { return static_cast<std::uint32_t>(std::max(total_[0], total_[1])); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(total_[0] + total_[1]); }

    // The first of the best places, if it classifies more than `best` correctly.
    StumpPlace best_place(const Dataset& data, std::uint32_t f, std::uint32_t best) const {
        const auto order = data.order(f);
        const auto ends = data.group_end(f);
        std::int32_t difference = 0, most = 0, least = 0;
        std::uint32_t k = 0;
        for (const std::uint32_t end : ends) {
            for (; k < end; ++k) difference += step_[order[k]];
            most = std::max(most, difference);
            least = std::min(least, difference);
        }
        StumpPlace place{static_cast<std::uint32_t>(std::max(total_[1] + most, total_[0] - least)), 0};
        if (place.correct <= best) return place;
        const auto correct = static_cast<std::int32_t>(place.correct);
        difference = 0;
        k = 0;
        for (;; ++place.group) {
            for (; k < ends[place.group]; ++k) difference += step_[order[k]];
            if (total_[1] + difference == correct || total_[0] - difference == correct) return place;
        }
    }

 private:
    // For each row: one for the first class, minus one for the second, zero elsewhere.
    std::vector<std::int8_t> step_;
    std::int32_t total_[2] = {0, 0};
};

// The best stump for any number of classes.
class ClassStumps {
 public:
    ClassStumps(std::span<const std::uint16_t> labels, std::uint32_t classes,
                std::span<const std::uint32_t> rows)
        : label_(labels.size(), 0),
          total_(classes + 1, 0),
          left_(classes + 1),
          size_(static_cast<std::uint32_t>(rows.size())) {
        for (const std::uint32_t row : rows) {
            label_[row] = static_cast<std::uint16_t>(labels[row] + 1);
            ++total_[label_[row]];
        }
    }
    bool here(std::uint32_t row) const { return label_[row] != 0; }
    std::uint32_t leaf() const { return *std::max_element(total_.begin(), total_.end()); }
    std::uint32_t size() const { return size_; }

    // The left side's most frequent class can only be the one just counted; the right side's largest count
    // only falls, so an old one bounds it.
    StumpPlace best_place(const Dataset& data, std::uint32_t f, std::uint32_t best) {
        const auto order = data.order(f);
        const auto ends = data.group_end(f);
        std::fill(left_.begin(), left_.end(), 0u);
        std::uint32_t left_most = 0, right_most = leaf();
        StumpPlace place{best, 0};
        for (std::uint32_t group = 0, k = 0; group < ends.size(); ++group) {
            const std::uint32_t most_before = left_most;
            for (; k < ends[group]; ++k) {
                const std::uint32_t c = label_[order[k]];
                const std::uint32_t seen = ++left_[c];
                left_most = std::max(left_most, c ? seen : 0);
            }
            // Nothing is gained where the left side's largest count has not grown.
            if (left_most == most_before || left_most + right_most <= place.correct) continue;
            right_most = 0;
            for (std::size_t c = 1; c < total_.size(); ++c)
                right_most = std::max(right_most, total_[c] - left_[c]);
            if (left_most + right_most > place.correct) place = {left_most + right_most, group};
        }
        return place;
    }

 private:
    std::vector<std::uint16_t> label_;  // of each row: its class plus one, or zero
    std::vector<std::uint32_t> total_, left_;
    std::uint32_t size_;
};

template <class Stumps>
Objective::Stump best_stump_by(Stumps&& stumps, const Dataset& data, const Prices& prices, double enough) {
    const double size = stumps.size();
    Objective::Stump best;
    best.objective = size - stumps.leaf();
    StumpPlace place;
    for (std::uint32_t f = 0; f < data.features(); ++f) {
        if (best.objective <= std::max(prices.least(), enough)) break;
        const double price = prices.of(f);
        if (best.objective <= price) continue;
        // A split must classify more rows correctly than a leaf, and enough more to pay for its feature.
        const auto bar = std::max(stumps.leaf(), static_cast<std::uint32_t>(size + price - best.objective));
        const StumpPlace found = stumps.best_place(data, f, bar);
        const double objective = size - found.correct + price;
        if (found.correct <= bar || objective >= best.objective) continue;
        place = found;
        best = {objective, true, {f, 0}};
    }
    if (!best.splits) return best;
    // The threshold lies between the group and the next one with one of the rows.
    const std::uint32_t feature = best.split.feature;
    const auto order = data.order(feature);
    std::uint32_t k = data.group_end(feature)[place.group];
    while (!stumps.here(order[k])) ++k;
    best.split = data.split_between(feature, place.group, data.ranks(feature)[order[k]]);
    return best;
}

}  // namespace

Objective::Stump best_class_stump(const Dataset& data, std::span<const std::uint32_t> rows,
                                  std::span<const std::uint16_t> labels, std::uint32_t classes,
                                  const Prices& prices, double enough) {
    if (classes <= 2) return best_stump_by(TwoClassStumps(labels, rows), data, prices, enough);
    return best_stump_by(ClassStumps(labels, classes, rows), data, prices, enough);
}

}  // namespace codt
