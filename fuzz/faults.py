"""Faults to plant, one at a time, in the sources: each changes results, and the fuzzer must find it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes
    ----------
    name : str
        What is wrong with it.
    file : str
        The file to change, relative to the top folder.
    old, new : str
        The text to replace, which must occur exactly once, and its replacement.
    """

    name: str
    file: str
    old: str
    new: str


FAULTS = (
    Fault(
        "a bound too high by one",
        "engine/objectives/clusters.cpp",
        "        losses.push_back(rest);\n",
        "        losses.push_back(k > 0 ? rest + 1 : rest);\n",
    ),
    Fault(
        "a penalty too many in a bound",
        "engine/bounds/lower_bounds.cpp",
        "static_cast<double>(k) * lambda + losses[k]",
        "static_cast<double>(k + 1) * lambda + losses[k]",
    ),
    Fault(
        "a prediction taken for superfluous where a sample speaks for it",
        "engine/objectives/dominated.cpp",
        "&& !next(prediction, row + 1);",
        "&& !next(prediction, row);",
    ),
    Fault(
        "a missing penalty",
        "engine/terminal/depth_two_evaluators.cpp",
        "result.offer(prices.of(batch.feature) + (batch.left[j] + batch.right[j]), batch.feature,",
        "result.offer(batch.left[j] + batch.right[j], batch.feature,",
    ),
    Fault(
        "upper bounds taken for lower ones under limits on leaves",
        "engine/terminal/depth_two_evaluators.cpp",
        "        std::swap(batches[b].left, lower_[b].left);\n",
        "",
    ),
    Fault(
        "a side that may only be a leaf bounded as if it may not split, and the other way round",
        "engine/terminal/depth_two_evaluators.cpp",
        "is_leaf(0, shares.first + share) ? leaf_sides_.left(f, t) : left,",
        "!is_leaf(0, shares.first + share) ? leaf_sides_.left(f, t) : left,",
    ),
    Fault(
        "the price of a second feature dropped",
        "engine/scans/scan_driver.hpp",
        "{ return prices.of(stream.feature); };",
        "{ return prices.of(stream.feature) * 0 + prices.least(); };",
    ),
    Fault(
        "a second feature left out by its worth on the other side",
        "engine/scans/second_feature_bounds.hpp",
        "raise(s, 0, lane, kept_[std::prev(after)->first + 2 * s]);",
        "raise(s, 0, lane, kept_[std::prev(after)->first + 2 * s + 1]);",
    ),
    Fault(
        "the largest price in a bound instead of the least",
        "engine/bounds/lower_bounds.cpp",
        "const double lambda = settings.prices.least();",
        "const double lambda = settings.prices.most();",
    ),
    Fault(
        "a wrong leaf count",
        "engine/search/sides.cpp",
        "stump[side] = node.budget.of_side(side, job.left_leaves).leaves > 1;",
        "stump[side] = node.budget.of_side(side, job.left_leaves).leaves >= 1;",
    ),
    Fault(
        "a lost sample",
        "engine/scans/two_class_scan.cpp",
        "for (std::uint32_t k = begin; k < block.end; ++k) add(block.ones, order[k]);",
        "for (std::uint32_t k = begin + (block.end - begin > 2); k < block.end; ++k) add(block.ones, order[k]);",
    ),
    Fault(
        "a swapped side",
        "engine/bounds/similarity.cpp",
        "        if (p) least_left_ = p->left_lower;\n        if (q) least_right_ = q->right_lower;\n",
        "        if (p) least_right_ = p->left_lower;\n        if (q) least_left_ = q->right_lower;\n",
    ),
    Fault(
        "a tolerance too wide",
        "engine/search/backpropagate.cpp",
        "    const double target = node.cutoff() - settings_.tolerance;\n",
        "    const double target = node.cutoff() - settings_.tolerance - 1e-4 * root_.leaf_loss;\n",
    ),
    Fault(
        "a cutoff that is not passed on",
        "engine/search/select.cpp",
        "below->upper = relaxed - settings_.prices.of(child.feature) - and_node.sides[1 - *side].lower.allowed;",
        "below->upper = relaxed - settings_.prices.of(child.feature) - and_node.sides[1 - *side].incumbent;",
    ),
    Fault(
        "a lane that is not padded",
        "engine/scans/scan_driver.hpp",
        "for (const std::size_t last = lanes_.size(); k < order.size(); ++k)",
        "for (const std::size_t last = lanes_.size() - 1; k < order.size(); ++k)",
    ),
    Fault(
        "a stale table",
        "engine/terminal/leaf_sides.cpp",
        "    for (Losses& losses : losses_) losses.ready = false;\n",
        "",
    ),
    Fault(
        "an interval end off by one",
        "engine/bounds/similarity.cpp",
        "        interval.first =\n            first_from(",
        "        interval.first =\n            1 + first_from(",
    ),
    Fault(
        "a wrong weight share",
        "src/codt/problem/problem.py",
        "float(min_weight_fraction_leaf * self.weight)",
        "float(0.5 * min_weight_fraction_leaf * self.weight)",
    ),
    Fault(
        "a wrong merge of equal rows",
        "engine/data/equal_rows.cpp",
        "            ++rows.count[table[place] - 1];\n",
        "            if (rows.count[table[place] - 1] < 100) ++rows.count[table[place] - 1];\n",
    ),
    Fault(
        "a neighbour's bound without the samples between",
        "engine/bounds/similarity.hpp",
        "after_left_ - (after_ - worst_[t])",
        "after_left_",
    ),
    Fault(
        "a least decrease that is forgotten",
        "engine/search/backpropagate.cpp",
        "    if (objective >= node.incumbent || !settings_.allows(node.leaf_loss, objective)) return;\n",
        "    if (objective >= node.incumbent) return;\n",
    ),
    Fault(
        "a running total that is not kept",
        "engine/scans/squared_error_blocks.hpp",
        "                total += y;\n",
        "",
    ),
    Fault(
        "a gap limit that is too wide",
        "engine/search/gap.cpp",
        "upper_bound_ - lower <= limits_.gap * upper_bound_",
        "upper_bound_ - lower <= 2 * limits_.gap * upper_bound_",
    ),
    Fault(
        "the target of a gap limit taken for the optimum",
        "engine/search/backpropagate.cpp",
        "(ends_at_target(node) ? at_target_ : node.complete) = true;",
        "node.complete = true;",
    ),
    Fault(
        "a search that begins again without its tree",
        "engine/search/gap.cpp",
        "target_ < gap_target())\n        restart(objective_, root_.solution);",
        "target_ < gap_target())\n        restart(objective_, leaf_solution());",
    ),
    Fault(
        "a median that stops too early",
        "engine/objectives/quantile_walk.hpp",
        "        while (below_weight_ > share && previous_[at(place_)] != none) step_down();\n",
        "        if (below_weight_ > share && previous_[at(place_)] != none) step_down();\n",
    ),
    Fault(
        "targets rounded without a margin",
        "engine/scans/pinball_targets.cpp",
        "    rounding = hair *",
        "    rounding = 0 * hair *",
    ),
    Fault(
        "a quantile that forgets a removed sample",
        "engine/scans/pinball_walk.hpp",
        "        if (r < at_) {\n            add_low(sample, -1);\n        } else if (r == at_) {",
        "        if (r == at_) {",
    ),
    Fault(
        "a quantile sought from a place that is out of date",
        "engine/scans/pinball_kernel.cpp",
        "            low[1].weight -= goes * sample.weight;\n",
        "",
    ),
    Fault(
        "samples between thresholds that lose on both sides",
        "engine/bounds/loss_between.cpp",
        "end - end_of(f, last);",
        "end - end_of(f, first);",
    ),
    Fault(
        "a quantile that is sought in too few buckets",
        "engine/scans/pinball_bounds.hpp",
        "floor((of_part - down * moved)",
        "floor((of_part + 0 * moved)",
    ),
    Fault(
        "a trace that is ahead of the proof",
        "engine/search/search.cpp",
        "priced_lower = std::min(root_.lower.allowed, root_.incumbent);",
        "priced_lower = (root_.lower.allowed + root_.incumbent) / 2;",
    ),
    Fault(
        "class shares: a sample adds too little",
        "engine/objectives/class_shares.cpp",
        "std::min(most, own *",
        "0.5 * std::min(most, own *",
    ),
    Fault(
        "class shares: weights of equal rows lost",
        "engine/objectives/class_shares.cpp",
        "weighted_ ? nullptr : make",
        "make",
    ),
    Fault(
        "rates: one end of the range forgotten",
        "engine/objectives/deviances.cpp",
        "std::max(high, of_end(row, range.low))",
        "of_end(row, range.low)",
    ),
    Fault(
        "rates: one origin for all targets",
        "engine/objectives/deviance_costs.hpp",
        "clusters.size() + 1 < most &&",
        "clusters.size() + 1 < most && false &&",
    ),
    Fault(
        "rates: clusters that are too narrow",
        "engine/objectives/deviance_costs.hpp",
        "ceiling * (1 + 1e-6)",
        "ceiling * 1e-6",
    ),
    Fault(
        "blocks passed over too early",
        "engine/objectives/block_scanner.hpp",
        "before[side] + loss_of_rest(ahead_, side) + price < best_[side];",
        "before[side] + loss_of_rest(here_, side) + price < best_[side];",
    ),
    Fault(
        "a bound from outside that is one too high",
        "engine/search/knowledge.cpp",
        "std::ceil(count * (1 - wanted_precision))",
        "std::floor(count + 1)",
    ),
    Fault(
        "a tree from outside that is not checked",
        "engine/search/knowledge.cpp",
        "        check_rules(solution, tree, *data_, rows, objective->unit(), settings, options_.rules);\n",
        "",
    ),
    Fault(
        "a price of ties that is too high",
        "engine/rules/ties.hpp",
        "std::ldexp(1.0, -bits)",
        "std::ldexp(1.0, 1 - bits)",
    ),
    Fault(
        "a price of ties left in a bound",
        "engine/rules/ties.hpp",
        "std::ceil(lower - most)",
        "std::ceil(lower)",
    ),
    Fault(
        "a size called proven that is not",
        "engine/search/refine.cpp",
        "options_.ties != Ties::any && !prices_wait()",
        "options_.ties != Ties::any && !prices_wait() && root_.budget.depth < 3",
    ),
    Fault(
        "missing values sent to the larger side",
        "src/codt/search/translation.py",
        'tests["missing"][node] = column.missing if gone.any() else larger',
        'tests["missing"][node] = larger',
    ),
    Fault(
        "missing values in one order only",
        "src/codt/search/columns.py",
        "sides = (RIGHT, LEFT) if",
        "sides = (RIGHT, RIGHT) if",
    ),
    Fault(
        "a category that no test asks for",
        "src/codt/search/columns.py",
        "for i in range(0, len(present), 2)]",
        "for i in range(0, len(present) - 1, 2)]",
    ),
    Fault(
        "sets of categories that are in no chain",
        "src/codt/search/columns.py",
        "return [chain for chain in chains if len(chain) > 1]",
        "return [chain for chain in chains if len(chain) > 1][:2]",
    ),
    Fault(
        "a named side that is the larger one",
        "src/codt/search/translation.py",
        "swap = 2 * np.count_nonzero(on_left) > len(rows) if",
        "swap = False if",
    ),
    Fault(
        "both orders: no boundary behind missing samples",
        "engine/scans/many_class_pass.hpp",
        "            tail.maximum(rest);\n        }\n        offer(head, tail);\n",
        "            tail.maximum(rest);\n        }\n",
    ),
    Fault(
        "both orders: missing samples in the wrong lane",
        "engine/scans/scan_driver.hpp",
        "missing_left |= std::uint64_t{1} << lane;",
        "missing_left |= std::uint64_t{2} << lane;",
    ),
    Fault(
        "both orders: groups as if no sample were missing",
        "engine/data/subset.cpp",
        "return apart ? end + missing : end;",
        "return end;",
    ),
    Fault(
        "a side of a block that is never walked",
        "engine/scans/two_sums_pass.hpp",
        "std::uint32_t left_of_run = in.left, right_of_run = in.right;",
        "std::uint32_t left_of_run = in.left, right_of_run = 0;",
    ),
    Fault(
        "the second of two blocks that is never walked",
        "engine/scans/two_sums_pass.hpp",
        "part.more.subtract(in.first);",
        "part.more.clear();",
    ),
    Fault(
        "a lane of several classes that is walked on the wrong side",
        "engine/scans/share_pass.hpp",
        "(bucket[id] <= lane) == on_left",
        "(bucket[id] < lane) == on_left",
    ),
    Fault(
        "a lane of two classes that is walked without the class-1 samples before the block",
        "engine/scans/two_class_lane_walk.hpp",
        "float before_k = k[lane], before_s = s[lane];",
        "float before_k = k[lane], before_s = 0;",
    ),
    Fault(
        "two blocks of several classes in doubt, of which the first is not walked",
        "engine/scans/share_pass.hpp",
        "now.left &= in.left;",
        "now.left = 0;",
    ),
    Fault(
        "a chord beyond the curvature",
        "engine/scans/two_sums_families.hpp",
        "m * (family.flat() - of_end(bottom)) / (1 - bottom)",
        "m * (family.flat() - of_end(bottom)) / (2 - bottom)",
    ),
    Fault(
        "rates: the chord near the mean as if it held everywhere",
        "engine/scans/two_sums_families.hpp",
        "shape.far_flat = m * m * (of_end(knot) - far * (knot - 1));",
        "shape.far_flat = m * m * (of_end(knot) + far * (knot - 1));",
    ),
    Fault(
        "rates: the higher parts of sums left out",
        "engine/scans/rounded_sums.hpp",
        "if constexpr (WideSum) sums.of[3].add_where",
        "if constexpr (WideSum && WideWeight) sums.of[3].add_where",
    ),
    Fault(
        "rates: sums kept along an order, and one sample fewer",
        "engine/scans/kept_sums.hpp",
        "for (std::uint32_t k = known * every; k < place; ++k) kernel.add(sums, order[k]);",
        "for (std::uint32_t k = known * every; k + 1 < place; ++k) kernel.add(sums, order[k]);",
    ),
    Fault(
        "a first block that is never walked",
        "engine/scans/share_pass.hpp",
        "if (first.several) {",
        "if (first.several && begin > 0) {",
    ),
    Fault(
        "several features in a batch: a sample left of one threshold too few",
        "engine/scans/sample_rows.hpp",
        "lane = bucket; lane < Width",
        "lane = bucket + 1; lane < Width",
    ),
    Fault(
        "several features in a batch: the lanes of the second feature in the wrong place",
        "engine/scans/scan_driver.hpp",
        "first_lane += widths[b];",
        "first_lane += widths[b] / 2;",
    ),
    Fault(
        "cross features: samples that change side for free",
        "engine/bounds/cross_features.cpp",
        "return larger(right - right_left, left - left_left);",
        "return larger(right, left - left_left);",
    ),
    Fault(
        "cross features: the wrong side's cost",
        "engine/bounds/cross_features.cpp",
        "right - (right_cost - right_left)",
        "right - (left_cost - right_left)",
    ),
    Fault(
        "dual steps: a side that is closed",
        "engine/search/dual.cpp",
        "if (children.held(beside[side]) || !branch.selectable() || !(branch.room() > most)) continue;",
        "if (children.held(beside[side]) || !(branch.room() > most)) continue;",
    ),
    Fault(
        "dual steps: a threshold behind the interval",
        "engine/search/dual.cpp",
        "    return low;\n",
        "    return low + 1;\n",
    ),
    Fault(
        "units: a cutoff less the other side's tree",
        "engine/search/units.cpp",
        "unit.known.cutoff = job.relaxed - result.sides[1 - side].lower.allowed;",
        "unit.known.cutoff = job.relaxed - result.sides[1 - side].incumbent;",
    ),
    Fault(
        "units: one that comes back unsolved taken for complete",
        "engine/search/units.cpp",
        "if (end == UnitEnd::complete) result.sides[side].node.reset();",
        "if (end != UnitEnd::memory_limit) result.sides[side].node.reset();",
    ),
    Fault(
        "units: bounds passed on in the wrong direction",
        "engine/frontier/children_bounds.cpp",
        "child.first, evaluated(&Child::previous),\n                           evaluated(&Child::next)};",
        "child.first, evaluated(&Child::next),\n                           evaluated(&Child::previous)};",
    ),
    Fault(
        "units: one that ends at its cutoff taken for solved",
        "engine/search/units.cpp",
        "raise_side(branch, report.lower);",
        "raise_side(branch, report.end == UnitEnd::complete ? Bound::both(branch.incumbent) : report.lower);",
    ),
    Fault(
        "units: a tree that is not taken",
        "engine/search/units.cpp",
        "if (report.solution && report.incumbent < branch.incumbent) {",
        "if (report.solution && report.incumbent < branch.incumbent && report.end == UnitEnd::none) {",
    ),
    Fault(
        "samples between thresholds: the largest class alone in a group, however small it is",
        "engine/objectives/class_shares.cpp",
        "const double first = std::max(most, total / count), rest = total - first;",
        "const double first = most, rest = total - first;",
    ),
    Fault(
        "samples between thresholds: one group fewer than there are leaves",
        "engine/objectives/class_shares.cpp",
        "for (const double w : largest) rest -= w;",
        "for (std::uint32_t k = 0; k + 1 < count; ++k) rest -= largest[k];",
    ),
    Fault(
        "sides walked one by one: what lies before the block is left out",
        "engine/scans/squared_error_lane_walk.hpp",
        "Register sum_before = Register{} + sum;",
        "Register sum_before = Register{} + 0 * sum;",
    ),
    Fault(
        "sides solved less far than the thresholds next to a split need",
        "engine/frontier/children_bounds.cpp",
        "left = target - (interval.after ? interval.after->right_lower : 0.0);",
        "left = target - (interval.after ? interval.after->sum() : 0.0);",
    ),
    Fault(
        "a side that is solved only as far as it matters taken for solved",
        "engine/search/sides.cpp",
        "    branch.lower = found.lower;\n",
        "    branch.lower = Bound::both(found.upper);\n",
    ),
)
