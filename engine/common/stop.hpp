// When to stop a search: a deadline, and a question put to the caller at a steady pace. It is asked
// inside every long loop (after each feature of a scan), not only between expansions, so that a limit
// holds in the middle of a large subproblem too.
#pragma once

#include <chrono>
#include <functional>
#include <limits>

namespace codt {

enum class StopReason { none, time_limit, interrupted };

class StopCondition {
 public:
    using Clock = std::chrono::steady_clock;

    StopCondition() = default;

    // `seconds` may be infinite. `poll` may be empty; it is called at most every 50 ms.
    StopCondition(double seconds, std::function<bool()> poll) : poll_(std::move(poll)) {
        const auto now = Clock::now();
        // A limit beyond a century is none: it would overflow the clock's counter.
        limited_ = seconds < 3.0e9;
        if (limited_)
            deadline_ =
                now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        next_poll_ = now + poll_interval;
    }

    // True once the search has to stop; stays true.
    bool reached() {
        if (reason_ != StopReason::none) return true;
        if (!limited_ && !poll_) return false;
        const auto now = Clock::now();
        if (limited_ && now >= deadline_) {
            reason_ = StopReason::time_limit;
        } else if (poll_ && now >= next_poll_) {
            next_poll_ = now + poll_interval;
            if (poll_()) reason_ = StopReason::interrupted;
        }
        return reason_ != StopReason::none;
    }

    StopReason reason() const { return reason_; }

 private:
    static constexpr std::chrono::milliseconds poll_interval{50};

    std::function<bool()> poll_;
    Clock::time_point deadline_{};
    Clock::time_point next_poll_{};
    bool limited_ = false;
    StopReason reason_ = StopReason::none;
};

}  // namespace codt
