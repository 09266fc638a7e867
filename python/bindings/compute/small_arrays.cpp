// Functions of a few elements, which the host computes: what the namespace asks before it launches
// kernels. Each gives None where those have to compute, and for arguments that need a message.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "array/ndarray.hpp"
#include "compute/on_host.hpp"
#include "compute/plain_axis.hpp"
#include "compute/small_arrays.hpp"
#include "memory/memory.hpp"
#include "support/containers.hpp"
#include "support/signature.hpp"

namespace usmx::python {
namespace {

/// The array, if it is one of ours whose functions the host computes now, or of which it copies
/// `rows`. A copy: its object may get other elements where the GIL is released.
std::optional<array> small_array_of(nb::handle obj, bool rows = false) {
  if (!is_ready<ndarray>(obj)) return {};
  const ndarray& holder = *nb::inst_ptr<ndarray>(obj);
  const bool are_many = holder.size() > detail::most_on_host;
  // A deferred value becomes a part of the kernel that asks.
  if (holder.later() || (are_many && !rows)) return {};
  array a = holder.known();
  if (!host_accessible(a.kind())) return {};
  remember_ended_work(a);
  if (!(are_many ? detail::has_rows_on_host(a) : detail::is_small(a))) return {};
  return a;
}

nb::object wrapped(std::optional<array> made) {
  return made ? wrap_array(*std::move(made)) : nb::none();
}

/// What `compute(array, axis)` gives.
template <class Compute>
nb::object along(nb::handle x, nb::handle axis, Compute compute, bool rows = false) {
  const std::optional<array> a = small_array_of(x, rows);
  if (!a) return nb::none();
  const std::optional<int> at = plain_or_only_axis(axis, a->elements().rank());
  return at ? wrapped(compute(*a, *at)) : nb::none();
}

nb::object unique(nb::handle x, bool equal_nan, bool index, bool inverse, bool counts) {
  const std::optional<array> a = small_array_of(x);
  if (!a) return nb::none();
  auto found = detail::unique_small(*a, equal_nan, index, inverse, counts);
  if (!found) return nb::none();
  return nb::make_tuple(wrap_array(std::move(found->values)), wrapped(std::move(found->first)),
                        wrapped(std::move(found->inverse)), wrapped(std::move(found->counts)));
}

nb::object nonzero(nb::handle x) {
  const std::optional<array> a = small_array_of(x);
  if (!a || a->elements().rank() == 0) return nb::none();
  auto found = detail::nonzero_small(*a);
  if (!found) return nb::none();
  nb::list indices = new_list();
  for (array& of_axis : *found) indices.append(wrap_array(std::move(of_axis)));
  return nb::tuple(indices);
}

nb::object join(nb::handle arrays, nb::handle axis, bool is_new) {
  if (!PyTuple_CheckExact(arrays.ptr()) && !PyList_CheckExact(arrays.ptr())) return nb::none();
  // A list may change where the GIL is released.
  const nb::object items = nb::steal(PySequence_Tuple(arrays.ptr()));
  const Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
  if (count == 0 || count > detail::most_on_host) return nb::none();
  std::vector<array> all;
  all.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t k = 0; k < count; ++k) {
    std::optional<array> a = small_array_of(PyTuple_GET_ITEM(items.ptr(), k));
    if (!a) return nb::none();
    all.push_back(*std::move(a));
  }
  const std::optional<int> at =
      plain_or_only_axis(axis, all[0].elements().rank() + (is_new ? 1 : 0));
  if (!at) return nb::none();
  return wrapped(is_new ? detail::stack_small(all, *at) : detail::concat_small(all, *at));
}

}  // namespace

nb::object small_copy(nb::handle self) {
  const std::optional<array> a = small_array_of(self);
  return a ? wrap_array(detail::copy_small(*a)) : nb::none();
}

nb::object small_cast(nb::handle self, const dtype& wanted) {
  const std::optional<array> a = small_array_of(self);
  return a ? wrapped(detail::cast_small(*a, wanted)) : nb::none();
}

namespace {

/// An index, indices or a mask, where the host can read them.
class small_key {
 public:
  /// Nothing for other keys, and for those that need a message.
  static std::optional<small_key> of(nb::handle key) {
    small_key out;
    if (is_ready<ndarray>(key)) {
      out.array_ = small_array_of(key);
      return out.array_ ? std::optional(std::move(out)) : std::nullopt;
    }
    if (!holds_host_elements(key) && !PyLong_CheckExact(key.ptr())) return {};
    try {
      out.host_.emplace(host_elements::of(key));
    } catch (...) {
      PyErr_Clear();
      return {};
    }
    const any_view& v = out.elements();
    const type_class kind = v.dtype().kind();
    const bool are_indices = kind == type_class::boolean || kind == type_class::integer ||
                             kind == type_class::unsigned_integer;
    if (!are_indices || v.size() == 0 || v.size() > detail::most_on_host) return {};
    return out;
  }
  const any_view& elements() const { return array_ ? array_->elements() : host_->view(); }
  /// Whether what it selects of an array of this kind is of this kind too.
  bool keeps(usm_kind kind) const {
    return !array_ || array_->elements().rank() == 0 || array_->kind() == kind;
  }

 private:
  std::optional<array> array_;
  std::optional<host_elements> host_;
};

}  // namespace

bool holds_host_elements(nb::handle key) {
  if (PyList_CheckExact(key.ptr())) {
    PyObject* const first =
        PyList_GET_SIZE(key.ptr()) > 0 ? PyList_GET_ITEM(key.ptr(), 0) : nullptr;
    return first != nullptr && (PyLong_Check(first) || PyList_CheckExact(first));
  }
  const PyBufferProcs* const buffer = Py_TYPE(key.ptr())->tp_as_buffer;  // as NumPy's arrays have
  return buffer != nullptr && buffer->bf_getbuffer != nullptr && !PyBytes_Check(key.ptr());
}

nb::object small_at(nb::handle self, nb::handle key) {
  const std::optional<array> a = small_array_of(self, true);
  if (!a || a->elements().rank() == 0) return nb::none();
  const std::optional<small_key> by = small_key::of(key);
  if (!by || by->elements().rank() == 0 || !by->keeps(a->kind())) return nb::none();
  return wrapped(detail::at_small(*a, by->elements()));
}

bool small_put(nb::handle self, nb::handle key, nb::handle value) {
  if (!is_ready<ndarray>(key) && !holds_host_elements(key)) return false;
  const std::optional<array> a = small_array_of(self);
  if (!a || a->elements().rank() == 0) return false;
  const std::optional<small_key> by = small_key::of(key);
  if (!by || by->elements().rank() == 0) return false;
  std::optional<array> values;
  std::unique_ptr<std::byte[]> number;
  any_view from;
  if (is_python_number(value)) {
    number = element_of(value, a->elements().dtype());
    from = checked_view(number.get(), a->elements().dtype(), layout(), usm_kind::unknown, true);
  } else if ((values = small_array_of(value))) {
    from = values->elements();
  } else {
    return false;
  }
  const gil_released released;
  return detail::put_small(*a, by->elements(), from);
}

void bind_small_arrays(nb::module_& m) {
  def(
      m, "_small_take(x: object, indices: object?, axis: object?) -> ndarray | None"_sig,
      [](nb::handle x, nb::handle indices, nb::handle axis) {
        return along(
            x, axis,
            [indices](const array& a, int at) {
              const std::optional<small_key> by = small_key::of(indices);
              return by ? detail::take_small(a, by->elements(), at) : std::nullopt;
            },
            true);
      },
      "See `usmx.take`.");
  def(
      m, "_small_repeat(x: object, times: object?, axis: object?) -> ndarray | None"_sig,
      [](nb::handle x, nb::handle times, nb::handle axis) {
        if (!PyLong_CheckExact(times.ptr())) return nb::object(nb::none());
        int overflow = 0;
        const long long count = PyLong_AsLongLongAndOverflow(times.ptr(), &overflow);
        if (overflow != 0) return nb::object(nb::none());
        return along(x, axis, [count](const array& a, int at) {
          return detail::repeat_small(a, count, at);
        });
      },
      "See `usmx.repeat`.");
  def(
      m, "_small_place(x: object, largest: bool) -> ndarray | None"_sig,
      [](nb::handle x, bool largest) {
        const std::optional<array> a = small_array_of(x);
        return a ? wrapped(detail::place_small(*a, largest)) : nb::none();
      },
      "See `usmx.argmax` and `usmx.argmin`.");
  def(
      m, "_small_count(x: object?) -> ndarray | None"_sig,
      [](nb::handle x) {
        const std::optional<array> a = small_array_of(x);
        return a ? wrapped(detail::count_small(*a)) : nb::none();
      },
      "See `usmx.count_nonzero`.");
  def(
      m, "_small_variance(x: object, correction: float) -> ndarray | None"_sig,
      [](nb::handle x, double correction) {
        const std::optional<array> a = small_array_of(x);
        return a ? wrapped(detail::variance_small(*a, correction)) : nb::none();
      },
      "See `usmx.var`.");
  def(m, "_small_nonzero(x: object?) -> tuple[ndarray, ...] | None"_sig, nonzero,
      "See `usmx.nonzero`.");
  def(m,
      "_small_unique(x: object?, equal_nan: bool, index: bool, inverse: bool, "
      "counts: bool) -> tuple[ndarray, ndarray | None, ndarray | None, ndarray | None] | None"_sig,
      unique, "See `usmx.unique`: values, indices, inverse indices in one dimension, counts.");
  def(m, "_small_join(arrays: object?, axis: object?, is_new: bool) -> ndarray | None"_sig, join,
      "See `usmx.concat` and, for a new axis, `usmx.stack`.");
}

}  // namespace usmx::python
