// Run-time choice of the instruction set for the scans.
#pragma once

#include "scans/lanes.hpp"
#include "scans/scanner.hpp"

namespace codt {

template <class Kernel, class... Args>
void run_baseline(Args... args) {
    Kernel::template run<baseline_bytes>(args...);
}
#ifdef CODT_X86_PATHS
template <class Kernel, class... Args>
CODT_TARGET_AVX2 void run_avx2(Args... args) {
    Kernel::template run<avx2_bytes>(args...);
}
template <class Kernel, class... Args>
CODT_TARGET_AVX512 void run_avx512(Args... args) {
    Kernel::template run<avx512_bytes>(args...);
}
#endif

// The function that runs Kernel::run<register bytes>(args...), compiled for `path`. Kernel::run is always
// inlined, so that its body takes on the instruction set of the function around it.
template <class Kernel, class... Args>
auto kernel_function(KernelPath path) -> void (*)(Args...) {
#ifdef CODT_X86_PATHS
    if (path == KernelPath::avx512) return run_avx512<Kernel, Args...>;
    if (path == KernelPath::avx2) return run_avx2<Kernel, Args...>;
#endif
    static_cast<void>(path);
    return run_baseline<Kernel, Args...>;
}

}  // namespace codt
