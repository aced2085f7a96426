// A depth-one tree that splits a side's n samples at boundary p classifies correctly
//
//     head(p) + tail(p),   head(p) = max_c a_c(p),   tail(p) = max_c (n_c - a_c(p)),
//
// where a_c(p) counts the side's samples of class c before p. head only grows along the order and tail only
// falls, so head at a block's end plus tail at its start bounds every boundary inside the block (see
// blocks.hpp). While that does not beat the best found so far, in any lane on either side, only counts are
// needed, and these do not depend on the order inside the block: its samples are grouped by class, and each
// group is counted in a register. A block that might do better is walked twice, backwards for tail and
// forwards for head.
#include "terminal/many_class_scan.hpp"

#include <algorithm>
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
    bool several;        // more than one value
};

template <class Int>
struct Stream {
    using Id = std::make_unsigned_t<Int>;
    const Id* ordered;               // ids in sorted order
    const Id* grouped;               // the same ids, grouped by class within each block
    const std::uint16_t* labels;     // class of ordered[k]
    const std::uint8_t* boundaries;  // 1 if the value changes behind position k
    const Run* runs;                 // of all blocks
    const Block* blocks;
    std::uint32_t block_count;
};

// Per class a row of lanes; `counts` and `totals` change during a pass, the others are fixed by the
// thresholds.
template <class Int>
struct ClassCounts {
    std::uint32_t classes = 0;
    std::vector<Int> left_total;   // samples of the class left of each threshold
    std::vector<Int> right_total;  // and right of it
    std::vector<Int> counts;       // left samples passed so far
    std::vector<Int> passed;       // all samples passed so far, one number per class

    void resize(std::uint32_t n) {
        classes = n;
        const std::size_t cells = static_cast<std::size_t>(n) * lane_count<Int>;
        left_total.assign(cells, 0);
        right_total.assign(cells, 0);
        counts.resize(cells);
        passed.resize(n);
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

    P limits, best_left, best_right;

    CODT_INLINE static void load_row(P& pack, const std::vector<Int>& table, std::uint32_t c) {
        pack.load(table.data() + static_cast<std::size_t>(c) * lanes);
    }
    CODT_INLINE static void store_row(const P& pack, std::vector<Int>& table, std::uint32_t c) {
        pack.store(table.data() + static_cast<std::size_t>(c) * lanes);
    }

    // tail(p) of both sides from the counts at p.
    CODT_INLINE static void tails(const ClassCounts<Int>& table, P& left, P& right) {
        left.fill(0);
        right.fill(0);
        for (std::uint32_t c = 0; c < table.classes; ++c) raise_tails(table, c, left, right);
    }
    CODT_INLINE static void raise_tails(const ClassCounts<Int>& table, std::uint32_t c, P& left, P& right) {
        P count, rest;
        load_row(count, table.counts, c);
        load_row(rest, table.left_total, c);
        rest.subtract(count);
        left.maximum(rest);
        load_row(rest, table.right_total, c);
        count.subtract_from(table.passed[c]);
        rest.subtract(count);
        right.maximum(rest);
    }

    CODT_INLINE void walk(const Stream<Int>& stream, std::uint32_t begin, std::uint32_t end, const Int* rank,
                          ClassCounts<Int>& table, P head_left, P head_right, P tail_left, P tail_right) {
        P tails_left[block_size], tails_right[block_size];
        for (std::uint32_t k = end; k-- > begin;) {
            tails_left[k - begin] = tail_left;
            tails_right[k - begin] = tail_right;
            const std::uint32_t c = stream.labels[k];
            P step, count;
            step.fill(0);
            step.count_left(limits, rank[stream.ordered[k]]);
            load_row(count, table.counts, c);
            count.subtract(step);
            store_row(count, table.counts, c);
            --table.passed[c];
            raise_tails(table, c, tail_left, tail_right);
        }
        for (std::uint32_t k = begin; k < end; ++k) {
            const std::uint32_t c = stream.labels[k];
            P count;
            load_row(count, table.counts, c);
            count.count_left(limits, rank[stream.ordered[k]]);
            store_row(count, table.counts, c);
            ++table.passed[c];
            head_left.maximum(count);
            count.subtract_from(table.passed[c]);
            head_right.maximum(count);
            if (stream.boundaries[k])
                offer(head_left, head_right, tails_left[k - begin], tails_right[k - begin]);
        }
    }

    CODT_INLINE void offer(const P& head_left, const P& head_right, const P& tail_left, const P& tail_right) {
        P sum = head_left;
        sum.add(tail_left);
        best_left.maximum(sum);
        sum = head_right;
        sum.add(tail_right);
        best_right.maximum(sum);
    }

    CODT_INLINE void run(const Stream<Int>& stream, const Int* rank, ClassCounts<Int>& table,
                         const Best<Int>& best) {
        std::fill(table.counts.begin(), table.counts.end(), Int{0});
        std::fill(table.passed.begin(), table.passed.end(), Int{0});
        P head_left, head_right, tail_left, tail_right;
        head_left.fill(0);
        head_right.fill(0);
        tail_left.load(best.left_leaf);
        tail_right.load(best.right_leaf);
        std::uint32_t run = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t b = 0; b < stream.block_count; ++b) {
            const Block block = stream.blocks[b];
            P next_left = head_left, next_right = head_right;
            std::uint32_t k = begin;
            for (; run < block.runs; ++run) {
                const std::uint32_t c = stream.runs[run].label;
                P count;
                load_row(count, table.counts, c);
                for (const std::uint32_t stop = k + stream.runs[run].length; k < stop; ++k)
                    count.count_left(limits, rank[stream.grouped[k]]);
                store_row(count, table.counts, c);
                table.passed[c] =
                    static_cast<Int>(table.passed[c] + static_cast<Int>(stream.runs[run].length));
                next_left.maximum(count);
                count.subtract_from(table.passed[c]);
                next_right.maximum(count);
            }
            P end_left, end_right;
            tails(table, end_left, end_right);
            offer(next_left, next_right, end_left, end_right);
            if (block.several) {
                // Negative where the block might beat the best.
                P slack = best_left, other = best_right;
                slack.subtract(next_left);
                slack.subtract(tail_left);
                other.subtract(next_right);
                other.subtract(tail_right);
                slack.minimum(other);
                if (any_negative(slack))
                    walk(stream, begin, block.end, rank, table, head_left, head_right, end_left, end_right);
            }
            head_left = next_left;
            head_right = next_right;
            tail_left = end_left;
            tail_right = end_right;
            begin = block.end;
        }
    }
};

template <class Int>
struct ManyClassKernel {
    template <std::size_t Bytes>
    CODT_INLINE static void run(const Stream<Int>* stream, const Int* rank, const Int* limits,
                                ClassCounts<Int>* table, Best<Int>* best) {
        ManyClassPass<Int, Bytes> pass;
        pass.limits.load(limits);
        pass.best_left.load(best->left);
        pass.best_right.load(best->right);
        pass.run(*stream, rank, *table, *best);
        pass.best_left.store(best->left);
        pass.best_right.store(best->right);
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
        copy_ranks(subset, ranks_);
        if (ordered_.size() < cells) {
            ordered_.resize(cells);
            grouped_.resize(cells);
            ordered_labels_.resize(cells);
            boundaries_.resize(cells);
        }
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
            const std::size_t base = static_cast<std::size_t>(f) * size_;
            streams_.push_back({ordered_.data() + base, grouped_.data() + base, ordered_labels_.data() + base,
                                boundaries_.data() + base, runs_.data() + first_[f].run,
                                blocks_.data() + first_[f].block,
                                static_cast<std::uint32_t>(first_[f + 1].block - first_[f].block)});
        });
    }

    bool scan(std::uint32_t f, std::span<const std::uint32_t> thresholds, double lambda, double* left,
              double* right, StopCondition& stop) {
        alignas(pack_bytes) Int limits[lanes] = {};
        Best<Int> best{};
        count_sides(f, thresholds, limits, best);
        const Int* rank = ranks_.data() + static_cast<std::size_t>(f) * size_;
        for (const Stream<Int>& stream : streams_) {
            if (stop.reached()) return false;
            pass_(&stream, rank, limits, &table_, &best);
        }
        const auto ends = subset_->group_end(f);
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            const double n = ends[thresholds[j]];
            const double m = size_ - n;
            left[j] = std::min(n - best.left_leaf[j], n - best.left[j] + lambda);
            right[j] = std::min(m - best.right_leaf[j], m - best.right[j] + lambda);
        }
        return true;
    }

 private:
    using Id = std::make_unsigned_t<Int>;
    using Kernel = void (*)(const Stream<Int>*, const Int*, const Int*, ClassCounts<Int>*, Best<Int>*);

    static Kernel kernel(KernelPath path) {
        return kernel_function<ManyClassKernel<Int>, const Stream<Int>*, const Int*, const Int*,
                               ClassCounts<Int>*, Best<Int>*>(path);
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
        const std::size_t base = static_cast<std::size_t>(f) * size_;
        const auto order = subset.order(f);
        Id* ordered = ordered_.data() + base;
        Id* grouped = grouped_.data() + base;
        std::uint16_t* labels = ordered_labels_.data() + base;
        std::uint8_t* boundaries = boundaries_.data() + base;
        std::fill_n(boundaries, size_, std::uint8_t{0});
        for (const std::uint32_t end : subset.group_end(f)) boundaries[end - 1] = 1;
        const std::size_t first = runs_.size();
        std::vector<std::uint32_t>& start = class_start_;
        start.assign(totals_.size(), 0);
        for_each_block(subset.group_end(f), [&](std::uint32_t begin, std::uint32_t end, bool several) {
            const std::size_t block_first = runs_.size();
            for (std::uint32_t k = begin; k < end; ++k) {
                const std::uint32_t id = order[k];
                ordered[k] = static_cast<Id>(id);
                labels[k] = label_[id];
                if (start[labels[k]]++ == 0) runs_.push_back({labels[k], 0});
            }
            std::uint32_t position = begin;
            for (std::size_t r = block_first; r < runs_.size(); ++r) {
                runs_[r].length = start[runs_[r].label];
                start[runs_[r].label] = position;
                position += runs_[r].length;
            }
            for (std::uint32_t k = begin; k < end; ++k) grouped[start[labels[k]]++] = ordered[k];
            for (std::size_t r = block_first; r < runs_.size(); ++r) start[runs_[r].label] = 0;
            blocks_.push_back({end, static_cast<std::uint32_t>(runs_.size() - first), several});
        });
    }

    // Class totals of both sides of every threshold; thresholds are ascending.
    void count_sides(std::uint32_t f, std::span<const std::uint32_t> thresholds, Int* limits,
                     Best<Int>& best) {
        const auto ends = subset_->group_end(f);
        const std::uint16_t* labels = ordered_labels_.data() + static_cast<std::size_t>(f) * size_;
        std::vector<std::uint32_t>& seen = class_start_;
        seen.assign(totals_.size(), 0);
        std::uint32_t k = 0;
        for (std::size_t j = 0; j < thresholds.size(); ++j) {
            limits[j] = static_cast<Int>(thresholds[j] + 1);
            for (; k < ends[thresholds[j]]; ++k) ++seen[labels[k]];
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
    std::vector<Int> ranks_;
    std::vector<Id> ordered_, grouped_;
    std::vector<std::uint16_t> ordered_labels_, label_;
    std::vector<std::uint8_t> boundaries_;
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
