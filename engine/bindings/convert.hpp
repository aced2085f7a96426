// Translation of strategies between Python dictionaries and the engine's values.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "strategies/strategy.hpp"

namespace codt::bindings {

nanobind::dict to_python(const Strategy& strategy);

// A Python function that a strategy calls. The engine may release it on a thread that does not hold the
// interpreter lock, and Python's cycle collector has to see it (see module.cpp).
struct HeldFunction {
    explicit HeldFunction(nanobind::callable f);
    ~HeldFunction();
    HeldFunction(const HeldFunction&) = delete;
    HeldFunction& operator=(const HeldFunction&) = delete;

    nanobind::callable function;
};
using HeldFunctions = std::vector<std::shared_ptr<HeldFunction>>;

// `parameter` names the argument in error messages; a Python function in the strategy is added to `held`.
Strategy strategy_from(const nanobind::dict& description, const char* parameter, HeldFunctions& held);

}  // namespace codt::bindings
