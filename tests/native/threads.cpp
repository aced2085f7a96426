// Many short searches on several threads, read by another one meanwhile and stopped at various moments. Run under
// ThreadSanitizer, which ends the program at the first race; the objectives are compared with those of one thread.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
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

Problem make_problem(bool classes, std::uint32_t rows, std::uint32_t features, Random& random) {
    std::vector<double> x(rows * features), y(rows);
    for (double& value : x) value = std::floor(random.uniform() * 40);
    for (double& value : y) value = classes ? std::floor(random.uniform() * 3) : random.uniform();
    return {std::make_shared<Dataset>(x, rows, features),
            make_objective({}, {.y = y, .classes = classes ? 3u : 0u})};
}

std::unique_ptr<Search> make_search(const Problem& problem, const std::string& strategy, std::uint32_t depth,
                                    Terminal terminal) {
    SearchOptions options;
    options.rules.budget.depth = depth;
    options.strategy = strategy_named(strategy);
    options.depth_two_strategy = strategy_named("dfs-blossom");
    options.terminal = terminal;
    options.primal = true;
    options.kernel.path = best_kernel_path();
    return std::make_unique<Search>(problem.data, problem.objective, options);
}

void expect(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

}  // namespace

int main() {
    Random random(7);
    int searches = 0;
    for (const char* strategy : {"dfs-blossom", "bfs-small-lb", "dfs-random", "lds", "and-or"}) {
        for (const Terminal terminal : {Terminal::depth_two, Terminal::left_right, Terminal::leaf}) {
            for (const bool classes : {true, false}) {
                for (const std::uint32_t depth : {3u, 4u}) {
                    const std::uint32_t rows = terminal == Terminal::depth_two ? 60 : 20;
                    const Problem problem = make_problem(classes, rows, 3, random);
                    StopCondition never;
                    const auto alone = make_search(problem, strategy, depth, terminal);
                    expect(alone->run(never, {}) == RunStatus::optimal, "one thread ends");
                    const auto shared = make_search(problem, strategy, depth, terminal);
                    std::atomic<bool> done{false};
                    std::jthread reader([&] {
                        while (!done) {
                            expect(shared->lower_bound() <= shared->upper_bound() + 1e-9, "bounds in order");
                            (void)shared->tree();
                            (void)shared->trace();
                        }
                    });
                    RunLimits limits;
                    limits.threads = 4;
                    // First stopped a few times, then to the end.
                    for (int turn = 0; turn < 3; ++turn) {
                        StopCondition soon(0.002 * turn, {});
                        shared->run(soon, limits);
                    }
                    StopCondition end;
                    expect(shared->run(end, limits) == RunStatus::optimal, "four threads end");
                    done = true;
                    reader.join();
                    expect(std::abs(shared->upper_bound() - alone->upper_bound()) < 1e-9, "the same optimum");
                    ++searches;
                }
            }
        }
    }
    std::printf("%d searches on four threads: no race, the optima of one thread\n", searches);
}
