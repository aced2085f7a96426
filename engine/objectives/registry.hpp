// The objectives by name. A new one is a file of its own in this folder (see docs/objectives.md) and a row of
// the table in registry.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "objectives/objective.hpp"
#include "objectives/targets.hpp"

namespace codt {

// What is to be minimised: a row of the table, and the values of its parameters, if it has any. Without a
// name, the first row that takes such targets.
struct ObjectiveChoice {
    std::string name;
    std::vector<double> parameters;
};

// Refuses targets and parameters that the row does not take.
std::unique_ptr<Objective> make_objective(const ObjectiveChoice& choice, const Targets& targets);

}  // namespace codt
