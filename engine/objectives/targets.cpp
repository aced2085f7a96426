#include "objectives/targets.hpp"

#include <stdexcept>
#include <string>

namespace codt {

std::vector<std::uint16_t> class_codes(const Targets& targets) {
    std::vector<std::uint16_t> codes;
    codes.reserve(targets.y.size());
    for (const double label : targets.y) {
        const auto code = static_cast<std::uint16_t>(label);
        if (!(label >= 0) || label >= targets.classes || static_cast<double>(code) != label)
            throw std::invalid_argument("y: expected class codes 0.." + std::to_string(targets.classes - 1) +
                                        ", got " + std::to_string(label));
        codes.push_back(code);
    }
    return codes;
}

}  // namespace codt
