// NVIDIA's libraries for the package, which checks shapes and types before it calls them.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/ndarray.hpp"
#include "nvidia/functions.hpp"
#include "nvidia/nvidia.hpp"
#include "support/bindings.hpp"
#include "support/gil.hpp"

namespace usmx::python {

namespace nvidia = detail::nvidia;

namespace {

/// A function that takes arrays only, for their objects.
template <class... Arrays>
auto of_arrays(void (*call)(const Arrays&...)) {
  return [call](std::conditional_t<true, nb::handle, Arrays>... objects) {
    // A list in braces, so that the first one that is wrong is named.
    const std::tuple<Arrays...> arrays{value_of(objects)...};
    const gil_released release;
    std::apply(call, arrays);
  };
}

/// Its state is the process's: what was loaded.
struct nvidia_libraries {};

}  // namespace

void bind_nvidia(nb::module_& m) {
  nb::class_<nvidia_libraries> library(m, "_Nvidia", "cuBLAS, cuSOLVER and cuFFT.");
  library.def_static(
      "load",
      [](int which, const std::vector<std::string>& files) {
        const gil_released release;
        return nvidia::load(static_cast<nvidia::library>(which), files);
      },
      nb::arg("which"), nb::arg("files"),
      "Loads cuBLAS (0), cuSOLVER (1) or cuFFT (2); why it could not, or an empty string.");
  library.def_static(
      "is_read", [](nb::handle x) { return nvidia::is_read(value_of(x)); }, nb::arg("x"));
  library.def_static(
      "multiply",
      [](nb::handle x1, nb::handle x2, nb::handle made, bool reduced) {
        const array a = value_of(x1), b = value_of(x2), out = value_of(made);
        const gil_released release;
        nvidia::multiply(a, b, out, reduced);
      },
      nb::arg("x1"), nb::arg("x2"), nb::arg("made"), nb::arg("reduced"));
  library.def_static("lu", of_arrays(nvidia::lu), nb::arg("x"), nb::arg("exchanged"),
                     nb::arg("failed"));
  library.def_static(
      "solve",
      [](nb::handle x, nb::handle exchanged, nb::handle b, bool turned) {
        const array a = value_of(x), rows = value_of(exchanged), right = value_of(b);
        const gil_released release;
        nvidia::solve(a, rows, right, turned);
      },
      nb::arg("x"), nb::arg("exchanged"), nb::arg("b"), nb::arg("turned"));
  library.def_static("cholesky", of_arrays(nvidia::cholesky), nb::arg("x"), nb::arg("failed"));
  library.def_static("qr", of_arrays(nvidia::qr), nb::arg("x"), nb::arg("factors"));
  library.def_static("qr_columns", of_arrays(nvidia::qr_columns), nb::arg("q"), nb::arg("factors"));
  library.def_static(
      "eigh",
      [](nb::handle x, nb::handle values, nb::handle failed, bool vectors) {
        const array a = value_of(x), w = value_of(values), wrong = value_of(failed);
        const gil_released release;
        nvidia::eigh(a, w, wrong, vectors);
      },
      nb::arg("x"), nb::arg("values"), nb::arg("failed"), nb::arg("vectors"));
  library.def_static(
      "svd",
      [](nb::handle x, nb::handle values, nb::handle u, nb::handle vh, nb::handle failed,
         bool by_rotations) {
        const array a = value_of(x), s = value_of(values), wrong = value_of(failed);
        const bool vectors = !u.is_none();
        const array left = vectors ? value_of(u) : array(),
                    right = vectors ? value_of(vh) : array();
        const gil_released release;
        nvidia::svd(a, s, vectors ? &left : nullptr, vectors ? &right : nullptr, wrong,
                    by_rotations);
      },
      nb::arg("x"), nb::arg("values"), nb::arg("u").none(), nb::arg("vh").none(), nb::arg("failed"),
      nb::arg("by_rotations"));
  library.def_static(
      "transform",
      [](nb::handle x, nb::handle made, std::int64_t n, std::int64_t inner, bool inverse) {
        const array from = value_of(x), to = value_of(made);
        const gil_released release;
        nvidia::transform(from, to, n, inner, inverse);
      },
      nb::arg("x"), nb::arg("made"), nb::arg("n"), nb::arg("inner"), nb::arg("inverse"));
}

}  // namespace usmx::python
