#include "scans/pinball_scan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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

    bool scan(std::span<const Values> orders, const Prices& prices, StopCondition& stop) override {
        const Values& cuts = orders[0];  // the only one, as orders are not joined
        const auto value = [&](std::size_t side, const auto& cut) -> double& {
            return (side == 0 ? cuts.left : cuts.right)[cut.place];
        };
        is_unsure_.assign(cuts.thresholds.size(), !is_usable_);
        const auto take = [&](double price) {
            const PinballKernel& kernel = driver_.kernel();
            for (const auto& cut : driver_.lanes()) {
                const std::size_t lane = cut.place;
                if (!kernel.is_sure(0, lane) || !kernel.is_sure(1, lane)) is_unsure_[lane] = true;
                if (is_unsure_[lane]) continue;
                for (std::size_t side = 0; side < 2; ++side)
                    value(side, cut) = std::min(value(side, cut), kernel.value(side, lane, price));
            }
        };
        if (is_usable_ && !driver_.run(orders, prices, value, take, stop)) return false;
        for (std::size_t j = 0; j < is_unsure_.size(); ++j) {
            if (!is_unsure_[j]) continue;
            if (!is_plain_prepared_) plain_->prepare(*subset_, {});
            is_plain_prepared_ = true;
            const Values one{{cuts.feature, cuts.thresholds.subspan(j, 1)}, cuts.left + j, cuts.right + j};
            if (!plain_->scan({&one, 1}, prices, stop)) return false;
        }
        return true;
    }

 private:
    ScanDriver<PinballKernel> driver_;
    std::unique_ptr<SingleScanner> plain_;
    const Subset* subset_ = nullptr;
    bool is_usable_ = false, is_plain_prepared_ = false;
    std::vector<bool> is_unsure_;  // by threshold: whether candidates were left out
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
