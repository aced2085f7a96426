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
#include <exception>
#include <limits>
#include <optional>

#include "bindings/convert.hpp"
#include "objectives/registry.hpp"
#include "search/search.hpp"

namespace nb = nanobind;

namespace codt::bindings {

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;  // one or two dimensions

[[noreturn]] void refuse(const std::string& message) {
    throw nb::value_error(message.c_str());
}

// Deeper trees than this have more leaves than any data set has rows.
constexpr std::uint32_t deepest = 64;
// Row numbers are 31 bits: one bit of a 32-bit word marks the side of a split.
constexpr std::size_t most_rows = 0x7fffffff;
constexpr std::int64_t most_threads = 1024;

template <class T, class U>
nb::object array_of(const std::vector<U>& values) {
    T* data = new T[values.size()];
    std::copy(values.begin(), values.end(), data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {values.size()}, owner));
}

nb::object matrix_of(const std::vector<std::vector<double>>& rows, std::size_t columns) {
    double* data = new double[rows.size() * columns];
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy(rows[i].begin(), rows[i].end(), data + i * columns);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows.size(), columns}, owner));
}

Terminal terminal_from(const std::string& name) {
    if (name == "leaf") return Terminal::leaf;
    if (name == "left-right") return Terminal::left_right;
    if (name == "depth-two") return Terminal::depth_two;
    refuse("terminal: expected one of leaf, left-right, depth-two, got '" + name + "'");
}

KernelPath kernel_from(const std::string& name) {
    KernelPath path{};
    if (name == "auto")
        return best_kernel_path();
    else if (name == "scalar")
        path = KernelPath::scalar;
    else if (name == "baseline")
        path = KernelPath::baseline;
    else if (name == "avx2")
        path = KernelPath::avx2;
    else if (name == "avx512")
        path = KernelPath::avx512;
    else
        refuse("kernel: expected one of auto, scalar, baseline, avx2, avx512, got '" + name + "'");
    if (!kernel_path_supported(path)) refuse("kernel: '" + name + "' is not supported by this processor");
    return path;
}

const char* status_name(RunStatus status) {
    switch (status) {
        case RunStatus::optimal:
            return "optimal";
        case RunStatus::time_limit:
            return "time-limit";
        case RunStatus::expansion_limit:
            return "expansion-limit";
        case RunStatus::gap_limit:
            return "gap-limit";
        case RunStatus::memory_limit:
            return "memory-limit";
        case RunStatus::interrupted:
            return "interrupted";
    }
    return "";
}

// Asks Python, now and then, whether a signal has arrived or a function wants to stop. An exception waits
// here until the engine has stopped.
class Poll {
 public:
    explicit Poll(nb::object function = nb::none()) : function_(std::move(function)) {}

    bool operator()() {
        nb::gil_scoped_acquire locked;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            return !function_.is_none() && nb::cast<bool>(nb::bool_(function_()));
        } catch (...) {
            raised_ = std::current_exception();
            return true;
        }
    }
    void rethrow() const {
        if (raised_) std::rethrow_exception(raised_);
    }

 private:
    nb::object function_;
    std::exception_ptr raised_;
};

// Seconds, None for no limit.
double seconds_from(std::optional<double> time_limit) {
    const double seconds = time_limit.value_or(std::numeric_limits<double>::infinity());
    if (!(seconds >= 0))
        refuse("time_limit: expected a number of at least 0, got " + std::to_string(seconds));
    return seconds;
}

class PySearch {
 public:
    PySearch(const Matrix& x, const Values& y, const std::string& task, std::int64_t n_classes,
             std::int64_t max_depth, double penalty, const nb::dict& strategy,
             const nb::dict& depth_two_strategy, const std::string& terminal, bool greedy, bool clustering,
             bool neighborhood, bool interval_shrinking, bool sub_interval, const std::string& kernel,
             std::uint64_t seed, bool log_expansions, bool primal, std::optional<std::int64_t> memory_limit,
             std::optional<double> time_limit, const std::string& objective_name,
             std::optional<Column> weights, std::optional<Matrix> costs, std::int64_t min_leaf_samples,
             double min_leaf_weight, std::optional<std::int64_t> max_leaves, double min_decrease) {
        const std::size_t rows = x.shape(0);
        const std::size_t columns = x.shape(1);
        if (rows < 1 || rows > most_rows)
            refuse("X: expected 1 to 2147483647 rows, got " + std::to_string(rows));
        if (columns < 1 || columns > most_rows)
            refuse("X: expected at least one column, got " + std::to_string(columns));
        if (y.ndim() < 1 || y.ndim() > 2 || y.size() == 0)
            refuse("y: expected a vector or a matrix, one row for each row of X");
        if (y.shape(0) != rows)
            refuse("y: expected " + std::to_string(rows) + " entries, one for each row of X, got " +
                   std::to_string(y.shape(0)));
        for (std::size_t i = 0; i < rows * columns; ++i)
            if (!std::isfinite(x.data()[i]))
                refuse("X: expected finite numbers, got " + std::to_string(x.data()[i]));
        for (std::size_t i = 0; i < y.size(); ++i)
            if (!std::isfinite(y.data()[i]))
                refuse("y: expected finite numbers, got " + std::to_string(y.data()[i]));
        if (max_depth < 0 || max_depth > deepest)
            refuse("max_depth: expected 0 to 64, got " + std::to_string(max_depth));
        if (!(penalty >= 0) || !std::isfinite(penalty))
            refuse("penalty: expected a finite number of at least 0, got " + std::to_string(penalty));
        const bool classification = task == "classification";
        if (!classification && task != "regression")
            refuse("task: expected one of classification, regression, got '" + task + "'");
        if (classification && (n_classes < 1 || n_classes > 65535))
            refuse("n_classes: expected 1 to 65535, got " + std::to_string(n_classes));
        Targets targets;
        targets.y = {y.data(), y.size()};
        targets.classes = static_cast<std::uint32_t>(classification ? n_classes : 0);
        targets.outputs = static_cast<std::uint32_t>(y.size() / rows);
        if (weights) {
            if (weights->shape(0) != rows)
                refuse("weights: expected " + std::to_string(rows) + " entries, got " +
                       std::to_string(weights->shape(0)));
            targets.weights = {weights->data(), rows};
            for (const double weight : targets.weights)
                if (!(weight > 0) || !std::isfinite(weight))
                    refuse("weights: expected finite numbers above 0, got " + std::to_string(weight));
        }
        if (costs) {
            if (costs->shape(0) != rows || costs->shape(1) != targets.classes)
                refuse("costs: expected one row for each row of X and one column for each class");
            targets.costs = {costs->data(), costs->size()};
            for (const double cost : targets.costs)
                if (!(cost >= 0) || !std::isfinite(cost))
                    refuse("costs: expected finite numbers of at least 0, got " + std::to_string(cost));
        }
        if (min_leaf_samples < 1)
            refuse("min_leaf_samples: expected at least 1, got " + std::to_string(min_leaf_samples));
        if (!(min_leaf_weight >= 0) || !std::isfinite(min_leaf_weight))
            refuse("min_leaf_weight: expected a finite number of at least 0, got " +
                   std::to_string(min_leaf_weight));
        if (max_leaves && *max_leaves < 1)
            refuse("max_leaves: expected at least 1, got " + std::to_string(*max_leaves));
        if (!(min_decrease >= 0) || !std::isfinite(min_decrease))
            refuse("min_decrease: expected a finite number of at least 0, got " +
                   std::to_string(min_decrease));
        targets.min_leaf_samples =
            static_cast<std::uint32_t>(std::min<std::int64_t>(min_leaf_samples, most_rows));
        targets.min_leaf_weight = min_leaf_weight;
        if (classification && targets.outputs != 1) refuse("y: expected one column of classes");
        const std::string name = !objective_name.empty() ? objective_name
                                 : classification        ? "misclassification"
                                                         : "squared-error";
        if ((name == "misclassification" || name == "squared-error") &&
            (weights || costs || targets.outputs != 1))
            refuse("objective: " + name + " takes one column of targets, no weights and no costs");
        if ((name == "cost-sensitive") != costs.has_value())
            refuse("costs: expected with the objective cost-sensitive, and only with it");

        SearchOptions options;
        options.max_depth = static_cast<std::uint32_t>(max_depth);
        if (max_leaves)  // no tree has more leaves than rows
            options.max_leaves = static_cast<std::uint32_t>(std::min<std::int64_t>(*max_leaves, most_rows));
        options.penalty = penalty;
        options.min_decrease = min_decrease;
        options.strategy = strategy_from(strategy, "strategy", held_);
        options.depth_two_strategy = strategy_from(depth_two_strategy, "depth_two_strategy", held_);
        options.terminal = terminal_from(terminal);
        options.greedy = greedy;
        options.bounds = {clustering, neighborhood, interval_shrinking, sub_interval};
        options.kernel = {kernel_from(kernel)};
        options.seed = seed;
        options.log_expansions = log_expansions;
        options.primal = primal;
        if (memory_limit) {
            options.memory_limit = *memory_limit;
            // The sorted data, the view of all rows, and one thread's workspace.
            const std::size_t least =
                3 * rows * columns * sizeof(std::uint32_t) + 8 * rows + Worker::bytes(rows, columns);
            if (*memory_limit < static_cast<std::int64_t>(least))
                refuse("memory_limit: " + std::to_string(*memory_limit) + " bytes are less than the " +
                       std::to_string(least) + " that a search on these data needs to begin");
        }

        features_ = columns;
        const std::span<const double> values(x.data(), rows * columns);
        Poll poll;
        StopCondition stop(seconds_from(time_limit), std::ref(poll));
        bool stopped = false;
        {
            nb::gil_scoped_release unlocked;
            try {
                auto data = std::make_shared<Dataset>(values, static_cast<std::uint32_t>(rows),
                                                      static_cast<std::uint32_t>(columns), &stop);
                std::shared_ptr<const Objective> objective = make_objective(name, targets);
                search_ = std::make_unique<Search>(std::move(data), std::move(objective), std::move(options),
                                                   &stop);
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

    // While it runs, bounds, trace and tree may be read by any thread; nothing else may be asked of it.
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

    // A tree to start from: arrays as those of tree(), without what is computed.
    void offer(const std::vector<std::int32_t>& feature, const std::vector<double>& threshold,
               const std::vector<std::int32_t>& left, const std::vector<std::int32_t>& right) {
        const Turn turn(running_);
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

    bool complete() const { return search_->complete(); }
    double lower_bound() const { return search_->lower_bound(); }
    double upper_bound() const { return search_->upper_bound(); }
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

    nb::class_<PySearch>(m, "Search", nb::type_slots(search_slots))
        .def(nb::init<const Matrix&, const Values&, const std::string&, std::int64_t, std::int64_t, double,
                      const nb::dict&, const nb::dict&, const std::string&, bool, bool, bool, bool, bool,
                      const std::string&, std::uint64_t, bool, bool, std::optional<std::int64_t>,
                      std::optional<double>, const std::string&, std::optional<Column>, std::optional<Matrix>,
                      std::int64_t, double, std::optional<std::int64_t>, double>(),
             nb::arg("X"), nb::arg("y"), nb::kw_only(), nb::arg("task"), nb::arg("n_classes"),
             nb::arg("max_depth"), nb::arg("penalty"), nb::arg("strategy"), nb::arg("depth_two_strategy"),
             nb::arg("terminal"), nb::arg("greedy"), nb::arg("clustering"), nb::arg("neighborhood"),
             nb::arg("interval_shrinking"), nb::arg("sub_interval"), nb::arg("kernel"), nb::arg("seed"),
             nb::arg("log_expansions"), nb::arg("primal") = false,
             nb::arg("memory_limit").none() = nb::none(), nb::arg("time_limit").none() = nb::none(),
             nb::arg("objective") = "", nb::arg("weights").none() = nb::none(),
             nb::arg("costs").none() = nb::none(), nb::arg("min_leaf_samples") = 1,
             nb::arg("min_leaf_weight") = 0.0, nb::arg("max_leaves").none() = nb::none(),
             nb::arg("min_decrease") = 0.0)
        .def("run", &PySearch::run, nb::arg("time_limit").none() = nb::none(),
             nb::arg("max_expansions").none() = nb::none(), nb::arg("poll").none() = nb::none(),
             nb::arg("gap_limit") = 0.0, nb::arg("n_threads") = 1)
        .def("offer", &PySearch::offer, nb::arg("feature"), nb::arg("threshold"), nb::arg("left"),
             nb::arg("right"))
        .def_prop_ro("complete", &PySearch::complete)
        .def_prop_ro("lower_bound", &PySearch::lower_bound)
        .def_prop_ro("upper_bound", &PySearch::upper_bound)
        .def_prop_ro("n_expansions", &PySearch::n_expansions)
        .def("stats", &PySearch::stats)
        .def_prop_ro("memory", &PySearch::memory)
        .def_prop_ro("primal_seconds", &PySearch::primal_seconds)
        .def("trace", &PySearch::trace, nb::arg("first") = 0)
        .def("tree", &PySearch::tree)
        .def("expansions", &PySearch::expansions);
}
