// The objectives by name. A new one is a file of its own in this folder (see cost_tuple.hpp) and a row of the
// table in registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "objectives/objective.hpp"

namespace codt {

// `classes` counts the labels of a classification task; others ignore it.
std::unique_ptr<Objective> make_objective(const std::string& name, std::span<const double> y,
                                          std::uint32_t classes);

}  // namespace codt
