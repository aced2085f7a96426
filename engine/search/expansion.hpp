// An expansion under way: what it needs from the search tree, the workspace in which the two sides of its
// split are solved, and how two threads share that work (sides.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "bounds/cross_features.hpp"
#include "bounds/feature_bounds.hpp"
#include "data/subset.hpp"
#include "rules/budget.hpp"
#include "search/or_node.hpp"
#include "terminal/depth_two_result.hpp"
#include "terminal/worker.hpp"

namespace codt {

// Read from the search tree when the expansion began.
struct Job {
    OrNode* node = nullptr;
    Children::Slot slot = Children::none;
    std::uint32_t feature = 0, threshold = 0;
    std::uint32_t left_leaves = Budget::any;
    std::uint64_t cells = 0;    // of the node's data
    double lower[2] = {0, 0};   // known bounds on the two sides
    double relaxed = 0;         // at and above it the sum of both sides does not matter
    double enough[2] = {0, 0};  // at and above it a side does not matter (see Children::enough)
    double cutoff = 0;          // the node's
    double incumbent = 0;       // the node's, with penalties: at and above it nothing need be exact
    FeatureBounds::Lower feature_lower[2];
    WorstCost::OfSamples worst_costs;  // of the node's samples (see ImpliedBounds)
    bool dual = false;                 // a step that raises the lower bound (see dual.cpp)
    std::uint32_t room = 1;            // how many threads can work on it
};

struct Expansion {
    Job job;
    const Worker* worker = nullptr;  // of the thread that has begun it, or the one before it
    bool under_way = false;          // begun, and not about to end: its node is alive
    AndNode result;
    Subset side_data[2];  // of sides that are solved on the spot, refilled for every expansion
    // Of sides that are solved by Solve-D2: whether they are, how many leaves they may have, what it found.
    bool depth_two[2] = {false, false};
    std::uint32_t leaves[2] = {Budget::any, Budget::any};
    DepthTwoResult found[2];
    ImpliedBounds implied;

    // The right side: of the thread that has begun the expansion, unless another thread takes it while it
    // waits. `taken` stays until the next expansion.
    enum class Right : std::uint8_t { own, waiting, taken };
    std::atomic<Right> right{Right::own};
    std::atomic<std::uint32_t> threads{1};  // that work on it; the last one to leave ends it
    std::atomic<bool> abandoned{false};     // its node was closed: nobody needs the result

    // What became of the work of the thread that has begun it, and of the one that has taken the right side.
    struct Outcome {
        bool stopped = false, out_of_memory = false;
        std::exception_ptr error;
        std::uint64_t scanned = 0;  // samples

        bool done() const { return !stopped && !out_of_memory && !error; }
    };
    Outcome outcome[2];

    bool done() const { return outcome[0].done() && outcome[1].done(); }
    // Makes it ready for another split.
    void reset();
    // For a thread that has done its part; true for the last one.
    bool leave() { return threads.fetch_sub(1, std::memory_order_acq_rel) == 1; }
};

}  // namespace codt
