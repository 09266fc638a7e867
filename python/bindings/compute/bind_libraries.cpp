// Vendors' libraries for the package, which checks shapes and types before it calls them: NVIDIA's
// and oneMKL.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "algorithm/fourier.hpp"
#include "array/ndarray.hpp"
#include "compute/plain_libraries.hpp"
#include "nvidia/functions.hpp"
#include "nvidia/nvidia.hpp"
#include "onemkl/onemkl.hpp"
#include "support/bindings.hpp"
#include "support/gil.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/placement.hpp"

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

/// The transform of each line along the last axis by NVIDIA's library, where nothing has to be
/// copied or cast; otherwise None.
nb::object transform_plainly(nb::handle x, nb::handle axis, bool are_real, bool inverse) {
  if (!is_ready<ndarray>(x.ptr())) return nb::none();
  const ndarray& given = self_of<ndarray>(x);
  if (!nvidia_computes(nvidia::library::transforms, given.queue())) return nb::none();
  const array a = value_of(x);
  if (!nvidia::transforms_lines(a, are_real)) return nb::none();
  int overflow = 0;
  const long place = PyLong_CheckExact(axis.ptr()) ? PyLong_AsLongAndOverflow(axis.ptr(), &overflow)
                                                   : std::numeric_limits<long>::max();
  if (overflow != 0 || (place != -1 && place != a.rank() - 1)) return nb::none();
  const std::int64_t n = a.extent(a.rank() - 1);
  extents shape(a.shape());
  if (are_real) shape[shape.size() - 1] = n / 2 + 1;
  const dtype& own = a.elements().dtype();
  const dtype type = !are_real                    ? own
                     : own == dtype::of<double>() ? dtype::of<std::complex<double>>()
                                                  : dtype::of<std::complex<float>>();
  joint_kind kinds;
  kinds.add(a);
  array made;
  {
    const gil_released release;
    made = array::empty(a.queue(), shape.span(), type, kinds.result(a.queue()));
    nvidia::transform(a, made, n, 1, inverse);
  }
  return wrap_array(std::move(made));
}

/// Their state is the process's: what was loaded.
struct nvidia_libraries {};
struct onemkl_library {};

}  // namespace

bool nvidia_computes(nvidia::library which, const sycl::queue& queue) {
  if (!nvidia::computes(which, queue)) return false;
  // For the life of the process, as modules are. Not made by the initialisation of a static, under
  // whose lock an import would let others have the GIL.
  static PyObject *choice = nullptr, *by_device = nullptr;
  if (choice == nullptr) {
    const nb::module_ table = nb::module_::import_("usmx._namespace._libraries");
    by_device = nb::object(table.attr("_BY_DEVICE")).release().ptr();
    choice = nb::object(table.attr("_choice")).release().ptr();
  }
  PyObject* now = nullptr;
  if (PyContextVar_Get(choice, nullptr, &now) != 0) nb::raise_python_error();
  return nb::steal(now).is(by_device);
}

void bind_libraries(nb::module_& m) {
  nb::class_<nvidia_libraries>(m, "_Nvidia", "cuBLAS, cuSOLVER and cuFFT.")
      .def(
          "load(which: int, files: object) -> str"_sig,
          [](int which, nb::handle places) {
            const auto files = to_texts(places, "files", "a sequence of str, the names of files");
            const gil_released release;
            return nvidia::load(static_cast<nvidia::library>(which), files);
          },
          "Loads cuBLAS (0), cuSOLVER (1) or cuFFT (2); why it could not, or an empty string.")
      .def("is_read(x: object) -> bool"_sig,
           [](nb::handle a) { return nvidia::is_read(value_of(a)); })
      .def("compute_everywhere(everywhere: bool) -> None"_sig, nvidia::compute_everywhere,
           "For tests: also on devices that are not CUDA's.")
      .def(
          "transform_plainly(x: object, axis: object, are_real: bool, inverse: bool) "
          "-> ndarray | None"_sig,
          transform_plainly,
          "The transform of the lines along the last axis, if it is asked for and nothing has to "
          "be\ncopied or chosen; not scaled.")
      .def("multiply(x1: object, x2: object, made: object, reduced: bool) -> None"_sig,
           of_objects(nvidia::multiply))
      .def("lu(x: object, exchanged: object, failed: object) -> None"_sig, of_objects(nvidia::lu))
      .def("solve(x: object, exchanged: object, b: object, turned: bool) -> None"_sig,
           of_objects(nvidia::solve))
      .def("cholesky(x: object, failed: object) -> None"_sig, of_objects(nvidia::cholesky))
      .def("qr(x: object, factors: object) -> None"_sig, of_objects(nvidia::qr))
      .def("qr_columns(q: object, factors: object) -> None"_sig, of_objects(nvidia::qr_columns))
      .def("eigh(x: object, values: object, failed: object, vectors: bool) -> None"_sig,
           of_objects(nvidia::eigh))
      .def(
          "svd(x: object, values: object, u: object | None, vh: object | None, "
          "failed: object, by_rotations: bool) -> None"_sig,
          of_objects(nvidia::svd))
      .def("transform(x: object, made: object, n: int, inner: int, inverse: bool) -> None"_sig,
           of_objects(nvidia::transform));
  nb::class_<onemkl_library>(m, "_OneMKL", "oneMKL, by its adapter.")
      .def(
          "load(path: object) -> str"_sig,
          [](nb::handle path) { return onemkl::load(to_text(path, "path")); },
          "Loads the adapter; why it could not, or an empty string.")
      .def(
          "multiply(x1: object, x1_turned: bool, x1_step: int, x2: object, "
          "x2_turned: bool, x2_step: int, made: object) -> None"_sig,
          of_objects(onemkl::multiply))
      .def("eigh(x: object, values: object, vectors: bool) -> None"_sig, of_objects(onemkl::eigh))
      .def(
          "svd(x: object, values: object, u: object | None, vh: object | None, "
          "full: bool) -> None"_sig,
          of_objects(onemkl::svd))
      .def("transform(kind: object, x: object, n: int, axis: int, norm: object) -> object"_sig,
           [](nb::handle kind, nb::handle of, std::int64_t n, int axis, nb::handle norm) {
             return transform(kind, of, n, axis, norm, lines_by_onemkl);
           });
  def(
      m, "_transform(kind: str, x: ndarray, n: int, axis: int, norm: str) -> ndarray"_sig,
      [](nb::handle kind, nb::handle of, std::int64_t n, int axis, nb::handle norm) {
        return transform(kind, of, n, axis, norm, detail::transform_lines);
      },
      "'fft', 'ifft', 'rfft' or 'irfft' of so many numbers along an axis.");
}

}  // namespace usmx::python
