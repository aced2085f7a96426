// The samples of blocks grouped by class, and the sums of the sides, for the pass of many_class_pass.hpp.
#include "scans/many_class_scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "scans/fitting_scanner.hpp"
#include "scans/many_class_pass.hpp"

namespace codt {

namespace {

// `weights` are not used if samples are counted.
struct LabelledData {
    std::span<const std::uint16_t> labels;
    std::span<const double> weights;
    std::uint32_t classes;
    KernelPath path;
};

template <class Int, Counting What>
struct ManyClassKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr bool joins_orders = true, takes_two_orders = true, bounds_second_features = true;
    static constexpr bool weighted = What == Counting::weights;
    static constexpr bool mixes_features = lanes == mixed_lanes;
    using Block = ClassBlock;
    using Sums = std::vector<std::int64_t>;  // of each class

    explicit ManyClassKernel(const LabelledData& data) : data_(data), local_class_(data.classes) {}

    // Reads weights, and numbers the classes that occur in the subset from zero; the others would only cost
    // time.
    bool read(const Subset& subset) {
        constexpr std::uint16_t unseen = 0xffff;
        std::fill(local_class_.begin(), local_class_.end(), unseen);
        const std::uint32_t size = subset.size();
        samples_.grouped.ensure(static_cast<std::size_t>(size) * subset.features() + ClassGroups::spare);
        samples_.runs.clear();
        samples_.label.resize(size + ClassGroups::spare_labels);
        samples_.weight.resize(weighted ? size : 0);
        totals_.clear();
        const auto samples = subset.samples();
        std::int64_t total = 0;
        for (std::uint32_t id = 0; id < size; ++id) {
            std::uint16_t& local = local_class_[data_.labels[samples[id]]];
            if (local == unseen) {
                local = static_cast<std::uint16_t>(totals_.size());
                totals_.push_back(0);
            }
            samples_.label[id] = local;
            if constexpr (weighted) samples_.weight[id] = static_cast<Int>(data_.weights[samples[id]]);
            totals_[local] += samples_.weight_of(id);
            total += samples_.weight_of(id);
        }
        total_ = static_cast<double>(total);
        table_.rows.resize(totals_.size());
        table_.second.resize(totals_.size());
        class_start_.assign(totals_.size(), 0);
        groups_widely_ = ClassGroups::suits(data_.path, static_cast<std::uint32_t>(totals_.size()));
        return true;
    }

    void summarise(const std::uint32_t* order, std::size_t cell, std::uint32_t begin, Block& block) {
        auto* const grouped = samples_.grouped.data() + cell;
        std::vector<std::uint32_t>& start = class_start_;  // zero for every class between two blocks
        std::vector<ClassRun>& all_runs = samples_.runs;
        block.first_run = all_runs.size();
        if (groups_widely_) {
            groups_.group(order + begin, block.end - begin, samples_.label.data(),
                          static_cast<std::uint32_t>(start.size()), grouped + begin);
            const std::span<const ClassRun> runs = groups_.runs();
            block.runs = static_cast<std::uint32_t>(runs.size());
            all_runs.insert(all_runs.end(), runs.begin(), runs.end());
            return;
        }
        if (start.size() <= 64) {
            // Classes as bits, so that there is no branch per sample.
            std::uint64_t present = 0;
            for (std::uint32_t k = begin; k < block.end; ++k) {
                const std::uint32_t c = samples_.label[order[k]];
                ++start[c];
                present |= std::uint64_t{1} << c;
            }
            for (; present != 0; present &= present - 1)
                all_runs.push_back({static_cast<std::uint32_t>(std::countr_zero(present)), 0});
        } else {
            for (std::uint32_t k = begin; k < block.end; ++k) {
                const std::uint32_t c = samples_.label[order[k]];
                if (start[c]++ == 0) all_runs.push_back({c, 0});
            }
        }
        const std::span<ClassRun> runs = std::span(all_runs).subspan(block.first_run);
        block.runs = static_cast<std::uint32_t>(runs.size());
        std::uint32_t position = begin;
        for (ClassRun& run : runs) {
            run.length = start[run.label];
            start[run.label] = position;
            position += run.length;
        }
        for (std::uint32_t k = begin; k < block.end; ++k)
            grouped[start[samples_.label[order[k]]]++] =
                static_cast<typename ClassSamples<Int, What>::Id>(order[k]);
        for (const ClassRun& run : runs) start[run.label] = 0;
    }

    Sums nothing() const { return Sums(totals_.size(), 0); }
    void add(Sums& sums, std::uint32_t id) const { sums[samples_.label[id]] += samples_.weight_of(id); }

    // In several tables, used in turn, so that no sum is read right after it was written.
    void add_many(Sums& sums, std::span<const std::uint32_t> ids) const {
        constexpr std::size_t tables = 4, most_classes = 16;
        std::size_t k = 0;
        if (sums.size() <= most_classes && ids.size() > 4 * most_classes) {
            std::int64_t parts[tables][most_classes] = {};
            for (; k + tables <= ids.size(); k += tables)
                for (std::size_t table = 0; table < tables; ++table)
                    parts[table][samples_.label[ids[k + table]]] += samples_.weight_of(ids[k + table]);
            for (const auto& part : parts)
                for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += part[c];
        }
        for (; k < ids.size(); ++k) add(sums, ids[k]);
    }

    void rest(const Sums& left, Sums& right) const {
        for (std::size_t c = 0; c < totals_.size(); ++c) right[c] = totals_[c] - left[c];
    }
    void start(std::size_t side, std::size_t lane, std::uint32_t, const Sums& sums, double known) {
        std::int64_t weight = 0;
        Int leaf = 0;
        for (std::size_t c = 0; c < sums.size(); ++c) {
            const Int total = table_.rows[c].total[side][lane] = static_cast<Int>(sums[c]);
            weight += total;
            leaf = std::max(leaf, total);
        }
        weight_of_side_[side][lane] = static_cast<double>(weight);
        leaf_[side][lane] = leaf;
        best_[side][lane] = std::max(leaf, correct(weight_of_side_[side][lane], known));
    }
    void pad(std::size_t lane) {
        best_[0][lane] = best_[1][lane] = static_cast<Int>(total_);
        for (ClassRows<Int>& rows : table_.rows) rows.total[0][lane] = rows.total[1][lane] = 0;
    }
    void missing_left(std::uint64_t left) {
        plus_.missing_left(left);
        minus_.missing_left(left);
    }
    double value(std::size_t side, std::size_t lane, double price) const {
        const double all = weight_of_side_[side][lane];
        return std::min(all - static_cast<double>(leaf_[side][lane]),
                        all - static_cast<double>(best_[side][lane]) + price);
    }
    double at_least(std::size_t side, std::size_t lane, double price) const {
        return value(side, lane, price);
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(ManyClassKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        kernel->template pass<Bytes, RowsBy::bucket>(*stream, bucket);
    }

    void make_rows() { rows_.ensure(std::size_t{lanes} * samples_.label.size()); }
    std::uint8_t* row(std::uint32_t id) { return rows_.data() + std::size_t{lanes} * id; }

    template <std::size_t Bytes>
    CODT_INLINE static void run_rows(ManyClassKernel* kernel, const Stream<Block>* stream) {
        kernel->template pass<Bytes, RowsBy::sample>(*stream, kernel->rows_.data());
    }

 private:
    template <std::size_t Bytes, RowsBy Rows>
    CODT_INLINE void pass(const Stream<Block>& stream, const std::uint8_t* rows) {
        ManyClassPass<Int, What, Bytes, Rows> pass{plus_, minus_, samples_, stream, rows, table_, {}};
        pass.best.left.load(best_[0]);
        pass.best.right.load(best_[1]);
        stream.missing ? pass.template run<true>() : pass.template run<false>();
        pass.best.left.store(best_[0]);
        pass.best.right.store(best_[1]);
    }

    // The correct samples out of n if a known split makes `errors` errors.
    static Int correct(double n, double errors) {
        return errors < n ? static_cast<Int>(n - std::max(0.0, std::ceil(errors))) : Int{0};
    }

    LaneRows<Int, lanes> plus_{1}, minus_{-1};
    LabelledData data_;
    bool groups_widely_ = false;
    ClassGroups groups_;
    std::vector<std::uint16_t> local_class_;
    ClassSamples<Int, What> samples_;
    Buffer<std::uint8_t> rows_;  // of every id
    std::vector<std::uint32_t> class_start_;
    std::vector<std::int64_t> totals_;  // of each class
    double total_ = 0;                  // weight of the subset
    ClassTable<Int> table_;
    // For every side and lane: the weight of all samples, and the most correct ones so far, by a split or a
    // leaf, and by a leaf alone, which is tail(0).
    double weight_of_side_[2][lanes];
    alignas(pack_bytes) Int best_[2][lanes];
    Int leaf_[2][lanes];
};

template <class Int>
using CountingKernel = ManyClassKernel<Int, Counting::samples>;
template <class Int>
using WeighingKernel = ManyClassKernel<Int, Counting::weights>;

}  // namespace

std::unique_ptr<Scanner> make_many_class_scanner(std::span<const std::uint16_t> labels, std::uint32_t classes,
                                                 KernelPath path) {
    return make_counting_scanner<CountingKernel>(path, LabelledData{labels, {}, classes, path});
}

std::unique_ptr<Scanner> make_weighted_many_class_scanner(std::span<const std::uint16_t> labels,
                                                          std::span<const double> weights,
                                                          std::uint32_t classes, KernelPath path) {
    return make_weighing_scanner<WeighingKernel>(path, weights, LabelledData{labels, weights, classes, path});
}

}  // namespace codt
