// The pinball loss: a target above the prediction costs `above` times its distance from it, one below `below`
// times. The best prediction for some samples is the quantile above / (above + below) of their targets; for
// absolute errors, which cost the distance on both sides, that is the median.
#pragma once

namespace codt {

struct Pinball {
    double quantile, above, below;

    double operator()(double target, double prediction) const {
        return target > prediction ? above * (target - prediction) : below * (prediction - target);
    }
};

inline constexpr Pinball absolute_distance{0.5, 1.0, 1.0};

inline Pinball pinball(double quantile) {
    return {quantile, quantile, 1 - quantile};
}

}  // namespace codt
