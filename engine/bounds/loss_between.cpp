#include "bounds/loss_between.hpp"

#include <algorithm>

#include "objectives/clusters.hpp"

namespace codt {

namespace {

// With more leaves, blocks of few samples lose next to nothing.
constexpr std::uint32_t most_leaves = 4;
// Of blocks. More make better bounds between thresholds that are far apart.
constexpr std::uint32_t samples_per_leaf = 16;
// So many ranges of thresholds are looked at one by one in short intervals.
constexpr std::uint32_t most_ranges = 16;
// By this part a cutoff may fall soon.
constexpr double soon = 0.01;

}  // namespace

void LossBetween::reset(const Objective& objective, const Subset& subset, std::uint32_t leaves) {
    objective_ = &objective;
    subset_ = &subset;
    leaves_ = leaves;
    is_known_ = leaves <= most_leaves && objective.has_group_losses(leaves);
    block_ = samples_per_leaf * leaves;
    most_ = most_grouped / most_leaves * leaves;
    blocks_.resize(is_known_ ? subset.features() : 0);
    for (auto& blocks : blocks_) blocks.clear();
}

double LossBetween::of_few(std::uint32_t f, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t count = end - begin;
    if (count <= leaves_) return 0;
    std::uint32_t rows[most_grouped];
    const auto order = subset_->order(f);
    for (std::uint32_t k = 0; k < count; ++k) rows[k] = subset_->samples()[order[begin + k]];
    double loss = 0;
    objective_->group_losses({rows, count}, leaves_, {&count, 1}, &loss);
    return loss;
}

std::span<const double> LossBetween::blocks(std::uint32_t f) {
    auto& blocks = blocks_[f];
    if (blocks.empty())
        for (std::uint32_t k = 0; k < subset_->size(); k += block_)
            blocks.push_back(of_few(f, k, std::min(k + block_, subset_->size())));
    return blocks;
}

double LossBetween::shrink(OpenInterval& interval, double target) {
    if (!is_known_) return 0;
    const std::uint32_t f = interval.feature;
    const EvaluatedSplit* const p = interval.before;
    const EvaluatedSplit* const q = interval.after;
    const std::uint32_t begin = p ? end_of(f, p->threshold) : 0;
    const std::uint32_t end = q ? end_of(f, q->threshold) : subset_->size();
    if (end - begin <= leaves_) return 0;
    const double sub_interval = (p ? p->left_lower : 0.0) + (q ? q->right_lower : 0.0);
    ranges_.clear();
    if (end - begin <= most_) {
        // With more leaves this takes longer. It is no more than c of all samples, and of use only where it
        // reaches the target; or nearly so, because cutoffs fall.
        if (leaves_ > 2 && sub_interval + of_few(f, begin, end) < (1 - soon) * target) return 0;
        make_few_ranges(interval, begin, end);
    } else {
        make_many_ranges(interval, begin, end);
    }
    double least = target;
    std::size_t first = ranges_.size(), last = 0;  // of the open ones
    for (std::size_t r = 0; r < ranges_.size(); ++r) {
        const double bound = sub_interval + (ranges_[r].before + ranges_[r].behind);
        if (bound >= target) continue;
        least = std::min(least, bound);
        first = std::min(first, r);
        last = r;
    }
    if (first <= last) {
        interval.first = ranges_[first].first;
        interval.last = ranges_[last].last;
    }
    return least;
}

void LossBetween::make_few_ranges(const OpenInterval& interval, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t f = interval.feature, count = end - begin;
    std::uint32_t rows[most_grouped];
    const auto order = subset_->order(f);
    for (std::uint32_t k = 0; k < count; ++k) rows[k] = subset_->samples()[order[begin + k]];
    const std::uint32_t thresholds = interval.last - interval.first + 1;
    const std::uint32_t ranges = std::min(thresholds, leaves_ > 2 ? most_ranges : most_ranges / 2);
    std::uint32_t before[most_ranges], behind[most_ranges];
    for (std::uint32_t r = 0; r < ranges; ++r) {
        const std::uint32_t first = interval.first + r * thresholds / ranges,
                            last = interval.first + (r + 1) * thresholds / ranges - 1;
        ranges_.push_back({first, last, 0, 0});
        before[r] = end_of(f, first) - begin;
        behind[ranges - 1 - r] = end - end_of(f, last);
    }
    double losses[most_ranges];
    objective_->group_losses({rows, count}, leaves_, {before, ranges}, losses);
    for (std::uint32_t r = 0; r < ranges; ++r) ranges_[r].before = losses[r];
    std::reverse(rows, rows + count);
    objective_->group_losses({rows, count}, leaves_, {behind, ranges}, losses);
    for (std::uint32_t r = 0; r < ranges; ++r) ranges_[r].behind = losses[ranges - 1 - r];
}

void LossBetween::make_many_ranges(const OpenInterval& interval, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t f = interval.feature;
    const std::uint32_t first_block = (begin + block_ - 1) / block_, last_block = end / block_;
    const auto whole = blocks(f);
    const auto ends = subset_->group_end(f);
    double sum = 0;
    std::uint32_t first = interval.first;
    const auto add = [&](std::uint32_t to, double loss) {
        // The thresholds up to the end of these samples.
        const auto next = static_cast<std::uint32_t>(
            std::upper_bound(ends.begin() + first, ends.begin() + interval.last + 1, to) - ends.begin());
        if (next > first) ranges_.push_back({first, next - 1, sum, sum + loss});
        first = next;
        sum += loss;
    };
    add(first_block * block_, of_few(f, begin, first_block * block_));
    for (std::uint32_t b = first_block; b < last_block; ++b) add((b + 1) * block_, whole[b]);
    add(end, of_few(f, last_block * block_, end));
    for (Range& range : ranges_) range.behind = sum - range.behind;
}

std::size_t LossBetween::bytes() const {
    std::size_t sum = blocks_.capacity() * sizeof(blocks_[0]);
    for (const auto& blocks : blocks_) sum += blocks.capacity() * sizeof(double);
    return sum;
}

}  // namespace codt
