// Sums along the orders of root features, kept for every so many places, so that the next batch of thresholds
// of a feature need not add up all samples again: for kernels whose sums have many entries.
#pragma once

#include <cstdint>
#include <vector>

#include "data/subset.hpp"

namespace codt {

template <class Sums>
class KeptSums {
 public:
    // Of few samples it takes as long to keep sums as to add them up again.
    static bool pay_off(const Subset& subset) { return subset.size() >= least_samples; }

    void forget(const Subset& next) {
        of_feature_.resize(next.features());
        for (auto& kept : of_feature_) kept.clear();
    }

    // The sums of the samples before a place of a feature's order, which is not the first.
    template <class Kernel>
    Sums before(std::uint32_t place, std::uint32_t f, const Subset& subset, Kernel& kernel) {
        const auto order = subset.order(f);
        std::vector<Sums>& kept = of_feature_[f];
        if (kept.empty()) {
            auto sums = kernel.nothing();
            for (std::uint32_t k = 0; k < order.size(); ++k) {
                if (k % every == 0) kept.push_back(sums);
                kernel.add(sums, order[k]);
            }
        }
        const std::uint32_t known = (place - 1) / every;
        Sums sums = kept[known];
        for (std::uint32_t k = known * every; k < place; ++k) kernel.add(sums, order[k]);
        return sums;
    }

 private:
#ifdef CODT_ASSERTS  // small problems, too, which all tests are made of
    static constexpr std::uint32_t least_samples = 40, every = 7;
#else
    static constexpr std::uint32_t least_samples = 2'000, every = 32;
#endif

    std::vector<std::vector<Sums>> of_feature_;
};

}  // namespace codt
