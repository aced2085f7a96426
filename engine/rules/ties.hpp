// Which of several trees with the least objective is wanted, and how smaller ones are made to win.
//
// Every branching node costs a tie price on top of its penalty. Where all objectives are whole numbers the
// price is a power of two so small that all splits of the largest tree together cost less than one: a tree is
// cheaper if and only if its objective is lower, or equal with fewer splits. Prices are then exact, too, and
// an objective is what remains when the fraction is dropped. Elsewhere the price is twice what rounding may
// change, in sums and in the numbers themselves, so that trees which differ by rounding only are ordered by
// size; it changes the objective by no more than the tolerance of the search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace codt {

enum class Ties {
    any,       // the first that is found, as in the paper
    smaller,   // the smallest, unless proving that takes much longer than proving the objective
    smallest,  // the smallest, proven
};

struct TiePrice {
    double per_split = 0;
    double most = 0;  // what the splits of the largest tree cost together
    bool exact =
        false;  // for whole numbers: a fraction of one, and no sum of prices and objectives is rounded

    // For objectives up to `largest`, which are whole numbers or not, and which `rounding` may change.
    static TiePrice of(double most_splits, double largest, bool whole, double rounding) {
        const int bits = std::ilogb(most_splits + 1) + 1;
        const double fraction = std::ldexp(1.0, -bits);
        if (whole && rounding == 0 && largest < std::ldexp(1.0, 52 - bits))
            return {fraction, fraction * most_splits, true};
        // Sums of whole numbers stay exact if the price is one, too.
        const double price = whole ? std::ceil(1 + 2 * rounding) : 2 * rounding;
        return {price, price * most_splits, false};
    }

    // An objective without the price of its splits, of which there are `splits()`.
    template <class Count>
    double removed_from(double objective, Count splits) const {
        if (per_split == 0) return objective;
        if (exact) return std::floor(objective);
        return std::max(0.0, objective - per_split * static_cast<double>(splits()));
    }
    // The bound on objectives without prices that a bound on those with prices implies.
    double removed_from_bound(double lower) const { return exact ? std::ceil(lower - most) : lower - most; }
};

}  // namespace codt
