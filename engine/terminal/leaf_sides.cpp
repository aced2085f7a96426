#include "terminal/leaf_sides.hpp"

namespace codt {

void LeafSides::reset(const Objective& objective, const Subset& subset) {
    objective_ = &objective;
    subset_ = &subset;
    if (losses_.size() < subset.features()) losses_.resize(subset.features());
    for (Losses& losses : losses_) losses.ready = false;
}

const LeafSides::Losses& LeafSides::of(std::uint32_t f) {
    Losses& losses = losses_[f];
    if (!losses.ready) {
        objective_->all_leaf_losses(*subset_, f, losses.left, losses.right);
        losses.ready = true;
    }
    return losses;
}

}  // namespace codt
