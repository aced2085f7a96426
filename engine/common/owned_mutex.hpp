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
        mutex_.lock();
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

    std::mutex mutex_;
    Clock::time_point since_;
    Clock::duration held_{0};
    std::atomic<std::thread::id> owner_{};
};

}  // namespace codt
