// usmx.ScanKernel.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "expression/reduction_arguments.hpp"
#include "usmx/scan.hpp"

namespace usmx::python {
namespace {

nb::object call(const scan_kernel& k, nb::args args, nb::handle axis, nb::handle out,
                nb::handle queue, nb::handle depends_on) {
  std::optional<int> along;
  if (!axis.is_none()) along = axis_argument(axis);
  expression_call c(k.inputs(), k.outputs(), k.name(), args.ptr(), out.ptr(), queue, depends_on);
  return run_call(
      c, [&](sycl::queue& where, std::span<const operand> in, std::span<expression_output> outputs,
             const std::vector<sycl::event>& before) {
        k.enqueue(where, in, outputs, along, before);
      });
}

}  // namespace

void bind_scan(nb::module_& m) {
  nb::class_<scan_kernel>(m, "ScanKernel",
                          R"doc(A kernel that makes a running total, or the like, along one axis.

Each result is what the elements up to its own are joined to, in their order. The result is an array,
or a tuple of arrays for several outputs, allocated as device memory if an input is, otherwise
shared, otherwise host memory. The call returns before the kernel has run; commands on the results'
queue follow it. Results are the same from run to run on a device.

Parameters
----------
in_params, out_params : str
    Types and names, as those of an elementwise kernel: ``"T x, raw float32 y"``.
map_expr : str
    C++ that makes the number to join from one element of each input. ``i`` is the number of the
    element along the axis, ``n`` how many there are.
scan_expr : str
    Joins ``a``, what came before, and ``b``; associative.
post_map_expr : str, optional
    Assigns the outputs from ``a``, what was joined up to element ``i``. By default an only output
    is ``a``.
identity : str, int, float, bool or None, optional
    What stands before the first element of an exclusive scan; others need none.
name : str, optional
    Shown in traces and messages.
exclusive : bool, optional
    Whether each result is of the elements before its own, not of its own too.
scan_type : str, optional
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
    Parameters that cannot be read, an empty expression, an exclusive scan without an identity.

Examples
--------
>>> running = usmx.ScanKernel("T x", "T y", "x", "a + b")
>>> running(usmx.asarray([1, 2, 3, 4])).to_numpy()
array([ 1,  3,  6, 10])
)doc")
      .def(
          "__init__",
          [](nb::pointer_and_handle<scan_kernel> self, nb::handle in_params, nb::handle out_params,
             nb::handle map_expr, nb::handle scan_expr, nb::handle post_map_expr,
             nb::handle identity, nb::handle name, bool exclusive, nb::handle scan_type,
             nb::handle preamble, nb::handle options, bool contract) {
            scan_text text;
            text.map = to_text(map_expr, "map_expr");
            text.scan = to_text(scan_expr, "scan_expr");
            if (!post_map_expr.is_none()) text.post_map = to_text(post_map_expr, "post_map_expr");
            text.identity = identity_argument(identity);
            text.exclusive = exclusive;
            if (!scan_type.is_none()) text.scan_type = to_text(scan_type, "scan_type");
            text.preamble = to_text(preamble, "preamble");
            text.options = to_options(options, contract);
            initialise(self, to_text(in_params, "in_params"), to_text(out_params, "out_params"),
                       std::move(text), to_text(name, "name"));
          },
          nb::arg("in_params"), nb::arg("out_params"), nb::arg("map_expr"), nb::arg("scan_expr"),
          nb::arg("post_map_expr") = nb::none(), nb::arg("identity") = nb::none(),
          nb::arg("name") = "kernel", nb::kw_only(), nb::arg("exclusive") = false,
          nb::arg("scan_type") = nb::none(), nb::arg("preamble") = "",
          nb::arg("options") = nb::tuple(), nb::arg("contract") = false,
          nb::sig(
              "def __init__(self, in_params: str, out_params: str, map_expr: str, scan_expr: "
              "str, post_map_expr: str | None = None, identity: str | complex | None = None, "
              "name: str = 'kernel', *, exclusive: bool = False, scan_type: str | None = None, "
              "preamble: str = '', options: Sequence[str] = (), contract: bool = False) -> None"))
      .def("__call__", &call, nb::arg("args"), nb::kw_only(), nb::arg("axis") = nb::none(),
           nb::arg("out") = nb::none(), nb::arg("queue") = nb::none(),
           nb::arg("depends_on") = nb::none(),
           R"(Scans without waiting.

Parameters
----------
*args
    The inputs, which broadcast, have any strides, and are arrays of any library with USM or
    numbers; behind them the outputs, if they are given.
axis : int, optional
    Along which to scan; an input of one dimension needs none. Negative ones count from the end.
out : array or tuple of arrays, optional
    Outputs to scan into. They may share memory with the inputs.
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
    No axis where one is needed, an axis out of range, shapes that do not fit, read-only or
    overlapping outputs, memory of another context.
OverflowError
    A Python integer that does not fit into the type that it meets.
BuildError
    The expressions do not compile.)",
           nb::sig("def __call__(self, *args: ArrayOrNumber, axis: SupportsIndex | None = None, "
                   "out: OutputLike = None, queue: QueueLike = None, depends_on: EventsLike = "
                   "None) -> ndarray | Any"))
      .def_prop_ro("name", &scan_kernel::name, "As traces show it.")
      .def_prop_ro(
          "map_expr", [](const scan_kernel& k) { return k.text().map; },
          "What becomes of each element.")
      .def_prop_ro(
          "scan_expr", [](const scan_kernel& k) { return k.text().scan; },
          "How what came before and the next are joined.")
      .def_prop_ro(
          "exclusive", [](const scan_kernel& k) { return k.text().exclusive; },
          "Whether each result leaves its own element out.")
      .def_prop_ro("sources", &scan_kernel::sources, "The C++ texts that were compiled so far.")
      .def("__repr__", [](const scan_kernel& k) { return "<usmx.ScanKernel '" + k.name() + "'>"; });
}

}  // namespace usmx::python
