// What a program was made of besides its arguments: the values of globals, closure variables and
// attributes that a Python function read. A launch asks whether they are still the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "support/bindings.hpp"

namespace usmx::python {

/// A list of places and of what was read there. Guarded by the GIL.
class captured_values {
 public:
  enum class place : unsigned char {
    name,       ///< a key of a dictionary: a global, what a module holds
    cell,       ///< a closure variable
    attribute,  ///< what a dot reads
    function,   ///< code and defaults of a function
    items,      ///< all that a list, a dictionary or a set holds
    bytes,      ///< the elements of memory of the host
    item,       ///< the number in an array of rank 0
  };
  struct row {
    place what;
    nb::object where;
    nb::object name;
    nb::object value;  ///< not valid: there was none
  };

  explicit captured_values(std::vector<row> rows) : rows_(std::move(rows)) {}

  /// Whether each place still holds what it held. May run code of Python.
  bool hold() const;
  int traverse(visitproc visit, void* arg) const noexcept;
  void clear() noexcept { rows_.clear(); }

 private:
  std::vector<row> rows_;
};

/// Whether the `_Captured` that an object is still holds; an object that is none holds.
bool still_holds(nb::handle captured);

void bind_captured_values(nb::module_& m);

}  // namespace usmx::python
