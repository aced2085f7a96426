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
#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/convert.hpp"
#include "bindings/input.hpp"
#include "bindings/names.hpp"
#include "bindings/poll.hpp"
#include "bindings/scans.hpp"
#include "search/problem.hpp"
#include "search/search.hpp"

namespace nb = nanobind;

namespace codt::bindings {

namespace {

constexpr std::int64_t most_threads = 1024;

class PySearch {
 public:
    PySearch(const Matrix& x, const Values& y, const std::string& task, std::int64_t n_classes,
             std::int64_t max_depth, double penalty, const nb::dict& strategy,
             const nb::dict& depth_two_strategy, const std::string& terminal, bool greedy, bool clustering,
             bool neighborhood, bool interval_shrinking, bool sub_interval, const std::string& kernel,
             std::uint64_t seed, bool log_expansions, bool primal, std::optional<std::int64_t> memory_limit,
             std::optional<double> time_limit, const std::string& objective_name,
             std::optional<Column> weights, std::optional<Matrix> costs, std::int64_t min_leaf_samples,
             double min_leaf_weight, std::optional<std::int64_t> max_leaves, double min_decrease,
             bool merge_rows) {
        const std::size_t rows = x.shape(0);
        const std::size_t columns = x.shape(1);
        check_features(x);
        const Targets targets = targets_from(x, y, {task, n_classes, weights, costs});
        const std::string name = objective_from(objective_name, targets);
        if (!(penalty >= 0) || !std::isfinite(penalty))
            refuse("penalty: expected a finite number of at least 0, got " + std::to_string(penalty));

        SearchOptions options;
        options.rules =
            rules_from(targets, {max_depth, max_leaves, min_decrease, min_leaf_samples, min_leaf_weight});
        options.penalty = penalty;
        options.strategy = strategy_from(strategy, "strategy", held_);
        options.depth_two_strategy = strategy_from(depth_two_strategy, "depth_two_strategy", held_);
        options.terminal = terminal_from(terminal);
        options.greedy = greedy;
        options.bounds = {clustering, neighborhood, interval_shrinking, sub_interval};
        options.kernel = {kernel_from(kernel)};
        options.seed = seed;
        options.log_expansions = log_expansions;
        options.primal = primal;
        if (memory_limit) options.memory_limit = *memory_limit;

        features_ = columns;
        const std::span<const double> values(x.data(), rows * columns);
        Poll poll;
        StopCondition stop(seconds_from(time_limit), std::ref(poll));
        bool stopped = false;
        {
            nb::gil_scoped_release unlocked;
            try {
                Problem problem = make_problem(
                    name, values, targets, {merge_rows, options.rules.leaves, options.memory_limit}, &stop);
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

    // While it runs, bounds, trace and tree may be read by any thread, and trees and bounds may be offered;
    // nothing else may be asked of it.
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

    std::string run(std::optional<double> time_limit, const nb::object& max_expansions,
                    const nb::object& poll, double gap_limit, std::int64_t n_threads) {
        const double seconds = seconds_from(time_limit);
        RunLimits limits;
        if (!max_expansions.is_none() && !nb::try_cast<std::uint64_t>(max_expansions, limits.expansions)) {
            if (!nb::isinstance<nb::int_>(max_expansions) || max_expansions < nb::int_(0))
                refuse(std::string("max_expansions: expected a whole number of at least 0, got ") +
                       nb::repr(max_expansions).c_str());
            limits.expansions = UINT64_MAX;  // more than 64 bits can count
        }
        if (!poll.is_none() && !PyCallable_Check(poll.ptr()))
            refuse(std::string("poll: expected a function or None, got ") + nb::repr(poll).c_str());
        if (!(gap_limit >= 0))
            refuse("gap_limit: expected a number of at least 0, got " + std::to_string(gap_limit));
        if (n_threads < 1 || n_threads > most_threads)
            refuse("n_threads: expected 1 to " + std::to_string(most_threads) + ", got " +
                   std::to_string(n_threads));
        limits.gap = gap_limit;
        limits.threads = static_cast<std::uint32_t>(n_threads);

        const Turn turn(running_);
        Poll question(poll);
        StopCondition stop(seconds, std::ref(question));
        RunStatus status{};
        {
            nb::gil_scoped_release unlocked;
            status = search_->run(stop, limits);
        }
        question.rethrow();
        return status_name(status);
    }

    // Arrays as those of tree(), without what is computed.
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
            if (static_cast<std::size_t>(feature[i]) >= features_ || !std::isfinite(threshold[i]) ||
                !valid(left[i]) || !valid(right[i]))
                refuse("tree: node " + std::to_string(i) + " is not valid");
            built[i] = split_solution(static_cast<std::uint32_t>(feature[i]), threshold[i],
                                      built[static_cast<std::size_t>(left[i])],
                                      built[static_cast<std::size_t>(right[i])]);
        }
        nb::gil_scoped_release unlocked;
        search_->offer(built[0]);
    }

    void raise_lower_bound(double bound, double tolerance) {
        nb::gil_scoped_release unlocked;
        search_->raise_lower_bound(bound, tolerance);
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

    nb::dict tree() {
        FlatTree tree;
        {
            nb::gil_scoped_release unlocked;
            tree = search_->tree();
        }
        nb::dict out;
        out["feature"] = array_of<std::int32_t>(tree.feature);
        out["threshold"] = array_of<double>(tree.threshold);
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
                path.append(nb::make_tuple(step.feature, step.threshold, step.left));
            out.append(nb::make_tuple(path, record.feature, record.threshold));
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

    m.def(
        "reaches_bound",
        [](double objective, double bound, double tolerance) {
            return codt::OutsideBound{bound, tolerance}.reached_by(objective, 0.0);
        },
        nb::arg("objective"), nb::arg("bound"), nb::arg("tolerance"));

    bind_scans(m);

    nb::class_<PySearch>(m, "Search", nb::type_slots(search_slots))
        .def(nb::init<const Matrix&, const Values&, const std::string&, std::int64_t, std::int64_t, double,
                      const nb::dict&, const nb::dict&, const std::string&, bool, bool, bool, bool, bool,
                      const std::string&, std::uint64_t, bool, bool, std::optional<std::int64_t>,
                      std::optional<double>, const std::string&, std::optional<Column>, std::optional<Matrix>,
                      std::int64_t, double, std::optional<std::int64_t>, double, bool>(),
             nb::arg("X"), nb::arg("y"), nb::kw_only(), nb::arg("task"), nb::arg("n_classes"),
             nb::arg("max_depth"), nb::arg("penalty"), nb::arg("strategy"), nb::arg("depth_two_strategy"),
             nb::arg("terminal"), nb::arg("greedy"), nb::arg("clustering"), nb::arg("neighborhood"),
             nb::arg("interval_shrinking"), nb::arg("sub_interval"), nb::arg("kernel"), nb::arg("seed"),
             nb::arg("log_expansions"), nb::arg("primal") = false,
             nb::arg("memory_limit").none() = nb::none(), nb::arg("time_limit").none() = nb::none(),
             nb::arg("objective") = "", nb::arg("weights").none() = nb::none(),
             nb::arg("costs").none() = nb::none(), nb::arg("min_leaf_samples") = 1,
             nb::arg("min_leaf_weight") = 0.0, nb::arg("max_leaves").none() = nb::none(),
             nb::arg("min_decrease") = 0.0, nb::arg("merge_rows") = true)
        .def("run", &PySearch::run, nb::arg("time_limit").none() = nb::none(),
             nb::arg("max_expansions").none() = nb::none(), nb::arg("poll").none() = nb::none(),
             nb::arg("gap_limit") = 0.0, nb::arg("n_threads") = 1)
        .def("offer", &PySearch::offer, nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
             nb::arg("right"))
        .def("raise_lower_bound", &PySearch::raise_lower_bound, nb::arg("bound"), nb::arg("tolerance"))
        .def_prop_ro("complete", &PySearch::complete)
        .def_prop_ro("lower_bound", &PySearch::lower_bound)
        .def_prop_ro("upper_bound", &PySearch::upper_bound)
        .def_prop_ro("tolerance", &PySearch::tolerance)
        .def_prop_ro("n_expansions", &PySearch::n_expansions)
        .def("stats", &PySearch::stats)
        .def_prop_ro("memory", &PySearch::memory)
        .def_prop_ro("primal_seconds", &PySearch::primal_seconds)
        .def("trace", &PySearch::trace, nb::arg("first") = 0)
        .def("tree", &PySearch::tree)
        .def("expansions", &PySearch::expansions);
}
