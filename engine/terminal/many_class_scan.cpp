// A depth-one tree that splits a side's n samples at boundary p classifies correctly
//
//     head(p) + tail(p),   head(p) = max_c a_c(p),   tail(p) = max_c (n_c - a_c(p)),
//
// where a_c(p) counts the side's samples of class c before p. head only grows along the order and tail only
// falls, so head at a block's end plus tail at its start, or at any place before, bounds every boundary in
// the block (see blocks.hpp). If that does not suffice, a sharper bound leaves out the pairs in which head
// and tail are the same class: these are leaves. While no bound beats the best found so far, in any lane on
// either side, only counts are needed, and these do not depend on the order inside the block: its samples are
// grouped by class, and each group is counted in a register. A block that might do better is walked twice,
// backwards for tail and forwards for head.
#include "terminal/many_class_scan.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

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

// One second feature's order.
template <class Int>
struct Stream {
    using Id = std::make_unsigned_t<Int>;
    const std::uint32_t* ordered;    // ids in sorted order
    const std::uint32_t* group_end;  // where its groups of equal values end
    const std::uint16_t* labels;     // class of each id
    const Id* grouped;               // the ids of each block, grouped by class
    const Run* runs;                 // of all blocks
    const Block* blocks;
    std::uint32_t block_count;
};

// Per class a row of lanes. The totals are fixed by the thresholds, the others change during a pass.
template <class Int>
struct ClassCounts {
    std::uint32_t classes = 0;
    std::vector<Int> left_total;    // samples of the class left of each threshold
    std::vector<Int> right_total;   // and right of it
    std::vector<Int> counts;        // left samples passed so far
    std::vector<Int> start_counts;  // the same at the start of the block
    std::vector<Int> passed;        // all samples passed so far, one number per class
    std::vector<Int> start_passed;  // the same at the start of the block

    void resize(std::uint32_t n) {
        classes = n;
        const std::size_t cells = static_cast<std::size_t>(n) * lane_count<Int>;
        left_total.resize(cells);
        right_total.resize(cells);
        counts.resize(cells);
        start_counts.resize(cells);
        passed.resize(n);
        start_passed.resize(n);
    }
    void restart() {
        std::fill(counts.begin(), counts.end(), Int{0});
        std::fill(start_counts.begin(), start_counts.end(), Int{0});
        std::fill(passed.begin(), passed.end(), Int{0});
        std::fill(start_passed.begin(), start_passed.end(), Int{0});
    }
};

template <class Int>
struct alignas(pack_bytes) Best {
    Int left[lane_count<Int>], right[lane_count<Int>];            // most correct samples so far
    Int left_leaf[lane_count<Int>], right_leaf[lane_count<Int>];  // by a leaf: tail(0)
};

template <class Int, std::size_t Bytes>
struct ManyClassPass {
    using P = Pack<Int, Bytes>;
    static constexpr std::uint32_t lanes = lane_count<Int>;
    static constexpr LaneRows<Int, lanes> plus{1}, minus{-1};

    // One number per lane on each side.
    struct Both {
        P left, right;
        CODT_INLINE void fill(Int value) {
            left.fill(value);
            right.fill(value);
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
    };

    Both best;

    CODT_INLINE static void load_row(P& pack, const std::vector<Int>& table, std::uint32_t c) {
        pack.load(table.data() + static_cast<std::size_t>(c) * lanes);
    }
    CODT_INLINE static void store_row(const P& pack, std::vector<Int>& table, std::uint32_t c) {
        pack.store(table.data() + static_cast<std::size_t>(c) * lanes);
    }

    // Samples of class c behind a place, given the left side's count before it and that of both sides.
    CODT_INLINE static void behind(const ClassCounts<Int>& table, std::uint32_t c, const P& count, Int passed,
                                   Both& rest) {
        load_row(rest.left, table.left_total, c);
        rest.left.subtract(count);
        P other = count;
        other.subtract_from(passed);
        load_row(rest.right, table.right_total, c);
        rest.right.subtract(other);
    }
    CODT_INLINE static void behind_start(const ClassCounts<Int>& table, std::uint32_t c, Both& rest) {
        P count;
        load_row(count, table.start_counts, c);
        behind(table, c, count, table.start_passed[c], rest);
    }

    // The two largest counts of a class behind the start of the block.
    CODT_INLINE static void start_tails(const ClassCounts<Int>& table, Both& first, Both& second) {
        first.fill(0);
        second.fill(0);
        for (std::uint32_t c = 0; c < table.classes; ++c) {
            Both rest;
            behind_start(table, c, rest);
            Both lesser = first;
            lesser.minimum(rest);
            second.maximum(lesser);
            first.maximum(rest);
        }
    }

    // Most that a head of one class at the block's end and a tail of another at its start can give together,
    // and the tail at the block's end.
    CODT_INLINE static void pair_bound(const ClassCounts<Int>& table, const Both& first, const Both& second,
                                       Both& bound, Both& end_tail) {
        bound.fill(0);
        end_tail.fill(0);
        for (std::uint32_t c = 0; c < table.classes; ++c) {
            Both head, tail, rest;
            behind_start(table, c, tail);
            load_row(head.left, table.counts, c);
            behind(table, c, head.left, table.passed[c], rest);
            end_tail.maximum(rest);
            head.right = head.left;
            head.right.subtract_from(table.passed[c]);
            for (std::size_t i = 0; i < P::registers; ++i) {
                head.left.r[i] += tail.left.r[i] == first.left.r[i] ? second.left.r[i] : first.left.r[i];
                head.right.r[i] += tail.right.r[i] == first.right.r[i] ? second.right.r[i] : first.right.r[i];
            }
            bound.maximum(head);
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
    CODT_INLINE void walk(const Stream<Int>& stream, std::uint32_t begin, const Block& block,
                          const std::uint8_t* bucket, ClassCounts<Int>& table, Both head, Both tail) {
        Both tails[block_size];
        for (std::uint32_t k = block.end; k-- > begin;) {
            tails[k - begin] = tail;
            const std::uint32_t id = stream.ordered[k];
            const std::uint32_t c = stream.labels[id];
            P count;
            load_row(count, table.counts, c);
            count.add_row(minus[bucket[id]]);
            store_row(count, table.counts, c);
            --table.passed[c];
            Both rest;
            behind(table, c, count, table.passed[c], rest);
            tail.maximum(rest);
        }
        std::uint32_t k = begin;
        for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
            for (; k < *group; ++k) {
                const std::uint32_t id = stream.ordered[k];
                const std::uint32_t c = stream.labels[id];
                Both count;
                load_row(count.left, table.counts, c);
                count.left.add_row(plus[bucket[id]]);
                store_row(count.left, table.counts, c);
                count.right = count.left;
                count.right.subtract_from(++table.passed[c]);
                head.maximum(count);
            }
            offer(head, tails[k - 1 - begin]);
        }
    }

    // Counts the samples of a block and raises the heads to its end.
    CODT_INLINE static void count_block(const Stream<Int>& stream, std::uint32_t first_run,
                                        std::uint32_t last_run, std::uint32_t k, const std::uint8_t* bucket,
                                        ClassCounts<Int>& table, Both& head) {
        for (std::uint32_t run = first_run; run < last_run; ++run) {
            const std::uint32_t c = stream.runs[run].label;
            const std::uint32_t length = stream.runs[run].length;
            Both count;
            load_row(count.left, table.counts, c);
            for (const std::uint32_t stop = k + length; k < stop; ++k)
                count.left.add_row(plus[bucket[stream.grouped[k]]]);
            store_row(count.left, table.counts, c);
            table.passed[c] = static_cast<Int>(table.passed[c] + static_cast<Int>(length));
            count.right = count.left;
            count.right.subtract_from(table.passed[c]);
            head.maximum(count);
        }
    }

    CODT_INLINE void run(const Stream<Int>& stream, const std::uint8_t* bucket, ClassCounts<Int>& table,
                         const Best<Int>& leaves) {
        table.restart();
        Both head, tail;  // tail: at the start of the block or at any place before
        head.fill(0);
        tail.left.load(leaves.left_leaf);
        tail.right.load(leaves.right_leaf);
        std::uint32_t run = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            Both next = head;
            count_block(stream, run, block.runs, begin, bucket, table, next);
            Both bound = next;
            bound.add(tail);
            if (beaten_by(bound)) {
                Both second;
                start_tails(table, tail, second);
                bound = next;
                bound.add(tail);
                if (beaten_by(bound)) {
                    Both end_tail;
                    pair_bound(table, tail, second, bound, end_tail);
                    if (beaten_by(bound)) {
                        offer(next, end_tail);
                        if (block.several && beaten_by(bound))
                            walk(stream, begin, block, bucket, table, head, end_tail);
                    }
                }
            }
            for (; run < block.runs; ++run) {
                const std::uint32_t c = stream.runs[run].label;
                P count;
                load_row(count, table.counts, c);
                store_row(count, table.start_counts, c);
                table.start_passed[c] = table.passed[c];
            }
            head = next;
            begin = block.end;
        }
    }
};

template <class Int>
struct ManyClassKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream<Int>* stream, const std::uint8_t* bucket,
                                ClassCounts<Int>* table, Best<Int>* best) {
        ManyClassPass<Int, Bytes> pass;
        pass.best.left.load(best->left);
        pass.best.right.load(best->right);
        pass.run(*stream, bucket, *table, *best);
        pass.best.left.store(best->left);
        pass.best.right.store(best->right);
    }
};

template <class Int>
class ManyClassScan {
 public:
    static constexpr std::uint32_t lanes = lane_count<Int>;

    ManyClassScan(std::span<const std::uint16_t> labels, std::uint32_t classes, KernelPath path)
        : labels_(labels), local_class_(classes), pass_(kernel(path)) {}

    void prepare(const Subset& subset, std::span<const std::uint32_t> feature_rank) {
        subset_ = &subset;
        size_ = subset.size();
        const std::uint32_t features = subset.features();
        const std::size_t cells = static_cast<std::size_t>(size_) * features;
        if (grouped_.size() < cells) grouped_.resize(cells);
        read_labels(subset);

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
                                static_cast<std::uint32_t>(first_[f + 1].block - first_[f].block)});
        });
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) {
        Best<Int> best{};
        count_sides(f, thresholds, best);
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n = subset_->group_end(f)[thresholds[j]];
            best.left[j] = std::max(best.left[j], correct(n, left[j] - lambda));
            best.right[j] = std::max(best.right[j], correct(size_ - n, right[j] - lambda));
        }
        fill_buckets(*subset_, f, thresholds, buckets_);
        for (const Stream<Int>& stream : streams_) {
            if (stop.reached()) return false;
            pass_(&stream, buckets_.data(), &table_, &best);
        }
        const auto ends = subset_->group_end(f);
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n = ends[thresholds[j]];
            const double m = size_ - n;
            left[j] = std::min({left[j], n - best.left_leaf[j], n - best.left[j] + lambda});
            right[j] = std::min({right[j], m - best.right_leaf[j], m - best.right[j] + lambda});
        }
        return true;
    }

 private:
    using Id = std::make_unsigned_t<Int>;
    using Kernel = void (*)(const Stream<Int>*, const std::uint8_t*, ClassCounts<Int>*, Best<Int>*);

    static Kernel kernel(KernelPath path) {
        return kernel_function<ManyClassKernel<Int>, const Stream<Int>*, const std::uint8_t*,
                               ClassCounts<Int>*, Best<Int>*>(path);
    }

    // Correct samples out of n for a known number of errors that some split attains.
    static Int correct(double n, double errors) {
        return errors < n ? static_cast<Int>(n - std::max(0.0, std::ceil(errors))) : Int{0};
    }

    // Classes that occur in the subset, numbered from zero; the others would only cost time.
    void read_labels(const Subset& subset) {
        constexpr std::uint16_t unseen = 0xffff;
        std::fill(local_class_.begin(), local_class_.end(), unseen);
        label_.resize(size_);
        totals_.clear();
        const auto samples = subset.samples();
        for (std::uint32_t id = 0; id < size_; ++id) {
            std::uint16_t& local = local_class_[labels_[samples[id]]];
            if (local == unseen) {
                local = static_cast<std::uint16_t>(totals_.size());
                totals_.push_back(0);
            }
            label_[id] = local;
            ++totals_[local];
        }
        table_.resize(static_cast<std::uint32_t>(totals_.size()));
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
            for (std::uint32_t k = begin; k < end; ++k) {
                const std::uint32_t c = label_[order[k]];
                if (start[c]++ == 0) runs_.push_back({c, 0});
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

    // Class totals of both sides of every threshold; thresholds are ascending.
    void count_sides(std::uint32_t f, std::span<const std::uint32_t> thresholds, Best<Int>& best) {
        const auto ends = subset_->group_end(f);
        const auto order = subset_->order(f);
        std::vector<std::uint32_t>& seen = class_start_;
        seen.assign(totals_.size(), 0);
        std::uint32_t k = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            for (; k < ends[thresholds[j]]; ++k) ++seen[label_[order[k]]];
            Int left_leaf = 0, right_leaf = 0;
            for (std::size_t c = 0; c < totals_.size(); ++c) {
                const Int left = static_cast<Int>(seen[c]);
                const Int right = static_cast<Int>(totals_[c] - seen[c]);
                table_.left_total[c * lanes + j] = left;
                table_.right_total[c * lanes + j] = right;
                left_leaf = std::max(left_leaf, left);
                right_leaf = std::max(right_leaf, right);
            }
            best.left_leaf[j] = best.left[j] = left_leaf;
            best.right_leaf[j] = best.right[j] = right_leaf;
        }
        // Lanes without a threshold must never ask for a walk.
        for (std::size_t j = thresholds.size(); j < lanes; ++j) {
            best.left[j] = best.right[j] = static_cast<Int>(size_);
            for (std::size_t c = 0; c < totals_.size(); ++c)
                table_.left_total[c * lanes + j] = table_.right_total[c * lanes + j] = 0;
        }
    }

    std::span<const std::uint16_t> labels_;
    std::vector<std::uint16_t> local_class_;
    Kernel pass_;
    const Subset* subset_ = nullptr;
    std::uint32_t size_ = 0;
    std::vector<Id> grouped_;
    std::vector<std::uint16_t> label_;
    std::vector<std::uint8_t> buckets_;
    std::vector<Run> runs_;
    std::vector<Block> blocks_;
    struct First {
        std::size_t run, block;
    };
    std::vector<First> first_;  // per feature
    std::vector<std::uint32_t> totals_, class_start_;
    std::vector<Stream<Int>> streams_;
    ClassCounts<Int> table_;
};

}  // namespace

std::unique_ptr<Scanner> make_many_class_scanner(std::span<const std::uint16_t> labels, std::uint32_t classes,
                                                 KernelPath path) {
    return std::make_unique<NarrowOrWideScanner<ManyClassScan>>(labels, classes, path);
}

}  // namespace codt
