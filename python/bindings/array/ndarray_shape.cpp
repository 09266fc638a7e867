// Other shapes of the same elements: views wherever NumPy gives views, copies only where it copies.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <vector>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

/// A shape with at most one -1, which takes what the others leave.
extents complete_shape(nb::handle given, std::int64_t size) {
  extents shape = to_shape(given);
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == -1 && open == nullptr) {
      open = &shape[k];
    } else if (shape[k] < 0) {
      throw nb::value_error(
          ("shape: " + text_of(shape) + " is not allowed; only one -1 may be negative").c_str());
    } else if (__builtin_mul_overflow(known, shape[k], &known)) {
      check(fault::shape_overflow, text_of(shape));
    }
  }
  if (open != nullptr && known > 0 && size % known == 0) {
    *open = size / known;
    known = size;
  }
  if (known != size || (open != nullptr && *open == -1)) {
    throw nb::value_error(("cannot reshape array of size " + std::to_string(size) + " into shape " +
                           text_of(to_shape(given)))
                              .c_str());
  }
  return shape;
}

extents reversed(const extents& e) {
  extents out(e.size());
  std::reverse_copy(e.begin(), e.end(), out.data());
  return out;
}

layout transposed(const layout& l) {
  std::vector<int> order(static_cast<std::size_t>(l.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return l.permuted(order);
}

bool reshaped(const layout& from, const extents& shape, char order, layout& out) {
  if (order == 'C') return from.reshaped(shape, out);
  layout turned;
  if (!transposed(from).reshaped(reversed(shape), turned)) return false;
  out = transposed(turned);
  return true;
}

std::vector<int> axis_order(nb::handle axes, int rank) {
  std::vector<int> order;
  if (axes.is_none() || (nb::len(axes) == 0 && rank != 0)) {
    order.resize(static_cast<std::size_t>(rank));
    std::iota(order.rbegin(), order.rend(), 0);
    return order;
  }
  for (const nb::handle axis : axes) order.push_back(to_axis(axis, rank));
  std::vector<int> sorted = order;
  std::ranges::sort(sorted);
  if (sorted.size() != static_cast<std::size_t>(rank) ||
      std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw nb::value_error(
        ("axes: expected each of the " + std::to_string(rank) + " axes once").c_str());
  }
  return order;
}

nb::object transpose(nb::handle self, nb::handle axes) {
  const any_view& v = value_of(self).elements();
  return wrap_view(value_of(self),
                   v.with_layout(v.layout().permuted(axis_order(axes, v.rank())), 0));
}

nb::object swap_axes(nb::handle self, int first, int second) {
  const any_view& v = value_of(self).elements();
  std::vector<int> order(static_cast<std::size_t>(v.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]);
  return wrap_view(value_of(self), v.with_layout(v.layout().permuted(order), 0));
}

nb::object matrix_transpose(nb::handle self) {
  const int rank = value_of(self).elements().rank();
  if (rank < 2) throw nb::value_error("mT: needs at least two dimensions");
  return swap_axes(self, rank - 2, rank - 1);
}

nb::object squeeze(nb::handle self, nb::handle axis) {
  any_view v = value_of(self).elements();
  std::vector<bool> drop(static_cast<std::size_t>(v.rank()), axis.is_none());
  if (!axis.is_none()) {
    const nb::object axes =
        PyIndex_Check(axis.ptr()) ? nb::object(nb::make_tuple(axis)) : nb::borrow(axis);
    for (const nb::handle one : axes) {
      const auto k = static_cast<std::size_t>(to_axis(one, v.rank()));
      if (v.layout().shape()[k] != 1) {
        throw nb::value_error(
            "axis: cannot select an axis to squeeze out which has size not equal to one");
      }
      drop[k] = true;
    }
  }
  for (std::size_t k = drop.size(); k-- > 0;) {
    if (!drop[k] || v.layout().shape()[k] != 1) continue;
    std::int64_t shift = 0;
    layout where = v.layout().indexed(static_cast<int>(k), 0, shift);
    v = v.with_layout(std::move(where), shift);
  }
  return wrap_view(value_of(self), std::move(v));
}

/// NumPy promises contiguous elements here, also where reshape would give a strided view.
nb::object ravel(nb::handle self, nb::handle order_name) {
  const layout& l = value_of(self).elements().layout();
  char order = to_order(order_name, "CFA");
  if (order == 'A') order = l.is_f_contiguous() && !l.is_c_contiguous() ? 'F' : 'C';
  const bool is_contiguous = order == 'C' ? l.is_c_contiguous() : l.is_f_contiguous();
  return reshape(self, nb::int_(-1), order, nb::bool_(!is_contiguous));
}

nb::object flatten(nb::handle self, nb::handle order) {
  return reshape(self, nb::int_(-1), to_order(order), nb::bool_(true));
}

}  // namespace

nb::object reshape(nb::handle self, nb::handle shape, char order, nb::handle copy_if) {
  const array& a = value_of(self);
  const any_view& v = a.elements();
  const extents wanted = complete_shape(shape, v.size());
  if (order == 'A' || order == 'K')
    order = v.layout().is_f_contiguous() && !v.layout().is_c_contiguous() ? 'F' : 'C';
  const bool always = !copy_if.is_none() && nb::cast<bool>(nb::bool_(copy_if));
  layout where;
  if (!always && reshaped(v.layout(), wanted, order, where))
    return wrap_view(a, v.with_layout(std::move(where), 0));
  if (!always && !copy_if.is_none()) {
    throw nb::value_error("copy: this shape needs a copy, but copy=False");
  }
  const array packed = allocate_array(
      a.queue(), ordered_layout(v.layout(), v.dtype().itemsize(), order), v.dtype(), a.kind());
  {
    const gil_released released;
    copy(packed, a);
  }
  if (!reshaped(packed.elements().layout(), wanted, order, where))
    throw nb::value_error(
        ("shape: " + text_of(wanted) + " is not possible for these elements").c_str());
  return wrap_view(packed, packed.elements().with_layout(std::move(where), 0));
}

void bind_shape(nb::class_<ndarray>& c, nb::module_& m) {
  c.def(
      "reshape",
      [](nb::handle self, const nb::args& shape, nb::handle order, nb::handle copy_if) {
        return reshape(self, one_sequence(shape), to_order(order), copy_if);
      },
      nb::arg("shape"), nb::kw_only(), nb::arg("order") = "C", nb::arg("copy") = nb::none(),
      "The elements in another shape; a view wherever the layout allows it.\n\n"
      "Parameters\n----------\n"
      "*shape : int or tuple of int\n    One length may be -1: it takes what the others leave.\n"
      "order : {'C', 'F', 'A'}\n    The order in which elements are read and placed.\n"
      "copy : bool, optional\n    True copies always, False never, None if needed.\n\n"
      "Raises\n------\n"
      "ValueError\n    The sizes differ, or a copy is needed and forbidden.",
      nb::sig("def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex], order: OrderLike "
              "= 'C', copy: bool | None = None) -> ndarray"));
  c.def(
      "transpose",
      [](nb::handle self, const nb::args& axes) {
        const bool none = axes.size() == 0 || (axes.size() == 1 && nb::handle(axes[0]).is_none());
        return transpose(self, none ? nb::object(nb::none()) : one_sequence(axes));
      },
      nb::arg("axes"), "A view with the axes in another order; without arguments in reverse.",
      nb::sig("def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> ndarray"));
  c.def(
      "permute",
      [](nb::handle self, const nb::args& axes) { return transpose(self, one_sequence(axes)); },
      nb::arg("axes"), "A view whose axis i is axis ``axes[i]`` of this.",
      nb::sig("def permute(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> ndarray"));
  c.def(
      "swapaxes",
      [](nb::handle self, nb::handle first, nb::handle second) {
        const int rank = value_of(self).elements().rank();
        return swap_axes(self, to_axis(first, rank), to_axis(second, rank));
      },
      nb::arg("axis1"), nb::arg("axis2"), "A view with two axes exchanged.",
      nb::sig("def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray"));
  c.def_prop_ro(
      "T", [](nb::handle self) { return transpose(self, nb::none()); },
      "A view with the axes in reverse.", nb::sig("def T(self) -> ndarray"));
  c.def_prop_ro("mT", matrix_transpose, "A view with the last two axes exchanged.",
                nb::sig("def mT(self) -> ndarray"));
  c.def("squeeze", squeeze, nb::arg("axis") = nb::none(),
        "A view without dimensions of length one.",
        nb::sig("def squeeze(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> "
                "ndarray"));
  c.def("ravel", ravel, nb::arg("order") = "C",
        "The elements contiguous in one dimension; a view if they are contiguous already.",
        nb::sig("def ravel(self, order: OrderLike = 'C') -> ndarray"));
  c.def("flatten", flatten, nb::arg("order") = "C", "A copy of the elements in one dimension.",
        nb::sig("def flatten(self, order: OrderLike = 'C') -> ndarray"));
  m.def(
      "broadcast_to",
      [](nb::handle x, nb::handle shape) {
        const array* a = array_of(x);
        if (a == nullptr) wrong_type("x", x, "a usmx.ndarray");
        layout where;
        const extents wanted = to_shape(shape);
        if (!a->elements().layout().broadcast(wanted, where)) {
          throw nb::value_error(("shape: " + text_of(a->elements().layout().shape()) +
                                 " cannot be broadcast to " + text_of(wanted))
                                    .c_str());
        }
        return wrap_view(*a, a->elements().with_layout(std::move(where), 0).as_read_only());
      },
      nb::arg("x"), nb::arg("shape"),
      "A read-only view in which dimensions of length one are repeated by a stride of zero.",
      nb::sig("def broadcast_to(x: ArrayLike, shape: ShapeLike) -> ndarray"));
}

}  // namespace usmx::python
