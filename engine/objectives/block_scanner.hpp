// The scan of Alg. 4 for any cost tuple, one threshold of the root at a time, where losses take long to
// compute: the order of the second feature is cut into blocks, and a block is walked only if one of its
// thresholds can improve the best tree. Every left side in a block holds the samples before it, and every
// right side those behind it, so that none loses less than these two together: two losses for a block,
// instead of two for every threshold.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "data/subset.hpp"
#include "rules/leaf_limits.hpp"
#include "scans/scanner.hpp"

namespace codt {

template <class Cost>
class BlockScanner final : public SingleScanner {
 public:
    BlockScanner(const Cost& cost, const LeafLimits& limits)
        : cost_(cost), limits_(limits), limited_(limits.any()), width_(cost.size()) {}

 private:
    static constexpr std::size_t block = 12;  // thresholds

    // The samples before a place in an order, of either side of the root's split.
    struct Prefix {
        std::vector<double> tuples;
        std::array<LeafLimits::Load, 2> loads;
    };

    bool scan_one(std::uint32_t f, std::uint32_t threshold, const Prices& prices, double& left, double& right,
                  StopCondition& stop) override {
        const std::uint32_t left_size = this->subset().group_end(f)[threshold];
        is_right_.assign(this->subset().size(), 1);
        for (std::uint32_t k = 0; k < left_size; ++k) is_right_[this->subset().order(f)[k]] = 0;
        reset(total_);
        for (std::uint32_t id = 0; id < this->subset().size(); ++id) add(id, total_);
        best_ = {loss(total_, 0), loss(total_, 1)};
        for (std::uint32_t g = 0; g < this->subset().features(); ++g) {
            if (stop.reached()) return false;
            if (best_[0] <= prices.least() && best_[1] <= prices.least()) break;
            scan_feature(g, prices.of(g));
        }
        left = best_[0];
        right = best_[1];
        return true;
    }

    void scan_feature(std::uint32_t g, double price) {
        const auto order = this->subset().order(g);
        const auto ends = this->subset().group_end(g);
        reset(here_);
        std::array<double, 2> before{0, 0};  // the losses of what lies before the block
        for (std::size_t first = 0; first + 1 < ends.size();) {
            const std::size_t last = std::min(first + block, ends.size() - 1);
            const std::uint32_t begin = first == 0 ? 0 : ends[first - 1];
            const std::uint32_t end = ends[last - 1];
            ahead_ = here_;
            std::array<bool, 2> any{false, false}, walk{false, false};
            for (std::uint32_t k = begin; k < end; ++k) {
                add(order[k], ahead_);
                any[is_right_[order[k]]] = true;
            }
            for (std::size_t side = 0; side < 2; ++side)
                walk[side] = any[side] && before[side] + price < best_[side] &&
                             before[side] + loss_of_rest(ahead_, side) + price < best_[side];
            if (walk[0] || walk[1]) walk_block(g, first, last, walk, price);
            for (std::size_t side = 0; side < 2; ++side)
                if (any[side]) before[side] = loss(ahead_, side);
            std::swap(here_, ahead_);
            first = last;
        }
    }

    // From `here_` on.
    void walk_block(std::uint32_t g, std::size_t first, std::size_t last, const std::array<bool, 2>& walk,
                    double price) {
        const auto order = this->subset().order(g);
        const auto ends = this->subset().group_end(g);
        std::uint32_t k = first == 0 ? 0 : ends[first - 1];
        for (std::size_t group = first; group < last; ++group) {
            std::array<bool, 2> moved{false, false};
            for (; k < ends[group]; ++k) {
                add(order[k], here_);
                moved[is_right_[order[k]]] = true;
            }
            for (std::size_t side = 0; side < 2; ++side) {
                if (!walk[side] || !moved[side]) continue;
                if (limited_ && !(limits_.enough(here_.loads[side]) &&
                                  limits_.enough(total_.loads[side] - here_.loads[side])))
                    continue;
                const double own = loss(here_, side) + price;
                if (own < best_[side]) best_[side] = std::min(best_[side], own + loss_of_rest(here_, side));
            }
        }
    }

    void reset(Prefix& prefix) const {
        prefix.tuples.assign(2 * width_, 0.0);
        prefix.loads = {};
    }
    void add(std::uint32_t id, Prefix& prefix) const {
        const std::uint32_t row = this->subset().samples()[id];
        const std::size_t side = is_right_[id];
        cost_.add(row, prefix.tuples.data() + side * width_);
        if (limited_) limits_.add(row, prefix.loads[side]);
    }
    double loss(const Prefix& prefix, std::size_t side) const {
        return cost_.loss(prefix.tuples.data() + side * width_);
    }
    double loss_of_rest(const Prefix& prefix, std::size_t side) {
        rest_.resize(width_);
        for (std::size_t c = side * width_, j = 0; j < width_; ++c, ++j)
            rest_[j] = total_.tuples[c] - prefix.tuples[c];
        return cost_.loss(rest_.data());
    }

    const Cost& cost_;
    const LeafLimits& limits_;
    bool limited_;
    std::size_t width_;
    std::vector<std::uint8_t> is_right_;
    Prefix total_, here_, ahead_;
    std::array<double, 2> best_{};
    std::vector<double> rest_;
};

}  // namespace codt
