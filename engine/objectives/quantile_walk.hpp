// The loss of a leaf that predicts a quantile, while its samples are removed one by one.
//
// Pinball losses have no additive cost tuples: the loss of a leaf is not a function of a few sums over its
// samples. But with the samples in a list sorted by target, and sums over those below the quantile, removing
// a sample moves the quantile by a place or two at most, so the losses of all prefixes and suffixes of an
// order take constant time each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/double_double.hpp"
#include "objectives/pinball.hpp"

namespace codt {

// `Real` is the type of sums: DoubleDouble where the weights are so far apart that what is left of a heavy
// sample that was removed, the rounding of its weight, would count beside light ones.
template <class Real>
class QuantileWalk {
 public:
    explicit QuantileWalk(const Pinball& error) : error_(error) {}

    // Targets in ascending order, and their weights; a sample is identified by its place in this order.
    void reset(std::span<const double> targets, std::span<const double> weights) {
        targets_ = targets;
        weights_ = weights;
    }

    // losses[k] is the loss of the first k samples of an order of all places, from k = 0 to their number.
    void prefixes(std::span<const std::uint32_t> order, std::vector<double>& losses) {
        fill();
        losses.resize(order.size() + 1);
        for (std::size_t k = order.size(); k > 0; --k) {
            losses[k] = loss();
            remove(static_cast<std::int32_t>(order[k - 1]));
        }
        losses[0] = 0;
    }

    // losses[k] is the loss of all but the first k samples of an order of all places.
    void suffixes(std::span<const std::uint32_t> order, std::vector<double>& losses) {
        fill();
        losses.resize(order.size() + 1);
        for (std::size_t k = 0; k < order.size(); ++k) {
            losses[k] = loss();
            remove(static_cast<std::int32_t>(order[k]));
        }
        losses[order.size()] = 0;
    }

    // The loss of all samples.
    double whole() {
        fill();
        return loss();
    }

 private:
    static constexpr std::int32_t none = -1;

    void fill() {
        const auto size = static_cast<std::int32_t>(targets_.size());
        next_.resize(targets_.size());
        previous_.resize(targets_.size());
        weight_ = sum_ = below_weight_ = below_sum_ = Real(0.0);
        for (std::int32_t i = 0; i < size; ++i) {
            next_[at(i)] = i + 1 < size ? i + 1 : none;
            previous_[at(i)] = i - 1;
            weight_ = weight_ + Real(weights_[at(i)]);
            sum_ = sum_ + product(i);
        }
        place_ = size > 0 ? 0 : none;
        settle();
    }

    void remove(std::int32_t place) {
        const Real weight(weights_[at(place)]);
        weight_ = weight_ - weight;
        sum_ = sum_ - product(place);
        if (place < place_) {
            below_weight_ = below_weight_ - weight;
            below_sum_ = below_sum_ - product(place);
        } else if (place == place_) {
            if (next_[at(place)] != none)
                place_ = next_[at(place)];
            else
                step_down();
        }
        if (previous_[at(place)] != none) next_[at(previous_[at(place)])] = next_[at(place)];
        if (next_[at(place)] != none) previous_[at(next_[at(place)])] = previous_[at(place)];
        settle();
    }

    // Moves the quantile to where no more than its share of the weight is below it, and no more than the rest
    // above.
    void settle() {
        if (place_ == none) return;
        const Real share = Real(error_.quantile) * weight_;
        while (below_weight_ > share && previous_[at(place_)] != none) step_down();
        while (below_weight_ + Real(weights_[at(place_)]) < share && next_[at(place_)] != none) {
            below_weight_ = below_weight_ + Real(weights_[at(place_)]);
            below_sum_ = below_sum_ + product(place_);
            place_ = next_[at(place_)];
        }
    }

    void step_down() {
        place_ = previous_[at(place_)];
        if (place_ == none) return;
        below_weight_ = below_weight_ - Real(weights_[at(place_)]);
        below_sum_ = below_sum_ - product(place_);
    }

    // The weighted sum of the errors, from sums above and below the quantile.
    double loss() const {
        if (place_ == none) return 0;
        const Real y(targets_[at(place_)]);
        const auto loss =
            static_cast<double>(Real(error_.above) * (sum_ - below_sum_ - y * (weight_ - below_weight_)) +
                                Real(error_.below) * (y * below_weight_ - below_sum_));
        return loss > 0 ? loss : 0;
    }

    Real product(std::int32_t place) const { return Real(weights_[at(place)]) * Real(targets_[at(place)]); }

    static std::size_t at(std::int32_t place) { return static_cast<std::size_t>(place); }

    Pinball error_;
    std::span<const double> targets_, weights_;
    std::vector<std::int32_t> next_, previous_;
    Real weight_{}, sum_{};              // of all that is left
    Real below_weight_{}, below_sum_{};  // of what is left below the quantile
    std::int32_t place_ = none;
};

}  // namespace codt
