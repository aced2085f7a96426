// How Python can stop the engine.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace codt::bindings {

// Asks Python from time to time whether a signal has arrived or a function wants to stop. An exception is
// kept here until the engine has stopped.
class Poll {
 public:
    explicit Poll(nanobind::object function = nanobind::none());

    bool operator()();
    void rethrow() const;

 private:
    nanobind::object function_;
    std::exception_ptr raised_;
};

}  // namespace codt::bindings
