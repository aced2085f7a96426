// What all scans of many thresholds have in common (Scanner and BracketScanner): the driver keeps the blocks
// of every feature, the streams and the buckets, and runs a kernel over them. A kernel is written for one
// kind of numbers; it has
//
//     lanes                        how many thresholds it takes at once
//     Block                        a BlockRange, and what a pass needs to know of the samples in it
//     Sums                         what it adds up over the samples of a side
//     read(subset)                 reads the samples; false if it cannot scan them
//     summarise(order, cell, begin, block)
//                                  fills in the block of order[begin], order[begin + 1], ...; its own tables
//                                  of the feature begin at `cell`
//     nothing(), add(sums, id)     the sums over no samples; adds a sample to them
//     add_many(sums, ids)          adds some samples; only where that is faster
//     rest(left, right)            the sums of the other side
//     start(side, lane, n, sums, known)
//                                  a side of a threshold has n samples with these sums; `known` is a loss
//                                  that some split of the side attains, perhaps infinite
//     pad(lane)                    the lane has no threshold, every sample is on its left: it must never ask
//                                  for a walk
//     missing_left(lanes)          the lanes in which samples of the bucket `missing_bucket` go left, as
//     bits;
//                                  for kernels that join orders
//     run<Bytes>(kernel, stream, code)
//                                  a pass over one second feature, with registers of so many bytes
//     make_rows(), row(id), run_rows<Bytes>(kernel, stream)
//                                  the lanes in which a sample goes left, a byte each, and a pass that reads
//                                  them; for kernels that mix features (see sample_rows.hpp)
//     value(side, lane, price)     what the passes have found; a kernel of brackets has `bracket` instead
//     at_least(side, lane, price)  no tree of depth at most one with a split that the passes have seen is
//                                  better, or as little as was known at the start; for kernels with
//                                  `bounds_second_features`
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "common/check.hpp"
#include "common/stop.hpp"
#include "data/subset.hpp"
#include "scans/blocks.hpp"
#include "scans/dispatch.hpp"
#include "scans/kept_sums.hpp"
#include "scans/lane_rows.hpp"
#include "scans/lanes.hpp"
#include "scans/sample_rows.hpp"
#include "scans/scanner.hpp"
#include "scans/second_feature_bounds.hpp"

namespace codt {

// The samples from the end of the previous block to `end`.
struct BlockRange {
    std::uint32_t end;
    std::uint32_t first_group;
    bool several;  // more than one group of equal values
};

// The order of one second feature.
template <class Block>
struct Stream {
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const Block* blocks;
    std::uint32_t block_count;
    std::uint32_t feature;
    const Block*
        missing;  // the samples behind the last block miss the value, and may come first as well; or null
    std::size_t cell;  // where its part of a table with one place per sample and feature begins
};

// Walks the groups of a block from its first sample on: step(id) for every sample, boundary(k) behind each
// group, k samples from the beginning of the order. `inside` leaves out the last group, behind which
// the block ends.
enum class Walk { inside, to_the_end };
template <Walk Where, class Block, class Step, class Boundary>
CODT_INLINE void walk_groups(const Stream<Block>& stream, std::uint32_t begin, const Block& block,
                             const Step& step, const Boundary& boundary) {
    std::uint32_t k = begin;
    const std::uint32_t* group = stream.group_end + block.first_group;
    for (; Where == Walk::inside ? *group < block.end : k < block.end; ++group) {
        for (; k < *group; ++k) step(stream.ordered[k]);
        boundary(k);
    }
}

// Calls walk(left, right) with constants, if a block is to be walked for any of the two sides.
template <class Visit>
CODT_INLINE void for_sides(bool left, bool right, const Visit& walk) {
    if (left && right)
        walk(std::true_type{}, std::true_type{});
    else if (left)
        walk(std::true_type{}, std::false_type{});
    else if (right)
        walk(std::false_type{}, std::true_type{});
}

// Defaults that suit most kernels.
struct KernelDefaults {
    // Of a feature that misses values: whether a batch may hold thresholds of both its orders, and whether a
    // pass takes both orders of the second feature; otherwise each has a pass of its own.
    static constexpr bool joins_orders = false;
    static constexpr bool takes_two_orders = false;
    // Whether a batch may hold thresholds of several features.
    static constexpr bool mixes_features = false;
    static constexpr std::uint32_t longest_block_of(std::uint32_t) { return block_size; }
    // Whether second features can be left out by what they were worth at other thresholds: L never falls and
    // R never rises along a feature (see second_feature_bounds.hpp).
    static constexpr bool bounds_second_features = false;
    // Whether sums along the order of a root feature are kept for its next batches, because adding a sample
    // takes long.
    static constexpr bool keeps_sums = false;
    // What a pass looks up for a sample: its bucket (see lane_rows.hpp), to which a kernel may add more.
    using Code = std::uint8_t;
    static std::uint8_t code(std::uint32_t, std::size_t bucket) { return static_cast<std::uint8_t>(bucket); }
};

template <class Kernel>
class ScanDriver {
 public:
    template <class... Args>
    explicit ScanDriver(KernelPath path, const Args&... args)
        : kernel_(args...), pass_(kernel_function<Kernel, Kernel*, const Stream<Block>*, const Code*>(path)) {
        if constexpr (Kernel::mixes_features)
            pass_over_rows_ = kernel_function<RowsOf<Kernel>, Kernel*, const Stream<Block>*>(path);
    }

    const Kernel& kernel() const { return kernel_; }

    std::uint32_t features_at_once() const {
        const bool mixes = Kernel::mixes_features && subset_->size() <= most_rows;
        return mixes ? features_of_batch(subset_->features()) : 1;
    }

    bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) {
        subset_ = &subset;
        has_rows_ = false;
        if (!kernel_.read(subset)) return false;
        kept_sums_.forget(subset);
        code_.resize(subset.size());
        blocks_.refill(subset.features(), [&](std::uint32_t f) {
            if (has_stream(f)) add_blocks(f);
        });
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            if (!has_stream(f)) return;
            const std::uint32_t count = blocks_.count(f), missing = takes_two_orders(f) ? 1 : 0;
            streams_.push_back({subset.order(f).data(), subset.group_end(f).data(), blocks_.of(f),
                                count - missing, f, missing ? blocks_.of(f) + count - 1 : nullptr, cell(f)});
        });
        if constexpr (Kernel::bounds_second_features) second_features_.reset(subset, streams_.size());
        return true;
    }

    // Passes over all second features, those of one price after the other. `known(side, cut)` is the best
    // objective known before, and take(price) updates it by what the passes of one price have found. False if
    // stopped.
    template <class Orders, class Known, class Take>
    bool run(const Orders& orders, const Prices& prices, const Known& known, const Take& take,
             StopCondition& stop) {
        if constexpr (Kernel::bounds_second_features)
            if (orders.size() == 1 && prices.uniform() && second_features_.wants(orders[0].feature))
                return run_needed(orders[0], prices.least(), known, take, stop);
        const auto price_of = [&](const Stream<Block>& stream) { return prices.of(stream.feature); };
        if (!prices.uniform()) std::ranges::stable_sort(streams_, {}, price_of);
        auto stream = streams_.begin();
        do {
            const double price = stream == streams_.end() ? prices.least() : price_of(*stream);
            start(orders, price, known);
            for (; stream != streams_.end() && price_of(*stream) == price; ++stream) {
                if (stop.reached_after(subset_->size())) return false;
                mixed_ ? pass_over_rows_(&kernel_, &*stream) : pass_(&kernel_, &*stream, code_.data());
            }
            take(price);
            // What is left costs more, perhaps too much for all lanes.
        } while (stream != streams_.end() && std::ranges::any_of(lanes_, [&](const Cut& cut) {
                     return std::max(known(0, cut), known(1, cut)) > price_of(*stream);
                 }));
        return true;
    }

    // A threshold by its order and its place in it.
    struct Cut {
        std::size_t order, place;
        std::uint32_t end;  // samples before it, leaving out missing ones if orders are joined
        std::uint32_t lane = 0;
    };
    // The thresholds of the last run.
    std::span<const Cut> lanes() const { return lanes_; }

 private:
    using Block = typename Kernel::Block;
    using Code = typename Kernel::Code;

    // Passes over the second features that bounds from other thresholds do not rule out, as long as all cost
    // the same. Each starts afresh, so that it is known what the feature is worth by itself; but no more
    // than it takes to rule it out at thresholds between this lane and the next, where the side is larger:
    // what is known of the next lane.
    template <class Known, class Take>
    bool run_needed(const Cuts& cuts, double price, const Known& known, const Take& take,
                    StopCondition& stop) {
        lane_sums_.clear();
        lanes_.clear();
        fill_lanes(cuts, [&](Cut& cut, std::size_t lane, std::uint32_t n, const auto& left, auto& right) {
            cut.lane = static_cast<std::uint32_t>(lane);
            kernel_.rest(left, right);
            lane_sums_.push_back({{n, subset_->size() - n}, {left, right}});
        });
        const std::size_t count = lanes_.size();
        for (std::size_t j = count; j < Kernel::lanes; ++j) kernel_.pad(j);
        second_features_.begin(cuts);
        bool any = false;
        for (const std::uint32_t s : second_features_.order()) {
            const auto may_improve = [&](std::size_t side) {
                for (std::size_t lane = 0; lane < count; ++lane)
                    if (second_features_.lower(s, side, lane) < known(side, lanes_[lane])) return true;
                return false;
            };
            if (!may_improve(0) && !may_improve(1)) {
                CODT_CHECK(improves_nothing(s, price, known));
                continue;
            }
            if (stop.reached_after(subset_->size())) return false;
            start_from(price, [&](std::size_t side, std::size_t lane) {
                const std::size_t next = side == 0 ? std::min(lane + 1, count - 1) : lane - (lane > 0);
                return known(side, lanes_[next]);
            });
            pass_(&kernel_, &streams_[s], code_.data());
            for (std::size_t lane = 0; lane < count; ++lane)
                for (std::size_t side = 0; side < 2; ++side)
                    second_features_.raise(s, side, lane, kernel_.at_least(side, lane, price));
            second_features_.note_walk();
            take(price);
            any = true;
        }
        if (!any) {  // what is known is all there is
            start_from(price, [&](std::size_t side, std::size_t lane) { return known(side, lanes_[lane]); });
            take(price);
        }
        second_features_.keep();
        return true;
    }

    template <class Known>
    void start_from(double price, const Known& known) {
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
            for (std::size_t side = 0; side < 2; ++side)
                kernel_.start(side, lane, lane_sums_[lane].count[side], lane_sums_[lane].side[side],
                              std::max(0.0, known(side, lane) - price));
    }

    // A check of the above: walks a second feature that was left out.
    template <class Known>
    bool improves_nothing(std::size_t s, double price, const Known& known) {
        start_from(price, [&](std::size_t side, std::size_t lane) { return known(side, lanes_[lane]); });
        pass_(&kernel_, &streams_[s], code_.data());
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
            for (std::size_t side = 0; side < 2; ++side) {
                const double before = known(side, lanes_[lane]);
                [[maybe_unused]] double lower = 0;
                double now = before;
                if constexpr (requires { kernel_.value(side, lane, price); })
                    now = kernel_.value(side, lane, price);
                else
                    kernel_.bracket(side, lane, price, lower, now);
                if (now < before - 1e-9 * (1 + before)) return false;
            }
        return true;
    }

    // Starts all lanes. No split loses less than nothing, whatever it costs.
    template <class Orders, class Known>
    void start(const Orders& orders, double price, const Known& known) {
        const std::uint32_t size = subset_->size();
        std::uint64_t used = 0;
        const auto start_lane = [&](Cut& cut, std::size_t lane, std::uint32_t n, const auto& left,
                                    auto& right) {
            kernel_.rest(left, right);
            kernel_.start(0, lane, n, left, std::max(0.0, known(0, cut) - price));
            kernel_.start(1, lane, size - n, right, std::max(0.0, known(1, cut) - price));
            cut.lane = static_cast<std::uint32_t>(lane);
            used |= std::uint64_t{1} << lane;
        };
        mixed_ = false;
        lanes_.clear();
        if (orders.size() == 1) {
            fill_lanes(orders[0], start_lane);
        } else if (Kernel::joins_orders && orders.size() == 2 && subset_->two_orders(orders[0].feature) &&
                   orders[1].feature == orders[0].feature + 1) {
            if constexpr (Kernel::joins_orders) fill_joined_lanes(orders[0], orders[1], start_lane);
        } else {
            CODT_CHECK(Kernel::mixes_features);
            if constexpr (Kernel::mixes_features) fill_mixed_lanes(orders, start_lane);
        }
        for (std::size_t lane = 0; lane < Kernel::lanes; ++lane)
            if (!(used >> lane & 1U)) kernel_.pad(lane);
    }

    // Thresholds of several features: every sample has a row of its own.
    template <class Orders, class Start>
    void fill_mixed_lanes(const Orders& orders, const Start& start) {
        mixed_ = true;
        if (!has_rows_) kernel_.make_rows();
        has_rows_ = true;
        const auto widths = lanes_of_features(orders.size());
        auto left = kernel_.nothing();
        auto right = left;
        std::uint32_t first_lane = 0;
        for (std::size_t b = 0; b < orders.size(); ++b) {
            const Cuts& cuts = orders[b];
            const std::size_t first = lanes_.size();
            add_cuts(cuts, b, 0);
            left = kernel_.nothing();
            const auto order = subset_->order(cuts.feature);
            const auto fill = [&](auto width) {
                std::uint32_t k = 0;
                for (std::size_t j = first; j < lanes_.size(); ++j) {
                    const auto bucket = static_cast<std::uint32_t>(j - first);
                    const auto row = row_of_bucket<width>(bucket);
                    add_to(left, order, k, lanes_[j].end, [&](std::uint32_t id) {
                        std::memcpy(kernel_.row(id) + first_lane, row.data(), width);
                    });
                    start(lanes_[j], first_lane + bucket, k, left, right);
                }
                const auto row = row_of_bucket<width>(static_cast<std::uint32_t>(lanes_.size() - first));
                for (; k < order.size(); ++k)
                    std::memcpy(kernel_.row(order[k]) + first_lane, row.data(), width);
            };
            CODT_CHECK(cuts.thresholds.size() <= widths[b]);
            if (widths[b] == 16)
                fill(std::integral_constant<std::uint32_t, 16>{});
            else if (widths[b] == 8)
                fill(std::integral_constant<std::uint32_t, 8>{});
            else
                fill(std::integral_constant<std::uint32_t, 4>{});
            first_lane += widths[b];
        }
    }

    // Adds the samples from place k to `end` of an order to some sums, and visits each of them.
    template <class Visit>
    void add_to(typename Kernel::Sums& sums, std::span<const std::uint32_t> order, std::uint32_t& k,
                std::uint32_t end, const Visit& visit) {
        constexpr bool at_once = requires { kernel_.add_many(sums, order); };
        if constexpr (at_once) kernel_.add_many(sums, order.subspan(k, end - k));
        for (; k < end; ++k) {
            if constexpr (!at_once) kernel_.add(sums, order[k]);
            visit(order[k]);
        }
    }

    // Puts the samples between the thresholds into their buckets, and the thresholds into lanes.
    template <class Start>
    void fill_lanes(const Cuts& cuts, const Start& start) {
        add_cuts(cuts, 0, 0);
        auto left = kernel_.nothing();
        auto right = left;
        const auto order = subset_->order(cuts.feature);
        Code* const code = code_.data();
        std::uint32_t k = 0;
        const bool keeps = Kernel::keeps_sums && kept_sums_.pay_off(*subset_);
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            const std::uint32_t end = lanes_[lane].end;
            if (keeps) {
                left = kept_sums_.before(end, cuts.feature, *subset_, kernel_);
                for (; k < end; ++k) code[order[k]] = kernel_.code(order[k], lane);
            } else {
                add_to(left, order, k, end, [&](std::uint32_t id) { code[id] = kernel_.code(id, lane); });
            }
            start(lanes_[lane], lane, k, left, right);
        }
        for (const std::size_t last = lanes_.size(); k < order.size(); ++k)
            code[order[k]] = kernel_.code(order[k], last);
    }

    // Both orders of a feature that misses values. By the samples that have a value the left sides of all
    // thresholds are nested; missing ones, which are the last of the first order and the first of the second,
    // go left at the thresholds of the second. So these have a bucket of their own.
    template <class Start>
    void fill_joined_lanes(const Cuts& first, const Cuts& second, const Start& start) {
        const auto order = subset_->order(first.feature);
        const auto ends = subset_->group_end(first.feature);
        const std::uint32_t present = ends[ends.size() - 2];
        const auto missing = static_cast<std::uint32_t>(order.size()) - present;
        add_cuts(first, 0, 0);
        add_cuts(second, 1, missing);
        std::inplace_merge(lanes_.begin(),
                           lanes_.begin() + static_cast<std::ptrdiff_t>(first.thresholds.size()),
                           lanes_.end(), [](const Cut& a, const Cut& b) { return a.end < b.end; });
        auto left = kernel_.nothing();
        auto right = left;
        auto with_missing = left;
        Code* const code = code_.data();
        for (std::uint32_t k = present; k < order.size(); ++k) kernel_.add(with_missing, order[k]);
        std::uint64_t missing_left = ~std::uint64_t{0}
                                     << lanes_.size();  // padded lanes have all on their left
        std::uint32_t k = 0;
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            for (const std::uint32_t end = lanes_[lane].end; k < end; ++k) {
                const std::uint32_t id = order[k];
                kernel_.add(left, id);
                kernel_.add(with_missing, id);
                code[id] = kernel_.code(id, lane);
            }
            if (lanes_[lane].order == 0) {
                start(lanes_[lane], lane, k, left, right);
            } else {
                missing_left |= std::uint64_t{1} << lane;
                start(lanes_[lane], lane, k + missing, with_missing, right);
            }
        }
        for (const std::size_t last = lanes_.size(); k < present; ++k)
            code[order[k]] = kernel_.code(order[k], last);
        kernel_.missing_left(missing_left);
        for (; k < order.size(); ++k) code[order[k]] = kernel_.code(order[k], missing_bucket<Kernel::lanes>);
    }

    void add_cuts(const Cuts& cuts, std::size_t order, std::uint32_t less) {
        const auto ends = subset_->group_end(cuts.feature);
        for (std::size_t j = 0; j < cuts.thresholds.size(); ++j)
            lanes_.push_back({order, j, ends[cuts.thresholds[j]] - less});
    }

    std::size_t cell(std::uint32_t f) const { return static_cast<std::size_t>(f) * subset_->size(); }

    // A second order has none if the first one's takes both, or if they are the same here.
    bool has_stream(std::uint32_t f) const {
        return !subset_->second_order(f) || (!Kernel::takes_two_orders && subset_->two_orders(f - 1));
    }
    bool takes_two_orders(std::uint32_t f) const {
        return Kernel::takes_two_orders && subset_->two_orders(f);
    }

    void add_blocks(std::uint32_t f) {
        const std::uint32_t* const order = subset_->order(f).data();
        const auto add = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t first_group,
                             std::uint32_t groups) {
            Block block;
            static_cast<BlockRange&>(block) = {end, first_group, groups > 1};
            kernel_.summarise(order, cell(f), begin, block);
            blocks_.items.push_back(block);
        };
        const auto ends = subset_->group_end(f);
        const std::size_t apart = takes_two_orders(f) ? 1 : 0;  // the group of missing values
        const auto present = ends.first(ends.size() - apart);
        for_each_block(present, kernel_.longest_block_of(subset_->size()), add);
        if (apart) add(present.back(), ends.back(), static_cast<std::uint32_t>(present.size()), 1);
    }

    Kernel kernel_;
    void (*pass_)(Kernel*, const Stream<Block>*, const Code*);
    void (*pass_over_rows_)(Kernel*, const Stream<Block>*) = nullptr;
    bool has_rows_ = false;  // whether the kernel has room for rows of this subset
    bool mixed_ = false;     // whether the batch is of several features
    const Subset* subset_ = nullptr;
    std::vector<Code> code_;  // of every id
    std::vector<Cut> lanes_;
    PerFeature<Block> blocks_;
    std::vector<Stream<Block>> streams_;
    SecondFeatureBounds second_features_;
    struct LaneSums {
        std::uint32_t count[2];  // samples of each side
        typename Kernel::Sums side[2];
    };
    std::vector<LaneSums> lane_sums_;
    KeptSums<typename Kernel::Sums> kept_sums_;
};

template <class Kernel>
class LaneScanner final : public Scanner {
 public:
    template <class... Args>
    explicit LaneScanner(KernelPath path, const Args&... args) : driver_(path, args...) {}

    std::uint32_t lanes() const override { return Kernel::lanes; }
    bool joins_orders() const override { return Kernel::joins_orders; }
    std::uint32_t features_at_once() const override { return driver_.features_at_once(); }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        driver_.prepare(subset, feature_rank);
    }

    bool scan(std::span<const Values> orders, const Prices& prices, StopCondition& stop) override {
        const auto value = [&](std::size_t side, const auto& cut) -> double& {
            const Values& order = orders[cut.order];
            return (side == 0 ? order.left : order.right)[cut.place];
        };
        const auto take = [&](double price) {
            for (const auto& cut : driver_.lanes())
                for (std::size_t side = 0; side < 2; ++side)
                    value(side, cut) =
                        std::min(value(side, cut), driver_.kernel().value(side, cut.lane, price));
        };
        return driver_.run(orders, prices, value, take, stop);
    }

 private:
    ScanDriver<Kernel> driver_;
};

template <class Kernel>
class LaneBracketScanner final : public BracketScanner {
 public:
    template <class... Args>
    explicit LaneBracketScanner(KernelPath path, const Args&... args) : driver_(path, args...) {}

    std::uint32_t lanes() const override { return Kernel::lanes; }
    bool joins_orders() const override { return Kernel::joins_orders; }

    bool prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        return driver_.prepare(subset, feature_rank);
    }

    bool scan(std::span<const Brackets> orders, const Prices& prices, StopCondition& stop) override {
        const auto upper = [&](std::size_t side, const auto& cut) -> double& {
            return orders[cut.order].upper[side][cut.place];
        };
        for (const Brackets& order : orders)
            for (double* const lower : order.lower)
                std::fill_n(lower, order.thresholds.size(), std::numeric_limits<double>::infinity());
        const auto take = [&](double price) {
            for (const auto& cut : driver_.lanes())
                for (std::size_t side = 0; side < 2; ++side) {
                    double& lower = orders[cut.order].lower[side][cut.place];
                    double of_price = 0;
                    driver_.kernel().bracket(side, cut.lane, price, of_price, upper(side, cut));
                    lower = std::min(lower, of_price);
                }
        };
        return driver_.run(orders, prices, upper, take, stop);
    }

 private:
    ScanDriver<Kernel> driver_;
};

}  // namespace codt
