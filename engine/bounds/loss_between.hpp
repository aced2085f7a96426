// What the samples between two evaluated thresholds lose whichever side they go to.
//
// With the notation of similarity.hpp, let S(p, t) be the samples that lie between the thresholds p and t,
// and c(S) the least loss of S in k groups, any partition allowed, where a side may have k leaves. A tree of
// the left side of t holds the samples on the left of p and S(p, t) in its leaves. No leaf loses less than
// the best ones of its two parts together, and the tree without S(p, t) is one of the left side of p, so that
//
//     L(t) >= L(p) + c(S(p, t))     and likewise     R(t) >= R(q) + c(S(t, q)).
//
// That raises the bound of sub-interval pruning, L(p) + R(q), by the sum of both. By the same argument c(S)
// is no less than the sum over disjoint parts of S. So that of many samples is added up from blocks, and t
// costs no more than the block in which it lies. Like L and R, this bounds all trees, and so those that are
// allowed; where a side may have fewer leaves, it loses more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bounds/similarity.hpp"
#include "data/subset.hpp"
#include "objectives/objective.hpp"

namespace codt {

class LossBetween {
 public:
    // `leaves` is the most that a side may have.
    void reset(const Objective& objective, const Subset& subset, std::uint32_t leaves);

    // Cuts from both ends of an interval thresholds whose bound reaches `target` (a cutoff less lambda).
    // Returns the least bound of those that are left, or the target if none are.
    double shrink(OpenInterval& interval, double target);

    std::size_t bytes() const;

 private:
    std::uint32_t end_of(std::uint32_t f, std::uint32_t t) const { return subset_->group_end(f)[t]; }
    // c of the samples in these places of an order, at most `most_grouped`.
    double of_few(std::uint32_t f, std::uint32_t begin, std::uint32_t end);
    // Ranges of thresholds that are bounded together, with c of what lies before the first threshold of each
    // and behind the last.
    struct Range {
        std::uint32_t first, last;
        double before, behind;
    };
    void make_few_ranges(const OpenInterval& interval, std::uint32_t begin, std::uint32_t end);
    void make_many_ranges(const OpenInterval& interval, std::uint32_t begin, std::uint32_t end);
    // c of every block of an order.
    std::span<const double> blocks(std::uint32_t f);

    const Objective* objective_ = nullptr;
    const Subset* subset_ = nullptr;
    std::uint32_t leaves_ = 0, block_ = 0, most_ = 0;  // samples of a block and of a short interval
    bool is_known_ = false;
    std::vector<Range> ranges_;
    std::vector<std::vector<double>> blocks_;  // by feature; empty if not computed yet
};

}  // namespace codt
