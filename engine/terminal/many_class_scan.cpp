// A depth-one tree that splits a side's n samples at boundary p classifies correctly
//
//     head(p) + tail(p),   head(p) = max_c a_c(p),   tail(p) = max_c (n_c - a_c(p)),
//
// where a_c(p) counts the side's samples of class c before p. Along the order the heads a_c only grow and the
// tails n_c - a_c only fall. So for every boundary of a block (see blocks.hpp), the head of class c at the
// block's end plus the tail of class d at its start, or at any place before, bounds what the two give
// together. Two kinds of pairs need no look: c = d is a leaf, and a class c that does not occur in the block
// has the same head as at the block's start, where the pair was no better than the best found so far. While
// no other pair can beat the best, in any lane on either side, only counts are needed, and these do not
// depend on the order inside the block: its samples are grouped by class, and each group is counted in a
// register. A block that might do better is walked twice, backwards for tail and forwards for head.
//
// A sample of weight w counts as w samples. Weights are whole numbers, so integers hold them: of 16 bits
// where the weight of all samples of the subset fits, else of 32, else of 64 (any weights there are). Sums of
// a head and a tail of one class may pass that weight, but their distance to the best found does not, and
// lanes that wrap around still have the right distance.
#include "terminal/many_class_scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include "common/buffer.hpp"
#include "terminal/dispatch.hpp"

namespace codt {

namespace {

// The samples of one class within a block of `grouped`.
struct Run {
    std::uint32_t label;
    std::uint32_t length;
};

struct Block {
    std::uint32_t end;   // of its samples
    std::uint32_t runs;  // end of its runs
    std::uint32_t first_group;
    bool several;  // more than one group of equal values
};

// Whether the counters count samples or sum up weights.
enum class Counting { samples, weights };

// One second feature's order.
template <class Int, Counting What>
struct Stream {
    // As many samples as a counter can hold, unless some weigh nothing.
    using Id = std::conditional_t<What == Counting::samples, std::make_unsigned_t<Int>, std::uint32_t>;
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const std::uint16_t* labels;     // class of each id
    const Id* grouped;               // the ids of each block, grouped by class
    const Run* runs;                 // of all blocks
    const Block* blocks;
    std::uint32_t block_count;
    const Int* weights;  // of each id, if they are counted
};

// What is known of one class, a row of lanes each; samples stand for their weights if these are counted. The
// totals are fixed by the thresholds, the others change during a pass.
template <class Int>
struct alignas(pack_bytes) ClassRows {
    static constexpr std::uint32_t lanes = lane_count<Int>;
    Int left_total[lanes];   // samples of the class left of each threshold
    Int right_total[lanes];  // and right of it
    Int count[lanes];        // left samples passed so far
    Int start_count[lanes];  // the same at the start of the block
    Int left_tail[lanes];    // samples still to come at some place before: the latest whose tails were taken
    Int right_tail[lanes];
    Int passed;        // all samples passed so far
    Int start_passed;  // the same at the start of the block
};

template <class Int>
using ClassTable = std::vector<ClassRows<Int>>;

template <class Int>
struct alignas(pack_bytes) Best {
    Int left[lane_count<Int>], right[lane_count<Int>];            // most correct samples so far
    Int left_leaf[lane_count<Int>], right_leaf[lane_count<Int>];  // by a leaf: tail(0)
};

template <class Int, Counting What, std::size_t Bytes>
struct ManyClassPass {
    using P = Pack<Int, Bytes>;
    using Stream = codt::Stream<Int, What>;
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr LaneRows<Int, lanes> plus{1}, minus{-1};
    static constexpr bool weighted = What == Counting::weights;

    // One number per lane on each side.
    struct Both {
        P left, right;
        CODT_INLINE void clear() {
            left.clear();
            right.clear();
        }
        CODT_INLINE void maximum(const Both& a) {
            left.maximum(a.left);
            right.maximum(a.right);
        }
        CODT_INLINE void minimum(const Both& a) {
            left.minimum(a.left);
            right.minimum(a.right);
        }
        CODT_INLINE void add(const Both& a) {
            left.add(a.left);
            right.add(a.right);
        }
        CODT_INLINE void subtract(const Both& a) {
            left.subtract(a.left);
            right.subtract(a.right);
        }
    };

    Both best;

    CODT_INLINE static Int weight_of([[maybe_unused]] const Stream& stream,
                                     [[maybe_unused]] std::uint32_t id) {
        if constexpr (weighted)
            return stream.weights[id];
        else
            return 1;
    }
    // A sample of this bucket and weight comes to a count, or leaves it. All bits of minus one are set.
    CODT_INLINE static void enter(P& count, std::uint8_t bucket, [[maybe_unused]] Int weight) {
        if constexpr (weighted)
            count.add_masked(minus[bucket], weight);
        else
            count.add_row(plus[bucket]);
    }
    CODT_INLINE static void leave(P& count, std::uint8_t bucket, [[maybe_unused]] Int weight) {
        if constexpr (weighted)
            count.add_masked(minus[bucket], static_cast<Int>(-weight));
        else
            count.add_row(minus[bucket]);
    }

    // Samples of a class behind a place, given the left side's count before it and that of both sides.
    CODT_INLINE static void behind(const ClassRows<Int>& rows, const Int* count, Int passed, Both& rest) {
        P before;
        before.load(count);
        rest.left.load(rows.left_total);
        rest.left.subtract(before);
        before.subtract_from(passed);
        rest.right.load(rows.right_total);
        rest.right.subtract(before);
    }

    // The two largest tails of different classes at the start of the block.
    CODT_INLINE static void take_tails(ClassTable<Int>& table, Both& first, Both& second) {
        first.clear();
        second.clear();
        for (ClassRows<Int>& rows : table) {
            Both rest;
            behind(rows, rows.start_count, rows.start_passed, rest);
            rest.left.store(rows.left_tail);
            rest.right.store(rows.right_tail);
            Both lesser = first;
            lesser.minimum(rest);
            second.maximum(lesser);
            first.maximum(rest);
        }
    }

    // Most that the head of a class of the block, at its end, and the tail of another class can give
    // together.
    CODT_INLINE static void pair_bound(const Run* run, const Run* last, const ClassTable<Int>& table,
                                       const Both& first, const Both& second, Both& bound) {
        Both both = first;
        both.add(second);
        bound.clear();
        for (; run < last; ++run) {
            const ClassRows<Int>& rows = table[run->label];
            Both head, tail;
            head.left.load(rows.count);
            head.right = head.left;
            head.right.subtract_from(rows.passed);
            tail.left.load(rows.left_tail);
            tail.right.load(rows.right_tail);
            // The largest tail of another class: `second` if this class has the first, else `first`.
            tail.maximum(second);
            head.add(both);
            head.subtract(tail);
            bound.maximum(head);
        }
    }

    // The largest heads at the start of the block, and heads and tails at its end.
    CODT_INLINE static void take_ends(const ClassTable<Int>& table, Both& start_head, Both& head,
                                      Both& tail) {
        start_head.clear();
        head.clear();
        tail.clear();
        for (const ClassRows<Int>& rows : table) {
            Both count, rest;
            count.left.load(rows.start_count);
            count.right = count.left;
            count.right.subtract_from(rows.start_passed);
            start_head.maximum(count);
            count.left.load(rows.count);
            count.right = count.left;
            count.right.subtract_from(rows.passed);
            head.maximum(count);
            behind(rows, rows.count, rows.passed, rest);
            tail.maximum(rest);
        }
    }

    CODT_INLINE void offer(const Both& head, const Both& tail) {
        Both sum = head;
        sum.add(tail);
        best.maximum(sum);
    }

    // Whether best < bound in any lane.
    CODT_INLINE bool beaten_by(const Both& bound) const {
        P slack = best.left, other = best.right;
        slack.subtract(bound.left);
        other.subtract(bound.right);
        slack.minimum(other);
        return any_negative(slack);
    }

    // Visits the boundaries inside a block: from its end with the tail there back to its start, and forth
    // again.
    CODT_INLINE void walk(const Stream& stream, std::uint32_t begin, const Block& block,
                          const std::uint8_t* bucket, ClassTable<Int>& table, Both head, Both tail) {
        Both tails[block_size];
        for (std::uint32_t k = block.end; k-- > begin;) {
            tails[k - begin] = tail;
            const std::uint32_t id = stream.ordered[k];
            ClassRows<Int>& rows = table[stream.labels[id]];
            P count;
            const Int weight = weight_of(stream, id);
            count.load(rows.count);
            leave(count, bucket[id], weight);
            count.store(rows.count);
            rows.passed = static_cast<Int>(rows.passed - weight);
            Both rest;
            rest.left.load(rows.left_total);
            rest.left.subtract(count);
            count.subtract_from(rows.passed);
            rest.right.load(rows.right_total);
            rest.right.subtract(count);
            tail.maximum(rest);
        }
        std::uint32_t k = begin;
        for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
            for (; k < *group; ++k) {
                const std::uint32_t id = stream.ordered[k];
                ClassRows<Int>& rows = table[stream.labels[id]];
                const Int weight = weight_of(stream, id);
                Both count;
                count.left.load(rows.count);
                enter(count.left, bucket[id], weight);
                count.left.store(rows.count);
                rows.passed = static_cast<Int>(rows.passed + weight);
                count.right = count.left;
                count.right.subtract_from(rows.passed);
                head.maximum(count);
            }
            offer(head, tails[k - 1 - begin]);
        }
    }

    // Counts the samples of a block; `head` is the largest of its classes at its end.
    CODT_INLINE static void count_block(const Stream& stream, const Run* run, const Run* last,
                                        std::uint32_t k, const std::uint8_t* bucket, ClassTable<Int>& table,
                                        Both& head) {
        head.clear();
        for (; run < last; ++run) {
            ClassRows<Int>& rows = table[run->label];
            Both count;
            count.left.load(rows.count);
            [[maybe_unused]] Int passed = 0;
            for (const std::uint32_t stop = k + run->length; k < stop; ++k) {
                const std::uint32_t id = stream.grouped[k];
                enter(count.left, bucket[id], weight_of(stream, id));
                if constexpr (weighted) passed = static_cast<Int>(passed + weight_of(stream, id));
            }
            count.left.store(rows.count);
            if constexpr (!weighted) passed = static_cast<Int>(run->length);
            rows.passed = static_cast<Int>(rows.passed + passed);
            count.right = count.left;
            count.right.subtract_from(rows.passed);
            head.maximum(count);
        }
    }

    CODT_INLINE void run(const Stream& stream, const std::uint8_t* bucket, ClassTable<Int>& table) {
        const P zero{};
        for (ClassRows<Int>& rows : table) {
            zero.store(rows.count);
            zero.store(rows.start_count);
            rows.passed = rows.start_passed = 0;
        }
        Both first, second;
        take_tails(table, first, second);
        const Run* run = stream.runs;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            const Run* const last = stream.runs + block.runs;
            Both head, bound;
            count_block(stream, run, last, begin, bucket, table, head);
            bound = head;
            bound.add(first);
            if (beaten_by(bound)) {
                pair_bound(run, last, table, first, second, bound);
                if (beaten_by(bound)) {
                    take_tails(table, first, second);
                    pair_bound(run, last, table, first, second, bound);
                    if (beaten_by(bound)) {
                        Both start_head, tail;
                        take_ends(table, start_head, head, tail);
                        offer(head, tail);
                        if (block.several && beaten_by(bound))
                            walk(stream, begin, block, bucket, table, start_head, tail);
                    }
                }
            }
            for (; run < last; ++run) {
                ClassRows<Int>& rows = table[run->label];
                P count;
                count.load(rows.count);
                count.store(rows.start_count);
                rows.start_passed = rows.passed;
            }
            begin = block.end;
        }
    }
};

template <class Int, Counting What>
struct ManyClassKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream<Int, What>* stream, const std::uint8_t* bucket,
                                ClassTable<Int>* table, Best<Int>* best) {
        ManyClassPass<Int, What, Bytes> pass;
        pass.best.left.load(best->left);
        pass.best.right.load(best->right);
        pass.run(*stream, bucket, *table);
        pass.best.left.store(best->left);
        pass.best.right.store(best->right);
    }
};

template <class Int, Counting What>
class ManyClassScan final : public Scanner {
 public:
    static constexpr std::uint32_t width = lane_count<Int>;

    // `weights` are not looked at if samples are counted.
    ManyClassScan(std::span<const std::uint16_t> labels, std::span<const double> weights,
                  std::uint32_t classes, KernelPath path)
        : labels_(labels), weights_(weights), local_class_(classes), pass_(kernel(path)) {}

    std::uint32_t lanes() const override { return width; }

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) override {
        subset_ = &subset;
        size_ = subset.size();
        const std::uint32_t features = subset.features();
        const std::size_t cells = static_cast<std::size_t>(size_) * features;
        grouped_.ensure(cells);
        read_samples(subset);

        runs_.clear();
        blocks_.clear();
        first_.clear();
        for (std::uint32_t f = 0; f < features; ++f) {
            first_.push_back({runs_.size(), blocks_.size()});
            fill_stream(subset, f);
        }
        first_.push_back({runs_.size(), blocks_.size()});
        streams_.clear();
        for_each_stream(subset, feature_rank, [&](std::uint32_t f) {
            streams_.push_back({subset.order(f).data(), subset.group_end(f).data(), label_.data(),
                                grouped_.data() + static_cast<std::size_t>(f) * size_,
                                runs_.data() + first_[f].run, blocks_.data() + first_[f].block,
                                static_cast<std::uint32_t>(first_[f + 1].block - first_[f].block),
                                weight_.data()});
        });
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) override {
        Best<Int> best{};
        take_sides(f, thresholds, best);
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n = left_weight_[j];
            best.left[j] = std::max(best.left[j], correct(n, left[j] - lambda));
            best.right[j] = std::max(best.right[j], correct(total_ - n, right[j] - lambda));
        }
        for (const Stream<Int, What>& stream : streams_) {
            if (stop.reached_after(size_)) return false;
            pass_(&stream, buckets_.data(), &table_, &best);
        }
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n = left_weight_[j];
            const double m = total_ - n;
            const auto errors = [](double all, Int most) { return all - static_cast<double>(most); };
            left[j] = std::min({left[j], errors(n, best.left_leaf[j]), errors(n, best.left[j]) + lambda});
            right[j] = std::min({right[j], errors(m, best.right_leaf[j]), errors(m, best.right[j]) + lambda});
        }
        return true;
    }

 private:
    using Id = typename Stream<Int, What>::Id;
    using Kernel = void (*)(const Stream<Int, What>*, const std::uint8_t*, ClassTable<Int>*, Best<Int>*);
    static constexpr bool weighted = What == Counting::weights;

    static Kernel kernel(KernelPath path) {
        return kernel_function<ManyClassKernel<Int, What>, const Stream<Int, What>*, const std::uint8_t*,
                               ClassTable<Int>*, Best<Int>*>(path);
    }
    Int weight_of([[maybe_unused]] std::uint32_t id) const {
        if constexpr (weighted)
            return weight_[id];
        else
            return 1;
    }

    // Correct samples out of n for a known number of errors that some split attains.
    static Int correct(double n, double errors) {
        return errors < n ? static_cast<Int>(n - std::max(0.0, std::ceil(errors))) : Int{0};
    }

    // Weights, and the classes that occur in the subset, numbered from zero; the others would only cost time.
    void read_samples(const Subset& subset) {
        constexpr std::uint16_t unseen = 0xffff;
        std::fill(local_class_.begin(), local_class_.end(), unseen);
        label_.resize(size_);
        weight_.resize(weighted ? size_ : 0);
        totals_.clear();
        const auto samples = subset.samples();
        std::int64_t total = 0;
        for (std::uint32_t id = 0; id < size_; ++id) {
            std::uint16_t& local = local_class_[labels_[samples[id]]];
            if (local == unseen) {
                local = static_cast<std::uint16_t>(totals_.size());
                totals_.push_back(0);
            }
            label_[id] = local;
            if constexpr (weighted) weight_[id] = static_cast<Int>(weights_[samples[id]]);
            totals_[local] += weight_of(id);
            total += weight_of(id);
        }
        total_ = static_cast<double>(total);
        table_.resize(totals_.size());
    }

    void fill_stream(const Subset& subset, std::uint32_t f) {
        const auto order = subset.order(f);
        Id* grouped = grouped_.data() + static_cast<std::size_t>(f) * size_;
        const std::size_t first = runs_.size();
        std::vector<std::uint32_t>& start = class_start_;
        start.assign(totals_.size(), 0);
        for_each_block(subset.group_end(f), [&](std::uint32_t begin, std::uint32_t end,
                                                std::uint32_t first_group, std::uint32_t groups) {
            const std::size_t block_first = runs_.size();
            if (start.size() <= 64) {
                // Classes as bits: nothing to branch on for every sample.
                std::uint64_t present = 0;
                for (std::uint32_t k = begin; k < end; ++k) {
                    const std::uint32_t c = label_[order[k]];
                    ++start[c];
                    present |= std::uint64_t{1} << c;
                }
                for (; present != 0; present &= present - 1)
                    runs_.push_back({static_cast<std::uint32_t>(std::countr_zero(present)), 0});
            } else {
                for (std::uint32_t k = begin; k < end; ++k) {
                    const std::uint32_t c = label_[order[k]];
                    if (start[c]++ == 0) runs_.push_back({c, 0});
                }
            }
            std::uint32_t position = begin;
            for (std::size_t r = block_first; r < runs_.size(); ++r) {
                runs_[r].length = start[runs_[r].label];
                start[runs_[r].label] = position;
                position += runs_[r].length;
            }
            for (std::uint32_t k = begin; k < end; ++k)
                grouped[start[label_[order[k]]]++] = static_cast<Id>(order[k]);
            for (std::size_t r = block_first; r < runs_.size(); ++r) start[runs_[r].label] = 0;
            blocks_.push_back(
                {end, static_cast<std::uint32_t>(runs_.size() - first), first_group, groups > 1});
        });
    }

    // Class totals of both sides of every threshold, and the samples' buckets (see lane_rows.hpp); thresholds
    // are ascending.
    void take_sides(std::uint32_t f, std::span<const std::uint32_t> thresholds, Best<Int>& best) {
        const auto ends = subset_->group_end(f);
        const auto order = subset_->order(f);
        seen_.assign(totals_.size(), 0);
        buckets_.resize(size_);
        std::uint32_t k = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (; k < ends[thresholds[j]]; ++k) {
                const std::uint32_t id = order[k];
                seen_[label_[id]] += weight_of(id);
                buckets_[id] = static_cast<std::uint8_t>(j);
            }
            std::int64_t weight = 0;
            Int left_leaf = 0, right_leaf = 0;
            for (std::size_t c = 0; c < totals_.size(); ++c) {
                const Int left = static_cast<Int>(seen_[c]);
                const Int right = static_cast<Int>(totals_[c] - seen_[c]);
                weight += left;
                table_[c].left_total[j] = left;
                table_[c].right_total[j] = right;
                left_leaf = std::max(left_leaf, left);
                right_leaf = std::max(right_leaf, right);
            }
            left_weight_[j] = static_cast<double>(weight);
            best.left_leaf[j] = best.left[j] = left_leaf;
            best.right_leaf[j] = best.right[j] = right_leaf;
        }
        for (; k < size_; ++k) buckets_[order[k]] = static_cast<std::uint8_t>(thresholds.size());
        // Lanes without a threshold must never ask for a walk.
        for (std::size_t j = thresholds.size(); j < width; ++j) {
            best.left[j] = best.right[j] = static_cast<Int>(total_);
            for (std::size_t c = 0; c < totals_.size(); ++c)
                table_[c].left_total[j] = table_[c].right_total[j] = 0;
        }
    }

    std::span<const std::uint16_t> labels_;
    std::span<const double> weights_;
    std::vector<std::uint16_t> local_class_;
    Kernel pass_;
    const Subset* subset_ = nullptr;
    std::uint32_t size_ = 0;
    double total_ = 0;  // weight of the subset
    double left_weight_[width];
    Buffer<Id> grouped_;
    std::vector<std::uint16_t> label_;
    std::vector<Int> weight_;
    std::vector<std::uint8_t> buckets_;
    std::vector<Run> runs_;
    std::vector<Block> blocks_;
    struct First {
        std::size_t run, block;
    };
    std::vector<First> first_;                 // per feature
    std::vector<std::int64_t> totals_, seen_;  // of each class
    std::vector<std::uint32_t> class_start_;
    std::vector<Stream<Int, What>> streams_;
    ClassTable<Int> table_;
};

template <class Int>
using CountingScan = ManyClassScan<Int, Counting::samples>;
template <class Int>
using WeighingScan = ManyClassScan<Int, Counting::weights>;

}  // namespace

std::unique_ptr<Scanner> make_many_class_scanner(std::span<const std::uint16_t> labels, std::uint32_t classes,
                                                 KernelPath path) {
    return std::make_unique<NarrowOrWideScanner<CountingScan>>(labels, std::span<const double>{}, classes,
                                                               path);
}

std::unique_ptr<Scanner> make_weighted_many_class_scanner(std::span<const std::uint16_t> labels,
                                                          std::span<const double> weights,
                                                          std::uint32_t classes, KernelPath path) {
    return make_weighted_scanner<WeighingScan>(weights, labels, weights, classes, path);
}

}  // namespace codt
