// The Python module codt._core. It checks and translates arguments; everything else is the engine's.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/convert.hpp"
#include "bindings/input.hpp"
#include "bindings/names.hpp"
#include "bindings/options.hpp"
#include "bindings/poll.hpp"
#include "bindings/scans.hpp"
#include "bindings/units.hpp"
#include "search/problem.hpp"
#include "search/search.hpp"

namespace nb = nanobind;

namespace codt::bindings {

namespace {

class PySearch {
 public:
    PySearch(const Matrix& x, const Values& y, const std::optional<Column>& weights,
             const std::optional<Matrix>& costs, const nb::kwargs& given) {
        auto request = read_options(search_options(), given, Missing::refused);
        held_ = std::move(request.held);
        check_features(x);
        const Targets targets = targets_from(x, y, {request.task, request.n_classes, weights, costs});
        SearchOptions& options = request.search;
        options.rules.leaves = leaf_limits(targets, static_cast<std::uint32_t>(request.min_leaf_samples),
                                           request.min_leaf_weight);
        options.kernel = {kernel_from(request.kernel)};

        features_ = x.shape(1);
        check_feature_costs(options.feature_costs, features_);
        const std::span<const double> values(x.data(), x.size());
        Poll poll;
        StopCondition stop(request.time_limit, std::ref(poll));
        bool stopped = false;
        {
            nb::gil_scoped_release unlocked;
            try {
                Problem problem =
                    make_problem(request.objective, values, targets,
                                 {request.merge_rows, options.rules.leaves, options.memory_limit}, &stop);
                search_ = std::make_unique<Search>(std::move(problem.data), std::move(problem.objective),
                                                   std::move(options), &stop);
            } catch (const Stopped&) {
                stopped = true;
            }
        }
        poll.rethrow();
        if (stopped) {
            PyErr_SetString(PyExc_TimeoutError, "time_limit was reached before the data were sorted");
            throw nb::python_error();
        }
    }

    // While it runs, any thread may read bounds, trace and tree, and offer trees and bounds; everything else
    // is refused.
    class Turn {
     public:
        explicit Turn(std::atomic<bool>& running) : running_(running) {
            if (running_.exchange(true))
                throw std::runtime_error("the search is running; wait until it has stopped");
        }
        ~Turn() { running_ = false; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

     private:
        std::atomic<bool>& running_;
    };

    std::string run(const nb::object& poll, const nb::kwargs& given) {
        const RunRequest request = read_options(run_options(), given, Missing::default_value);
        if (!poll.is_none() && !PyCallable_Check(poll.ptr()))
            refuse(std::string("poll: expected a function or None, got ") + nb::repr(poll).c_str());

        const Turn turn(running_);
        Poll question(poll);
        StopCondition stop(request.time_limit, std::ref(question));
        RunStatus status{};
        {
            nb::gil_scoped_release unlocked;
            status = search_->run(stop, request.limits);
        }
        question.rethrow();
        return status_name(status);
    }

    // Takes arrays like those of tree(), without the computed ones.
    void offer(const std::vector<std::int32_t>& feature, const std::vector<double>& threshold,
               const std::vector<std::int32_t>& left, const std::vector<std::int32_t>& right) {
        const std::size_t count = feature.size();
        if (count == 0 || threshold.size() != count || left.size() != count || right.size() != count)
            refuse("tree: expected arrays of one length of at least 1");
        std::vector<Solution> built(count);
        // Children come after their parents, so the last node can be built first.
        for (std::size_t i = count; i-- > 0;) {
            if (feature[i] < 0) {
                built[i] = leaf_solution();
                continue;
            }
            const auto valid = [&](std::int32_t child) {
                return child > static_cast<std::int64_t>(i) && static_cast<std::size_t>(child) < count;
            };
            const Split split{static_cast<std::uint32_t>(feature[i]), threshold[i]};
            if (!split.valid(features_) || !valid(left[i]) || !valid(right[i]))
                refuse("tree: node " + std::to_string(i) + " is not valid");
            built[i] = split_solution(split, built[static_cast<std::size_t>(left[i])],
                                      built[static_cast<std::size_t>(right[i])]);
        }
        nb::gil_scoped_release unlocked;
        search_->offer(built[0]);
    }

    void raise_lower_bound(double bound, double tolerance) {
        nb::gil_scoped_release unlocked;
        search_->raise_lower_bound(bound, tolerance);
    }

    // Units: see search/units.hpp. Any thread may call these at any time.
    void set_unit_seats(std::uint32_t seats) { search_->desk().seats = seats; }

    nb::object take_unit(double seconds) {
        std::optional<Unit> unit;
        {
            nb::gil_scoped_release unlocked;
            unit = search_->desk().take(std::chrono::duration<double>(seconds));
        }
        return unit ? nb::object(to_python(*unit)) : nb::object(nb::none());
    }

    std::optional<double> report_unit(std::uint64_t id, const nb::dict& given) {
        UnitReport report = report_from(given);
        nb::gil_scoped_release unlocked;
        return search_->desk().report(id, std::move(report));
    }

    nb::dict solve_unit(const nb::dict& given, const nb::callable& talk) {
        const Unit unit = unit_from(given);
        std::exception_ptr raised;
        const auto ask = [&](const UnitReport& report) -> std::optional<double> {
            nb::gil_scoped_acquire locked;
            try {
                return nb::cast<std::optional<double>>(talk(to_python(report)));
            } catch (...) {
                raised = std::current_exception();
                return std::nullopt;
            }
        };
        UnitReport report;
        {
            nb::gil_scoped_release unlocked;
            report = search_->solve_unit(unit, ask);
        }
        if (raised) std::rethrow_exception(raised);
        return to_python(report);
    }

    bool complete() const { return search_->complete(); }
    double lower_bound() const { return search_->lower_bound(); }
    double upper_bound() const { return search_->upper_bound(); }
    double tolerance() const { return search_->tolerance(); }
    std::uint64_t n_expansions() const { return search_->expansions(); }

    nb::dict stats() {
        const Turn turn(running_);
        const ScanCounters counters = search_->scan_counters();
        nb::dict out;
        out["expansions"] = search_->expansions();
        out["terminal_calls"] = counters.depth_two_calls;
        out["left_right_evaluations"] = counters.evaluations;
        out["scanned_samples"] = counters.scanned_samples;
        out["memory"] = search_->memory();
        out["fallbacks"] = search_->fallbacks();
        out["returns"] = search_->returns();
        return out;
    }

    std::int64_t memory() const { return search_->memory(); }
    double primal_seconds() {
        const Turn turn(running_);
        return search_->primal_seconds();
    }

    double mutex_seconds() {
        const Turn turn(running_);
        return search_->mutex_seconds();
    }

    nb::object trace(std::size_t first) {
        std::vector<TracePoint> points;
        {
            nb::gil_scoped_release unlocked;
            points = search_->trace();
        }
        std::vector<std::vector<double>> rows;
        for (const TracePoint& point : std::span(points).subspan(std::min(first, points.size())))
            rows.push_back({point.seconds, static_cast<double>(point.expansions), point.lower, point.upper});
        return matrix_of(rows, 4);
    }

    bool is_leaf() {
        nb::gil_scoped_release unlocked;
        return search_->is_leaf();
    }

    nb::dict tree() {
        FlatTree tree;
        {
            nb::gil_scoped_release unlocked;
            tree = search_->tree();
        }
        std::vector<std::int32_t> feature;
        std::vector<double> threshold;
        for (const auto& split : tree.split) {
            feature.push_back(split ? static_cast<std::int32_t>(split->feature) : -1);
            threshold.push_back(split ? split->threshold : std::numeric_limits<double>::quiet_NaN());
        }
        nb::dict out;
        out["feature"] = array_of<std::int32_t>(feature);
        out["threshold"] = array_of<double>(threshold);
        out["below"] = array_of<double>(tree.below);
        out["above"] = array_of<double>(tree.above);
        out["left"] = array_of<std::int32_t>(tree.left);
        out["right"] = array_of<std::int32_t>(tree.right);
        out["n_samples"] = array_of<std::int64_t>(tree.samples);
        out["loss"] = array_of<double>(tree.loss);
        out["value"] = matrix_of(tree.value, tree.value[0].size());
        return out;
    }

    nb::list expansions() {
        const Turn turn(running_);
        nb::list out;
        for (const ExpansionRecord& record : search_->expansion_log()) {
            nb::list path;
            for (const auto& step : record.path)
                path.append(nb::make_tuple(step.split.feature, step.split.threshold, step.left));
            out.append(nb::make_tuple(path, record.split.feature, record.split.threshold));
        }
        return out;
    }

    const HeldFunctions& held() const { return held_; }

 private:
    HeldFunctions held_;
    std::atomic<bool> running_{false};
    std::size_t features_ = 0;
    std::unique_ptr<Search> search_;
};

// A heuristic may refer to the search that holds it: without these two, such a cycle would never be freed.
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    for (const auto& held : nb::inst_ptr<PySearch>(self)->held()) Py_VISIT(held->function.ptr());
    return 0;
}

int clear(PyObject* self) {
    if (!nb::inst_ready(self)) return 0;
    for (const auto& held : nb::inst_ptr<PySearch>(self)->held()) held->function.reset();
    return 0;
}

PyType_Slot search_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear)},
                              {0, nullptr}};

}  // namespace

}  // namespace codt::bindings

NB_MODULE(_core, m) {
    using namespace codt::bindings;
    m.doc() = "The compiled search engine of codt.";

    m.def("strategies", [] {
        nb::list out;
        for (const codt::Strategy& strategy : codt::strategy_registry()) out.append(to_python(strategy));
        return out;
    });

    // The tables of options: of a search, and of a run of it.
    m.def(
        "options", [](const nb::kwargs& given) { return describe(search_options(), given); },
        nb::arg("given"));
    m.def("limits", [](const nb::kwargs& given) { return describe(run_options(), given); }, nb::arg("given"));
    m.def(
        "reaches_bound",
        [](double objective, double bound, double tolerance) {
            return codt::OutsideBound{bound, tolerance}.reached_by(objective, 0.0);
        },
        nb::arg("objective"), nb::arg("bound"), nb::arg("tolerance"));

    bind_scans(m);

    nb::class_<PySearch>(m, "Search", nb::type_slots(search_slots))
        .def(nb::init<const Matrix&, const Values&, const std::optional<Column>&,
                      const std::optional<Matrix>&, const nb::kwargs&>(),
             nb::arg("X"), nb::arg("y"), nb::kw_only(), nb::arg("weights").none() = nb::none(),
             nb::arg("costs").none() = nb::none(), nb::arg("options"))
        .def("run", &PySearch::run, nb::arg("poll").none() = nb::none(), nb::arg("limits"))
        .def("offer", &PySearch::offer, nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
             nb::arg("right"))
        .def("raise_lower_bound", &PySearch::raise_lower_bound, nb::arg("bound"), nb::arg("tolerance"))
        .def("set_unit_seats", &PySearch::set_unit_seats, nb::arg("seats"))
        .def("take_unit", &PySearch::take_unit, nb::arg("seconds"))
        .def("report_unit", &PySearch::report_unit, nb::arg("unit"), nb::arg("report"))
        .def("solve_unit", &PySearch::solve_unit, nb::arg("unit"), nb::arg("talk"))
        .def_prop_ro("complete", &PySearch::complete)
        .def_prop_ro("lower_bound", &PySearch::lower_bound)
        .def_prop_ro("upper_bound", &PySearch::upper_bound)
        .def_prop_ro("tolerance", &PySearch::tolerance)
        .def_prop_ro("n_expansions", &PySearch::n_expansions)
        .def("stats", &PySearch::stats)
        .def_prop_ro("memory", &PySearch::memory)
        .def_prop_ro("primal_seconds", &PySearch::primal_seconds)
        .def_prop_ro("mutex_seconds", &PySearch::mutex_seconds)
        .def("trace", &PySearch::trace, nb::arg("first") = 0)
        .def("tree", &PySearch::tree)
        .def("is_leaf", &PySearch::is_leaf)
        .def("expansions", &PySearch::expansions);
}
