// The samples of the scans of class shares: share_pass.hpp walks over them.
#include "scans/share_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/buffer.hpp"
#include "scans/class_groups.hpp"
#include "scans/scan_driver.hpp"
#include "scans/share_pass.hpp"
#include "scans/share_terms.hpp"

namespace codt {

namespace {

template <template <std::size_t> class Terms>
struct ShareKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lanes_of_floats;
    static constexpr std::uint32_t longest_block_of(std::uint32_t samples) {
        return block_size_for(samples, 32);
    }
    static constexpr int most_few = 5;
    static constexpr std::uint32_t largest_table = 1U << 16U;  // samples
    using Block = ShareBlock;
    using Sums = std::vector<double>;  // samples of each class
    using Some = Terms<16>;            // what does not depend on registers
    using Number = std::remove_cvref_t<decltype(typename Some::Value{}.r[0][0])>;

    ShareKernel(std::span<const std::uint16_t> labels, std::uint32_t classes,
                std::function<double(const double*)> loss, KernelPath path)
        : labels_(labels),
          classes_(classes),
          loss_(std::move(loss)),
          groups_widely_(ClassGroups::suits(path, classes)) {}

    bool read(const Subset& subset) {
        const double n = subset.size();
        if (n > 0x1p20 || !Some::takes(n)) return false;
        const auto samples = subset.samples();
        work_.label.resize(subset.size() + ClassGroups::spare_labels);
        work_.grouped.ensure(static_cast<std::size_t>(subset.size()) * subset.features() +
                             ClassGroups::spare);
        work_.runs.clear();
        all_.assign(classes_, 0.0);
        for (std::uint32_t id = 0; id < subset.size(); ++id) {
            work_.label[id] = labels_[samples[id]];
            add(all_, id);
        }
        start_.assign(classes_, ClassLanes{});
        for (std::uint32_t c = 0; c < classes_; ++c) start_[c].total = static_cast<float>(all_[c]);
        work_.inside = start_;
        place_.resize(classes_);
        work_.scale = Some::scale_for(n);
        if constexpr (Some::tabulated) tabulate(subset.size());
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        block.first_run = work_.runs.size();
        block.classes = 0;
        std::uint32_t* const grouped = work_.grouped.data() + cell;
        std::uint32_t end = begin;
        if (groups_widely_) {
            groups_.group(order + begin, block.end - begin, work_.label.data(), classes_, grouped + begin);
            for (const ClassRun& run : groups_.runs()) {
                work_.runs.push_back({run.label, end += run.length});
                block.classes |= std::uint64_t{1} << run.label;
            }
            block.runs = static_cast<std::uint32_t>(work_.runs.size() - block.first_run);
            return;
        }
        std::fill(place_.begin(), place_.end(), 0);
        for (std::uint32_t p = begin; p < block.end; ++p) ++place_[work_.label[order[p]]];
        for (std::uint32_t label = 0; label < classes_; ++label) {
            if (place_[label] == 0) continue;
            const std::uint32_t first = end;
            end += place_[label];
            place_[label] = first;
            work_.runs.push_back({label, end});
            block.classes |= std::uint64_t{1} << label;
        }
        block.runs = static_cast<std::uint32_t>(work_.runs.size() - block.first_run);
        for (std::uint32_t p = begin; p < block.end; ++p) grouped[place_[work_.label[order[p]]]++] = order[p];
    }

    Sums nothing() const { return Sums(classes_, 0.0); }
    void add(Sums& sums, std::uint32_t id) const { sums[work_.label[id]] += 1; }
    void rest(const Sums& left, Sums& right) const {
        for (std::uint32_t c = 0; c < classes_; ++c) right[c] = all_[c] - left[c];
    }
    void start(std::size_t s, std::size_t lane, double n, const Sums& sums, double known) {
        if (s == 0)
            for (std::uint32_t c = 0; c < classes_; ++c)
                start_[c].left_total[lane] = static_cast<float>(sums[c]);
        ShareSide<Number>& side = work_.sides[s];
        side.n[lane] = static_cast<float>(n);
        side.loss[lane] = loss_(sums.data());
        const double attained = std::max(0.0, std::min(side.loss[lane], known));
        side.best[lane] = static_cast<Number>(side.loss[lane] > 0 ? Some::value_of(n, attained, work_.scale)
                                                                  : Some::largest);
    }
    void pad(std::size_t lane) {
        for (std::uint32_t c = 0; c < classes_; ++c) start_[c].left_total[lane] = static_cast<float>(all_[c]);
        for (auto& side : work_.sides) {
            side.n[lane] = 0;
            side.best[lane] = static_cast<Number>(Some::largest);
        }
        work_.sides[0].n[lane] = static_cast<float>(work_.label.size() - ClassGroups::spare_labels);
    }
    void bracket(std::size_t s, std::size_t lane, double lambda, double& lower, double& upper) const {
        const ShareSide<Number>& side = work_.sides[s];
        const double n = side.n[lane];
        const double found =
            std::max(0.0, Some::loss_of(n, static_cast<double>(side.best[lane]), work_.scale));
        const double slack = Some::slack(n, classes_, work_.scale);
        upper = std::min({upper, side.loss[lane], found + slack + lambda});
        lower = std::min({upper, side.loss[lane], std::max(0.0, found - slack) + lambda});
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(ShareKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        ShareWork<Number>& work = kernel->work_;
        using Pass = SharePass<Terms<Bytes>, Number>;
        Pass pass{work, *stream, bucket, {work.scale}, {}, {}};
        typename Pass::State state;
        state.left.clear();
        state.all = 0;
        for (std::size_t s = 0; s < 2; ++s) {
            pass.n[s].load(work.sides[s].n);
            pass.best[s].load(work.sides[s].best);
            state.sums[s].clear();
        }
        work.after = kernel->start_;
        for (ClassLanes& own : work.after) {
            typename Pass::P total;
            total.load(own.left_total);
            pass.terms.begin(total, own.kept[0], state.sums[0]);
            pass.terms.begin(Pass::from(own.total, total), own.kept[1], state.sums[1]);
        }
        work.before = work.middle = work.after;
        pass.run(state);
        for (std::size_t s = 0; s < 2; ++s) pass.best[s].store(work.sides[s].best);
    }

 private:
    void tabulate(std::uint32_t n) {
        TermTable& table = work_.terms;
        table.few = n <= largest_table ? most_few : 0;
        if (table.few == 0) return;
        constexpr std::size_t at_once = Some::P::per_register;
        table.term.resize(n + at_once);
        table.step.resize(n + at_once + 1);
        for (std::size_t x = 0; x <= n; x += at_once) {
            typename Some::Register numbers{};
            for (std::size_t j = 0; j < at_once; ++j) numbers[j] = static_cast<float>(x + j);
            const auto terms = Some{work_.scale}.term(numbers, Some::Log::of(numbers).binary());
            std::memcpy(table.term.data() + x, &terms, sizeof(terms));
        }
        table.step[0] = 0;
        for (std::size_t x = 0; x < n; ++x) table.step[x + 1] = table.term[x + 1] - table.term[x];
        for (auto& counts : work_.lane_count) counts.resize(classes_);
    }

    std::span<const std::uint16_t> labels_;
    std::uint32_t classes_;
    std::function<double(const double*)> loss_;
    bool groups_widely_;
    ClassGroups groups_;
    Sums all_;
    std::vector<ClassLanes> start_;     // before the first block
    std::vector<std::uint32_t> place_;  // by class
    ShareWork<Number> work_;
};

}  // namespace

std::unique_ptr<BracketScanner> make_share_brackets(ShareLoss family, std::span<const std::uint16_t> labels,
                                                    std::uint32_t classes,
                                                    const std::function<double(const double*)>& loss,
                                                    KernelPath path) {
    if (family == ShareLoss::entropy)
        return std::make_unique<LaneBracketScanner<ShareKernel<EntropyTerms>>>(path, labels, classes, loss,
                                                                               path);
    return std::make_unique<LaneBracketScanner<ShareKernel<GiniTerms>>>(path, labels, classes, loss, path);
}

}  // namespace codt
