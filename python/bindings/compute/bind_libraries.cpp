// Vendors' libraries for the package, which checks shapes and types before it calls them: NVIDIA's
// and oneMKL.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "algorithm/fourier.hpp"
#include "array/ndarray.hpp"
#include "nvidia/functions.hpp"
#include "nvidia/nvidia.hpp"
#include "onemkl/onemkl.hpp"
#include "support/bindings.hpp"
#include "support/gil.hpp"
#include "support/text.hpp"

namespace usmx::python {

namespace nvidia = detail::nvidia;
namespace onemkl = detail::onemkl;

namespace {

/// A parameter of a library's function, as Python gives it and as it is held meanwhile.
template <class T>
struct given {
  using object = T;
  T held;
  explicit given(T value) : held(value) {}
  T get() const { return held; }
};
template <>
struct given<const array&> {
  using object = nb::handle;
  array held;
  explicit given(nb::handle x) : held(value_of(x)) {}
  const array& get() const { return held; }
};
/// None is null.
template <>
struct given<const array*> {
  using object = nb::handle;
  array held;
  bool is_there;
  explicit given(nb::handle x)
      : held(x.is_none() ? array() : value_of(x)), is_there(!x.is_none()) {}
  const array* get() const { return is_there ? &held : nullptr; }
};

/// The function, which takes the arrays' objects and runs without the GIL.
template <class... Parameters>
auto of_objects(void (*call)(Parameters...)) {
  return [call](typename given<Parameters>::object... objects) {
    // A list in braces, so that the first one that is wrong is named.
    const std::tuple<given<Parameters>...> held{given<Parameters>(objects)...};
    const gil_released release;
    std::apply([call](const auto&... each) { call(each.get()...); }, held);
  };
}

array lines_by_onemkl(const array& lines, bool inverse, double scale) {
  if (lines.extent(lines.rank() - 1) == 1) return lines;
  array made = array::empty(lines.queue(), lines.shape(), lines.elements().dtype(), lines.kind());
  onemkl::transform(lines, made, inverse, scale);
  return made;
}

nb::object transform(nb::handle kind, nb::handle x, std::int64_t n, int axis, nb::handle norm,
                     detail::lines_transform of_lines) {
  using enum detail::transform_kind;
  const std::string name = to_text(kind, "kind"), divided = to_text(norm, "norm");
  const auto which = name == "fft" ? fft : name == "ifft" ? ifft : name == "rfft" ? rfft : irfft;
  const fft_norm by = divided == "ortho"     ? fft_norm::ortho
                      : divided == "forward" ? fft_norm::forward
                                             : fft_norm::backward;
  const array a = value_of(x);
  array made;
  {
    const gil_released release;
    made = detail::transform(which, a, n, axis, by, of_lines);
  }
  return wrap_array(std::move(made));
}

/// Their state is the process's: what was loaded.
struct nvidia_libraries {};
struct onemkl_library {};

}  // namespace

void bind_libraries(nb::module_& m) {
  const auto x = nb::arg("x"), made = nb::arg("made"), values = nb::arg("values"),
             failed = nb::arg("failed"), inverse = nb::arg("inverse"), vectors = nb::arg("vectors");
  nb::class_<nvidia_libraries>(m, "_Nvidia", "cuBLAS, cuSOLVER and cuFFT.")
      .def_static(
          "load",
          [](int which, nb::handle places) {
            const auto files = to_texts(places, "files", "a sequence of str, the names of files");
            const gil_released release;
            return nvidia::load(static_cast<nvidia::library>(which), files);
          },
          nb::arg("which"), nb::arg("files"),
          "Loads cuBLAS (0), cuSOLVER (1) or cuFFT (2); why it could not, or an empty string.")
      .def_static(
          "is_read", [](nb::handle a) { return nvidia::is_read(value_of(a)); }, x)
      .def_static("multiply", of_objects(nvidia::multiply), nb::arg("x1"), nb::arg("x2"), made,
                  nb::arg("reduced"))
      .def_static("lu", of_objects(nvidia::lu), x, nb::arg("exchanged"), failed)
      .def_static("solve", of_objects(nvidia::solve), x, nb::arg("exchanged"), nb::arg("b"),
                  nb::arg("turned"))
      .def_static("cholesky", of_objects(nvidia::cholesky), x, failed)
      .def_static("qr", of_objects(nvidia::qr), x, nb::arg("factors"))
      .def_static("qr_columns", of_objects(nvidia::qr_columns), nb::arg("q"), nb::arg("factors"))
      .def_static("eigh", of_objects(nvidia::eigh), x, values, failed, vectors)
      .def_static("svd", of_objects(nvidia::svd), x, values, nb::arg("u").none(),
                  nb::arg("vh").none(), failed, nb::arg("by_rotations"))
      .def_static("transform", of_objects(nvidia::transform), x, made, nb::arg("n"),
                  nb::arg("inner"), inverse);
  nb::class_<onemkl_library>(m, "_OneMKL", "oneMKL, by its adapter.")
      .def_static(
          "load", [](nb::handle path) { return onemkl::load(to_text(path, "path")); },
          nb::arg("path"), "Loads the adapter; why it could not, or an empty string.")
      .def_static("multiply", of_objects(onemkl::multiply), nb::arg("x1"), nb::arg("x1_turned"),
                  nb::arg("x1_step"), nb::arg("x2"), nb::arg("x2_turned"), nb::arg("x2_step"), made)
      .def_static("eigh", of_objects(onemkl::eigh), x, values, vectors)
      .def_static("svd", of_objects(onemkl::svd), x, values, nb::arg("u").none(),
                  nb::arg("vh").none(), nb::arg("full"))
      .def_static(
          "transform",
          [](nb::handle kind, nb::handle of, std::int64_t n, int axis, nb::handle norm) {
            return transform(kind, of, n, axis, norm, lines_by_onemkl);
          },
          nb::arg("kind"), x, nb::arg("n"), nb::arg("axis"), nb::arg("norm"));
  m.def(
      "_transform",
      [](nb::handle kind, nb::handle of, std::int64_t n, int axis, nb::handle norm) {
        return transform(kind, of, n, axis, norm, detail::transform_lines);
      },
      nb::arg("kind"), nb::arg("x"), nb::arg("n"), nb::arg("axis"), nb::arg("norm"),
      nb::sig("def _transform(kind: str, x: ndarray, n: int, axis: int, norm: str) -> ndarray"),
      "'fft', 'ifft', 'rfft' or 'irfft' of so many numbers along an axis.");
}

}  // namespace usmx::python
