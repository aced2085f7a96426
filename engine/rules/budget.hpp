// How large a tree may be: its depth, and its number of leaves.
//
// A limit on leaves that binds makes a subproblem's state (depth left, leaves left) instead of the depth
// alone. A split then has to share the leaves out: left and right get k_l and k - k_l of them, and every
// k_l that the depth allows is a child of its own. For a fixed k_l the optimum L(t) of the left side is over
// one fixed class of trees, on samples that only grow in number with the threshold; likewise R(t). So all
// bounds between thresholds (bounds/similarity.hpp) hold among the splits of one feature and one k_l, and
// only there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace codt {

struct Budget {
    static constexpr std::uint32_t any = UINT32_MAX;

    std::uint32_t depth = 0;
    std::uint32_t leaves = any;  // `any`: as many as the depth allows

    bool limited() const { return leaves != any; }

    // This budget for trees on `samples` samples, in normal form: no depth that the leaves cannot fill, no
    // limit on leaves that the depth or the samples set anyway.
    Budget on(std::uint32_t samples) const {
        Budget normal = *this;
        if (normal.leaves >= samples) normal.leaves = any;
        if (!normal.limited()) return normal;
        normal.depth = std::min(depth, leaves - 1);
        if (normal.depth < 32 && leaves >= std::uint64_t{1} << normal.depth) normal.leaves = any;
        return normal;
    }

    // The largest number of leaves of a tree on this many samples.
    std::uint32_t most_leaves(std::uint32_t samples) const {
        const std::uint32_t most = std::min(samples, leaves);
        return depth < 31 ? std::min(most, 1u << depth) : most;
    }

    // How many leaves a split may give to its left side, first to last; just `any` where there is no limit.
    // The right side gets the rest: fewer would never be better. The budget must be in normal form.
    struct Shares {
        std::uint32_t first = any, last = any;
        std::uint32_t count() const { return last - first + 1; }
    };
    Shares shares() const {
        if (!limited()) return {};
        const std::uint32_t half = depth <= 31 ? 1u << (depth - 1) : any;  // the most leaves of one side
        return {leaves > half ? leaves - half : 1, std::min(half, leaves - 1)};
    }

    // The budget of one side of a split if the left one gets `left_leaves`. Not in normal form.
    Budget of_side(int side, std::uint32_t left_leaves) const {
        if (!limited()) return {depth - 1, any};
        return {depth - 1, side == 0 ? left_leaves : leaves - left_leaves};
    }

    // For heuristics: leaves shared out in proportion to the losses of the two sides.
    std::uint32_t share_by_loss(double left_loss, double right_loss) const {
        const Shares possible = shares();
        if (!limited()) return any;
        const double part = left_loss + right_loss > 0 ? left_loss / (left_loss + right_loss) : 0.5;
        const auto wanted = static_cast<std::uint32_t>(std::lround(part * leaves));
        return std::clamp(wanted, possible.first, possible.last);
    }
};

}  // namespace codt
