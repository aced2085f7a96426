// Memory for numbers that are about to be overwritten: grows, never shrinks, and is not cleared first, so
// that pages that are never written are never touched.
#pragma once

#include <cstddef>
#include <memory>

namespace codt {

template <class T>
class Buffer {
 public:
    // Room for `size` elements; what was there is lost if it has to grow.
    void ensure(std::size_t size) {
        if (size <= size_) return;
        data_.reset();
        size_ = 0;
        data_ = std::make_unique_for_overwrite<T[]>(size);
        size_ = size;
    }

    std::size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }

 private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
};

}  // namespace codt
