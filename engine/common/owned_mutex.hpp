// A mutex that knows its owner. A user's function that is called while it is locked (a heuristic) may try to
// lock it again: that is refused, as it would otherwise wait for itself forever.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace codt {

class OwnedMutex {
 public:
    void lock() {
        if (owner_.load(std::memory_order_relaxed) == std::this_thread::get_id())
            throw std::runtime_error(
                "the search is waiting for this function; it cannot be asked from within");
        if (!locked_soon()) mutex_.lock();
        since_ = Clock::now();
        owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    void unlock() {
        held_ += Clock::now() - since_;
        owner_.store({}, std::memory_order_relaxed);
        mutex_.unlock();
    }

    // How long it has been held before it was locked the last time; only its owner may ask.
    std::chrono::nanoseconds held() const { return held_; }

 private:
    using Clock = std::chrono::steady_clock;

    // As a rule it is held for a microsecond or two: less than it takes to fall asleep and be woken.
    bool locked_soon() {
        for (int turn = 0; turn < 100; ++turn) {
            if (owner_.load(std::memory_order_relaxed) == std::thread::id() && mutex_.try_lock()) return true;
#ifdef __x86_64__
            __builtin_ia32_pause();
#endif
        }
        return false;
    }

    std::mutex mutex_;
    Clock::time_point since_;
    Clock::duration held_{0};
    std::atomic<std::thread::id> owner_{};
};

}  // namespace codt
