// usmx.ReductionKernel.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "expression/reduction_arguments.hpp"
#include "usmx/reduction.hpp"

namespace usmx::python {
namespace {

reduction_axes to_axes(nb::handle axis, bool keepdims) {
  reduction_axes axes;
  axes.keep = keepdims;
  if (axis.is_none()) return axes;
  axes.axes.emplace();
  if (PyTuple_Check(axis.ptr()) || PyList_Check(axis.ptr())) {
    for (const nb::handle one : axis) axes.axes->push_back(axis_argument(one));
  } else {
    axes.axes->push_back(axis_argument(axis));
  }
  return axes;
}

nb::object call(const reduction_kernel& k, nb::args args, nb::handle axis, bool keepdims,
                nb::handle out, nb::handle queue, nb::handle depends_on) {
  const reduction_axes axes = to_axes(axis, keepdims);
  expression_call c(k.inputs(), k.outputs(), k.name(), args.ptr(), out.ptr(), queue, depends_on);
  return run_call(
      c,
      [&](sycl::queue& where, std::span<const operand> in, std::span<expression_output> outputs,
          const std::vector<sycl::event>& before) { k.enqueue(where, in, outputs, axes, before); });
}

}  // namespace

void bind_reduction(nb::module_& m) {
  nb::class_<reduction_kernel>(m, "ReductionKernel",
                               R"doc(A kernel that makes one number of many along any axes.

It is made from three expressions. The result is an array, or a tuple of arrays for several outputs,
allocated as device memory if an input is, otherwise shared, otherwise host memory. The call returns
before the kernel has run; commands on the results' queue follow it. Results are the same from run
to run on a device, and sums of floating-point numbers are made of chunks, as NumPy's.

Parameters
----------
in_params, out_params : str
    Types and names, as those of an elementwise kernel: ``"T x, raw float32 y"``.
map_expr : str
    C++ that makes the number to reduce from one element of each input. ``i`` is the number of the
    element among those that are reduced together, ``n`` how many those are.
reduce_expr : str
    Joins ``a`` and ``b``; associative and commutative.
post_map_expr : str
    Assigns the outputs from ``a``, the reduced number; ``i`` is the number of the result.
identity : str, int, float, bool or None, optional
    The result for no elements at all. Without one they are an error.
name : str, optional
    Shown in traces and messages.
reduce_type : str, optional
    What ``a`` and ``b`` are: a placeholder, ``"float64"``, a type of C++ or a structure of the
    preamble of at most 32 bytes. By default the type of the first output.
preamble : str, optional
    C++ before the kernel: functions, types, macros. Placeholders are types in it.
options : sequence of str, optional
    For the compiler, such as ``("-DN=8",)``.
contract : bool, optional
    Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
    rounded by itself, as in NumPy.

Raises
------
ValueError
    Parameters that cannot be read, an empty expression.

Examples
--------
>>> l2norm = usmx.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
>>> l2norm(usmx.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1).to_numpy()
array([ 5., 10.])
)doc")
      .def(
          "__init__",
          [](nb::pointer_and_handle<reduction_kernel> self, nb::handle in_params,
             nb::handle out_params, nb::handle map_expr, nb::handle reduce_expr,
             nb::handle post_map_expr, nb::handle identity, nb::handle name, nb::handle reduce_type,
             nb::handle preamble, nb::handle options, bool contract) {
            reduction_text text;
            text.map = to_text(map_expr, "map_expr");
            text.reduce = to_text(reduce_expr, "reduce_expr");
            text.post_map = to_text(post_map_expr, "post_map_expr");
            text.identity = identity_argument(identity);
            if (!reduce_type.is_none()) text.reduce_type = to_text(reduce_type, "reduce_type");
            text.preamble = to_text(preamble, "preamble");
            text.options = to_options(options, contract);
            initialise(self, to_text(in_params, "in_params"), to_text(out_params, "out_params"),
                       std::move(text), to_text(name, "name"));
          },
          nb::arg("in_params"), nb::arg("out_params"), nb::arg("map_expr"), nb::arg("reduce_expr"),
          nb::arg("post_map_expr"), nb::arg("identity") = nb::none(), nb::arg("name") = "kernel",
          nb::kw_only(), nb::arg("reduce_type") = nb::none(), nb::arg("preamble") = "",
          nb::arg("options") = nb::tuple(), nb::arg("contract") = false,
          nb::sig("def __init__(self, in_params: str, out_params: str, map_expr: str, reduce_expr: "
                  "str, post_map_expr: str, identity: str | complex | None = None, name: str = "
                  "'kernel', *, reduce_type: str | None = None, preamble: str = '', options: "
                  "Sequence[str] = (), contract: bool = False) -> None"))
      .def("__call__", &call, nb::arg("args"), nb::kw_only(), nb::arg("axis") = nb::none(),
           nb::arg("keepdims") = false, nb::arg("out") = nb::none(), nb::arg("queue") = nb::none(),
           nb::arg("depends_on") = nb::none(),
           R"(Reduces without waiting.

Parameters
----------
*args
    The inputs, which broadcast, have any strides, and are arrays of any library with USM or
    numbers; behind them the outputs, if they are given.
axis : int or tuple of int, optional
    What is reduced; by default all axes. Negative ones count from the end.
keepdims : bool, optional
    Whether the results keep those axes with length one.
out : array or tuple of arrays, optional
    Outputs to reduce into. They may share memory with the inputs.
queue : Queue, optional
    Where to run; by default the queue of the first array.
depends_on : Event or sequence of Event, optional
    What must have finished before. By default everything pending on the memory of the arguments.

Returns
-------
ndarray or tuple of ndarray

Raises
------
TypeError
    A wrong number of arguments, an argument without USM, a cast that would lose the class of a
    number.
ValueError
    An axis out of range or named twice, shapes that do not fit, nothing to reduce and no identity,
    read-only or overlapping outputs, memory of another context.
OverflowError
    A Python integer that does not fit into the type that it meets.
BuildError
    The expressions do not compile.)",
           nb::sig(
               "def __call__(self, *args: ArrayOrNumber, axis: SupportsIndex | "
               "Sequence[SupportsIndex] | None = None, keepdims: bool = False, out: OutputLike = "
               "None, queue: QueueLike = None, depends_on: EventsLike = None) -> ndarray | Any"))
      .def_prop_ro("name", &reduction_kernel::name, "As traces show it.")
      .def_prop_ro(
          "map_expr", [](const reduction_kernel& k) { return k.text().map; },
          "What becomes of each element.")
      .def_prop_ro(
          "reduce_expr", [](const reduction_kernel& k) { return k.text().reduce; },
          "How two numbers are joined.")
      .def_prop_ro(
          "post_map_expr", [](const reduction_kernel& k) { return k.text().post_map; },
          "What is stored.")
      .def_prop_ro("sources", &reduction_kernel::sources,
                   "The C++ texts that were compiled so far.")
      .def("__repr__",
           [](const reduction_kernel& k) { return "<usmx.ReductionKernel '" + k.name() + "'>"; });
}

}  // namespace usmx::python
