// Run-time choice of the instruction set, and of the counters' width, for the scans.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "terminal/blocks.hpp"
#include "terminal/lane_rows.hpp"
#include "terminal/lanes.hpp"
#include "terminal/scanner.hpp"

namespace codt {

template <class Kernel, class... Args>
void run_baseline(Args... args) {
    Kernel::template run<baseline_bytes>(args...);
}
#ifdef CODT_X86_PATHS
template <class Kernel, class... Args>
CODT_TARGET_AVX2 void run_avx2(Args... args) {
    Kernel::template run<avx2_bytes>(args...);
}
template <class Kernel, class... Args>
CODT_TARGET_AVX512 void run_avx512(Args... args) {
    Kernel::template run<avx512_bytes>(args...);
}
#endif

// The function that runs Kernel::run<register bytes>(args...), compiled for `path`. Kernel::run is always
// inlined, so that its body takes on the instruction set of the function around it.
template <class Kernel, class... Args>
auto kernel_function(KernelPath path) -> void (*)(Args...) {
#ifdef CODT_X86_PATHS
    if (path == KernelPath::avx512) return run_avx512<Kernel, Args...>;
    if (path == KernelPath::avx2) return run_avx2<Kernel, Args...>;
#endif
    static_cast<void>(path);
    return run_baseline<Kernel, Args...>;
}

// A class scan with 16-bit counters where the subset is small enough, else with 32-bit ones.
template <template <class> class Scan>
class NarrowOrWideScanner final : public Scanner {
 public:
    template <class... Args>
    explicit NarrowOrWideScanner(const Args&... args) : narrow_(args...), wide_(args...) {}

    std::uint32_t lanes() const override {
        return is_narrow_ ? lane_count<std::int16_t> : lane_count<std::int32_t>;
    }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        is_narrow_ = subset.size() <= narrow_limit;
        if (is_narrow_)
            narrow_.prepare(subset, feature_rank);
        else
            wide_.prepare(subset, feature_rank);
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        return is_narrow_ ? narrow_.scan(f, thresholds, lambda, left, right, stop)
                          : wide_.scan(f, thresholds, lambda, left, right, stop);
    }

 private:
    Scan<std::int16_t> narrow_;
    Scan<std::int32_t> wide_;
    bool is_narrow_ = true;
};

// The narrowest of three scans whose numbers hold those of the subset: integers of 16 bits, of 32, or what
// holds any there are. Weights and costs are whole numbers, see objectives/whole_units.hpp.
template <class Narrow, class Wide, class Widest>
class FittingScanner final : public Scanner {
 public:
    // `largest` tells the largest number that a scan of a subset needs.
    template <class... Args>
    explicit FittingScanner(std::function<double(const Subset&)> largest, const Args&... args)
        : largest_(std::move(largest)), narrow_(args...), wide_(args...), widest_(args...) {}

    std::uint32_t lanes() const override { return chosen_->lanes(); }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        const double largest = largest_(subset);
        if (largest <= std::numeric_limits<std::int16_t>::max())
            chosen_ = &narrow_;
        else if (largest <= std::numeric_limits<std::int32_t>::max())
            chosen_ = &wide_;
        else
            chosen_ = &widest_;
        chosen_->prepare(subset, feature_rank);
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        return chosen_->scan(f, thresholds, lambda, left, right, stop);
    }

 private:
    std::function<double(const Subset&)> largest_;
    Narrow narrow_;
    Wide wide_;
    Widest widest_;
    Scanner* chosen_ = &narrow_;
};

// A scan that needs no larger number than the weight of the subset.
template <template <class> class Scan, class... Args>
std::unique_ptr<Scanner> make_weighted_scanner(std::span<const double> weights, const Args&... args) {
    const auto total = [weights](const Subset& subset) {
        double sum = 0;
        for (const std::uint32_t row : subset.samples()) sum += weights[row];
        return sum;
    };
    return std::make_unique<FittingScanner<Scan<std::int16_t>, Scan<std::int32_t>, Scan<std::int64_t>>>(
        total, args...);
}

}  // namespace codt
