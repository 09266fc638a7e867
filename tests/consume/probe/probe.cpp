// Asks the casters everything that tests/consume/test_casters.py wants to know, those of nanobind
// and those of pybind11: the two libraries spell nearly everything alike.
// SPDX-License-Identifier: Apache-2.0
#ifdef PROBE_PYBIND11
#include <usmx/pybind11.hpp>

#include <pybind11/complex.h>
#include <pybind11/stl.h>
namespace nb = pybind11;
#define PROBE_MODULE PYBIND11_MODULE
#else
#include <usmx/nanobind.hpp>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
namespace nb = nanobind;
#define PROBE_MODULE NB_MODULE
#endif

#include <complex>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

using namespace nb::literals;

namespace {

template <class T>
T sum(usmx::host_view<const T, 1> x) {
  T total{};
  for (std::int64_t i = 0; i < x.size(); ++i) total = static_cast<T>(total + x(i));
  return total;
}

template <class T>
void define_sum(nb::module_& m) {
  m.def("sum", &sum<T>, "x"_a);
}

/// Made implicitly of an array.
struct wrapped {
  explicit wrapped(usmx::host_view<const float, 1> x) : total(sum<float>(x)) {}
  float total;
};

struct keeper {};

#ifndef PROBE_PYBIND11
struct picture {
  explicit picture(int pixels) : width(pixels) {}
  int width;
};

/// Without a name in Python.
struct unbound {};

/// What test_wrong_calls.py calls wrongly; nothing else of the probe is explained.
void define_explained(nb::module_ m) {
  m.def("scale", [](usmx::host_view<const float, 1>, float) {}, "x"_a, "factor"_a);
  m.def("largest", [](usmx::host_view<const float, 1>) {}, "x"_a);
  m.def("largest", [](usmx::host_view<const double, 1>) {}, "x"_a);
  m.def("repeat", [](std::int8_t) {}, "times"_a);
  m.def(
      "names", [](const std::vector<std::string>&, bool) {}, "names"_a, nb::kw_only(),
      "sorted"_a = false);
  m.def("unnamed", [](int, const std::string&) {});
  m.def("nothing", [] {});
  m.def("any", [](nb::args, nb::kwargs) {});
  m.def("unbound", [](const unbound*, int) {}, "of"_a, "n"_a);
  m.def("either", [](const std::variant<int, std::string>&) {}, "x"_a);
  m.def("maybe", [](std::optional<usmx::view<const float, 2>>) {}, "x"_a = nb::none());
  m.def("by_count", [](int) {}, "first"_a);
  m.def("by_count", [](int, const std::string&) {}, "first"_a, "second"_a);
  m.def("itself", [](nb::handle function) { return function(1, 2, 3); }, "function"_a);
  m.def("raises", [] { throw nb::type_error("raises(): of its own"); });
  nb::class_<picture>(m, "Picture")
      .def(nb::init<int>(), "width"_a)
      .def_rw("width", &picture::width)
      .def(
          "crop", [](picture&, int, int) {}, "left"_a, "right"_a = 1)
      .def_static(
          "blank", [](int size) { return picture(size); }, "size"_a)
      .def("__add__", [](const picture& a, const picture&) { return a; }, nb::is_operator());
  usmx::python::explain_calls(m);
}
#endif

/// A function that takes `T`, called by the ways that nanobind has for one with call policies.
template <class T>
void define_policies(nb::module_& m, const char* name) {
  const std::string of = name;
  m.def((of + "_kept").c_str(), [](nb::handle, T) {}, nb::keep_alive<1, 2>());
  m.def((of + "_guarded").c_str(), [](T) {}, nb::call_guard<nb::gil_scoped_release>());
  m.def((of + "_named").c_str(), [](T, int) {}, "x"_a.noconvert(), "n"_a = 1);
}

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

PROBE_MODULE(usmx_probe, m) {
  define_sum<std::int8_t>(m);
  define_sum<std::uint8_t>(m);
  define_sum<std::int16_t>(m);
  define_sum<std::uint16_t>(m);
  define_sum<std::int32_t>(m);
  define_sum<std::uint32_t>(m);
  define_sum<std::int64_t>(m);
  define_sum<std::uint64_t>(m);
  define_sum<float>(m);
  define_sum<double>(m);
  define_sum<std::complex<float>>(m);
  define_sum<std::complex<double>>(m);
  m.def("count_true", [](usmx::host_view<const bool, 1> x) {
    int n = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) n += x(i) ? 1 : 0;
    return n;
  });
  m.def("rank", [](usmx::view<const float, 0>) { return 0; });
  m.def("rank", [](usmx::view<const float, 1>) { return 1; });
  m.def("rank", [](usmx::view<const float, 3>) { return 3; });

  // Where the elements are, by each kind of parameter.
  m.def("address_of_view", [](usmx::view<const float, 1> x) { return address(x.data); });
  m.def("address_of_array", [](const usmx::array& x) { return address(x.data()); });
  m.def("address_of_typed",
        [](usmx::typed_array<const float, 1> x) { return address(x.view.data); });
  m.def("write_view", [](usmx::view<float, 1>) {});
  m.def("write_typed", [](usmx::typed_array<float, 1>) {});

  // Round trips and containers.
  m.def("same", [](usmx::array x) { return x; });
  m.def("same_queue", [](const sycl::queue& q) { return q; }, "queue"_a.none());
  m.def(
      "optional_sum",
      [](std::optional<usmx::host_view<const float, 1>> x) { return x ? sum<float>(*x) : -1.0F; },
      "x"_a.none());
  m.def("optional_same", [](std::optional<usmx::array> x) { return x; }, "x"_a.none());
  m.def("sum_all", [](const std::vector<usmx::host_view<const float, 1>>& xs) {
    float total = 0;
    for (const auto& x : xs) total += sum<float>(x);
    return total;
  });
  m.def("both", [](usmx::array x) { return std::make_pair(x, x); });
  m.def("swap", [](std::tuple<usmx::array, usmx::array> xs) {
    return std::make_tuple(std::get<1>(xs), std::get<0>(xs));
  });
  m.def("cast", [](nb::object x) { return address(nb::cast<usmx::array>(x).data()); });

  m.def("cast_all", [](nb::object x) { return nb::cast<std::vector<usmx::array>>(x).size(); });
#ifndef PROBE_PYBIND11
  // Not def_submodule, which finds the one that another build of the probe has made.
  const auto explained = nb::steal<nb::module_>(PyModule_New("usmx_probe.explained"));
  m.attr("explained") = explained;
  define_explained(explained);
  m.def("try_cast", [](nb::object x) {
    usmx::array a;
    return nb::try_cast(x, a);
  });
#endif
  m.def("either", [](const std::variant<usmx::host_view<const float, 1>, std::string>& x) {
    return x.index();
  });

  // With policies nanobind calls casters elsewhere.
#ifdef PROBE_PYBIND11
  nb::class_<keeper>(m, "Keeper").def(nb::init<>());
  nb::class_<wrapped>(m, "Wrapped").def(nb::init<usmx::host_view<const float, 1>>());
#else
  nb::class_<keeper>(m, "Keeper", nb::is_weak_referenceable()).def(nb::init<>());
  nb::class_<wrapped>(m, "Wrapped").def(nb::init_implicit<usmx::host_view<const float, 1>>());
#endif
  define_policies<usmx::array>(m, "array");
  define_policies<usmx::view<const float, 1>>(m, "view");
  define_policies<usmx::host_view<const float, 1>>(m, "host_view");
  define_policies<usmx::typed_array<const float, 1>>(m, "typed");
  define_policies<std::optional<usmx::array>>(m, "optional");
  m.def("writable_kept", [](nb::handle, usmx::view<float, 1>) {}, nb::keep_alive<1, 2>());
  m.def("queue_kept", [](nb::handle, const sycl::queue&) {}, nb::keep_alive<1, 2>());
  m.def(
      "dtype_kept", [](nb::handle, usmx::view<const float, 1>) { return "float32"; },
      nb::keep_alive<1, 2>());
  m.def(
      "dtype_kept", [](nb::handle, usmx::view<const double, 1>) { return "float64"; },
      nb::keep_alive<1, 2>());
  m.def("total_of", [](const wrapped& x) { return x.total; });

  // What C++ throws, as Python sees it.
  m.def("throw_interop", [] {
    usmx::python::api();
    throw usmx::interop_error(usmx::fault::read_only, "data: thrown on purpose");
  });
  m.def(
      "allocate",
      [](const sycl::queue& q, std::int64_t bytes) {
        return usmx::array::empty(q, std::array{bytes}, usmx::dtype::of<std::uint8_t>(),
                                  usmx::usm_kind::shared);
      },
      "queue"_a.none(), "bytes"_a);

  // An array that is not referenced from Python, kept here across calls.
  static std::optional<usmx::array> kept;
  m.def("keep", [](usmx::array x) { kept = std::move(x); });
  m.def("kept", [] { return kept; });
  m.def("drop", [] { kept.reset(); });
  m.attr("_cleanup") = nb::capsule(&kept, [](void*) noexcept { kept.reset(); });

  // The price of an argument is the difference to the first of these.
  m.def("take_handle", [](nb::handle) {});
  m.def("take_array", [](const usmx::array&) {});
  m.def("take_view", [](usmx::view<const float, 1>) {});
  m.def("take_host_view", [](usmx::host_view<const float, 1>) {});
}
