// A small, fast, reproducible generator (SplitMix64). The same seed gives the same search on every
// platform, which the standard library's distributions do not promise.
#pragma once

#include <cstdint>

namespace codt {

class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
    std::uint64_t state_;
};

}  // namespace codt
