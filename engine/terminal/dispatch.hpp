// Run-time choice of the instruction set, and of the counters' width, for the scans.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

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

// The narrowest of three scans that holds the weight of the subset. Weights are whole numbers (see
// objectives/whole_units.hpp), and 64 bits hold any there are.
template <template <class> class Scan>
class FittingScanner final : public Scanner {
 public:
    template <class... Args>
    explicit FittingScanner(std::span<const double> weights, const Args&... args)
        : weights_(weights), narrow_(args...), wide_(args...), widest_(args...) {}

    std::uint32_t lanes() const override { return chosen_->lanes(); }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        double total = 0;
        for (const std::uint32_t row : subset.samples()) total += weights_[row];
        if (total <= std::numeric_limits<std::int16_t>::max())
            chosen_ = &narrow_;
        else if (total <= std::numeric_limits<std::int32_t>::max())
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
    std::span<const double> weights_;
    Scan<std::int16_t> narrow_;
    Scan<std::int32_t> wide_;
    Scan<std::int64_t> widest_;
    Scanner* chosen_ = &narrow_;
};

}  // namespace codt
