#include "objectives/registry.hpp"

#include <stdexcept>

namespace codt {

// Each in a file of its own.
std::unique_ptr<Objective> make_misclassification(std::span<const double> y, std::uint32_t classes);
std::unique_ptr<Objective> make_squared_error(std::span<const double> y);

namespace {

struct Entry {
    const char* name;
    std::unique_ptr<Objective> (*make)(std::span<const double> y, std::uint32_t classes);
};

constexpr Entry entries[] = {
    {"misclassification", make_misclassification},
    {"squared-error", [](std::span<const double> y, std::uint32_t) { return make_squared_error(y); }},
};

}  // namespace

std::unique_ptr<Objective> make_objective(const std::string& name, std::span<const double> y,
                                          std::uint32_t classes) {
    for (const Entry& entry : entries)
        if (name == entry.name) return entry.make(y, classes);
    std::string known;
    for (const Entry& entry : entries) known += (known.empty() ? "" : ", ") + std::string(entry.name);
    throw std::invalid_argument("objective: expected one of " + known + ", got '" + name + "'");
}

}  // namespace codt
