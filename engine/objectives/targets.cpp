#include "objectives/targets.hpp"

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "objectives/whole_units.hpp"

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

// Weights are summed as whole numbers, so that whether a leaf holds enough does not depend on the order of
// its samples. A weight that misses the limit only by rounding is enough.
LeafLimits leaf_limits(const Targets& targets, std::uint32_t samples, double weight) {
    LeafLimits limits;
    limits.samples = samples;
    if (weight > 0) {
        std::vector<double> weights(targets.rows());
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = targets.weight(i);
        WholeNumbers whole = in_whole_units(weights, std::accumulate(weights.begin(), weights.end(), 0.0));
        limits.weight = weight / whole.unit * (1 - 1e-12);
        limits.own_weights = std::make_shared<const std::vector<double>>(std::move(whole.values));
        limits.weights = *limits.own_weights;
    }
    return limits;
}

}  // namespace codt
