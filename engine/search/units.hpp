// Parts of a search that are solved elsewhere: by another process, perhaps on another machine.
//
// A unit is one side of a split: the subproblem that an OR node stands for. The search that hands it out
// keeps everything else, so that bounds, limits, ties and restarts mean what they mean without units. A unit
// names its samples by the tests that lead to them, and all numbers are in the internal unit of the
// objective: whoever solves it has the same data and options, and makes the same numbers of them (Numbers).
//
// While a unit is being solved, what is known about it goes both ways: bounds and better trees to the search,
// lower cutoffs from it. Whatever was reported stays valid if the unit is then given to somebody else.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/split.hpp"
#include "rules/bound.hpp"
#include "rules/budget.hpp"
#include "terminal/depth_two_result.hpp"
#include "tree/solution.hpp"

namespace codt {

// One test on the way to a subproblem.
struct PathStep {
    Split split;
    bool left;
};

// With which numbers a search works at present: how it came from those that it began with (refine.cpp,
// ties.cpp).
struct Numbers {
    std::vector<double> ceilings;
    bool sizes = false, prices_too_coarse = false, doubt_settled = false;

    bool operator==(const Numbers&) const = default;
};

// What a search knows about its root from the search that it is a part of.
struct KnownOfRoot {
    double lower = 0;
    double cutoff = std::numeric_limits<double>::infinity();  // no value at or above it matters
    std::vector<double> feature_lower;                        // of the trees that split at each feature
};

struct Unit {
    std::uint64_t id = 0;
    Numbers numbers;
    std::vector<PathStep> path;
    Budget budget;
    std::uint32_t samples = 0;
    KnownOfRoot known;
};

enum class UnitEnd {
    none,      // it is being solved
    complete,  // solved, or its bound has reached the cutoff
    returned,  // given back before that: it is to be solved in smaller parts
    memory_limit,
};

// What is known about a unit so far. Counters are sums since it was begun.
struct UnitReport {
    UnitEnd end = UnitEnd::none;
    Bound lower;
    double incumbent = std::numeric_limits<double>::infinity();
    Solution solution;  // null: no better tree than before
    std::vector<double> feature_lower;
    std::uint64_t expansions = 0;
    ScanCounters counters;
};

// What the solver of a unit says and hears now and then: the cutoff of the unit, or nothing if it should end.
using UnitTalk = std::function<std::optional<double>(UnitReport)>;

// Where the threads of a search leave units and wait for them, and others fetch them and report. Any thread
// may call any function.
class UnitDesk {
 public:
    // How many expansions with units may be under way at a time; 0 if none are handed out.
    std::atomic<std::uint32_t> seats{0};

    std::uint64_t post(Unit unit);
    // From now on nobody waits for the unit.
    void withdraw(std::uint64_t id);
    void lower_cutoff(std::uint64_t id, double cutoff);
    // Waits until there is something new about one of these units, `wake` is called or the time is over.
    std::vector<std::pair<std::uint64_t, UnitReport>> collect(std::span<const std::uint64_t> ids,
                                                              std::chrono::milliseconds patience);
    void wake() { reported_.notify_all(); }

    // The unit that has waited longest; nothing if there is none in this time.
    std::optional<Unit> take(std::chrono::duration<double> patience);
    // The cutoff of the unit; nothing if nobody waits for it any more. Its end is reported once.
    std::optional<double> report(std::uint64_t id, UnitReport report);

 private:
    struct Entry {
        Unit unit;
        std::vector<UnitReport> unread;
    };

    std::mutex mutex_;
    std::condition_variable posted_, reported_;
    std::uint64_t last_id_ = 0;
    std::deque<std::uint64_t> waiting_;  // some may have been withdrawn
    std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace codt
