#include "bindings/poll.hpp"

#include <utility>

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

}  // namespace codt::bindings
