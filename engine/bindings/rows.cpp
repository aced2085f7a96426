#include "bindings/rows.hpp"

namespace nb = nanobind;

namespace codt::bindings {

std::optional<bool> switch_from(nb::handle value) {
    if (!PyBool_Check(value.ptr())) {
        const nb::object module = value.type().attr("__module__");
        const nb::object name = value.type().attr("__name__");  // before NumPy 2: bool_
        if (!module.equal(nb::str("numpy")) || !(name.equal(nb::str("bool")) || name.equal(nb::str("bool_"))))
            return std::nullopt;
    }
    return PyObject_IsTrue(value.ptr()) == 1;
}

std::optional<WholeNumber> whole_number_from(nb::handle value) {
    if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) return std::nullopt;
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) {
        PyErr_Clear();
        return std::nullopt;
    }
    WholeNumber number;
    number.negative = index < nb::int_(0);
    number.beyond = !number.negative && !nb::try_cast(index, number.value);
    if (number.beyond) number.value = UINT64_MAX;
    return number;
}

std::optional<double> number_from(nb::handle value) {
    if (PyBool_Check(value.ptr()) || !PyNumber_Check(value.ptr())) return std::nullopt;
    const double number = PyFloat_AsDouble(value.ptr());
    if (!PyErr_Occurred()) return number;
    PyErr_Clear();
    return std::nullopt;
}

namespace {

// Python refuses to print some values, such as integers of thousands of digits.
std::string shown(nb::handle value) {
    try {
        return nb::repr(value).c_str();
    } catch (const nb::python_error&) {
        return std::string("a value of ") + nb::repr(value.type()).c_str();
    }
}

}  // namespace

void refuse_value(const std::string& name, const std::string& expected, nb::handle value, Reading reading) {
    const std::string message = name + ": expected " + expected + ", got " + shown(value);
    if (reading == Reading::wrong_type) throw nb::type_error(message.c_str());
    throw nb::value_error(message.c_str());
}

void refuse_name(const std::string& problem) {
    throw nb::type_error(problem.c_str());
}

}  // namespace codt::bindings
