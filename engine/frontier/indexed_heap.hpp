// A binary heap of slot numbers whose keys may change: every slot knows its place, so moving or removing one
// takes logarithmic time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/check.hpp"

namespace codt {

class IndexedHeap {
 public:
    void clear() {
        slots_.clear();
        place_.clear();
    }
    bool empty() const { return slots_.empty(); }
    std::int32_t top() const { return slots_.front(); }
    const std::vector<std::int32_t>& slots() const { return slots_; }
    std::size_t bytes() const { return (slots_.capacity() + place_.capacity()) * sizeof(std::int32_t); }
    bool contains(std::int32_t slot) const {
        return static_cast<std::size_t>(slot) < place_.size() && place_[static_cast<std::size_t>(slot)] >= 0;
    }

    // `before(a, b)`: slot a comes before slot b.
    template <class Before>
    void push(std::int32_t slot, const Before& before) {
        if (place_.size() <= static_cast<std::size_t>(slot))
            place_.resize(static_cast<std::size_t>(slot) + 1, -1);
        CODT_CHECK(!contains(slot));
        slots_.push_back(slot);
        place_[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(slots_.size() - 1);
        up(slots_.size() - 1, before);
    }
    template <class Before>
    void remove(std::int32_t slot, const Before& before) {
        CODT_CHECK(contains(slot));
        const auto hole = static_cast<std::size_t>(place_[static_cast<std::size_t>(slot)]);
        place_[static_cast<std::size_t>(slot)] = -1;
        const std::int32_t last = slots_.back();
        slots_.pop_back();
        if (hole == slots_.size()) return;
        slots_[hole] = last;
        place_[static_cast<std::size_t>(last)] = static_cast<std::int32_t>(hole);
        restore(hole, before);
    }
    // After the key of `slot` has changed.
    template <class Before>
    void update(std::int32_t slot, const Before& before) {
        CODT_CHECK(contains(slot));
        restore(static_cast<std::size_t>(place_[static_cast<std::size_t>(slot)]), before);
    }

 private:
    template <class Before>
    void restore(std::size_t i, const Before& before) {
        if (i > 0 && before(slots_[i], slots_[(i - 1) / 2]))
            up(i, before);
        else
            down(i, before);
    }
    template <class Before>
    void up(std::size_t i, const Before& before) {
        while (i > 0) {
            const std::size_t parent = (i - 1) / 2;
            if (!before(slots_[i], slots_[parent])) return;
            exchange(i, parent);
            i = parent;
        }
    }
    template <class Before>
    void down(std::size_t i, const Before& before) {
        for (;;) {
            std::size_t child = 2 * i + 1;
            if (child >= slots_.size()) return;
            if (child + 1 < slots_.size() && before(slots_[child + 1], slots_[child])) ++child;
            if (!before(slots_[child], slots_[i])) return;
            exchange(i, child);
            i = child;
        }
    }
    void exchange(std::size_t a, std::size_t b) {
        std::swap(slots_[a], slots_[b]);
        place_[static_cast<std::size_t>(slots_[a])] = static_cast<std::int32_t>(a);
        place_[static_cast<std::size_t>(slots_[b])] = static_cast<std::int32_t>(b);
    }

    std::vector<std::int32_t> slots_;
    std::vector<std::int32_t> place_;  // per slot, -1 if not in the heap
};

}  // namespace codt
