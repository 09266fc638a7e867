// usmx.ElementwiseKernel. A call is read, launched and answered here without going through Python,
// because on small arrays nothing else takes time.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "expression/expression_arguments.hpp"
#include "protocols/protocols.hpp"
#include "support/pickling.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "usmx/elementwise.hpp"

namespace usmx::python {
namespace {

/// The keyword arguments of a call; borrowed from it.
struct call_keywords {
  PyObject* out = Py_None;
  PyObject* size = Py_None;
  PyObject* queue = Py_None;
  PyObject* depends_on = Py_None;

  explicit call_keywords(PyObject* keywords, const std::string& name) {
    if (keywords == nullptr) return;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, &value) != 0;) {
      const auto is = [&](const char* word) {
        return PyUnicode_CompareWithASCIIString(key, word) == 0;
      };
      if (is("out")) {
        out = value;
      } else if (is("size")) {
        size = value;
      } else if (is("queue")) {
        queue = value;
      } else if (is("depends_on")) {
        depends_on = value;
      } else {
        throw nb::type_error(
            detail::format("'{}' has no argument {}; there are out, size, queue and depends_on",
                           name, repr_of(key))
                .c_str());
      }
    }
  }
};

std::optional<std::int64_t> to_size(PyObject* obj) {
  if (obj == Py_None) return {};
  return read_integer(obj, "size", fault::shape_overflow);
}

nb::object call(const elementwise_kernel& k, PyObject* args, PyObject* keywords) {
  const call_keywords words(keywords, k.name());
  expression_call c(k, args, words.out, words.queue, words.depends_on);
  return c.run(k, to_size(words.size));
}

PyObject* call_slot(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  try {
    return call(self_of<elementwise_kernel>(self), args, keywords).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

PyType_Slot elementwise_slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call_slot)},
    {0, nullptr},
};

}  // namespace

void bind_elementwise(nb::module_& m) {
  nb::class_<elementwise_kernel> c(m, "ElementwiseKernel",
                                   R"(A kernel made from one expression, computed for each element.

``k(*inputs)`` makes its outputs, ``k(*inputs, *outputs)`` and ``k(*inputs, out=...)`` compute into
given ones; the result is an array, or a tuple of arrays for several outputs. Inputs broadcast, have
any strides, and are arrays of any library with USM, NumPy arrays and other buffers where the device
reads the host's memory, NumPy scalars or Python numbers, whose types meet as in NumPy. Outputs are
allocated as device memory if an input is, otherwise shared, otherwise host memory. The call returns
before the kernel has run, unless memory of the host is among its arguments; commands on the
results' queue follow it.

Parameters
----------
in_params, out_params : str
    Types and names, ``"T x, raw float32 y"``. A single letter, or a word that begins with a capital
    one, is a placeholder: the type that all its operands meet in. A ``raw`` parameter is indexed by
    the expression: ``y[i + 1]``, ``y.size()``.
operation : str
    C++ statements for one element. ``i`` is its number in C order, ``n`` how many there are, and a
    placeholder names its type. The functions of ``namespace usmx`` need no prefix.
name : str, optional
    Shown in traces and messages.
preamble : str, optional
    C++ before the kernel: functions, types, macros.
options : sequence of str, optional
    For the compiler, such as ``("-DN=8",)``.
contract : bool, optional
    Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
    rounded by itself, as in NumPy.
driver_math : bool, optional
    Whether ``exp``, ``log``, ``sin``, ``cos``, ``tanh``, ``atan2`` and ``hypot`` are the driver's
    on processors too, which may take less time. By default they have the bits of `usmx.exp` and
    the others.
loop_prep, after_loop : str, optional
    Statements before and after `operation`.

Keywords of a call
------------------
out : array or tuple of arrays, optional
    Outputs to compute into; None in a tuple is one to be made. They may be inputs, and overlap them.
size : int, optional
    The number of elements, needed if all parameters are raw.
queue : Queue, optional
    Where to run; by default the queue of the first array.
depends_on : Event or sequence of Event, optional
    What must have finished before. By default everything pending on the memory of the arguments.

Raises
------
TypeError
    A wrong number of arguments, an argument without memory for the device, a cast that would lose the class of a
    number.
ValueError
    Parameters that cannot be read, shapes that do not fit, read-only or overlapping outputs,
    memory of another context.
OverflowError
    A Python integer that does not fit into the type that it meets.
BuildError
    The expression does not compile.

Examples
--------
>>> muladd = usmx.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "muladd")
>>> muladd(usmx.arange(3, dtype="float32"), 2).to_numpy()
array([1., 3., 5.], dtype=float32)
)",
                                   nb::type_slots(elementwise_slots));
  c.def(
       "__init__(self, in_params: str, out_params: str, operation: str, "
       "name: str = 'kernel', *, preamble: str = '', options: Sequence[str] = (), "
       "loop_prep: str = '', after_loop: str = '', contract: bool = False, "
       "driver_math: bool = False) -> None"_sig,
       [](nb::pointer_and_handle<elementwise_kernel> self, nb::handle in_params,
          nb::handle out_params, nb::handle operation, nb::handle name, nb::handle preamble,
          nb::handle options, nb::handle loop_prep, nb::handle after_loop, bool contract,
          bool driver_math) {
         initialise(self, to_text(in_params, "in_params"), to_text(out_params, "out_params"),
                    to_text(operation, "operation"), to_text(name, "name"),
                    elementwise_text{to_text(preamble, "preamble"), to_text(loop_prep, "loop_prep"),
                                     to_text(after_loop, "after_loop"),
                                     to_options(options, contract, driver_math)});
       })
      .def_prop_ro(
          "operation", [](const elementwise_kernel& k) { return k.operation(); },
          "The C++ statements.")
      .def_prop_ro(
          "in_params", [](const elementwise_kernel& k) { return signature_of(k.inputs()); },
          "The inputs as they were written.", nb::sig("def in_params(self) -> tuple[str, ...]"))
      .def_prop_ro(
          "out_params", [](const elementwise_kernel& k) { return signature_of(k.outputs()); },
          "The outputs as they were written.", nb::sig("def out_params(self) -> tuple[str, ...]"))
      .def_prop_ro(
          "sources", [](const elementwise_kernel& k) { return k.sources(); },
          "The C++ texts that were compiled so far, one for each list of types and kind of "
          "layout.");
  bind_expression_kernel(c, "ElementwiseKernel");
  bind_pickling(c, [](const elementwise_kernel& k, nb::list& args, nb::dict& keywords) {
    add_parameters(args, k);
    args.append(k.operation());
    args.append(k.name());
    keywords["preamble"] = k.text().preamble;
    keywords["options"] = nb::tuple(nb::cast(k.text().options));
    keywords["loop_prep"] = k.text().loop_prep;
    keywords["after_loop"] = k.text().after_loop;
  });
}

}  // namespace usmx::python
