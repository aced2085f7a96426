// One scan of the left/right terminal case on its own, for tests and measurements.
#pragma once

#include <nanobind/nanobind.h>

namespace codt::bindings {

void bind_scans(nanobind::module_& m);

}  // namespace codt::bindings
