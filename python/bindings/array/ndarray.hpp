// What the files behind `usmx.ndarray` share: the object that Python holds, and the reading of the
// arguments that many of its functions take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/format.hpp"
#include "support/bindings.hpp"
#include "support/self.hpp"
#include "usmx/operations.hpp"
#include "usmx/placement.hpp"

namespace usmx::python {

/// A type of its own, so that extensions may convert usmx::array as they like.
class ndarray {
 public:
  explicit ndarray(array&& value) noexcept : value_(std::move(value)) {}
  /// Elements that are computed when they are looked at.
  explicit ndarray(shared_deferred later) : later_(std::move(later)) { later_->seen(true); }
  ndarray(const ndarray&) = delete;
  ndarray& operator=(const ndarray&) = delete;
  ~ndarray() {
    if (later_) later_->seen(false);
    give_back(value_);
  }

  /// The array. Throws what computing it throws.
  const array& value() {
    while (later_) [[unlikely]]
      compute();
    return value_;
  }
  /// The same without its elements: null once they are computed.
  const shared_deferred& later() const noexcept { return later_; }
  void make_read_only() { value_ = value_.with_view(value().elements().as_read_only()); }
  /// The array as far as it is there.
  const array& known() const noexcept { return value_; }
  /// Other elements of the same type and shape.
  void become(shared_deferred later);

  const extents& shape() const noexcept {
    return later_ ? later_->shape() : value_.elements().layout().shape();
  }
  const usmx::dtype& dtype() const noexcept {
    return later_ ? later_->dtype() : value_.elements().dtype();
  }
  std::int64_t size() const noexcept {
    if (!later_) return value_.elements().size();
    std::int64_t count = 1;
    for (const std::int64_t length : later_->shape()) count *= length;
    return count;
  }
  usm_kind kind() const noexcept { return later_ ? later_->kind() : value_.kind(); }
  const sycl::queue& queue() const noexcept { return later_ ? later_->queue() : value_.queue(); }
  /// As an operand: `kinds` learns its kind and rank, without computing it.
  void tell(joint_kind& kinds) const noexcept {
    if (later_) {
      kinds.add(later_->kind(), static_cast<int>(later_->shape().size()));
    } else {
      kinds.add(value_);
    }
  }

  /// What dpnp was given of it, see as_dpnp.
  nb::object dpnp_view = {};

 private:
  void compute();

  array value_;
  shared_deferred later_;
};

/// The array inside `self`. TypeError unless that is an initialised ndarray.
inline const array& value_of(nb::handle self) { return self_of<ndarray>(self).value(); }
/// A new object for a value that may not be computed yet.
nb::object wrap_deferred(shared_deferred value);
/// A new object for elements in memory that was just allocated.
nb::object wrap_allocated(any_view&& elements, const sycl::queue& queue, shared_owner owner);
/// Another view of what is inside `self`.
nb::object wrap_view(const array& a, any_view elements);

// --- ndarray_dtype.cpp

/// Every spelling of an element type: a name, a type string, a Python or NumPy type, a dtype of
/// NumPy's or ours, a description of a record. TypeError, or interop_error for a type string.
dtype to_dtype(nb::handle obj);
/// What `ndarray.dtype` gives: a numpy.dtype where NumPy is installed, a usmx.dtype elsewhere.
nb::object dtype_object(const dtype& type);
/// The module numpy, imported now if it was not; an invalid object where it is not installed.
nb::object numpy();
void bind_dtype(nb::module_& m);

// --- ndarray.cpp: arguments that many functions take

/// `shape=`: an int or a sequence of ints.
extents to_shape(nb::handle obj);
/// `usm_type=`; None gives `otherwise`.
usm_kind to_kind(nb::handle obj, usm_kind otherwise);
/// The same of a new array on a queue; None gives `default_kind`.
usm_kind to_kind(nb::handle obj, const sycl::queue& queue);
/// The same of what is made of an array; None gives `kind_or_default`.
usm_kind to_kind(nb::handle obj, const array& like);
/// `queue=` and `device=` together; None twice gives the default queue.
sycl::queue to_place(nb::handle queue, nb::handle device);
/// An axis, counted from the end if negative. ValueError with the rank.
int to_axis(nb::handle obj, int rank);
/// "C", "F", "A" or "K". ValueError.
char to_order(nb::handle obj, const char* allowed = "CFAK");
/// `copy=`: None is neither.
bool is_true(nb::handle copy);
bool is_false(nb::handle copy);
/// "C" or "F" where `order` is "A": Fortran order if only that fits.
char order_of(char order, const layout& like) noexcept;
/// The kind of memory of an array; that of new arrays if it has none of USM's: memory of the host,
/// and arrays without elements.
usm_kind kind_or_default(const array& a);
/// The positional arguments of `reshape` and `transpose`: one sequence, or its items in a row.
nb::object one_sequence(const nb::args& args);

/// The axes of a layout from the largest step to the smallest, ties as in C: NumPy's order "K".
std::vector<int> order_in_memory(const layout& like);

/// A contiguous layout of the shape of `like`, in the given order; "K" keeps its order of the axes.
layout ordered_layout(const layout& like, std::size_t itemsize, char order);
/// Memory for elements laid out like that; contents undefined. Releases the GIL.
array allocate_array(const sycl::queue& queue, layout where, dtype type, usm_kind kind);
/// A fault as the exception that says what the field held.
inline void check(fault code, std::string_view held = {}) {
  if (code != fault::none) detail::require_valid(code, held);
}
inline void check(fault code, const extents& held) {
  if (code != fault::none) detail::require_valid(code, detail::shape_text(held));
}
/// The view of elements that are there. Throws as `check`.
inline any_view checked_view(void* data, dtype type, layout where, usm_kind kind, bool read_only,
                             std::string_view held = {}) {
  any_view out;
  check(any_view::make(data, std::move(type), std::move(where), kind, read_only, out), held);
  return out;
}

// --- single elements

/// A Python number as the bytes of one element. TypeError, ValueError, OverflowError as NumPy's.
void to_element(nb::handle number, const dtype& type, std::byte* out);
/// The same in memory of its own.
std::unique_ptr<std::byte[]> element_of(nb::handle number, const dtype& type);
/// The element at `bytes` as a Python object; a record as what NumPy makes of it.
nb::object from_element(const std::byte* bytes, const dtype& type);
/// True for Python's own numbers, whose type adapts to that of an array.
inline bool is_python_number(nb::handle obj) noexcept {
  const PyTypeObject* const t = Py_TYPE(obj.ptr());
  return t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyComplex_Type;
}
/// The type that a Python number has by itself: bool, int64 (uint64), float64, complex128.
dtype natural_dtype(nb::handle number);

// --- ndarray_create.cpp: elements of the host

/// Elements in host memory, borrowed from a buffer or made of numbers and nested sequences.
class host_elements {
 public:
  /// `wanted` may be null: the elements then have the type that NumPy would give them.
  static host_elements of(nb::handle obj, const dtype* wanted = nullptr);
  const any_view& view() const noexcept { return buffer_ ? buffer_->elements() : view_; }

 private:
  std::optional<host_buffer> buffer_;
  std::unique_ptr<std::byte[]> bytes_;
  shared_owner owner_;
  any_view view_;
};

// --- ndarray_views.cpp: indexing

/// Whether a key has arrays or lists of indices, or bools: `_namespace.indexing` knows those.
bool is_advanced(nb::handle key);
/// Whether a key is a list of names.
bool names_fields(nb::handle key);
/// Whether a key is one of several indices or bools that the host can read, as lists and NumPy's
/// arrays are (bind_small_arrays.cpp).
bool holds_host_elements(nb::handle key);
/// The indices alone of a key that takes the other axes whole, as Dask's keys do: of `x[i, :]` it
/// is `i`. Any other key as it is.
nb::handle key_of_rows(nb::handle self, nb::handle key);
/// `self[key]` for such a key or an array, where the host computes it; None elsewhere.
nb::object small_at(nb::handle self, nb::handle key);
/// `self[key] = value` under the same condition; false if nothing was written.
bool small_put(nb::handle self, nb::handle key, nb::handle value);
/// A copy in C order under the same condition.
nb::object small_copy(nb::handle self);
/// One in another type.
nb::object small_cast(nb::handle self, const dtype& wanted);
/// The elements that a key of basic indexing selects. IndexError, TypeError.
any_view indexed(const any_view& v, nb::handle key);
/// `self[key]`, of elements that may not be computed yet.
nb::object part_of(nb::handle self, nb::handle key);
/// `a[key] = value`: a number, anything with USM, anything with host elements; broadcast and cast.
void assign(const array& target, nb::handle value);

// --- the other files named ndarray_*.cpp

/// The same elements in another shape, copied where that cannot be avoided.
nb::object reshape(nb::handle self, nb::handle shape, char order, nb::handle copy);
void bind_shape(nb::class_<ndarray>& c, nb::module_& m);
/// The elements as text, of large arrays the edges; `indent` columns stand before it.
std::string represent(const array& a, std::size_t indent);
std::string represent(const array& a);
/// The same as a numpy.dtype, of bfloat16 that of ml_dtypes. ImportError without NumPy, TypeError
/// without ml_dtypes.
nb::object to_numpy_dtype(const dtype& type);
/// The format string of PEP 3118.
std::string buffer_format(const dtype& type);
const PyType_Slot* ndarray_slots();
/// ndarray_operators.cpp: comparison, `in`, and the operators of numbers.
void add_operators(std::vector<PyType_Slot>& slots);
void bind_creation(nb::module_& m);
/// asarray, with its arguments as Python gave them but for the order, one of "CFAK".
nb::object as_array(nb::handle obj, nb::handle type, nb::handle usm_type, nb::handle device,
                    nb::handle queue, nb::handle copy, char order = 'K');
/// The array on another queue: the same memory if it is within reach, otherwise a copy.
array placed(const array& a, const sycl::queue& queue, const dtype& type, usm_kind kind,
             bool always_copy, char order);
/// The queue object by which dpnp recognises the array's memory; not valid if there is none.
nb::object queue_for_dpnp(nb::handle self);
/// All elements in C order in host memory, as a bytes object, and where they are in it. Lets go of
/// the GIL.
nb::object to_bytes(const array& a);
inline const std::byte* bytes_in(const nb::object& bytes) noexcept {
  return reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(bytes.ptr()));
}
void bind_conversions(nb::class_<ndarray>& c, nb::module_& m);

// --- ndarray_pickle.cpp
void bind_pickles(nb::class_<ndarray>& c, nb::module_& m);

}  // namespace usmx::python
