// A walk over the order of a second feature keeps, for every threshold of the root feature (a lane), the
// tuple of the left side's samples so far. The samples of both sides together are the same in all lanes, so
// one table of prefixes serves all four leaves of a boundary: with p the prefix sum of the left side and a
// that of all samples, L and T the total of the left side and of all samples,
//
//     left side:  p and L - p        right side:  a - p and (T - L) - (a - p)
//
// Blocks (see blocks.hpp): losses are not negative and those of fewer samples are not larger, so at no
// boundary inside a block does a side lose less than its first leaf where the block begins plus its second
// leaf where it ends. The block is walked only where that is less than the best in some lane.
//
// Where leaves must hold enough (rules/leaf_limits.hpp), what they hold (a number of samples, perhaps a
// weight) is added as further entries of the tuple: a boundary counts in the lanes in which both leaves have
// enough.
//
// Weights and costs are whole numbers, so they are held in integers: of 16 bits if every number that a pass
// forms is below the largest one, which stands for "none", else of 32; if neither suffices, in 64-bit floats.
// That makes 32, 16 or 8 thresholds at once. Squared errors are always sums of floats.
#include "scans/tuple_scan.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "scans/fitting_scanner.hpp"
#include "scans/lane_rows.hpp"

namespace codt {

namespace {

// One entry of a tuple in every lane.
template <class Number>
struct alignas(pack_bytes) Entry {
    Number lane[lane_count<Number>];
};

// The sums over the samples so far: p on the left side, a on both.
template <class Number>
struct Prefix {
    Entry<Number>* left;
    Number* all;
};

// What a pass works on.
template <class Number>
struct Work {
    std::uint32_t width = 0;                       // entries of a tuple
    std::uint32_t held = 0;                        // further entries, of which leaves must hold enough
    std::vector<Number> values;                    // of each id
    std::vector<std::uint32_t> columns;            // of each id, if it has one entry
    std::vector<Number> loads;                     // of each id: its further entries
    std::vector<Number> least;                     // of the further entries
    std::vector<Number> total;                     // T
    std::vector<Entry<Number>> left_total;         // L
    std::vector<Entry<Number>> left, left_inside;  // p, also inside a block
    std::vector<Number> all, all_inside;           // a
    Entry<Number> best[2];                         // of the two sides
    // Ones, or all bits, in the lanes in which a sample goes left.
    LaneRows<Number, lane_count<Number>> rows{static_cast<Number>(std::is_integral_v<Number> ? -1 : 1)};
};

template <TupleLoss Loss, bool Limited, class Number, std::size_t Bytes>
struct TuplePass {
    using P = Pack<Number, Bytes>;
    using Prefix = codt::Prefix<Number>;
    static constexpr std::uint32_t lanes = lane_count<Number>;
    static constexpr bool whole = std::is_integral_v<Number>;
    static constexpr bool sparse = Loss == TupleLoss::all_but_largest;

    const LaneRows<Number, lanes>& rows;
    Work<Number>& work;
    const std::uint8_t* bucket;

    CODT_INLINE static void add_value(P& entry, const Number* row, Number value) {
        if constexpr (whole)
            entry.add_masked(row, value);
        else
            entry.add_scaled(row, value);
    }

    CODT_INLINE void add_entry(const Prefix& prefix, std::uint32_t id, std::size_t column, Number value) {
        P entry;
        entry.load(prefix.left[column].lane);
        add_value(entry, rows[bucket[id]], value);
        entry.store(prefix.left[column].lane);
        prefix.all[column] = static_cast<Number>(prefix.all[column] + value);
    }

    // Adds one sample.
    CODT_INLINE void add(const Prefix& prefix, std::uint32_t id) {
        if constexpr (sparse) {
            add_entry(prefix, id, work.columns[id], work.values[id]);
        } else {
            const Number* const values = work.values.data() + static_cast<std::size_t>(id) * work.width;
            for (std::uint32_t c = 0; c < work.width; ++c) add_entry(prefix, id, c, values[c]);
        }
        if constexpr (Limited) {
            const Number* const loads = work.loads.data() + static_cast<std::size_t>(id) * work.held;
            for (std::uint32_t c = 0; c < work.held; ++c) add_entry(prefix, id, work.width + c, loads[c]);
        }
    }

    // Adds the samples of a block to the prefix: entry by entry, or a few at a time, which registers hold.
    CODT_INLINE void add_block(const Prefix& prefix, const std::uint32_t* first, const std::uint32_t* last) {
        if constexpr (sparse) {
            for (const std::uint32_t* id = first; id < last; ++id)
                add_entry(prefix, *id, work.columns[*id], work.values[*id]);
        } else {
            std::uint32_t c = 0;
            for (; c + 4 <= work.width; c += 4)
                add_columns<4>(prefix, first, last, work.values.data(), work.width, c, c);
            if (c + 2 <= work.width) {
                add_columns<2>(prefix, first, last, work.values.data(), work.width, c, c);
                c += 2;
            }
            if (c < work.width) add_columns<1>(prefix, first, last, work.values.data(), work.width, c, c);
        }
        if constexpr (Limited)
            for (std::uint32_t c = 0; c < work.held; ++c)
                add_columns<1>(prefix, first, last, work.loads.data(), work.held, c, work.width + c);
    }

    // Values from place `from` on of the `stride` that each sample has, to entries from `column` on.
    template <std::size_t Count>
    CODT_INLINE void add_columns(const Prefix& prefix, const std::uint32_t* id, const std::uint32_t* last,
                                 const Number* values, std::size_t stride, std::size_t from,
                                 std::size_t column) {
        P entries[Count];
        Number sums[Count];
        for (std::size_t c = 0; c < Count; ++c) {
            entries[c].load(prefix.left[column + c].lane);
            sums[c] = prefix.all[column + c];
        }
        for (; id < last; ++id) {
            const Number* const row = rows[bucket[*id]];
            const Number* const own = values + *id * stride + from;
            for (std::size_t c = 0; c < Count; ++c) {
                add_value(entries[c], row, own[c]);
                sums[c] = static_cast<Number>(sums[c] + own[c]);
            }
        }
        for (std::size_t c = 0; c < Count; ++c) {
            entries[c].store(prefix.left[column + c].lane);
            prefix.all[column + c] = sums[c];
        }
    }

    // Entry c of the four leaves.
    CODT_INLINE void entries_of(const Prefix& prefix, std::size_t c, P (&entries)[4]) {
        P left_total;
        left_total.load(work.left_total[c].lane);
        entries[0].load(prefix.left[c].lane);
        entries[1] = left_total;
        entries[1].subtract(entries[0]);
        entries[2] = entries[0];
        entries[2].subtract_from(prefix.all[c]);
        entries[3] = left_total;
        entries[3].subtract_from(work.total[c]);
        entries[3].subtract(entries[2]);
    }

    // The losses of the four leaves: first and second of the left side, first and second of the right side.
    CODT_INLINE void losses(const Prefix& prefix, P (&loss)[4]) {
        P sums[4], extremes[4], weights[4];
        for (std::size_t leaf = 0; leaf < 4; ++leaf) {
            sums[leaf].clear();
            extremes[leaf].clear();
            weights[leaf].clear();
        }
        for (std::size_t c = 0; c < work.width; ++c) {
            P entries[4];
            entries_of(prefix, c, entries);
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

    CODT_INLINE void offer(P (&best)[2], const P (&loss)[4], const Prefix& prefix) {
        P sums[2];
        for (std::size_t side = 0; side < 2; ++side) {
            sums[side] = loss[2 * side];
            sums[side].add(loss[2 * side + 1]);
        }
        if constexpr (Limited) {
            for (std::size_t c = 0; c < work.held; ++c) {
                P entries[4];
                entries_of(prefix, work.width + c, entries);
                for (std::size_t side = 0; side < 2; ++side) {
                    entries[2 * side].minimum(entries[2 * side + 1]);
                    sums[side].forbid_below(entries[2 * side], work.least[c]);
                }
            }
        }
        for (std::size_t side = 0; side < 2; ++side) best[side].minimum(sums[side]);
    }

    CODT_INLINE void run(const Stream<BlockRange>& stream) {
        P best[2], at_begin[4], at_end[4];
        best[0].load(work.best[0].lane);
        best[1].load(work.best[1].lane);
        const Prefix prefix{work.left.data(), work.all.data()};
        const Prefix inside{work.left_inside.data(), work.all_inside.data()};
        const std::size_t width = work.width + (Limited ? work.held : 0);
        std::fill_n(prefix.left, width, Entry<Number>{});
        std::fill_n(prefix.all, width, Number{0});
        for (P& loss : at_begin) loss.clear();
        losses(prefix, at_begin);
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const BlockRange block = stream.blocks[b];
            if (block.several) {
                std::copy_n(prefix.left, width, inside.left);
                std::copy_n(prefix.all, width, inside.all);
            }
            add_block(prefix, stream.ordered + begin, stream.ordered + block.end);
            losses(prefix, at_end);
            offer(best, at_end, prefix);
            if (block.several) {
                P room[2];
                for (std::size_t side = 0; side < 2; ++side) {
                    room[side] = at_begin[2 * side];
                    room[side].add(at_end[2 * side + 1]);
                    room[side].subtract(best[side]);
                }
                room[0].minimum(room[1]);
                if (any_negative(room[0]))
                    walk_groups<Walk::inside>(
                        stream, begin, block, [&](std::uint32_t id) CODT_INLINE_LAMBDA { add(inside, id); },
                        [&](std::uint32_t) CODT_INLINE_LAMBDA {
                            P loss[4];
                            losses(inside, loss);
                            offer(best, loss, inside);
                        });
            }
            for (std::size_t leaf = 0; leaf < 4; ++leaf) at_begin[leaf] = at_end[leaf];
            begin = block.end;
        }
        best[0].store(work.best[0].lane);
        best[1].store(work.best[1].lane);
    }
};

template <TupleLoss Loss, bool Limited, class Number>
struct TupleKernel : KernelDefaults {
    static constexpr std::uint32_t lanes = lane_count<Number>;
    static constexpr bool joins_orders = true;
    static constexpr bool sparse = Loss == TupleLoss::all_but_largest;
    using Block = BlockRange;
    using Sums = std::vector<double>;  // of every entry

    TupleKernel(const TupleData& data, const LeafLimits& limits) : data_(data), limits_(limits) {
        if constexpr (Limited) {
            least_.push_back(limits.samples);
            if (limits.weight > 0) least_.push_back(limits.weight);
        }
        for (const double least : least_) work_.least.push_back(not_below(least));
        work_.width = data.width;
        work_.held = static_cast<std::uint32_t>(least_.size());
        const std::size_t entries = work_.width + work_.held;
        for (auto* tuple : {&work_.left_total, &work_.left, &work_.left_inside}) tuple->resize(entries);
        for (auto* tuple : {&work_.all, &work_.all_inside}) tuple->resize(entries);
    }

    bool read(const Subset& subset) {
        const std::uint32_t size = subset.size();
        const std::size_t entries = sparse ? 1 : data_.width;
        work_.values.resize(size * entries);
        work_.columns.resize(sparse ? size : 0);
        work_.loads.resize(static_cast<std::size_t>(size) * work_.held);
        total_ = nothing();
        for (std::uint32_t id = 0; id < size; ++id) {
            const std::uint32_t row = subset.samples()[id];
            for (std::size_t e = 0; e < entries; ++e)
                work_.values[id * entries + e] = static_cast<Number>(data_.values[row * entries + e]);
            if constexpr (sparse) work_.columns[id] = data_.columns[row];
            if constexpr (Limited) {
                Number* const loads = work_.loads.data() + static_cast<std::size_t>(id) * work_.held;
                loads[0] = 1;
                if (work_.held > 1) loads[1] = static_cast<Number>(limits_.weights[row]);
            }
            add(total_, id);
        }
        work_.total.clear();
        for (const double total : total_) work_.total.push_back(static_cast<Number>(total));
        return true;
    }

    void summarise(const std::uint32_t*, std::size_t, std::uint32_t, Block&) const {}

    Sums nothing() const { return Sums(work_.width + work_.held, 0.0); }
    void add(Sums& tuple, std::uint32_t id) const {
        const auto add_row = [&](const std::vector<Number>& numbers, std::size_t count, std::size_t column) {
            for (std::size_t c = 0; c < count; ++c)
                tuple[column + c] += static_cast<double>(numbers[id * count + c]);
        };
        if constexpr (sparse)
            tuple[work_.columns[id]] += static_cast<double>(work_.values[id]);
        else
            add_row(work_.values, work_.width, 0);
        if constexpr (Limited) add_row(work_.loads, work_.held, work_.width);
    }

    void rest(const Sums& left, Sums& right) const {
        for (std::size_t c = 0; c < total_.size(); ++c) right[c] = total_[c] - left[c];
    }
    void start(std::size_t side, std::size_t lane, std::uint32_t, const Sums& tuple, double known) {
        if (side == 0)
            for (std::size_t c = 0; c < tuple.size(); ++c)
                work_.left_total[c].lane[lane] = static_cast<Number>(tuple[c]);
        // A side that cannot be split must never ask for a walk, because it would ask again in every block.
        divisible_[side][lane] = enough_for_two(tuple);
        work_.best[side].lane[lane] = divisible_[side][lane] ? not_below(known) : Number{0};
        leaf_[side][lane] = loss(tuple);
    }
    // No loss is below zero, so a lane whose best is zero never asks for a walk.
    void pad(std::size_t lane) {
        for (std::size_t c = 0; c < total_.size(); ++c) work_.left_total[c].lane[lane] = work_.total[c];
        work_.best[0].lane[lane] = work_.best[1].lane[lane] = Number{0};
    }
    void missing_left(std::uint64_t left) { work_.rows.missing_left(left); }
    double value(std::size_t side, std::size_t lane, double price) const {
        const Number split = work_.best[side].lane[lane];
        if (!divisible_[side][lane] || split == none<Number>) return leaf_[side][lane];
        return std::min(leaf_[side][lane], static_cast<double>(split) + price);
    }

    template <std::size_t Bytes>
    CODT_INLINE static void run(TupleKernel* kernel, const Stream<Block>* stream,
                                const std::uint8_t* bucket) {
        TuplePass<Loss, Limited, Number, Bytes>{kernel->work_.rows, kernel->work_, bucket}.run(*stream);
    }

 private:
    // The least number that is not below a bound. Losses of whole numbers are whole, and below the largest
    // number.
    static Number not_below(double bound) {
        if constexpr (std::is_integral_v<Number>) {
            constexpr double largest = none<Number>;
            return static_cast<Number>(std::clamp(std::ceil(bound), 0.0, largest));
        } else {
            return bound;
        }
    }

    // Whether a side holds enough for two leaves.
    bool enough_for_two(const Sums& tuple) const {
        for (std::size_t c = 0; c < least_.size(); ++c)
            if (tuple[work_.width + c] < 2 * least_[c]) return false;
        return true;
    }

    double loss(const Sums& tuple) const {
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
    Sums total_;
    Work<Number> work_;
    bool divisible_[2][lanes];  // of a side and lane
    double leaf_[2][lanes];
};

template <TupleLoss Loss, bool Limited>
struct TupleKernelOf {
    template <class Number>
    using Kernel = TupleKernel<Loss, Limited, Number>;
};

// The largest number that a pass over the subset forms. Two leaves together lose no more than one leaf with
// all their samples, and that loss is at most any of the entries that it is the least of, or the sum of all
// entries.
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
        return std::make_unique<LaneScanner<TupleKernel<Loss, Limited, double>>>(path, data, limits);
    } else {
        // The largest number of each width is "none".
        const auto needed = [data, &limits](const Subset& subset) {
            return largest_number(data, limits, subset) + 1;
        };
        return make_fitting_scanner<TupleKernelOf<Loss, Limited>::template Kernel, std::int16_t, std::int32_t,
                                    double>(needed, path, data, limits);
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
