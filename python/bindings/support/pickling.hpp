// Pickles of objects that never change after they were made: kernels of all tiers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/bindings.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"

namespace usmx::python {

/// Binds `__reduce__`, by what the class is called with: `describe(const T&, nb::list& args,
/// nb::dict& keywords)`. Copies are the object itself, as those of functions are.
template <class T, class Describe>
void bind_pickling(nb::class_<T>& c, Describe describe) {
  c.def("__reduce__(self) -> tuple[Any, ...]"_sig, [describe](nb::handle self) {
    nb::list args = new_list();
    nb::dict keywords = new_dict();
    describe(self_of<T>(self), args, keywords);
    return nb::make_tuple(nb::module_::import_("usmx._pickles").attr("call"),
                          nb::make_tuple(self.type(), nb::tuple(args), keywords));
  });
  c.def("__copy__(self) -> Self"_sig, [](nb::object self) {
    static_cast<void>(self_of<T>(self));
    return self;
  });
  c.def("__deepcopy__(self, memo: object) -> Self"_sig, [](nb::object self, nb::handle) {
    static_cast<void>(self_of<T>(self));
    return self;
  });
}

}  // namespace usmx::python
