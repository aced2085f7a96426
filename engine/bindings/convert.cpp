#include "bindings/convert.hpp"

#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;

namespace codt::bindings {

namespace {

nb::dict to_python(const Heuristic& heuristic) {
    nb::dict out;
    switch (heuristic.kind) {
        case Heuristic::Kind::none:
            out["kind"] = "none";
            break;
        case Heuristic::Kind::linear:
            out["kind"] = "linear";
            out["lower_bound"] = heuristic.lower_bound_weight;
            out["support"] = heuristic.support_weight;
            break;
        case Heuristic::Kind::curiosity:
            out["kind"] = "curiosity";
            break;
        case Heuristic::Kind::random:
            out["kind"] = "random";
            break;
        case Heuristic::Kind::discrepancy:
            out["kind"] = "discrepancy";
            break;
        case Heuristic::Kind::function:
            out["kind"] = "function";
            break;
    }
    return out;
}

nb::object item(const nb::dict& dict, const char* key, const char* parameter) {
    if (!dict.contains(key))
        throw nb::value_error((std::string(parameter) + ": the key '" + key + "' is missing").c_str());
    return dict[key];
}

template <class T>
T cast_item(const nb::dict& dict, const char* key, const char* parameter, const char* expected) {
    const nb::object value = item(dict, key, parameter);
    T out;
    if (!nb::try_cast<T>(value, out)) {
        const std::string message = std::string(parameter) + "['" + key + "']: expected " + expected +
                                    ", got " + nb::repr(value).c_str();
        throw nb::type_error(message.c_str());
    }
    return out;
}

Heuristic heuristic_from(const nb::dict& dict, const char* parameter, HeldFunctions& held) {
    const auto kind = cast_item<std::string>(dict, "kind", parameter, "text");
    Heuristic heuristic;
    if (kind == "none") {
        heuristic.kind = Heuristic::Kind::none;
    } else if (kind == "linear") {
        heuristic.kind = Heuristic::Kind::linear;
        heuristic.lower_bound_weight = cast_item<double>(dict, "lower_bound", parameter, "a number");
        heuristic.support_weight = cast_item<double>(dict, "support", parameter, "a number");
        if (!std::isfinite(heuristic.lower_bound_weight) || !std::isfinite(heuristic.support_weight))
            throw nb::value_error(
                (std::string(parameter) + ": expected finite weights in a linear heuristic").c_str());
    } else if (kind == "curiosity") {
        heuristic.kind = Heuristic::Kind::curiosity;
    } else if (kind == "random") {
        heuristic.kind = Heuristic::Kind::random;
    } else if (kind == "discrepancy") {
        heuristic.kind = Heuristic::Kind::discrepancy;
    } else if (kind == "function") {
        heuristic.kind = Heuristic::Kind::function;
        held.push_back(std::make_shared<HeldFunction>(
            cast_item<nb::callable>(dict, "function", parameter, "a function")));
        heuristic.function = [shared = held.back()](const NodeState& s) {
            nb::gil_scoped_acquire lock;
            if (!shared->function.is_valid()) throw std::runtime_error("heuristic: the function is gone");
            const nb::object value =
                shared->function(s.lower_bound, s.support, static_cast<long>(s.depth),
                                 static_cast<long>(s.feature_rank), static_cast<long>(s.split_discrepancy));
            double number = 0;
            if (!nb::try_cast<double>(value, number)) {
                const std::string message =
                    std::string("heuristic: expected the function to return a number, got ") +
                    nb::repr(value).c_str();
                throw nb::type_error(message.c_str());
            }
            return number;
        };
    } else if (kind == "native") {
        heuristic.kind = Heuristic::Kind::function;
        const auto address =
            cast_item<std::uintptr_t>(dict, "address", parameter, "the address of a compiled function");
        if (address == 0)
            throw nb::value_error(
                (std::string(parameter) + "['address']: expected an address, got 0").c_str());
        using Native = double (*)(double, double, double, double, double);
        const auto function = reinterpret_cast<Native>(address);
        heuristic.function = [function](const NodeState& s) {
            return function(s.lower_bound, s.support, s.depth, s.feature_rank, s.split_discrepancy);
        };
    } else {
        const std::string message = std::string(parameter) +
                                    "['kind']: expected one of none, linear, curiosity, random, discrepancy, "
                                    "function, native, got '" +
                                    kind + "'";
        throw nb::value_error(message.c_str());
    }
    return heuristic;
}

}  // namespace

HeldFunction::HeldFunction(nb::callable f) : function(std::move(f)) {}

HeldFunction::~HeldFunction() {
    nb::gil_scoped_acquire lock;
    function.reset();
}

nb::dict to_python(const Strategy& strategy) {
    nb::list priority;
    for (const Criterion criterion : strategy.priority) priority.append(name_of(criterion));
    nb::dict out;
    out["name"] = strategy.name;
    out["description"] = strategy.description;
    out["priority"] = priority;
    out["left_right"] = name_of(strategy.left_right);
    out["threshold"] = name_of(strategy.threshold);
    out["heuristic"] = to_python(strategy.heuristic);
    return out;
}

Strategy strategy_from(const nb::dict& description, const char* parameter, HeldFunctions& held) {
    Strategy strategy;
    strategy.name = cast_item<std::string>(description, "name", parameter, "text");
    for (const nb::handle entry : item(description, "priority", parameter)) {
        std::string name;
        if (!nb::try_cast<std::string>(entry, name))
            throw nb::type_error((std::string(parameter) + "['priority']: expected a list of names").c_str());
        strategy.priority.push_back(criterion_from(name));
    }
    if (strategy.priority.empty())
        throw nb::value_error(
            (std::string(parameter) + "['priority']: expected at least one criterion, got none").c_str());
    strategy.left_right =
        left_right_from(cast_item<std::string>(description, "left_right", parameter, "text"));
    strategy.threshold =
        threshold_choice_from(cast_item<std::string>(description, "threshold", parameter, "text"));
    strategy.heuristic = heuristic_from(
        cast_item<nb::dict>(description, "heuristic", parameter, "a dictionary"), parameter, held);
    return strategy;
}

}  // namespace codt::bindings
