// Arrays that come from Python and go there, and the error for invalid ones.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>
#include <vector>

namespace codt::bindings {

using Matrix = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Column = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
// One or two dimensions.
using Values = nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu>;

[[noreturn]] inline void refuse(const std::string& message) {
    throw nanobind::value_error(message.c_str());
}

template <class T, class U>
nanobind::object array_of(const std::vector<U>& values) {
    T* data = new T[values.size()];
    std::copy(values.begin(), values.end(), data);
    nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {values.size()}, owner));
}

inline nanobind::object matrix_of(const std::vector<std::vector<double>>& rows, std::size_t columns) {
    double* data = new double[rows.size() * columns];
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy(rows[i].begin(), rows[i].end(), data + i * columns);
    nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<2>>(data, {rows.size(), columns}, owner));
}

}  // namespace codt::bindings
