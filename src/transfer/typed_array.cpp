// See usmx/typed_array.hpp: what the checks of typed elements say.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/typed_array.hpp"

#include <utility>

#include "core/format.hpp"

namespace usmx::detail {

void refuse_typed(fault why, const any_view& v, const dtype& wanted, int rank) {
  switch (why) {
    case fault::rank_mismatch:
      throw interop_error(why,
                          format("shape: has {} dimensions, and {} were expected", v.rank(), rank));
    case fault::read_only:
      throw interop_error(why, "data: is read-only, and the function writes to this argument");
    case fault::data_misaligned:
      throw interop_error(why,
                          format("data: is not aligned for elements of type {}", v.dtype().name()));
    default:
      throw interop_error(
          why, format("dtype: is {}, and {} was expected", v.dtype().name(), wanted.name()));
  }
}

void require_on_host(const array& a) {
  // Of kind `unknown`: the host's own.
  if (a.size() == 0 || host_accessible(a.kind())) return;
  throw interop_error(
      fault::kind_mismatch,
      format("data: is USM of kind '{}', which the host cannot touch; this function "
             "takes shared or host memory",
             name(a.kind())));
}

namespace {
/// Elements of the host in C order, with the shape of an array.
any_view on_host_like(const array& a, const dtype& type, void* data) {
  layout where;
  fault found = layout::c_order(extents(a.shape()), type.itemsize(), where);
  any_view out;
  if (found == fault::none) {
    found = any_view::make(data, type, std::move(where), usm_kind::unknown, false, out);
  }
  if (found != fault::none) throw interop_error(found, fault_text(found, shape_text(a.shape())));
  return out;
}
}  // namespace

void read_elements(const array& a, const dtype& type, void* to) {
  copy_to_host(on_host_like(a, type, to), a);
}

void write_elements(const array& a, const void* from) {
  // Nothing writes through it.
  copy_from_host(a, on_host_like(a, a.elements().dtype(), const_cast<void*>(from)));
}

void require_contiguous(const any_view& v) {
  if (v.layout().is_c_contiguous()) return;
  throw interop_error(fault::strides_rank,
                      "strides: leave gaps or another order than C's; a span is of elements that "
                      "lie one after the other, so index the view instead");
}

}  // namespace usmx::detail
