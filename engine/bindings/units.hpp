// Units and reports on them as dictionaries of numbers and lists, which can be sent to other processes.
#pragma once

#include <nanobind/nanobind.h>

#include "search/units.hpp"

namespace codt::bindings {

nanobind::dict to_python(const Unit& unit);
Unit unit_from(const nanobind::dict& given);

nanobind::dict to_python(const UnitReport& report);
UnitReport report_from(const nanobind::dict& given);

}  // namespace codt::bindings
