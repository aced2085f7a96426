// Run-time choice of the instruction set for the scans.
#pragma once

#include "common/kernel_paths.hpp"

namespace codt {

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none
#define CODT_RUN(name, bytes, target, supported) \
    template <class Kernel, class... Args>       \
    target void run_##name(Args... args) {       \
        Kernel::template run<bytes>(args...);    \
    }
// NOLINTEND(bugprone-macro-parentheses)
CODT_VECTOR_PATHS(CODT_RUN)
#undef CODT_RUN

// The function that runs Kernel::run<register bytes>(args...), compiled for `path`. Kernel::run is always
// inlined, so that its body takes on the instruction set of the function around it.
template <class Kernel, class... Args>
auto kernel_function(KernelPath path) -> void (*)(Args...) {
#define CODT_CHOOSE(name, ...) \
    if (path == KernelPath::name) return run_##name<Kernel, Args...>;
    CODT_VECTOR_PATHS(CODT_CHOOSE)
#undef CODT_CHOOSE
    return run_baseline<Kernel, Args...>;
}

}  // namespace codt
