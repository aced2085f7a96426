// The objectives by name. A new one is a file of its own in this folder (see docs/objectives.md) and a row of
// the table in registry.cpp.
#pragma once

#include <memory>
#include <string>

#include "objectives/objective.hpp"
#include "objectives/targets.hpp"

namespace codt {

std::unique_ptr<Objective> make_objective(const std::string& name, const Targets& targets);

}  // namespace codt
