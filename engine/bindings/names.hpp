// What Python calls the engine's choices and results.
#pragma once

#include <string>

#include "search/search.hpp"

namespace codt::bindings {

// Refuses a path that this processor cannot run; "auto" is the best one.
KernelPath kernel_from(const std::string& name);
const char* status_name(RunStatus status);

}  // namespace codt::bindings
