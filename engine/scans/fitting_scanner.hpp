// A scan in the narrowest number type that is wide enough for the subset: the narrower it is, the more
// thresholds share a register. Counts, weights and costs are whole numbers (see objectives/whole_units.hpp),
// so integers are used where they are wide enough.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scans/scan_driver.hpp"

namespace codt {

class FittingScanner final : public Scanner {
 public:
    struct Width {
        double largest;  // number that it holds
        std::unique_ptr<Scanner> scanner;
    };

    // `needed` returns the largest number that a scan of a subset forms; the last of the widths holds any
    // number.
    FittingScanner(std::function<double(const Subset&)> needed, std::vector<Width> widths)
        : needed_(std::move(needed)), widths_(std::move(widths)), chosen_(widths_[0].scanner.get()) {}

    std::uint32_t lanes() const override { return chosen_->lanes(); }
    bool joins_orders() const override { return chosen_->joins_orders(); }
    std::uint32_t features_at_once() const override { return chosen_->features_at_once(); }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        const double needed = needed_(subset);
        std::size_t width = 0;
        while (width + 1 < widths_.size() && needed > widths_[width].largest) ++width;
        chosen_ = widths_[width].scanner.get();
        chosen_->prepare(subset, feature_rank);
    }

    bool scan(std::span<const Values> orders, const Prices& prices, StopCondition& stop) override {
        return chosen_->scan(orders, prices, stop);
    }

 private:
    std::function<double(const Subset&)> needed_;
    std::vector<Width> widths_;
    Scanner* chosen_;
};

// Scans by Kernel<Number>, from the narrowest number to the widest.
template <template <class> class Kernel, class... Numbers, class... Args>
std::unique_ptr<Scanner> make_fitting_scanner(std::function<double(const Subset&)> needed, KernelPath path,
                                              const Args&... args) {
    std::vector<FittingScanner::Width> widths;
    (widths.push_back({static_cast<double>(std::numeric_limits<Numbers>::max()),
                       std::make_unique<LaneScanner<Kernel<Numbers>>>(path, args...)}),
     ...);
    return std::make_unique<FittingScanner>(std::move(needed), std::move(widths));
}

// A scan that counts samples.
template <template <class> class Kernel, class... Args>
std::unique_ptr<Scanner> make_counting_scanner(KernelPath path, const Args&... args) {
    return make_fitting_scanner<Kernel, std::int16_t, std::int32_t>(
        [](const Subset& subset) { return static_cast<double>(subset.size()); }, path, args...);
}

// A scan that adds up weights.
template <template <class> class Kernel, class... Args>
std::unique_ptr<Scanner> make_weighing_scanner(KernelPath path, std::span<const double> weights,
                                               const Args&... args) {
    const auto total = [weights](const Subset& subset) {
        double sum = 0;
        for (const std::uint32_t row : subset.samples()) sum += weights[row];
        return sum;
    };
    return make_fitting_scanner<Kernel, std::int16_t, std::int32_t, std::int64_t>(total, path, args...);
}

}  // namespace codt
