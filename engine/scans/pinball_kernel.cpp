#include "scans/pinball_kernel.hpp"

#include <algorithm>
#include <span>

namespace codt {

void PinballKernel::offer(std::size_t s, std::size_t lane, const Candidate& found) {
    Side& side = sides_[s][lane];
    const auto is_no_candidate = [&](const Candidate& candidate) {
        return candidate.loss > side.best + 2 * targets_.rounding;
    };
    if (!keeps_candidates_) {
        if (found.loss >= side.best) return;
        side.best = found.loss;
        set_limit(s, lane);
        return;
    }
    if (found.loss < side.best) {
        // So are those that there was no room for, if the best of all is none any more.
        side.is_sure |= side.best > found.loss + 2 * targets_.rounding;
        side.best = found.loss;
        set_limit(s, lane);
        std::erase_if(side.candidates, is_no_candidate);
    } else if (targets_.rounding == 0 || is_no_candidate(found)) {
        return;
    }
    if (side.candidates.size() < most_candidates)
        side.candidates.push_back(found);
    else
        side.is_sure = false;
}

// The loss of a side that is split at a boundary of a feature, with targets as they are.
double PinballKernel::exact_loss(std::size_t s, std::size_t lane, std::size_t cell,
                                 std::uint32_t boundary) const {
    const std::uint32_t* const place = place_.data() + cell;
    std::vector<std::uint32_t> parts[2];
    for (auto& part : parts) part.resize(targets_.size() + 1);  // one spare, for what is in neither part
    std::size_t sizes[2] = {0, 0};
    for (std::uint32_t r = 0; r < targets_.size(); ++r) {
        const bool is_here = (code_[r] <= lane) == (s == 0), is_before = place[r] < boundary;
        parts[0][sizes[0]] = parts[1][sizes[1]] = r;
        sizes[0] += is_here && is_before;
        sizes[1] += is_here && !is_before;
    }
    return targets_.loss(std::span(parts[0]).first(sizes[0])) +
           targets_.loss(std::span(parts[1]).first(sizes[1]));
}

// The loss of a side that is split behind the first k samples of a feature; `place` are theirs in its order.
double PinballKernel::loss(std::size_t s, std::size_t lane, const std::uint32_t* place, std::uint32_t k,
                           const Boundary& at) const {
    const Bits& side = sides_[s][lane].bits;
    double sum = 0, lowest = 0;
    for (std::size_t p = 2 * s; p < 2 * s + 2; ++p) {
        sum += at.sum[p][lane];
        lowest += at.low_sum[p][lane];
        double open = targets_.quantile * at.weight[p][lane] - at.low_weight[p][lane];
        if (!(open > 0)) continue;
        const std::uint32_t first = targets_.first[at.bucket[p][lane]];
        std::size_t w = first / 64;
        std::uint64_t bits = side[w] & (~std::uint64_t{0} << (first % 64));
        while (open > 0) {
            while (bits == 0) bits = side[++w];
            const std::uint32_t r =
                static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(bits));
            bits &= bits - 1;
            if ((place[r] < k) != (p % 2 == 0)) continue;
            const double part = std::min<double>(open, targets_.whole[r].weight);
            lowest += part * targets_.mean[r];
            open -= part;
        }
    }
    return targets_.error.above * sum - targets_.both() * lowest;
}

// Before the first pass: which samples are on which side, and the losses of leaves.
void PinballKernel::begin(const Boundary& nothing_before) {
    is_begun_ = true;
    before_.assign(targets_.size() / 64 + 1, 0);
    for (Side& left : sides_[0]) left.bits.assign(before_.size(), 0);
    for (std::uint32_t r = 0; r < targets_.size(); ++r)
        if (code_[r] < lanes) flip(sides_[0][code_[r]].bits, r);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        Bits& left = sides_[0][lane].bits;
        Bits& right = sides_[1][lane].bits;
        right.resize(left.size());
        for (std::size_t w = 0; w < left.size(); ++w) {
            if (lane > 0) left[w] |= sides_[0][lane - 1].bits[w];
            right[w] = ~left[w];
        }
        right.back() &= ~(~std::uint64_t{0} << (targets_.size() % 64));
        for (std::size_t s = 0; s < 2; ++s)
            sides_[s][lane].whole = loss(s, lane, place_.data(), 0, nothing_before);
    }
}

// Evaluates a boundary, if its bound does not rule it out.
void PinballKernel::look(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t k,
                         const Boundary& at) {
    if (k == targets_.size()) return;
    if (at.loss[2 * s][lane] + at.loss[2 * s + 1][lane] < limit_[s][lane])
        offer(s, lane, {loss(s, lane, place_.data() + stream.cell, k, at), stream.cell, k});
}

// Evaluates the boundaries of a block: ends[0] is where it begins, ends[1] where it ends.
void PinballKernel::walk(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t begin,
                         const Block& block, const Boundary* ends) {
    const Bits& side = sides_[s][lane].bits;
    // The samples of the side and the ends of their groups, gathered without a branch.
    struct Step {
        std::uint32_t rank, boundary;
    };
    Step steps[longest_block + 1];
    std::size_t count = 0;
    const std::uint32_t* const rank = rank_.data() + stream.cell;
    std::uint32_t k = begin;
    for (const std::uint32_t* group = stream.group_end + block.first_group; k < block.end; ++group) {
        for (; k < *group; ++k) {
            steps[count] = {rank[k], *group};
            count += holds(side, rank[k]);
        }
    }
    steps[count].boundary = 0;

    WalkedPart<true> before(targets_, side, before_);
    WalkedPart<false> behind(targets_, side, before_);
    const auto start = [&](auto& part, std::size_t p) {
        part.start(ends[0].weight[p][lane], ends[0].bucket[p][lane], ends[0].low_weight[p][lane],
                   ends[0].low_sum[p][lane]);
    };
    start(before, 2 * s);
    start(behind, 2 * s + 1);
    const double above = targets_.error.above, both = targets_.both();
    double sum_before = ends[0].sum[2 * s][lane];
    const double sum = sum_before + ends[0].sum[2 * s + 1][lane];
    std::size_t done = 0;
    while (done < count) {
        const auto [r, boundary] = steps[done];
        flip(before_, r);
        before.insert(r);
        behind.erase(r);
        sum_before += targets_.whole[r].sum;
        if (boundary == steps[++done].boundary) continue;
        const double lowest = before.lowest();
        const double loss = above * sum - both * (lowest + behind.lowest());
        if (keeps_candidates_ || loss < sides_[s][lane].best) offer(s, lane, {loss, stream.cell, boundary});
        // No boundary from here on loses less than this.
        if (above * sum_before - both * lowest + ends[1].loss[2 * s + 1][lane] >= limit_[s][lane]) break;
    }
    while (done > 0) flip(before_, steps[--done].rank);
}

}  // namespace codt
