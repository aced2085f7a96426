// Large blocks of memory, some of which are kept for the next search when they are given back. Getting fresh
// pages from the operating system costs more than everything a search of depth two does with them.
#pragma once

#include <cstddef>
#include <utility>

namespace codt {

class MemoryBlock {
 public:
    MemoryBlock() = default;
    explicit MemoryBlock(std::size_t bytes);  // not cleared
    MemoryBlock(MemoryBlock&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    MemoryBlock& operator=(MemoryBlock&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~MemoryBlock();

    void* data() const { return data_; }

 private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;  // as allocated, which may be more than was asked for
};

// To be called when the system has no more memory: gives back what is kept, and keeps nothing from now on.
void stop_keeping_blocks() noexcept;

// The most that is kept.
inline constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;

}  // namespace codt
