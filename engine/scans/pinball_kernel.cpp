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

// Finds the quantiles of both parts of a side at the boundary behind the first k samples of a feature. They
// are not far from where they were at the last boundary that was looked at, if few samples lie in between;
// with fewer of them than from the beginnings of buckets to the quantiles, the search begins there.
template <class Before, class Behind>
void PinballKernel::find_quantiles(std::size_t s, std::size_t lane, const std::uint32_t* rank,
                                   std::uint32_t k, const Boundary& at, Before& before, Behind& behind) {
    Side& side = sides_[s][lane];
    const std::size_t p = 2 * s;
    const std::int32_t weight[2] = {at.weight[p][lane], at.weight[p + 1][lane]};
    const std::int32_t bucket[2] = {at.bucket[p][lane], at.bucket[p + 1][lane]};
    const std::int32_t low_weight[2] = {at.low_weight[p][lane], at.low_weight[p + 1][lane]};
    const double in_buckets = targets_.quantile * (weight[0] + weight[1]) - (low_weight[0] + low_weight[1]);
    const std::uint32_t between = k > side.looked_at ? k - side.looked_at : side.looked_at - k;
    if (side.looked_at != nowhere && between * mean_weight_ < in_buckets) {
        LowSamples low[2] = {side.low[0], side.low[1]};
        const std::int32_t sign = k > side.looked_at ? 1 : -1;
        for (std::uint32_t i = std::min(k, side.looked_at); i < std::max(k, side.looked_at); ++i) {
            const std::uint32_t r = rank[i];
            const auto& sample = targets_.whole[r];
            const std::int32_t is_here = holds(side.bits.data(), r) ? sign : 0;
            const std::int32_t comes = r < low[0].rank ? is_here : 0, goes = r < low[1].rank ? is_here : 0;
            low[0].weight += comes * sample.weight;
            low[0].sum += comes * sample.sum;
            low[1].weight -= goes * sample.weight;
            low[1].sum -= goes * sample.sum;
        }
        before.start(weight[0], low[0]);
        behind.start(weight[1], low[1]);
    } else {
        const auto low = [&](std::size_t part) {
            return LowSamples{targets_.first[bucket[part]], low_weight[part], at.low_sum[p + part][lane]};
        };
        before.start_in_bucket(weight[0], bucket[0], low(0));
        behind.start_in_bucket(weight[1], bucket[1], low(1));
    }
    side.looked_at = k;
    side.low[0] = before.low();
    side.low[1] = behind.low();
}

// The loss of a side that is split behind the first k samples of the feature whose cells begin at `cell`.
double PinballKernel::loss(std::size_t s, std::size_t lane, std::size_t cell, std::uint32_t k,
                           const Boundary& at) {
    const std::uint64_t* const side = sides_[s][lane].bits.data();
    const std::uint32_t* const place = place_.data() + cell;
    WalkedPart before(targets_, PartByPlaces<true>{side, place, k});
    WalkedPart behind(targets_, PartByPlaces<false>{side, place, k});
    find_quantiles(s, lane, rank_.data() + cell, k, at, before, behind);
    const double sum = static_cast<double>(at.sum[2 * s][lane]) + at.sum[2 * s + 1][lane];
    return targets_.error.above * sum - targets_.both() * (before.lowest() + behind.lowest());
}

// Before the first pass: which samples are on which side, and the losses of leaves.
void PinballKernel::begin(const Boundary& nothing_before) {
    is_begun_ = true;
    before_.assign(targets_.size() / 64 + 1, 0);
    before_end_ = 0;
    for (Side& left : sides_[0]) left.bits.assign(before_.size(), 0);
    for (std::uint32_t r = 0; r < targets_.size(); ++r)
        if (code_[r] < lanes) flip(sides_[0][code_[r]].bits.data(), r);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        Bits& left = sides_[0][lane].bits;
        Bits& right = sides_[1][lane].bits;
        right.resize(left.size());
        for (std::size_t w = 0; w < left.size(); ++w) {
            if (lane > 0) left[w] |= sides_[0][lane - 1].bits[w];
            right[w] = ~left[w];
        }
        right.back() &= ~(~std::uint64_t{0} << (targets_.size() % 64));
        for (std::size_t s = 0; s < 2; ++s) sides_[s][lane].whole = loss(s, lane, 0, 0, nothing_before);
    }
}

// Evaluates a boundary, if its bound does not rule it out.
void PinballKernel::look(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t k,
                         const Boundary& at) {
    if (k == targets_.size()) return;
    if (at.loss[2 * s][lane] + at.loss[2 * s + 1][lane] < limit_[s][lane])
        offer(s, lane, {loss(s, lane, stream.cell, k, at), stream.cell, k});
}

// Evaluates the boundaries of a block: ends[0] is where it begins, ends[1] where it ends.
void PinballKernel::walk(std::size_t s, std::size_t lane, const Stream<Block>& stream, std::uint32_t begin,
                         const Block& block, const Boundary* ends) {
    const std::uint64_t* const side = sides_[s][lane].bits.data();
    std::uint64_t* const samples_before = before_.data();
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

    for (; before_end_ < begin; ++before_end_) flip(samples_before, rank[before_end_]);
    WalkedPart before(targets_, PartByBits<true>{side, samples_before});
    WalkedPart behind(targets_, PartByBits<false>{side, samples_before});
    find_quantiles(s, lane, rank, begin, ends[0], before, behind);
    const double above = targets_.error.above, both = targets_.both();
    double sum_before = ends[0].sum[2 * s][lane];
    const double sum = sum_before + ends[0].sum[2 * s + 1][lane];
    std::size_t done = 0;
    while (done < count) {
        const auto [r, boundary] = steps[done];
        flip(samples_before, r);
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
    while (done > 0) flip(samples_before, steps[--done].rank);
}

}  // namespace codt
