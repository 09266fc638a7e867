// NumPy's arrays, read as its binary interface describes them: the same that their buffer says,
// without a format that is written and read again.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <complex>
#include <optional>
#include <utility>

#include "memory/memory.hpp"
#include "memory/numpy_memory.hpp"
#include "protocols/protocols.hpp"

namespace usmx::python {
namespace {

/// The beginning of each of NumPy's dtypes, the same in its versions 1 and 2.
struct numpy_dtype {
  PyObject head;
  PyTypeObject* scalar;
  char kind;
  char letter;
  char byte_order;
  char flags;
  int number;
};

/// The types that both know, by NumPy's numbers; not valid for others.
const std::optional<dtype>* known_type(int number) noexcept {
  static const std::array<std::optional<dtype>, 24> types = {
      dtype::of<bool>(),
      dtype::of<signed char>(),
      dtype::of<unsigned char>(),
      dtype::of<short>(),
      dtype::of<unsigned short>(),
      dtype::of<int>(),
      dtype::of<unsigned int>(),
      dtype::of<long>(),
      dtype::of<unsigned long>(),
      dtype::of<long long>(),
      dtype::of<unsigned long long>(),
      dtype::of<float>(),
      dtype::of<double>(),
      std::nullopt,  // long double
      dtype::of<std::complex<float>>(),
      dtype::of<std::complex<double>>(),
      std::nullopt,  // complex long double
      std::nullopt,  // objects
      std::nullopt,  // bytes
      std::nullopt,  // text
      std::nullopt,  // records
      std::nullopt,  // dates
      std::nullopt,  // times
      dtype::of<sycl::half>(),
  };
  const auto at = static_cast<std::size_t>(number);
  return number >= 0 && at < types.size() && types[at] ? &types[at] : nullptr;
}

/// The elements where they lie; false where they cannot be used in place, or are of another type.
bool view_of(const numpy_array& a, any_view& out) {
  const auto& described = *reinterpret_cast<const numpy_dtype*>(a.descr);
  const std::optional<dtype>* const type = known_type(described.number);
  if (type == nullptr || described.byte_order == '>' || a.rank > max_rank) return false;
  const auto itemsize = static_cast<Py_ssize_t>((*type)->itemsize());
  if (a.rank == 1 && a.strides[0] == itemsize) {
    return any_view::row(a.data, **type, a.shape[0], usm_kind::unknown, out) == fault::none;
  }
  const auto rank = static_cast<std::size_t>(a.rank);
  extents shape(rank);
  extents strides(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    shape[k] = a.shape[k];
    strides[k] = a.strides[k] / itemsize;
    if (a.strides[k] % itemsize != 0 && a.shape[k] > 1) return false;
  }
  layout where;
  return layout::strided(std::move(shape), std::move(strides), (*type)->itemsize(), where) ==
             fault::none &&
         any_view::make(a.data, **type, std::move(where), usm_kind::unknown, false, out) ==
             fault::none;
}

nb::object offer_numpy(nb::handle obj) { return nb::borrow(obj); }

std::optional<array> import_numpy(nb::handle obj, nb::object offer, const import_request& request) {
  const memory_behind behind = find_memory_behind(obj.ptr());
  if (!behind.is_found() && !request.host) return {};
  const numpy_array& a = *numpy_array_in(obj.ptr());
  any_view v;
  if (!view_of(a, v)) return {};
  if ((a.flags & numpy_array::is_writable) == 0 ||
      (static_cast<unsigned int>(a.flags) & numpy_array::warns_on_writing) != 0) {
    v = std::move(v).as_read_only();
  }
  return import_host_view(std::move(v), behind, Py_TYPE(obj.ptr()), request,
                          [&](std::byte* first, std::size_t bytes) {
                            return own_python(std::move(offer), first, bytes);
                          });
}

}  // namespace

// Classes derived from NumPy's may say more, or something else.
extern const protocol numpy_protocol = {nullptr, offer_numpy, import_numpy, nullptr, is_numpy_type};

}  // namespace usmx::python
