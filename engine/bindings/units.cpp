#include "bindings/units.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <tuple>

#include "bindings/arrays.hpp"

namespace nb = nanobind;

namespace codt::bindings {

namespace {

// Trees in preorder: the feature of every node, or what stands there instead; the threshold, or the objective
// of a stump.
constexpr std::int64_t leaf = -1, stump = -2;
using Nodes = std::vector<std::pair<std::int64_t, double>>;

constexpr std::array<const char*, 4> end_names = {"none", "complete", "returned", "memory-limit"};

template <class T>
T field(const nb::dict& given, const char* name) {
    T value{};
    if (!given.contains(name) || !nb::try_cast(given[name], value))
        refuse(std::string("unit: expected a value of another type for ") + name);
    return value;
}

void add_nodes(const Solution& tree, Nodes& nodes) {
    switch (tree->kind) {
        case SolutionNode::Kind::leaf:
            nodes.emplace_back(leaf, 0.0);
            return;
        case SolutionNode::Kind::stump:
            nodes.emplace_back(stump, tree->objective);
            return;
        case SolutionNode::Kind::split:
            nodes.emplace_back(tree->split.feature, tree->split.threshold);
            add_nodes(tree->left, nodes);
            add_nodes(tree->right, nodes);
    }
}

Solution read_nodes(const Nodes& nodes, std::size_t& next) {
    if (next == nodes.size()) refuse("unit: a tree has too few nodes");
    const auto [feature, number] = nodes[next++];
    if (feature == leaf) return leaf_solution();
    if (feature == stump) return stump_solution(number);
    const Split split{static_cast<std::uint32_t>(feature), number};
    Solution left = read_nodes(nodes, next);
    return split_solution(split, std::move(left), read_nodes(nodes, next));
}

}  // namespace

nb::dict to_python(const Unit& unit) {
    nb::dict out;
    out["id"] = unit.id;
    out["ceilings"] = nb::cast(unit.numbers.ceilings);
    out["attempt"] =
        nb::make_tuple(unit.numbers.sizes, unit.numbers.prices_too_coarse, unit.numbers.doubt_settled);
    nb::list path;
    for (const PathStep& step : unit.path)
        path.append(nb::make_tuple(step.split.feature, step.split.threshold, step.left));
    out["path"] = path;
    out["depth"] = unit.budget.depth;
    out["leaves"] = unit.budget.leaves;
    out["samples"] = unit.samples;
    out["lower"] = unit.known.lower;
    out["cutoff"] = unit.known.cutoff;
    out["feature_lower"] = nb::cast(unit.known.feature_lower);
    return out;
}

Unit unit_from(const nb::dict& given) {
    Unit unit;
    unit.id = field<std::uint64_t>(given, "id");
    unit.numbers.ceilings = field<std::vector<double>>(given, "ceilings");
    std::tie(unit.numbers.sizes, unit.numbers.prices_too_coarse, unit.numbers.doubt_settled) =
        field<std::tuple<bool, bool, bool>>(given, "attempt");
    using Step = std::tuple<std::uint32_t, double, bool>;
    for (const auto& [feature, threshold, left] : field<std::vector<Step>>(given, "path"))
        unit.path.push_back({{feature, threshold}, left});
    unit.budget = {field<std::uint32_t>(given, "depth"), field<std::uint32_t>(given, "leaves")};
    unit.samples = field<std::uint32_t>(given, "samples");
    unit.known = {field<double>(given, "lower"), field<double>(given, "cutoff"),
                  field<std::vector<double>>(given, "feature_lower")};
    return unit;
}

nb::dict to_python(const UnitReport& report) {
    Nodes nodes;
    if (report.solution) add_nodes(report.solution, nodes);
    nb::dict out;
    out["end"] = end_names[static_cast<std::size_t>(report.end)];
    out["lower"] = report.lower.allowed;
    out["free"] = report.lower.free;
    out["incumbent"] = report.incumbent;
    out["tree"] = nb::cast(nodes);
    out["feature_lower"] = nb::cast(report.feature_lower);
    out["expansions"] = report.expansions;
    out["counters"] = nb::make_tuple(report.counters.depth_two_calls, report.counters.evaluations,
                                     report.counters.scanned_samples);
    return out;
}

UnitReport report_from(const nb::dict& given) {
    UnitReport report;
    const auto end = field<std::string>(given, "end");
    const auto* const name = std::find(end_names.begin(), end_names.end(), end);
    if (name == end_names.end()) refuse("unit: unknown end " + end);
    report.end = static_cast<UnitEnd>(name - end_names.begin());
    report.lower = {field<double>(given, "lower"), field<double>(given, "free")};
    report.incumbent = field<double>(given, "incumbent");
    const Nodes nodes = field<Nodes>(given, "tree");
    std::size_t next = 0;
    if (!nodes.empty()) report.solution = read_nodes(nodes, next);
    report.feature_lower = field<std::vector<double>>(given, "feature_lower");
    report.expansions = field<std::uint64_t>(given, "expansions");
    std::tie(report.counters.depth_two_calls, report.counters.evaluations, report.counters.scanned_samples) =
        field<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>(given, "counters");
    return report;
}

}  // namespace codt::bindings
