#include "bindings/options.hpp"

#include "bindings/arrays.hpp"

namespace nb = nanobind;

namespace codt::bindings {

namespace {

constexpr std::uint64_t most_classes = 65535;
// Deeper trees than this have more leaves than any data set has rows.
constexpr std::uint64_t deepest = 64;
constexpr std::uint64_t most_threads = 1024;

// A dictionary like those that strategies() returns; it has no default.
Row<SearchRequest> strategy(const std::string& name, Strategy& (*field)(SearchRequest&)) {
    Row<SearchRequest> row{name, "a dictionary", {}, {}};
    row.read = [=](nb::handle value, SearchRequest& given) {
        nb::dict description;
        if (!nb::try_cast(value, description)) return Reading::wrong_type;
        field(given) = strategy_from(description, name.c_str(), given.held);
        return Reading::done;
    };
    row.to_python = [=](SearchRequest& given) {
        return field(given).name.empty() ? nb::object(nb::none()) : to_python(field(given));
    };
    return row;
}

}  // namespace

#define CODT_FIELD(path) +[](SearchRequest& given) -> auto& { return given.path; }

// Each row: the option, its field, and for numbers the range. An option that Python passes on unchanged has
// the name that its users know; all others are computed in src/codt/search/search.py.
const Table<SearchRequest>& search_options() {
    static const Table<SearchRequest> table = {
        text("task", CODT_FIELD(task)),
        whole("n_classes", CODT_FIELD(n_classes), 0, most_classes),
        text("objective", CODT_FIELD(objective.name)),
        numbers("objective_parameters", CODT_FIELD(objective.parameters)),

        whole("max_depth", CODT_FIELD(search.rules.budget.depth), 0, deepest),
        or_none(whole("max_leaf_nodes", CODT_FIELD(search.rules.budget.leaves), 1, unlimited)),
        whole("min_leaf_samples", CODT_FIELD(min_leaf_samples), 1, unlimited),
        at_least_zero("min_leaf_weight", CODT_FIELD(min_leaf_weight)),
        at_least_zero("min_loss_decrease", CODT_FIELD(search.rules.min_decrease)),
        at_least_zero("penalty", CODT_FIELD(search.penalty)),
        numbers("feature_costs", CODT_FIELD(search.feature_costs)),

        strategy("strategy", CODT_FIELD(search.strategy)),
        strategy("depth_two_strategy", CODT_FIELD(search.depth_two_strategy)),
        one_of("terminal", CODT_FIELD(search.terminal),
               {{"leaf", Terminal::leaf},
                {"left-right", Terminal::left_right},
                {"depth-two", Terminal::depth_two}}),
        one_of("ties", CODT_FIELD(search.ties),
               {{"any", Ties::any}, {"smaller", Ties::smaller}, {"smallest", Ties::smallest}}),
        whole("seed", CODT_FIELD(search.seed), 0, UINT64_MAX),

        on_off("greedy_start", CODT_FIELD(search.greedy)),
        on_off("primal_heuristics", CODT_FIELD(search.primal)),
        or_none(share("primal_share", CODT_FIELD(search.primal_share), largest_primal_share)),
        or_none(share("dual_share", CODT_FIELD(search.dual_share))),
        on_off("clustering_bound", CODT_FIELD(search.bounds.clustering)),
        on_off("neighborhood_pruning", CODT_FIELD(search.bounds.neighborhood)),
        on_off("interval_shrinking", CODT_FIELD(search.bounds.interval_shrinking)),
        on_off("sub_interval_pruning", CODT_FIELD(search.bounds.sub_interval)),
        on_off("cross_feature_pruning", CODT_FIELD(search.bounds.cross_feature)),
        on_off("merge_rows", CODT_FIELD(merge_rows)),
        text("kernel", CODT_FIELD(kernel)),

        or_none(whole("memory_limit", CODT_FIELD(search.memory_limit), 0, unlimited)),
        or_none(at_least_zero("time_limit", CODT_FIELD(time_limit), Infinity::allowed)),
        on_off("log_expansions", CODT_FIELD(search.log_expansions)),
    };
    return table;
}

#undef CODT_FIELD
#define CODT_FIELD(path) +[](RunRequest& given) -> auto& { return given.path; }

const Table<RunRequest>& run_options() {
    static const Table<RunRequest> table = {
        or_none(at_least_zero("time_limit", CODT_FIELD(time_limit), Infinity::allowed)),
        or_none(whole("max_expansions", CODT_FIELD(limits.expansions), 0, unlimited)),
        at_least_zero("gap_limit", CODT_FIELD(limits.gap), Infinity::allowed),
        whole("n_threads", CODT_FIELD(limits.threads), 1, most_threads),
    };
    return table;
}

}  // namespace codt::bindings
