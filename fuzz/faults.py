"""Faults to plant, one at a time, in the sources: each changes results, and the fuzzer must find it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes
    ----------
    name : str
        What it stands for.
    file : str
        Where it goes, from the top folder.
    old, new : str
        The text to replace, which must be there once, and what takes its place.
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
        "a missing penalty",
        "engine/terminal/depth_two.cpp",
        "    const double objective = left + right + settings_.lambda;\n    if (objective >= result.upper) return;\n",
        "    const double objective = left + right;\n    if (objective >= result.upper) return;\n",
    ),
    Fault(
        "a wrong leaf count",
        "engine/search/expand.cpp",
        "stump[side] = node.budget.of_side(side, job.left_leaves).leaves > 1;",
        "stump[side] = node.budget.of_side(side, job.left_leaves).leaves >= 1;",
    ),
    Fault(
        "a lost sample",
        "engine/scans/two_class_scan.cpp",
        "            for (; k < *group; ++k) {\n",
        "            for (k += *group - k > 2; k < *group; ++k) {\n",
    ),
    Fault(
        "a swapped side",
        "engine/bounds/similarity.cpp",
        "        if (p) left = p->left_lower;\n        if (q) right = q->right_lower;\n",
        "        if (p) right = p->left_lower;\n        if (q) left = q->right_lower;\n",
    ),
    Fault(
        "a tolerance too wide",
        "engine/search/search.cpp",
        "exact ? 0.0 : std::max(1e-12 *",
        "exact ? 0.0 : std::max(1e-4 *",
    ),
    Fault(
        "a cutoff that is not passed on",
        "engine/search/select.cpp",
        "below->upper = relaxed - settings_.lambda - and_node.sides[1 - side].lower;",
        "below->upper = relaxed - settings_.lambda - and_node.sides[1 - side].incumbent;",
    ),
    Fault(
        "a lane that is not padded",
        "engine/scans/two_class_scan.cpp",
        "        code_until(size, thresholds.size());\n",
        "        code_until(size, thresholds.size() - 1);\n",
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
        "        interval.first = low;\n",
        "        interval.first = low + 1;\n",
    ),
    Fault(
        "a wrong weight share",
        "src/codt/problem.py",
        "float(min_weight_fraction_leaf * self.weights.sum())",
        "float(0.5 * min_weight_fraction_leaf * self.weights.sum())",
    ),
    Fault(
        "a wrong merge of equal rows",
        "engine/data/equal_rows.cpp",
        "            ++rows.count[table[place] - 1];\n",
        "            if (rows.count[table[place] - 1] < 100) ++rows.count[table[place] - 1];\n",
    ),
    Fault(
        "a neighbour's bound without the samples between",
        "engine/bounds/similarity.cpp",
        "q->left_lower - worst.between(interval.feature, t, q->threshold)",
        "q->left_lower",
    ),
    Fault(
        "a least decrease that is forgotten",
        "engine/search/backpropagate.cpp",
        "    if (objective < node.incumbent && settings_.allows(node.leaf_loss, objective)) {\n",
        "    if (objective < node.incumbent) {\n",
    ),
    Fault(
        "a running total that is not kept",
        "engine/scans/squared_error_scan.cpp",
        "                total += y[id];\n",
        "",
    ),
    Fault(
        "a gap limit that is too wide",
        "engine/search/run.cpp",
        "upper_bound_ - lower_bound_ <= limits_.gap * upper_bound_",
        "upper_bound_ - lower_bound_ <= 2 * limits_.gap * upper_bound_",
    ),
    Fault(
        "a median that stops too early",
        "engine/objectives/median_walk.hpp",
        "        while (2 * below_weight_ > weight_ && previous_[at(median_)] != none) step_down();\n",
        "        if (2 * below_weight_ > weight_ && previous_[at(median_)] != none) step_down();\n",
    ),
    Fault(
        "a trace that is ahead of the proof",
        "engine/search/search.cpp",
        "std::max(0.0, std::min(root_.lower, root_.incumbent) - settings_.tolerance)",
        "std::max(0.0, (root_.lower + root_.incumbent) / 2 - settings_.tolerance)",
    ),
)
