// What a search is about: the data and the objective, made of what comes from outside.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "common/stop.hpp"
#include "data/dataset.hpp"
#include "objectives/objective.hpp"
#include "objectives/targets.hpp"

namespace codt {

struct Problem {
    std::shared_ptr<const Dataset> data;
    std::shared_ptr<const Objective> objective;
};

// `x` is row-major with as many rows as the targets. With `merge`, equal rows become one row that counts as
// often, if they are so many that it pays and if the objective is plain misclassification: the loss of every
// tree stays the same. `stop`, if given, ends the sorting with Stopped.
Problem make_problem(const std::string& objective, std::span<const double> x, const Targets& targets,
                     bool merge = true, StopCondition* stop = nullptr);

}  // namespace codt
