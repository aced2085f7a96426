#include "scans/pinball_scan.hpp"

#include <algorithm>
#include <utility>

#include "scans/pinball_kernel.hpp"

namespace codt {

namespace {

class PinballScanner final : public Scanner {
 public:
    PinballScanner(const PinballSamples& samples, std::unique_ptr<SingleScanner> plain, KernelPath path)
        : driver_(path, samples, true), plain_(std::move(plain)) {}

    std::uint32_t lanes() const override { return PinballKernel::lanes; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        is_usable_ = driver_.prepare(subset, feature_rank);
        is_plain_prepared_ = false;
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        if (is_usable_ && !driver_.run(f, thresholds, lambda, {left, right}, stop)) return false;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const PinballKernel& kernel = driver_.kernel();
            if (is_usable_ && kernel.is_sure(0, j) && kernel.is_sure(1, j)) {
                left[j] = std::min(left[j], kernel.value(0, j, lambda));
                right[j] = std::min(right[j], kernel.value(1, j, lambda));
                continue;
            }
            if (!is_plain_prepared_) plain_->prepare(*subset_, {});
            is_plain_prepared_ = true;
            if (!plain_->scan(f, thresholds.subspan(j, 1), lambda, left + j, right + j, stop)) return false;
        }
        return true;
    }

 private:
    ScanDriver<PinballKernel> driver_;
    std::unique_ptr<SingleScanner> plain_;
    const Subset* subset_ = nullptr;
    bool is_usable_ = false, is_plain_prepared_ = false;
};

}  // namespace

std::unique_ptr<Scanner> make_pinball_scanner(const PinballSamples& samples,
                                              std::unique_ptr<SingleScanner> plain, KernelPath path) {
    return std::make_unique<PinballScanner>(samples, std::move(plain), path);
}

std::unique_ptr<BracketScanner> make_pinball_brackets(const PinballSamples& samples, KernelPath path) {
    return std::make_unique<LaneBracketScanner<PinballKernel>>(path, samples, false);
}

}  // namespace codt
