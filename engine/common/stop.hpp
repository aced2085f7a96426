// When to stop a search: a deadline, a regular poll of the caller, and a flag that threads share. It is
// checked inside every long loop (after each feature of a scan), not only between expansions, so that a limit
// holds in the middle of a large subproblem too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace codt {

enum class StopReason { none, time_limit, interrupted };

// Thrown where a stop leaves nothing to return.
struct Stopped {};

class StopCondition {
 public:
    using Clock = std::chrono::steady_clock;

    StopCondition() = default;

    // `seconds` may be infinite. `poll` may be empty; it is called about every 20 ms.
    StopCondition(double seconds, std::function<bool()> poll) : poll_(std::move(poll)) {
        const auto now = Clock::now();
        // A limit of a century or more counts as no limit: it would overflow the clock's counter.
        limited_ = seconds < 3.0e9;
        if (limited_)
            deadline_ =
                now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        next_poll_ = now + poll_interval;
    }

    // For a part of a search: stops when the whole search does (`outer`, may be null), when a shared flag is
    // raised (may be null), or after a time limit of its own.
    StopCondition(StopCondition* outer, const std::atomic<bool>* flag,
                  double seconds = std::numeric_limits<double>::infinity())
        : StopCondition(seconds, {}) {
        outer_ = outer;
        flag_ = flag;
    }

    // True once the search has to stop; stays true.
    bool reached() {
        if (reason_ != StopReason::none) return true;
        if ((flag_ && flag_->load(std::memory_order_relaxed)) || (outer_ && outer_->reached())) {
            reason_ = StopReason::interrupted;
            return true;
        }
        if (!limited_ && !poll_) return false;
        const auto now = Clock::now();
        if (limited_ && now >= deadline_) {
            reason_ = StopReason::time_limit;
        } else if (poll_ && now >= next_poll_) {
            if (poll_()) reason_ = StopReason::interrupted;
            next_poll_ = Clock::now() + poll_interval;
        }
        return reason_ != StopReason::none;
    }

    // Whether to stop, for a loop that asks very often, each time after `samples` more samples. Looks at the
    // clock only once these add up to some microseconds of work.
    bool reached_after(std::uint32_t samples) {
        since_asked_ += samples;
        if (since_asked_ < samples_between) return reason_ != StopReason::none;
        since_asked_ = 0;
        return reached();
    }

    // For work that is useless unless finished: throws Stopped.
    void check() {
        if (reached()) throw Stopped{};
    }

    StopReason reason() const { return reason_; }

    static constexpr std::chrono::milliseconds poll_interval{20};
    static constexpr std::uint64_t samples_between = 10'000;

 private:
    std::function<bool()> poll_;
    Clock::time_point deadline_{};
    Clock::time_point next_poll_{};
    std::uint64_t since_asked_ = samples_between;
    bool limited_ = false;
    StopReason reason_ = StopReason::none;
    const std::atomic<bool>* flag_ = nullptr;
    StopCondition* outer_ = nullptr;
};

}  // namespace codt
