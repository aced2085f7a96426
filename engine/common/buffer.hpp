// Memory for numbers that are about to be overwritten: grows, never shrinks, and is not cleared first, so
// that pages that are never written are never touched.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "common/block_pool.hpp"

namespace codt {

template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
    // Room for `size` elements; the contents are lost if it has to grow.
    void ensure(std::size_t size) {
        if (size <= size_) return;
        block_ = {};
        size_ = 0;
        block_ = MemoryBlock(size * sizeof(T));
        size_ = size;
    }

    std::size_t size() const { return size_; }
    T* data() { return static_cast<T*>(block_.data()); }
    const T* data() const { return static_cast<const T*>(block_.data()); }

 private:
    MemoryBlock block_;
    std::size_t size_ = 0;
};

}  // namespace codt
