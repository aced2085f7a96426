// A walk over the order of a second feature keeps, for every threshold of the root feature (a lane), the
// tuple of the left side's samples so far. Both sides' samples so far are the same in all lanes, so that one
// table of prefixes serves all four leaves of a boundary: with p the prefix of the left side, a that of all
// samples, L and T the whole of the left side and of all,
//
//     left side:  p and L - p        right side:  a - p and (T - L) - (a - p)
//
// Blocks (see blocks.hpp): losses are not negative and those of fewer samples are not larger, so at no
// boundary inside a block a side loses less than its first leaf does where the block begins, and its second
// one where it ends. Only where that is less than the best in some lane is the block walked.
//
// Where leaves must hold enough (objectives/leaf_limits.hpp), what they hold, a number of samples and perhaps
// a weight, are further entries of the tuple: a boundary counts in the lanes in which both leaves have
// enough.
//
// Weights and costs are whole numbers, so integers hold them: of 16 bits where every number that a pass forms
// is below the largest one, which stands for "none", else of 32; else 64-bit floats do. That makes 32, 16 or
// 8 thresholds at once. Squared errors are sums of floats always.
#include "terminal/tuple_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "terminal/dispatch.hpp"

namespace codt {

namespace {

struct Block {
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;  // more than one group of equal values
};

// One second feature's order.
struct Stream {
    const std::uint32_t* ordered;
    const std::uint32_t* group_end;
    const Block* blocks;
    std::uint32_t block_count;
};

// Tables of `width` packs have the lanes of one entry side by side.
template <class Number>
struct Work {
    static constexpr std::uint32_t lanes = lane_count<Number>;
    std::uint32_t width;           // entries of a tuple
    std::uint32_t held;            // further entries: what leaves must hold enough of
    const Number* values;          // of each id
    const std::uint32_t* columns;  // of each id, if it has one entry
    const Number* loads;           // of each id: its further entries
    const Number* least;           // of the further entries
    const std::uint8_t* bucket;    // of each id
    const Number* total;           // T
    const Number* left_total;      // L, a table
    Number* prefix;                // p, a table
    Number* inside;                // the same inside a block
    Number* all;                   // a
    Number* all_inside;
    Number best[2][lanes];  // of the two sides
};

template <TupleLoss Loss, bool Limited, class Number, std::size_t Bytes>
struct TuplePass {
    using P = Pack<Number, Bytes>;
    static constexpr std::uint32_t lanes = lane_count<Number>;
    static constexpr bool whole = std::is_integral_v<Number>;
    static constexpr bool sparse = Loss == TupleLoss::all_but_largest;
    // Ones, or all bits, in the lanes in which a sample goes left.
    static constexpr LaneRows<Number, lanes> rows{static_cast<Number>(whole ? -1 : 1)};

    Work<Number>& work;

    CODT_INLINE static void add_value(P& entry, const Number* row, Number value) {
        if constexpr (whole)
            entry.add_masked(row, value);
        else
            entry.add_scaled(row, value);
    }

    CODT_INLINE void add_entry(Number* table, Number* all, std::uint32_t id, std::size_t column,
                               Number value) {
        P entry;
        entry.load(table + column * lanes);
        add_value(entry, rows[work.bucket[id]], value);
        entry.store(table + column * lanes);
        all[column] = static_cast<Number>(all[column] + value);
    }

    // Adds one sample.
    CODT_INLINE void add(Number* table, Number* all, std::uint32_t id) {
        if constexpr (sparse) {
            add_entry(table, all, id, work.columns[id], work.values[id]);
        } else {
            const Number* const values = work.values + static_cast<std::size_t>(id) * work.width;
            for (std::uint32_t c = 0; c < work.width; ++c) add_entry(table, all, id, c, values[c]);
        }
        if constexpr (Limited) {
            const Number* const loads = work.loads + static_cast<std::size_t>(id) * work.held;
            for (std::uint32_t c = 0; c < work.held; ++c) add_entry(table, all, id, work.width + c, loads[c]);
        }
    }

    // Adds the samples of a block to the prefix: entry by entry, or a few at a time, which registers hold.
    CODT_INLINE void add_block(const std::uint32_t* first, const std::uint32_t* last) {
        if constexpr (sparse) {
            for (const std::uint32_t* id = first; id < last; ++id)
                add_entry(work.prefix, work.all, *id, work.columns[*id], work.values[*id]);
        } else {
            std::uint32_t c = 0;
            for (; c + 4 <= work.width; c += 4) add_columns<4>(first, last, work.values, work.width, c, c);
            if (c + 2 <= work.width) {
                add_columns<2>(first, last, work.values, work.width, c, c);
                c += 2;
            }
            if (c < work.width) add_columns<1>(first, last, work.values, work.width, c, c);
        }
        if constexpr (Limited)
            for (std::uint32_t c = 0; c < work.held; ++c)
                add_columns<1>(first, last, work.loads, work.held, c, work.width + c);
    }

    // Values from place `from` on of the `stride` that each sample has, to entries from `column` on.
    template <std::size_t Count>
    CODT_INLINE void add_columns(const std::uint32_t* id, const std::uint32_t* last, const Number* values,
                                 std::size_t stride, std::size_t from, std::size_t column) {
        P entries[Count];
        Number sums[Count];
        for (std::size_t c = 0; c < Count; ++c) {
            entries[c].load(work.prefix + (column + c) * lanes);
            sums[c] = work.all[column + c];
        }
        for (; id < last; ++id) {
            const Number* const row = rows[work.bucket[*id]];
            const Number* const own = values + *id * stride + from;
            for (std::size_t c = 0; c < Count; ++c) {
                add_value(entries[c], row, own[c]);
                sums[c] = static_cast<Number>(sums[c] + own[c]);
            }
        }
        for (std::size_t c = 0; c < Count; ++c) {
            entries[c].store(work.prefix + (column + c) * lanes);
            work.all[column + c] = sums[c];
        }
    }

    // The entry c of the four leaves.
    CODT_INLINE void entries_of(const Number* table, const Number* all, std::size_t c, P (&entries)[4]) {
        P left_total;
        left_total.load(work.left_total + c * lanes);
        entries[0].load(table + c * lanes);
        entries[1] = left_total;
        entries[1].subtract(entries[0]);
        entries[2] = entries[0];
        entries[2].subtract_from(all[c]);
        entries[3] = left_total;
        entries[3].subtract_from(work.total[c]);
        entries[3].subtract(entries[2]);
    }

    // The losses of the four leaves: first and second of the left side, first and second of the right side.
    CODT_INLINE void losses(const Number* table, const Number* all, P (&loss)[4]) {
        P sums[4], extremes[4], weights[4];
        for (std::size_t leaf = 0; leaf < 4; ++leaf) {
            sums[leaf].clear();
            extremes[leaf].clear();
            weights[leaf].clear();
        }
        for (std::size_t c = 0; c < work.width; ++c) {
            P entries[4];
            entries_of(table, all, c, entries);
            for (std::size_t leaf = 0; leaf < 4; ++leaf) {
                const P& entry = entries[leaf];
                if constexpr (Loss == TupleLoss::all_but_largest) {
                    sums[leaf].add(entry);
                    extremes[leaf].maximum(entry);
                } else if constexpr (Loss == TupleLoss::least) {
                    if (c == 0)
                        extremes[leaf] = entry;
                    else
                        extremes[leaf].minimum(entry);
                } else {
                    if (c == 0)
                        weights[leaf] = entry;
                    else if (c == 1)
                        sums[leaf] = entry;
                    else
                        extremes[leaf].add_square(entry);
                }
            }
        }
        for (std::size_t leaf = 0; leaf < 4; ++leaf) {
            if constexpr (Loss == TupleLoss::all_but_largest) {
                loss[leaf] = sums[leaf];
                loss[leaf].subtract(extremes[leaf]);
            } else if constexpr (Loss == TupleLoss::least) {
                loss[leaf] = extremes[leaf];
            } else {
                P zero;
                zero.clear();
                extremes[leaf].divide_or_zero(weights[leaf]);
                loss[leaf] = sums[leaf];
                loss[leaf].subtract(extremes[leaf]);
                loss[leaf].maximum(zero);
            }
        }
    }

    CODT_INLINE void offer(P (&best)[2], const P (&loss)[4], const Number* table, const Number* all) {
        P sums[2];
        for (std::size_t side = 0; side < 2; ++side) {
            sums[side] = loss[2 * side];
            sums[side].add(loss[2 * side + 1]);
        }
        if constexpr (Limited) {
            for (std::size_t c = 0; c < work.held; ++c) {
                P entries[4];
                entries_of(table, all, work.width + c, entries);
                for (std::size_t side = 0; side < 2; ++side) {
                    entries[2 * side].minimum(entries[2 * side + 1]);
                    sums[side].forbid_below(entries[2 * side], work.least[c]);
                }
            }
        }
        for (std::size_t side = 0; side < 2; ++side) best[side].minimum(sums[side]);
    }

    CODT_INLINE void run(const Stream& stream) {
        P best[2], at_begin[4], at_end[4];
        best[0].load(work.best[0]);
        best[1].load(work.best[1]);
        const std::size_t width = work.width + (Limited ? work.held : 0);
        std::fill_n(work.prefix, width * lanes, Number{0});
        std::fill_n(work.all, width, Number{0});
        for (P& loss : at_begin) loss.clear();
        losses(work.prefix, work.all, at_begin);
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            if (block.several) {
                std::copy_n(work.prefix, width * lanes, work.inside);
                std::copy_n(work.all, width, work.all_inside);
            }
            add_block(stream.ordered + begin, stream.ordered + block.end);
            losses(work.prefix, work.all, at_end);
            offer(best, at_end, work.prefix, work.all);
            if (block.several) {
                P room[2];
                for (std::size_t side = 0; side < 2; ++side) {
                    room[side] = at_begin[2 * side];
                    room[side].add(at_end[2 * side + 1]);
                    room[side].subtract(best[side]);
                }
                room[0].minimum(room[1]);
                if (any_negative(room[0])) {
                    std::uint32_t k = begin;
                    for (const std::uint32_t* group = stream.group_end + block.first_group;
                         *group < block.end; ++group) {
                        for (; k < *group; ++k) add(work.inside, work.all_inside, stream.ordered[k]);
                        P loss[4];
                        losses(work.inside, work.all_inside, loss);
                        offer(best, loss, work.inside, work.all_inside);
                    }
                }
            }
            for (std::size_t leaf = 0; leaf < 4; ++leaf) at_begin[leaf] = at_end[leaf];
            begin = block.end;
        }
        best[0].store(work.best[0]);
        best[1].store(work.best[1]);
    }
};

template <TupleLoss Loss, bool Limited, class Number>
struct TupleKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream* stream, Work<Number>* work) {
        TuplePass<Loss, Limited, Number, Bytes>{*work}.run(*stream);
    }
};

template <TupleLoss Loss, bool Limited, class Number>
class TupleScanner final : public Scanner {
 public:
    static constexpr std::uint32_t pack_lanes = lane_count<Number>;

    TupleScanner(const TupleData& data, const LeafLimits& limits, KernelPath path)
        : data_(data),
          limits_(limits),
          pass_(kernel_function<TupleKernel<Loss, Limited, Number>, const Stream*, Work<Number>*>(path)) {
        if constexpr (Limited) {
            least_.push_back(limits.samples);
            if (limits.weight > 0) least_.push_back(limits.weight);
        }
        for (const double least : least_) least_numbers_.push_back(not_below(least));
    }

    std::uint32_t lanes() const override { return pack_lanes; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        const std::uint32_t size = subset.size();
        const std::size_t entries = sparse ? 1 : data_.width;
        values_.resize(size * entries);
        columns_.resize(sparse ? size : 0);
        total_.assign(data_.width + least_.size(), 0.0);
        if constexpr (Limited) {
            loads_.clear();
            for (const std::uint32_t row : subset.samples()) {
                loads_.push_back(1);
                if (least_.size() > 1) loads_.push_back(static_cast<Number>(limits_.weights[row]));
            }
        }
        for (std::uint32_t id = 0; id < size; ++id) {
            const std::uint32_t row = subset.samples()[id];
            for (std::size_t e = 0; e < entries; ++e)
                values_[id * entries + e] = static_cast<Number>(data_.values[row * entries + e]);
            if constexpr (sparse) columns_[id] = data_.columns[row];
            add(id, total_.data());
        }
        total_numbers_.clear();
        for (const double total : total_) total_numbers_.push_back(static_cast<Number>(total));
        blocks_.refill(subset.features(), [&](std::uint32_t f) {
            for_each_block(subset.group_end(f), [&](std::uint32_t, std::uint32_t end,
                                                    std::uint32_t first_group, std::uint32_t groups) {
                blocks_.items.push_back({end, first_group, groups > 1});
            });
        });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            streams_.push_back(
                {subset.order(f).data(), subset.group_end(f).data(), blocks_.of(f), blocks_.count(f)});
        });
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        const auto order = subset_->order(f);
        const auto ends = subset_->group_end(f);
        const std::size_t width = data_.width + least_.size();
        left_total_.resize(width * pack_lanes);
        prefix_.resize(width * pack_lanes);
        inside_.resize(width * pack_lanes);
        all_.resize(width);
        all_inside_.resize(width);
        std::vector<double> sum(width, 0.0), rest(width, 0.0);
        double leaf[2][pack_lanes];
        bool divisible[2][pack_lanes];
        std::uint32_t k = 0;
        Work<Number> work{data_.width,
                          static_cast<std::uint32_t>(least_.size()),
                          values_.data(),
                          columns_.data(),
                          loads_.data(),
                          least_numbers_.data(),
                          nullptr,
                          total_numbers_.data(),
                          left_total_.data(),
                          prefix_.data(),
                          inside_.data(),
                          all_.data(),
                          all_inside_.data(),
                          {}};
        for (std::size_t j = 0; j < pack_lanes; ++j) {
            const bool used = j < thresholds.size();
            const std::uint32_t end = used ? ends[thresholds[j]] : subset_->size();
            for (; k < end; ++k) add(order[k], sum.data());
            for (std::size_t c = 0; c < width; ++c) {
                left_total_[c * pack_lanes + j] = static_cast<Number>(sum[c]);
                rest[c] = total_[c] - sum[c];
            }
            // No loss is below zero: a lane without a threshold never asks for a walk. Nor does a side that
            // cannot be split: nothing else would ever end its walks.
            divisible[0][j] = used && enough_for_two(sum.data());
            divisible[1][j] = used && enough_for_two(rest.data());
            work.best[0][j] = divisible[0][j] ? not_below(left[j] - lambda) : Number{0};
            work.best[1][j] = divisible[1][j] ? not_below(right[j] - lambda) : Number{0};
            // As leaves, from the same tuples.
            leaf[0][j] = loss(sum);
            leaf[1][j] = loss(rest);
        }
        fill_buckets(*subset_, f, thresholds, buckets_);
        work.bucket = buckets_.data();
        for (const Stream& stream : streams_) {
            if (stop.reached_after(subset_->size())) return false;
            pass_(&stream, &work);
        }
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double split[2] = {divisible[0][j] ? number(work.best[0][j]) : infinity,
                                     divisible[1][j] ? number(work.best[1][j]) : infinity};
            left[j] = std::min({left[j], leaf[0][j], split[0] + lambda});
            right[j] = std::min({right[j], leaf[1][j], split[1] + lambda});
        }
        return true;
    }

 private:
    static constexpr bool sparse = Loss == TupleLoss::all_but_largest;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // The least number that is not below a bound. Losses are whole if numbers are, and below the largest one.
    static Number not_below(double bound) {
        if constexpr (std::is_integral_v<Number>) {
            constexpr double largest = none<Number>;
            return static_cast<Number>(std::clamp(std::ceil(bound), 0.0, largest));
        } else {
            return bound;
        }
    }
    static double number(Number loss) { return loss == none<Number> ? infinity : static_cast<double>(loss); }

    void add(std::uint32_t id, double* tuple) const {
        if constexpr (sparse) {
            tuple[columns_[id]] += static_cast<double>(values_[id]);
        } else {
            for (std::size_t c = 0; c < data_.width; ++c)
                tuple[c] += static_cast<double>(values_[static_cast<std::size_t>(id) * data_.width + c]);
        }
        for (std::size_t c = 0; c < least_.size(); ++c)
            tuple[data_.width + c] +=
                static_cast<double>(loads_[static_cast<std::size_t>(id) * least_.size() + c]);
    }

    // Whether a side holds enough for two leaves.
    bool enough_for_two(const double* tuple) const {
        for (std::size_t c = 0; c < least_.size(); ++c)
            if (tuple[data_.width + c] < 2 * least_[c]) return false;
        return true;
    }

    double loss(const std::vector<double>& tuple) const {
        const auto entries = std::span(tuple).first(data_.width);
        if constexpr (Loss == TupleLoss::least) {
            return *std::min_element(entries.begin(), entries.end());
        } else if constexpr (Loss == TupleLoss::all_but_largest) {
            double sum = 0;
            for (const double entry : entries) sum += entry;
            return sum - *std::max_element(entries.begin(), entries.end());
        } else {
            double squares = 0;
            for (const double entry : entries.subspan(2)) squares += entry * entry;
            return std::max(0.0, entries[1] - (entries[0] > 0 ? squares / entries[0] : 0.0));
        }
    }

    TupleData data_;
    const LeafLimits& limits_;
    std::vector<double> least_;  // of the further entries
    void (*pass_)(const Stream*, Work<Number>*);
    const Subset* subset_ = nullptr;
    std::vector<double> total_;
    std::vector<Number> least_numbers_, values_, loads_, total_numbers_;
    std::vector<Number> left_total_, prefix_, inside_, all_, all_inside_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint8_t> buckets_;
    PerFeature<Block> blocks_;
    std::vector<Stream> streams_;
};

// The largest number that a pass over the subset forms. Losses of two leaves together are not above that of
// their samples in one leaf, which is not above the sum of any of the entries that it is the least of, or of
// all entries.
double largest_number(const TupleData& data, const LeafLimits& limits, const Subset& subset) {
    std::vector<double> total(data.columns.empty() ? data.width : 1, 0.0);
    for (const std::uint32_t row : subset.samples())
        for (std::size_t c = 0; c < total.size(); ++c) total[c] += data.values[row * total.size() + c];
    const LeafLimits::Load load = limits.load(subset.samples());
    return std::max(
        {*std::max_element(total.begin(), total.end()), static_cast<double>(load.samples), load.weight});
}

template <TupleLoss Loss, bool Limited>
std::unique_ptr<Scanner> make(const TupleData& data, const LeafLimits& limits, KernelPath path) {
    if constexpr (Loss == TupleLoss::squared_error) {
        return std::make_unique<TupleScanner<Loss, Limited, double>>(data, limits, path);
    } else {
        using Narrow = TupleScanner<Loss, Limited, std::int16_t>;
        using Wide = TupleScanner<Loss, Limited, std::int32_t>;
        using Widest = TupleScanner<Loss, Limited, double>;
        // The largest number of each width is "none".
        const auto needed = [data, &limits](const Subset& subset) {
            return largest_number(data, limits, subset) + 1;
        };
        return std::make_unique<FittingScanner<Narrow, Wide, Widest>>(needed, data, limits, path);
    }
}

template <TupleLoss Loss>
std::unique_ptr<Scanner> make(const TupleData& data, const LeafLimits& limits, KernelPath path) {
    return limits.any() ? make<Loss, true>(data, limits, path) : make<Loss, false>(data, limits, path);
}

}  // namespace

std::unique_ptr<Scanner> make_tuple_scanner(const TupleData& data, const LeafLimits& limits,
                                            KernelPath path) {
    switch (data.loss) {
        case TupleLoss::all_but_largest:
            return make<TupleLoss::all_but_largest>(data, limits, path);
        case TupleLoss::least:
            return make<TupleLoss::least>(data, limits, path);
        case TupleLoss::squared_error:
            return make<TupleLoss::squared_error>(data, limits, path);
    }
    return nullptr;
}

}  // namespace codt
