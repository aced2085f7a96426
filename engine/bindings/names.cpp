#include "bindings/names.hpp"

#include "bindings/arrays.hpp"

namespace codt::bindings {

KernelPath kernel_from(const std::string& name) {
    if (name == "auto") return best_kernel_path();
    std::string known = "auto";
    for (const KernelPathRow& row : kernel_paths()) {
        if (name == row.name && row.supported) return row.path;
        if (name == row.name) refuse("kernel: '" + name + "' is not supported by this processor");
        known += std::string(", ") + row.name;
    }
    refuse("kernel: expected one of " + known + ", got '" + name + "'");
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
