// What a search holds in memory. Every node of the search tree accounts for its own memory until it is
// destroyed, so the total is right whatever happens to the tree.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace codt {

class MemoryAccount {
 public:
    // Bytes in use by everything that holds a share.
    std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
    void add(std::int64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
    std::atomic<std::int64_t> used_{0};
};

class MemoryShare {
 public:
    MemoryShare() = default;
    ~MemoryShare() { set(nullptr, 0); }
    MemoryShare(const MemoryShare&) = delete;
    MemoryShare& operator=(const MemoryShare&) = delete;

    void set(MemoryAccount* account, std::size_t bytes) {
        if (account_) account_->add(-bytes_);
        account_ = account;
        bytes_ = static_cast<std::int64_t>(bytes);
        if (account_) account_->add(bytes_);
    }

 private:
    MemoryAccount* account_ = nullptr;
    std::int64_t bytes_ = 0;
};

inline constexpr std::int64_t no_memory_limit = std::numeric_limits<std::int64_t>::max();

}  // namespace codt
