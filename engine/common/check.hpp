// Internal consistency checks. They are compiled in when CODT_ASSERTS is defined (the test build)
// and throw, so that a violated invariant reaches the caller as an exception instead of a crash.
#pragma once

#include <stdexcept>
#include <string>

namespace codt {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
    throw std::logic_error(std::string("codt internal check failed: ") + condition + " at " + file + ":" +
                           std::to_string(line));
}

}  // namespace codt

#ifdef CODT_ASSERTS
#define CODT_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::codt::check_failed(#condition, __FILE__, __LINE__))
#else
#define CODT_CHECK(condition) static_cast<void>(0)
#endif
