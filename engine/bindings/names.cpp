#include "bindings/names.hpp"

#include "bindings/arrays.hpp"

namespace codt::bindings {

KernelPath kernel_from(const std::string& name) {
    KernelPath path{};
    if (name == "auto")
        return best_kernel_path();
    else if (name == "scalar")
        path = KernelPath::scalar;
    else if (name == "baseline")
        path = KernelPath::baseline;
    else if (name == "avx2")
        path = KernelPath::avx2;
    else if (name == "avx512")
        path = KernelPath::avx512;
    else
        refuse("kernel: expected one of auto, scalar, baseline, avx2, avx512, got '" + name + "'");
    if (!kernel_path_supported(path)) refuse("kernel: '" + name + "' is not supported by this processor");
    return path;
}

const char* status_name(RunStatus status) {
    switch (status) {
        case RunStatus::optimal:
            return "optimal";
        case RunStatus::time_limit:
            return "time-limit";
        case RunStatus::expansion_limit:
            return "expansion-limit";
        case RunStatus::gap_limit:
            return "gap-limit";
        case RunStatus::memory_limit:
            return "memory-limit";
        case RunStatus::interrupted:
            return "interrupted";
    }
    return "";
}

}  // namespace codt::bindings
