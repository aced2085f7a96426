#include "common/block_pool.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <vector>

namespace codt {

namespace {

// malloc handles smaller blocks well.
constexpr std::size_t least_kept_block = std::size_t{16} << 10;

constexpr std::align_val_t alignment{64};

// No thread waits for the lock: one that does not get it does without the pool. So a process that was forked
// while another thread held the lock cannot hang.
class Pool {
 public:
    // The smallest block that is large enough and not much larger, if there is one.
    std::pair<void*, std::size_t> take(std::size_t bytes) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return {nullptr, 0};
        auto best = kept_.end();
        for (auto block = kept_.begin(); block != kept_.end(); ++block)
            if (block->second >= bytes && block->second <= bytes + bytes / 4 &&
                (best == kept_.end() || block->second < best->second))
                best = block;
        if (best == kept_.end()) return {nullptr, 0};
        const auto found = *best;
        kept_.erase(best);
        sum_ -= found.second;
        return found;
    }

    bool keep(void* data, std::size_t bytes) noexcept {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || stopped_ || sum_ + bytes > most_kept_bytes) return false;
        try {
            kept_.emplace_back(data, bytes);
        } catch (const std::bad_alloc&) {
            return false;
        }
        sum_ += bytes;
        return true;
    }

    void stop() noexcept {
        stopped_ = true;
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock) return;
        for (const auto& [data, bytes] : kept_) ::operator delete(data, alignment);
        kept_.clear();
        sum_ = 0;
    }

 private:
    std::mutex mutex_;
    std::vector<std::pair<void*, std::size_t>> kept_;
    std::size_t sum_ = 0;
    std::atomic<bool> stopped_ = false;
};

// Never destroyed: blocks may be given back while the process ends.
Pool& pool() {
    static Pool* const instance = new Pool;
    return *instance;
}

// Under a sanitizer no block is reused, so that any use after it was given back is detected.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

}  // namespace

MemoryBlock::MemoryBlock(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    if (keeps && bytes >= least_kept_block) {
        const auto [data, size] = pool().take(bytes);
        if (data) {
            data_ = data;
            bytes_ = size;
            return;
        }
    }
    try {
        data_ = ::operator new(bytes, alignment);
    } catch (const std::bad_alloc&) {
        stop_keeping_blocks();
        data_ = ::operator new(bytes, alignment);
    }
}

MemoryBlock::~MemoryBlock() {
    if (!data_) return;
    if (keeps && bytes_ >= least_kept_block && pool().keep(data_, bytes_)) return;
    ::operator delete(data_, alignment);
}

void stop_keeping_blocks() noexcept {
    pool().stop();
}

}  // namespace codt
