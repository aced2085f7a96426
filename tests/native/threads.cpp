// Many short searches on several threads, stopped at various moments; meanwhile others read them, and bring
// trees and bounds. Run under ThreadSanitizer, which ends the program at the first race; the objectives are
// compared with those of one thread.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "objectives/registry.hpp"
#include "search/search.hpp"

using namespace codt;

namespace {

struct Problem {
    std::shared_ptr<const Dataset> data;
    std::shared_ptr<const Objective> objective;
};

// With `far`, some targets are so far from the others that a search begins again with other numbers.
Problem make_problem(bool classes, bool far, std::uint32_t rows, std::uint32_t features, Random& random) {
    std::vector<double> x(rows * features), y(rows);
    for (double& value : x) value = std::floor(random.uniform() * 40);
    for (double& value : y) value = classes ? std::floor(random.uniform() * 3) : random.uniform();
    if (far)
        for (std::uint32_t i = 0; i < rows; ++i)
            if (x[i * features] < 5) y[i] += 1e9;
    return {std::make_shared<Dataset>(x, rows, features),
            make_objective({}, {.y = y, .classes = classes ? 3u : 0u})};
}

std::unique_ptr<Search> make_search(const Problem& problem, const std::string& strategy, std::uint32_t depth,
                                    Terminal terminal, Ties ties) {
    SearchOptions options;
    options.ties = ties;
    options.rules.budget.depth = depth;
    options.strategy = strategy_named(strategy);
    options.depth_two_strategy = strategy_named("dfs-blossom");
    options.terminal = terminal;
    options.primal = true;
    options.dual_share = ties == Ties::any ? 0 : 0.5;
    options.kernel.path = best_kernel_path();
    return std::make_unique<Search>(problem.data, problem.objective, options);
}

void expect(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

// What the search on one thread has found: its tree, and bounds up to its objective.
void bring(Search& search, const Search& alone, Random& random) {
    const double part = random.uniform();
    if (random.uniform() < 0.3) search.offer(alone.incumbent().solution);
    if (random.uniform() < 0.1) search.offer(leaf_solution());
    search.raise_lower_bound((random.uniform() < 0.1 ? 1.0 : part) * alone.upper_bound(), alone.tolerance());
}

// Takes units from a search and solves them with another one, to their ends or as far as chance has it.
void solve_units(Search& shared, Search& solver, const std::atomic<bool>& done, Random random) {
    while (!done) {
        const std::optional<Unit> unit = shared.desk().take(std::chrono::milliseconds(1));
        if (!unit) continue;
        UnitReport end;
        if (random.uniform() < 0.2) {
            end.end = UnitEnd::returned;  // not begun
            end.lower.allowed = unit->known.lower;
        } else {
            end = solver.solve_unit(*unit, [&](UnitReport report) -> std::optional<double> {
                const auto cutoff = shared.desk().report(unit->id, std::move(report));
                return random.uniform() < 0.2 ? std::nullopt : cutoff;
            });
        }
        shared.desk().report(unit->id, std::move(end));
    }
}

// One search on several threads, first stopped a few times, then to the end. With a solver, another search
// for the same, its subproblems are handed out as units.
void share(Search& shared, const Search& alone, bool knowing, Random& random, std::uint32_t threads = 4,
           Search* solver = nullptr) {
    std::atomic<bool> done{false};
    std::vector<std::jthread> crew;
    if (solver) {
        shared.desk().seats = threads - 1;
        for (std::uint32_t i = 1; i < threads; ++i)
            crew.emplace_back([&, own = Random(random.next())] { solve_units(shared, *solver, done, own); });
    }
    std::jthread reader([&] {
        while (!done) {
            const double lower = shared.lower_bound();
            expect(lower <= shared.upper_bound() * (1 + 1e-9), "bounds in order");
            (void)shared.tree();
            (void)shared.trace();
        }
    });
    std::jthread outsider([&, own = Random(random.next())]() mutable {
        while (knowing && !done) {
            std::this_thread::sleep_for(std::chrono::microseconds(own.next() % 1000));
            bring(shared, alone, own);
        }
    });
    RunLimits limits;
    limits.threads = threads;
    for (int turn = 0; turn < 3; ++turn) {
        StopCondition soon(0.002 * turn, {});
        limits.gap = turn == 1 ? 0.5 : 0.2;  // smaller than before: what was closed is searched again
        shared.run(soon, limits);
    }
    limits.gap = 0;
    StopCondition end;
    expect(shared.run(end, limits) == RunStatus::optimal, "all threads end");
    done = true;
    reader.join();
    outsider.join();
    crew.clear();  // joins
    expect(shared.lower_bound() == shared.upper_bound(), "bounds that meet");
    expect(std::abs(shared.upper_bound() - alone.upper_bound()) < 1e-9 * (1 + alone.upper_bound()),
           "the same optimum");
}

}  // namespace

int main() {
    Random random(7);
    int searches = 0;
    for (const char* strategy : {"dfs-blossom", "bfs-small-lb", "dfs-random", "lds", "and-or"}) {
        for (const Terminal terminal : {Terminal::depth_two, Terminal::left_right, Terminal::leaf}) {
            for (const char* kind : {"classes", "numbers", "far numbers"}) {
                for (const std::uint32_t depth : {2u, 3u, 4u}) {
                    // A root that is solved on the spot should take a while, too.
                    const bool on_the_spot = depth <= terminal_depth(terminal);
                    const std::uint32_t rows = on_the_spot ? 600 : terminal == Terminal::depth_two ? 60 : 20;
                    const std::string name = kind;
                    const Problem problem =
                        make_problem(name == "classes", name == "far numbers", rows, 3, random);
                    StopCondition never;
                    const auto alone = make_search(problem, strategy, depth, terminal, Ties::any);
                    expect(alone->run(never, {}) == RunStatus::optimal, "one thread ends");
                    for (const bool knowing : {false, true}) {
                        // Every other pair looks for the smallest tree as well.
                        const Ties ties = searches % 4 < 2 ? Ties::any : Ties::smaller;
                        share(*make_search(problem, strategy, depth, terminal, ties), *alone, knowing,
                              random);
                        ++searches;
                    }
                }
            }
        }
    }
    // Enough samples that sleeping threads are woken for the second side of a split, and more threads than
    // there are expansions to begin.
    for (const char* strategy : {"dfs-blossom", "bfs-small-lb", "lds"}) {
        for (const bool classes : {true, false}) {
            for (const std::uint32_t depth : {3u, 4u}) {
                const Problem problem = make_problem(classes, false, depth == 3 ? 700 : 250, 3, random);
                StopCondition never;
                const auto alone = make_search(problem, strategy, depth, Terminal::depth_two, Ties::any);
                expect(alone->run(never, {}) == RunStatus::optimal, "one thread ends");
                for (const std::uint32_t threads : {2u, 16u}) {
                    share(*make_search(problem, strategy, depth, Terminal::depth_two, Ties::any), *alone,
                          threads == 2, random, threads);
                    ++searches;
                }
            }
        }
    }
    // Parts of a search solved elsewhere; the last problem has units that take long enough to be talked
    // about.
    for (const char* strategy : {"dfs-blossom", "bfs-lb"}) {
        for (const char* kind : {"classes", "numbers", "far numbers"}) {
            for (const std::uint32_t depth : {4u, 5u}) {
                const std::string name = kind;
                const Problem problem =
                    make_problem(name == "classes", name == "far numbers", depth == 4 ? 150 : 60, 3, random);
                StopCondition never;
                const auto alone = make_search(problem, strategy, depth, Terminal::depth_two, Ties::any);
                expect(alone->run(never, {}) == RunStatus::optimal, "one thread ends");
                for (const Ties ties : {Ties::any, Ties::smaller}) {
                    const auto solver = make_search(problem, strategy, depth, Terminal::depth_two, ties);
                    share(*make_search(problem, strategy, depth, Terminal::depth_two, ties), *alone,
                          ties == Ties::any, random, 4, solver.get());
                    ++searches;
                }
            }
        }
    }
    std::printf("%d searches on several threads: no race, the optima of one thread\n", searches);
}
