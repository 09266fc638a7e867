// Pickles of arrays: their elements as bytes, out of band where the host can read them in place,
// and everything that makes the same array of them again.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "array/ndarray.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

/// Since this version of the protocol, buffers may be kept outside of the pickle.
constexpr int first_with_buffers = 5;

bool is_fortran(const layout& where) noexcept {
  return where.is_f_contiguous() && !where.is_c_contiguous();
}

/// The same memory as one dimension after the other reversed: Fortran order becomes C order.
array transposed(const array& a) {
  const layout& own = a.elements().layout();
  const std::size_t rank = own.shape().size();
  extents shape(rank);
  extents strides(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    shape[k] = own.shape()[rank - 1 - k];
    strides[k] = own.strides()[rank - 1 - k];
  }
  layout where;
  check(layout::strided(std::move(shape), std::move(strides), a.elements().dtype().itemsize(),
                        where));
  return a.with_view(a.elements().with_layout(std::move(where), 0));
}

/// A pickle.PickleBuffer. Its elements are in C order: not all that send such buffers join others.
nb::object out_of_band(nb::handle obj) {
  PyObject* const buffer = PyPickleBuffer_FromObject(obj.ptr());
  if (buffer == nullptr) throw nb::python_error();
  return nb::steal(buffer);
}

/// The elements in the order in which they are in memory, or in C order if they are not contiguous.
nb::object elements_of(nb::handle self, int protocol) {
  const array& a = value_of(self);
  const layout& where = a.elements().layout();
  const bool is_contiguous = where.is_c_contiguous() || where.is_f_contiguous();
  if (protocol >= first_with_buffers && a.kind() != usm_kind::device && is_contiguous) {
    return out_of_band(is_fortran(where) ? wrap_array(transposed(a)) : nb::borrow(self));
  }
  nb::object bytes = to_bytes(is_fortran(where) ? transposed(a) : a);
  return protocol >= first_with_buffers ? out_of_band(bytes) : bytes;
}

/// Memory of the host, which has none of USM's kinds, arrives where the host sees it too.
const char* kind_to_pickle(const array& a) noexcept {
  const bool is_host = a.kind() == usm_kind::unknown && a.elements().size() > 0;
  return name(is_host ? usm_kind::host : kind_or_default(a));
}

nb::object reduce(nb::handle self, int protocol) {
  const array& a = value_of(self);
  const any_view& v = a.elements();
  const dtype::fields* const named = v.dtype().description();
  nb::object type = named == nullptr ? nb::object(new_text(v.dtype().typestr()))
                                     : nb::object(write_typedescr(*named));
  return nb::make_tuple(
      nb::module_::import_("usmx._array").attr("rebuild"),
      nb::make_tuple(elements_of(self, protocol), self.attr("shape"), type, kind_to_pickle(a),
                     filter_string(a.queue().get_device()).c_str(), v.read_only(),
                     is_fortran(v.layout()) ? "F" : "C"));
}

/// The queue of the device that was pickled, or the default one, with a warning.
sycl::queue queue_by(const std::string& filter) {
  std::string reason = "a sub-device has no filter string";
  if (!filter.empty()) {
    try {
      return default_queue(select_device(filter));
    } catch (const device_error& e) {
      reason = e.what();
    }
  }
  const sycl::queue& other = default_queue();
  const std::string text = "the array was pickled on another device and is now on " +
                           filter_string(other.get_device()) + ": " + reason;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) nb::raise_python_error();
  return other;
}

/// Contiguous bytes of an object with a buffer, in either order.
class contiguous_bytes {
 public:
  explicit contiguous_bytes(nb::handle obj) { get_bytes(obj, view_, PyBUF_ANY_CONTIGUOUS); }
  contiguous_bytes(const contiguous_bytes&) = delete;
  contiguous_bytes& operator=(const contiguous_bytes&) = delete;
  ~contiguous_bytes() { PyBuffer_Release(&view_); }

  std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }
  any_view elements() const {
    return byte_run(static_cast<std::byte*>(view_.buf), size(), usm_kind::unknown, true);
  }

 private:
  Py_buffer view_{};
};

/// The array over the buffer itself: one that was pickled out of band, and is read in the process
/// that has the memory, as NumPy shares it too. Empty for any other buffer.
std::optional<array> shared_with(nb::handle buffer, const sycl::queue& queue, usm_kind kind,
                                 const dtype& type, const layout& where, bool read_only) {
  std::optional<array> a = import_array(buffer);
  if (!a || a->kind() != kind || a->elements().size() == 0 ||
      a->queue().get_device() != queue.get_device()) {
    return {};
  }
  const any_view& v = a->elements();
  const bool is_contiguous = v.layout().is_c_contiguous() || v.layout().is_f_contiguous();
  const std::size_t bytes = static_cast<std::size_t>(where.size()) * type.itemsize();
  if (!is_contiguous || v.nbytes() != bytes) return {};
  any_view same =
      checked_view(v.first_byte(), type, layout(where), kind, read_only || v.read_only());
  return a->with_view(std::move(same));
}

nb::object rebuild(nb::handle data, nb::handle shape, nb::handle type, nb::handle usm_type,
                   const char* filter, bool read_only, nb::handle order) {
  const sycl::queue queue = queue_by(filter);
  const dtype t = to_dtype(type);
  const extents lengths = to_shape(shape);
  layout where;
  check(to_order(order, "CF") == 'F' ? layout::f_order(lengths, t.itemsize(), where)
                                     : layout::c_order(lengths, t.itemsize(), where));
  const usm_kind kind = to_kind(usm_type, queue);
  if (auto same = shared_with(data, queue, kind, t, where, read_only)) {
    return wrap_array(*std::move(same));
  }
  const contiguous_bytes source(data);
  if (source.size() != static_cast<std::size_t>(where.size()) * t.itemsize()) {
    throw nb::value_error("the number of pickled bytes does not match the shape");
  }
  array out = allocate_array(queue, std::move(where), t, kind);
  // As bytes: a buffer need not be aligned for the elements.
  const array raw = out.with_view(
      byte_run(static_cast<std::byte*>(out.data()), source.size(), out.kind(), false));
  const any_view bytes = source.elements();
  {
    const gil_released released;
    copy_from_host(raw, bytes);
  }
  return read_only ? wrap_view(out, out.elements().as_read_only()) : wrap_array(std::move(out));
}

}  // namespace

void bind_pickles(nb::class_<ndarray>& c, nb::module_& m) {
  c.def("__reduce__(self) -> tuple[Any, ...]"_sig, [](nb::handle self) { return reduce(self, 0); });
  c.def(
      "__reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]"_sig, reduce,
      "Since protocol 5 the elements are a buffer, which `buffer_callback` of pickle takes out of "
      "band.");
  def(m,
      "_rebuild_array(data: Buffer, shape: tuple[int, ...], dtype: DTypeLike, "
      "usm_type: str, device: str, readonly: bool, order: str, /) -> ndarray"_sig,
      rebuild);
}

}  // namespace usmx::python
