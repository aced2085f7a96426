// Rows of a table of options: what each is called, which values it takes, and which field gets its value.
// `Given` is the struct that receives the values; its initial values are the defaults.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace codt::bindings {

enum class Reading { done, wrong_type, wrong_value };

template <class Given>
struct Row {
    std::string name;
    std::string expected;                                   // which values it takes, in words
    std::function<Reading(nanobind::handle, Given&)> read;  // into its field
    std::function<nanobind::object(Given&)> to_python;      // what its field holds
};

template <class Given>
using Table = std::vector<Row<Given>>;

// `read` takes a value and the field.
template <class Given, class Field, class Read>
Row<Given> make_row(std::string name, std::string expected, Field& (*field)(Given&), Read read) {
    return {std::move(name), std::move(expected),
            [=](nanobind::handle value, Given& given) { return read(value, field(given)); },
            [=](Given& given) { return nanobind::cast(field(given)); }};
}

// Python's values as C++ values; nothing if they are of another type.
struct WholeNumber {
    bool negative = false;
    bool beyond = false;  // more than 64 bits; `value` is then the largest
    std::uint64_t value = 0;
};
std::optional<bool> switch_from(nanobind::handle value);
std::optional<WholeNumber> whole_number_from(nanobind::handle value);
std::optional<double> number_from(nanobind::handle value);

template <class Given>
Row<Given> on_off(std::string name, bool& (*field)(Given&)) {
    return make_row(std::move(name), "True or False", field, [](nanobind::handle value, bool& on) {
        const auto given = switch_from(value);
        on = given.value_or(on);
        return given ? Reading::done : Reading::wrong_type;
    });
}

// No upper limit: a number too large for the field becomes the largest that it holds.
inline constexpr std::optional<std::uint64_t> unlimited = std::nullopt;

template <class Given, class Number>
Row<Given> whole(std::string name, Number& (*field)(Given&), std::uint64_t least,
                 std::optional<std::uint64_t> most) {
    const std::string range = most ? "from " + std::to_string(least) + " to " + std::to_string(*most)
                                   : "of at least " + std::to_string(least);
    return make_row(std::move(name), "a whole number " + range, field,
                    [=](nanobind::handle value, Number& number) {
                        const auto given = whole_number_from(value);
                        if (!given) return Reading::wrong_type;
                        if (given->negative || given->value < least) return Reading::wrong_value;
                        if (most && (given->beyond || given->value > *most)) return Reading::wrong_value;
                        number = static_cast<Number>(
                            std::min<std::uint64_t>(given->value, std::numeric_limits<Number>::max()));
                        return Reading::done;
                    });
}

enum class Infinity { refused, allowed };

template <class Given>
Row<Given> at_least_zero(std::string name, double& (*field)(Given&), Infinity infinity = Infinity::refused) {
    const bool finite = infinity == Infinity::refused;
    return make_row(std::move(name), finite ? "a finite number of at least 0" : "a number of at least 0",
                    field, [=](nanobind::handle value, double& number) {
                        const auto given = number_from(value);
                        if (!given) return Reading::wrong_type;
                        if (!(*given >= 0) || (finite && std::isinf(*given))) return Reading::wrong_value;
                        number = *given;
                        return Reading::done;
                    });
}

template <class Given>
Row<Given> share(std::string name, double& (*field)(Given&), double most = 1) {
    std::ostringstream range;
    range << "a number from 0 to " << most;
    return make_row(std::move(name), range.str(), field, [=](nanobind::handle value, double& number) {
        const auto given = number_from(value);
        if (!given) return Reading::wrong_type;
        if (!(*given >= 0 && *given <= most)) return Reading::wrong_value;
        number = *given;
        return Reading::done;
    });
}

template <class Given>
Row<Given> text(std::string name, std::string& (*field)(Given&)) {
    return make_row(std::move(name), "a text", field, [](nanobind::handle value, std::string& text) {
        return nanobind::try_cast(value, text) ? Reading::done : Reading::wrong_type;
    });
}

template <class Given>
Row<Given> numbers(std::string name, std::vector<double>& (*field)(Given&)) {
    return make_row(std::move(name), "a list of numbers", field,
                    [](nanobind::handle value, std::vector<double>& list) {
                        return nanobind::try_cast(value, list) ? Reading::done : Reading::wrong_type;
                    });
}

template <class Given, class Choice>
Row<Given> one_of(std::string name, Choice& (*field)(Given&),
                  std::vector<std::pair<std::string, Choice>> choices) {
    std::string expected;
    for (const auto& choice : choices) expected += (expected.empty() ? "one of " : ", ") + choice.first;
    Row<Given> row{std::move(name), std::move(expected), {}, {}};
    row.read = [=](nanobind::handle value, Given& given) {
        std::string chosen;
        if (!nanobind::try_cast(value, chosen)) return Reading::wrong_type;
        const auto known = std::ranges::find(choices, chosen, &std::pair<std::string, Choice>::first);
        if (known == choices.end()) return Reading::wrong_value;
        field(given) = known->second;
        return Reading::done;
    };
    row.to_python = [=](Given& given) {
        return nanobind::cast(
            std::ranges::find(choices, field(given), &std::pair<std::string, Choice>::second)->first);
    };
    return row;
}

// None leaves the field at its default.
template <class Given>
Row<Given> or_none(Row<Given> row) {
    row.expected += " or None";
    row.read = [read = std::move(row.read)](nanobind::handle value, Given& given) {
        return value.is_none() ? Reading::done : read(value, given);
    };
    row.to_python = [to_python = std::move(row.to_python)](Given& given) {
        Given none;
        nanobind::object value = to_python(given);
        return value.equal(to_python(none)) ? nanobind::none() : value;
    };
    return row;
}

[[noreturn]] void refuse_value(const std::string& name, const std::string& expected, nanobind::handle value,
                               Reading reading);
[[noreturn]] void refuse_name(const std::string& problem);

enum class Missing { refused, default_value };

template <class Given>
Given read_options(const Table<Given>& table, const nanobind::kwargs& values, Missing missing) {
    for (const nanobind::handle key : values.keys()) {
        const auto name = nanobind::cast<std::string>(key);
        if (std::ranges::find(table, name, &Row<Given>::name) == table.end())
            refuse_name("there is no option '" + name + "'");
    }
    Given given;
    for (const Row<Given>& row : table) {
        if (values.contains(row.name.c_str())) {
            const nanobind::object value = values[row.name.c_str()];
            const Reading reading = row.read(value, given);
            if (reading != Reading::done) refuse_value(row.name, row.expected, value, reading);
        } else if (missing == Missing::refused) {
            refuse_name("the option '" + row.name + "' is missing");
        }
    }
    return given;
}

// Describes a table to Python: the values given, defaults elsewhere.
template <class Given>
nanobind::list describe(const Table<Given>& table, const nanobind::kwargs& values) {
    Given given = read_options(table, values, Missing::default_value);
    nanobind::list out;
    for (const Row<Given>& row : table) {
        nanobind::dict entry;
        entry["name"] = row.name;
        entry["expected"] = row.expected;
        entry["value"] = row.to_python(given);
        out.append(entry);
    }
    return out;
}

}  // namespace codt::bindings
