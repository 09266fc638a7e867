// oneMKL's functions for the package, which checks shapes and types before it calls them.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include "array/ndarray.hpp"
#include "onemkl/onemkl.hpp"
#include "support/bindings.hpp"
#include "support/gil.hpp"
#include "support/text.hpp"

namespace usmx::python {

namespace onemkl = detail::onemkl;

namespace {

/// Its state is the process's: what was loaded.
struct onemkl_library {};

}  // namespace

void bind_onemkl(nb::module_& m) {
  nb::class_<onemkl_library> library(m, "_OneMKL", "oneMKL, by its adapter.");
  library.def_static(
      "load", [](nb::handle path) { return onemkl::load(to_text(path, "path")); }, nb::arg("path"),
      "Loads the adapter; why it could not, or an empty string.");
  library.def_static(
      "multiply",
      [](nb::handle x1, bool x1_turned, std::int64_t x1_step, nb::handle x2, bool x2_turned,
         std::int64_t x2_step, nb::handle made) {
        const array a = value_of(x1), b = value_of(x2), out = value_of(made);
        const gil_released release;
        onemkl::multiply(a, x1_turned, x1_step, b, x2_turned, x2_step, out);
      },
      nb::arg("x1"), nb::arg("x1_turned"), nb::arg("x1_step"), nb::arg("x2"), nb::arg("x2_turned"),
      nb::arg("x2_step"), nb::arg("made"));
  library.def_static(
      "eigh",
      [](nb::handle x, nb::handle values, bool vectors) {
        const array a = value_of(x), w = value_of(values);
        const gil_released release;
        onemkl::eigh(a, w, vectors);
      },
      nb::arg("x"), nb::arg("values"), nb::arg("vectors"));
  library.def_static(
      "svd",
      [](nb::handle x, nb::handle values, nb::handle u, nb::handle vh, bool full) {
        const array a = value_of(x), s = value_of(values);
        const bool vectors = !u.is_none();
        const array left = vectors ? value_of(u) : array(),
                    right = vectors ? value_of(vh) : array();
        const gil_released release;
        onemkl::svd(a, s, vectors ? &left : nullptr, vectors ? &right : nullptr, full);
      },
      nb::arg("x"), nb::arg("values"), nb::arg("u").none(), nb::arg("vh").none(), nb::arg("full"));
  library.def_static(
      "transform",
      [](nb::handle x, nb::handle made, bool inverse, double scale) {
        const array from = value_of(x), to = value_of(made);
        const gil_released release;
        onemkl::transform(from, to, inverse, scale);
      },
      nb::arg("x"), nb::arg("made"), nb::arg("inverse"), nb::arg("scale"));
}

}  // namespace usmx::python
