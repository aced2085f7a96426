// Translation of strategies between Python dictionaries and the engine's values.
#pragma once

#include <nanobind/nanobind.h>

#include "strategies/strategy.hpp"

namespace codt::bindings {

nanobind::dict to_python(const Strategy& strategy);

// `parameter` names the argument in error messages.
Strategy strategy_from(const nanobind::dict& description, const char* parameter);

}  // namespace codt::bindings
