// Interface of the left/right terminal case (paper, Alg. 4, Solve-D1): given a root feature and some of
// its thresholds, the objective of the best depth-one subtree on the left and on the right of each.
// Many thresholds share one walk over the sorted orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/kernel_paths.hpp"
#include "common/stop.hpp"
#include "data/subset.hpp"
#include "rules/prices.hpp"

namespace codt {

struct KernelChoice {
    KernelPath path = KernelPath::baseline;

    bool takes_many_thresholds() const { return path != KernelPath::scalar; }
};

// Thresholds of one feature, ascending, to be evaluated together.
struct Cuts {
    std::uint32_t feature;
    std::span<const std::uint32_t> thresholds;
};

class Scanner {
 public:
    virtual ~Scanner() = default;

    // How many thresholds one call of scan takes at the most.
    virtual std::uint32_t lanes() const = 0;

    // Whether one call takes thresholds of both orders of a feature that misses values (see Dataset).
    virtual bool joins_orders() const { return false; }

    // Of how many features the thresholds of one call may be, for the subset prepared last; each then has the
    // lanes that lanes_of_features says (see sample_rows.hpp).
    virtual std::uint32_t features_at_once() const { return 1; }

    // Makes `subset` the one that scan works on; it must stay alive and unchanged until the next call.
    // Features are walked in the order of `feature_rank`: with promising ones first, bounds rule out more
    // blocks of the others.
    virtual void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) = 0;

    // left[j], right[j]: the least loss, plus the price of a split if it takes one, of a tree of depth at
    // most one on each side of thresholds[j]; before, they hold values that some tree is known to have, or
    // infinity.
    struct Values : Cuts {
        double* left;
        double* right;
    };

    // Evaluates thresholds of one feature, of both its orders, the first order first, or of several features
    // (see features_at_once). False if `stop` was reached; the values are then void.
    virtual bool scan(std::span<const Values> orders, const Prices& prices, StopCondition& stop) = 0;
};

// A scan that takes one threshold after the other.
class SingleScanner : public Scanner {
 public:
    std::uint32_t lanes() const final { return 1; }
    void prepare(const Subset& subset, std::span<const std::uint32_t>) override { subset_ = &subset; }
    bool scan(std::span<const Values> orders, const Prices& prices, StopCondition& stop) final {
        for (const Values& cuts : orders)
            for (std::size_t j = 0; j < cuts.thresholds.size(); ++j)
                if (!scan_one(cuts.feature, cuts.thresholds[j], prices, cuts.left[j], cuts.right[j], stop))
                    return false;
        return true;
    }

 protected:
    virtual bool scan_one(std::uint32_t f, std::uint32_t threshold, const Prices& prices, double& left,
                          double& right, StopCondition& stop) = 0;

    const Subset& subset() const { return *subset_; }

 private:
    const Subset* subset_ = nullptr;
};

// A scan in lower precision that gives bounds on the values of a Scanner: much faster where it exists.
class BracketScanner {
 public:
    virtual ~BracketScanner() = default;

    virtual std::uint32_t lanes() const = 0;
    virtual bool joins_orders() const = 0;

    // Like Scanner::prepare; false if this subset needs an exact scan.
    virtual bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) = 0;

    // Bounds on the values of the left and right side of every threshold. `upper` holds what is known before.
    struct Brackets : Cuts {
        double* lower[2];
        double* upper[2];
    };

    // The values of Scanner::scan lie between the two bounds.
    virtual bool scan(std::span<const Brackets> orders, const Prices& prices, StopCondition& stop) = 0;
};

}  // namespace codt
