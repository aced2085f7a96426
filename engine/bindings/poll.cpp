#include "bindings/poll.hpp"

#include <limits>
#include <string>
#include <utility>

#include "bindings/arrays.hpp"

namespace nb = nanobind;

namespace codt::bindings {

Poll::Poll(nb::object function) : function_(std::move(function)) {}

bool Poll::operator()() {
    nb::gil_scoped_acquire locked;
    try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return !function_.is_none() && nb::cast<bool>(nb::bool_(function_()));
    } catch (...) {
        raised_ = std::current_exception();
        return true;
    }
}

void Poll::rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
}

double seconds_from(std::optional<double> time_limit) {
    const double seconds = time_limit.value_or(std::numeric_limits<double>::infinity());
    if (!(seconds >= 0))
        refuse("time_limit: expected a number of at least 0, got " + std::to_string(seconds));
    return seconds;
}

}  // namespace codt::bindings
