// Which of the compiled instruction sets this processor can run.
#include "scans/lanes.hpp"
#include "scans/scanner.hpp"

namespace codt {

bool kernel_path_supported(KernelPath path) {
    switch (path) {
        case KernelPath::scalar:
        case KernelPath::baseline:
            return true;
#ifdef CODT_X86_PATHS
        case KernelPath::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                   __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
        case KernelPath::avx512:
            return kernel_path_supported(KernelPath::avx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
        default:
            return false;
#endif
    }
    return false;
}

KernelPath best_kernel_path() {
    if (kernel_path_supported(KernelPath::avx512)) return KernelPath::avx512;
    if (kernel_path_supported(KernelPath::avx2)) return KernelPath::avx2;
    return KernelPath::baseline;
}

}  // namespace codt
