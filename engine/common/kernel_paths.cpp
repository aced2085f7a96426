#include "common/kernel_paths.hpp"

namespace codt {

std::span<const KernelPathRow> kernel_paths() {
#define CODT_ROW(name, bytes, target, supported) {KernelPath::name, #name, supported},
    static const KernelPathRow rows[] = {{KernelPath::scalar, "scalar", true}, CODT_VECTOR_PATHS(CODT_ROW)};
#undef CODT_ROW
    return rows;
}

KernelPath best_kernel_path() {
    KernelPath best = KernelPath::baseline;
    for (const KernelPathRow& row : kernel_paths())
        if (row.supported) best = row.path;
    return best;
}

}  // namespace codt
