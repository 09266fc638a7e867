// Arithmetic on arrays as Python writes it: the operators of `usmx.ndarray` and the functions of
// the table of operations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compute/operations.hpp"
#include "support/bindings.hpp"
#include "usmx/placement.hpp"

namespace usmx::python {

/// The operands of one call. Arrays of others are kept as long as this lives.
class operation_operands {
 public:
  /// `takes_all`: also of objects that have operators of their own, which a function does not ask.
  explicit operation_operands(bool takes_all = false) : takes_all_(takes_all) {}
  /// Of all objects of the call; false, and no error is set, if one is nothing that is computed
  /// with. Arrays of ours, Python's numbers, NumPy's scalars, and arrays of others: USM as it is,
  /// memory of the host as a copy where the arrays of ours are, in the kind of their results.
  bool read(std::span<PyObject* const> objects);
  /// Where to compute: the queue of the first array, else the default queue.
  sycl::queue queue() const;

  std::vector<deferred_operand> all;

 private:
  bool add(nb::handle obj);

  std::vector<array> borrowed_;
  std::optional<sycl::queue> queue_;
  joint_kind kinds_;  // of the arrays of ours
  bool takes_all_;
};

/// The array, if it is one of few elements that the host may compute with now, without a wait: none
/// of them is deferred, no command is on its way, and nothing outside has its memory.
const array* computed_at_once(const ndarray& holder);
/// `op(*objects)`, or NotImplemented if one is nothing that is computed with.
PyObject* operate(const operation& op, std::span<PyObject* const> objects);
/// `self op= other`: the same elements with other values. TypeError if those have another kind of
/// type, ValueError for another shape.
PyObject* operate_in_place(const operation& op, PyObject* self, PyObject* other);
/// The elements of an array of ours in another type, as a part of the kernel that needs them;
/// nothing where the cast has to be a copy: of records, other kinds of memory, and types that the
/// device does not compute with.
std::optional<shared_deferred> cast_later(nb::handle self, const dtype& wanted);
/// The values of arrays to which there are no more than the caller's references, as results of an
/// expression in its arguments: no Python code reads them again. C may, by its own reference.
std::vector<shared_deferred> passing_values(std::span<PyObject* const> objects,
                                            Py_ssize_t references = 1);

/// A reduction by texts of C++, as `_reduce` takes it.
value_reduction to_reduction(nb::handle value, nb::handle result, nb::handle map, nb::handle reduce,
                             nb::handle post_map, nb::handle identity, nb::handle reduce_type);

}  // namespace usmx::python
