#include "bindings/scans.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "bindings/arrays.hpp"
#include "bindings/input.hpp"
#include "bindings/names.hpp"
#include "scans/sample_rows.hpp"
#include "search/problem.hpp"

namespace nb = nanobind;

namespace codt::bindings {

namespace {

using Sides = std::vector<std::vector<double>>;

void check_thresholds(const Subset& subset, std::size_t feature,
                      const std::vector<std::uint32_t>& thresholds) {
    if (feature >= subset.features())
        refuse("feature: expected less than " + std::to_string(subset.features()) + ", got " +
               std::to_string(feature));
    const std::uint32_t count = subset.thresholds(static_cast<std::uint32_t>(feature));
    for (std::size_t j = 0; j < thresholds.size(); ++j)
        if (thresholds[j] >= count || (j > 0 && thresholds[j] <= thresholds[j - 1]))
            refuse("thresholds: expected ascending numbers below " + std::to_string(count) + ", got " +
                   std::to_string(thresholds[j]));
}

// The objectives of the best trees of depth at most one on both sides of some thresholds of a feature (given
// by their numbers), or with `bounds` bounds on these, and the seconds it took. `known` holds upper bounds to
// start from. `second` are thresholds of the feature's second order (see Dataset), which follows it; they
// come after the first in all that is returned. Without the name of an objective, it is the first that takes
// such targets. Empty if there is no such scan.
nb::dict scan_sides(const Matrix& x, const Values& y, const std::string& task, std::int64_t n_classes,
                    double penalty, std::uint32_t feature, const std::vector<std::uint32_t>& thresholds,
                    const Matrix& known, const std::string& kernel, bool bounds,
                    const std::vector<std::uint32_t>& second, const std::string& objective_name,
                    const std::vector<double>& parameters, const std::optional<Column>& weights,
                    const std::optional<Matrix>& costs) {
    check_features(x);
    const Targets targets = targets_from(x, y, {task, n_classes, weights, costs});
    const Problem problem =
        make_problem({objective_name, parameters}, {x.data(), x.size()}, targets, {.merge_rows = false});
    const Objective& objective = *problem.objective;
    const Subset subset(*problem.data);
    check_thresholds(subset, feature, thresholds);
    if (!second.empty()) {
        if (!subset.two_orders(feature)) refuse("second: expected a feature in two orders");
        check_thresholds(subset, feature + 1, second);
    }
    const std::size_t count = thresholds.size() + second.size();
    if (known.shape(0) != 2 || known.shape(1) != count)
        refuse("known: expected a row for each side and a column for each threshold");
    if (!(penalty >= 0)) refuse("penalty: expected at least 0, got " + std::to_string(penalty));
    const KernelChoice choice{kernel_from(kernel)};
    const Prices prices(penalty / objective.unit());
    std::vector<std::uint32_t> rank(subset.features());
    for (std::uint32_t f = 0; f < rank.size(); ++f) rank[f] = f;
    Sides lower(2, std::vector<double>(count));
    Sides upper = lower;
    for (int side = 0; side < 2; ++side)
        for (std::size_t j = 0; j < count; ++j) upper[side][j] = known(side, j) / objective.unit();

    nb::dict out;
    const auto report = [&](const char* name, Sides& sides) {
        for (auto& side : sides)
            for (double& value : side) value *= objective.unit();
        out[name] = matrix_of(sides, count);
    };
    StopCondition stop;
    // Scans as many thresholds at a time as there are lanes, of both orders if the scanner joins them;
    // make(feature, first, thresholds) describes some of them to it.
    const auto time = [&](auto& scanner, const auto& make) {
        const bool joined = scanner.joins_orders() && !second.empty() && scanner.lanes() > 1;
        const std::size_t most = joined ? scanner.lanes() / 2 : scanner.lanes();
        const auto start = StopCondition::Clock::now();
        for (std::size_t j = 0; j < std::max(thresholds.size(), second.size()); j += most) {
            std::vector<decltype(make(feature, j, thresholds))> parts;
            const auto add = [&](std::uint32_t f, std::size_t before,
                                 const std::vector<std::uint32_t>& of_order) {
                if (j < of_order.size())
                    parts.push_back(make(
                        f, before + j, std::span(of_order).subspan(j, std::min(most, of_order.size() - j))));
            };
            add(feature, 0, thresholds);
            if (!joined) {
                if (!parts.empty()) scanner.scan(parts, prices, stop);
                parts.clear();
            }
            add(feature + 1, thresholds.size(), second);
            if (!parts.empty()) scanner.scan(parts, prices, stop);
        }
        out["seconds"] = std::chrono::duration<double>(StopCondition::Clock::now() - start).count();
    };
    if (!bounds) {
        const auto scanner = objective.make_scanner(choice, no_leaf_limits);
        scanner->prepare(subset, rank);
        time(*scanner, [&](std::uint32_t f, std::size_t j, std::span<const std::uint32_t> part) {
            return Scanner::Values{{f, part}, upper[0].data() + j, upper[1].data() + j};
        });
        report("value", upper);
        return out;
    }
    const auto scanner = objective.make_bracket_scanner(choice);
    if (!scanner || !scanner->prepare(subset, rank)) return out;
    time(*scanner, [&](std::uint32_t f, std::size_t j, std::span<const std::uint32_t> part) {
        return BracketScanner::Brackets{{f, part},
                                        {lower[0].data() + j, lower[1].data() + j},
                                        {upper[0].data() + j, upper[1].data() + j}};
    });
    report("lower", lower);
    report("upper", upper);
    return out;
}

// The same for thresholds of several features in one scan: for each, the left and right objectives. Empty if
// the scan does not take so many features at once.
nb::dict scan_mixed(const Matrix& x, const Values& y, std::int64_t n_classes, double penalty,
                    const std::vector<std::uint32_t>& features,
                    const std::vector<std::vector<std::uint32_t>>& thresholds, const Sides& known,
                    const std::string& kernel, const std::optional<Column>& weights) {
    check_features(x);
    const Targets targets = targets_from(x, y, {"classification", n_classes, weights, {}});
    const ObjectiveChoice objective{weights ? "weighted-misclassification" : "misclassification", {}};
    const Problem problem = make_problem(objective, {x.data(), x.size()}, targets, {.merge_rows = false});
    const Subset subset(*problem.data);
    const auto scanner = problem.objective->make_scanner({kernel_from(kernel)}, no_leaf_limits);
    std::vector<std::uint32_t> rank(subset.features());
    for (std::uint32_t f = 0; f < rank.size(); ++f) rank[f] = f;
    scanner->prepare(subset, rank);
    nb::dict out;
    if (features.size() > scanner->features_at_once()) return out;
    if (thresholds.size() != features.size()) refuse("thresholds: expected a list for each feature");
    const auto lanes = lanes_of_features(features.size());
    std::size_t count = 0;
    for (std::size_t b = 0; b < features.size(); ++b) {
        check_thresholds(subset, features[b], thresholds[b]);
        if (thresholds[b].size() > lanes[b]) refuse("thresholds: more than there are lanes");
        count += thresholds[b].size();
    }
    if (known.size() != 2 || known[0].size() != count || known[1].size() != count)
        refuse("known: expected a row for each side and a column for each threshold");
    Sides values = known;
    for (auto& side : values)
        for (double& value : side) value /= problem.objective->unit();
    std::vector<Scanner::Values> batches;
    std::size_t first = 0;
    for (std::size_t b = 0; b < features.size(); ++b) {
        batches.push_back({{features[b], thresholds[b]}, values[0].data() + first, values[1].data() + first});
        first += thresholds[b].size();
    }
    StopCondition stop;
    scanner->scan(batches, Prices(penalty / problem.objective->unit()), stop);
    for (auto& side : values)
        for (double& value : side) value *= problem.objective->unit();
    out["value"] = matrix_of(values, count);
    return out;
}

// The two sides of a split: the rows of each, and for every feature their order and the ends of its groups.
nb::list split_subset(const Matrix& x, std::uint32_t feature, std::uint32_t threshold,
                      const std::string& kernel) {
    check_features(x);
    const Dataset data({x.data(), x.size()}, static_cast<std::uint32_t>(x.shape(0)),
                       static_cast<std::uint32_t>(x.shape(1)));
    const Subset all(data);
    check_thresholds(all, feature, {threshold});
    Subset sides[2];
    Splitter splitter(kernel_from(kernel));
    all.split(feature, threshold, sides[0], sides[1], splitter);
    nb::list out;
    for (const Subset& side : sides) {
        const auto list = [](std::span<const std::uint32_t> numbers) {
            return std::vector<std::uint32_t>(numbers.begin(), numbers.end());
        };
        nb::list orders, ends;
        for (std::uint32_t f = 0; f < side.features(); ++f) {
            orders.append(list(side.order(f)));
            ends.append(list(side.group_end(f)));
        }
        out.append(nb::make_tuple(list(side.samples()), orders, ends));
    }
    return out;
}

}  // namespace

void bind_scans(nb::module_& m) {
    m.def("kernels", [] {
        nb::dict out;
        for (const KernelPathRow& row : kernel_paths()) out[row.name] = row.supported;
        return out;
    });
    m.def("scan_sides", &scan_sides, nb::arg("X"), nb::arg("y"), nb::kw_only(), nb::arg("task"),
          nb::arg("n_classes"), nb::arg("penalty"), nb::arg("feature"), nb::arg("thresholds"),
          nb::arg("known"), nb::arg("kernel"), nb::arg("bounds"),
          nb::arg("second") = std::vector<std::uint32_t>{}, nb::arg("objective") = "",
          nb::arg("parameters") = std::vector<double>{}, nb::arg("weights").none() = nb::none(),
          nb::arg("costs").none() = nb::none());
    m.def("split_subset", &split_subset, nb::arg("X"), nb::kw_only(), nb::arg("feature"),
          nb::arg("threshold"), nb::arg("kernel"));
    m.def("scan_mixed", &scan_mixed, nb::arg("X"), nb::arg("y"), nb::kw_only(), nb::arg("n_classes"),
          nb::arg("penalty"), nb::arg("features"), nb::arg("thresholds"), nb::arg("known"), nb::arg("kernel"),
          nb::arg("weights").none() = nb::none());
}

}  // namespace codt::bindings
