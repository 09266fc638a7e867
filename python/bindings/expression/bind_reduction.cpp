// usmx.ReductionKernel and usmx.ScanKernel, which are described by much the same words.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/format.hpp"
#include "expression/expression_arguments.hpp"
#include "support/pickling.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/reduction.hpp"
#include "usmx/scan.hpp"

namespace usmx::python {
namespace {

// --- what the documentation of both has in common

constexpr const char* value_type =
    R"(    What ``a`` and ``b`` are: a placeholder, ``"float64"``, a type of C++ or a structure of the
    preamble of at most 32 bytes. By default the type of the first output.
)";
constexpr const char* kernel_options =
    R"(preamble : str, optional
    C++ before the kernel: functions, types, macros. Placeholders are types in it.
options : sequence of str, optional
    For the compiler, such as ``("-DN=8",)``.
contract : bool, optional
    Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
    rounded by itself, as in NumPy.
driver_math : bool, optional
    Whether ``exp``, ``log``, ``sin``, ``cos``, ``tanh``, ``atan2`` and ``hypot`` are the driver's
    on processors too, which may take less time. By default they have the bits of `usmx.exp` and
    the others.

)";
constexpr const char* call_inputs =
    R"(*args
    The inputs, which broadcast, have any strides, and are arrays of any library with USM, NumPy
    arrays and other buffers where the device reads the host's memory, or numbers; behind them the outputs, if they are given.
)";
constexpr const char* call_order =
    R"(queue : Queue, optional
    Where to run; by default the queue of the first array.
depends_on : Event or sequence of Event, optional
    What must have finished before. By default everything pending on the memory of the arguments.

Returns
-------
ndarray or tuple of ndarray

Raises
------
TypeError
    A wrong number of arguments, an argument without memory for the device, a cast that would lose the class of a
    number.
)";
constexpr const char* call_errors =
    R"(OverflowError
    A Python integer that does not fit into the type that it meets.
BuildError
    The expressions do not compile.)";

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

/// The arguments that both constructors have.
template <class Text>
Text to_joining_text(nb::handle map_expr, nb::handle identity, nb::handle preamble,
                     nb::handle options, bool contract, bool driver_math) {
  Text text;
  text.map = to_text(map_expr, "map_expr");
  text.identity = identity_argument(identity);
  text.preamble = to_text(preamble, "preamble");
  text.options = to_options(options, contract, driver_math);
  return text;
}

/// For pickles: the keywords that both constructors have.
template <class Text>
void add_joining_keywords(nb::dict& keywords, const Text& text, const char* type_name,
                          const std::string& type) {
  if (!type.empty()) keywords[type_name] = type;
  keywords["preamble"] = text.preamble;
  keywords["options"] = nb::tuple(nb::cast(text.options));
}

template <class Kernel>
void bind_joining_kernel(nb::class_<Kernel>& c, const char* class_name) {
  c.def_prop_ro(
       "map_expr", [](const Kernel& k) { return k.text().map; }, "What becomes of each element.")
      .def_prop_ro(
          "sources", [](const Kernel& k) { return k.sources(); },
          "The C++ texts that were compiled so far.");
  bind_expression_kernel(c, class_name);
}

}  // namespace

void bind_reduction(nb::module_& m) {
  const std::string about =
      detail::format(R"doc(A kernel that makes one number of many along any axes.

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
{}{}Raises
------
ValueError
    Parameters that cannot be read, an empty expression.

Examples
--------
>>> l2norm = usmx.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
>>> l2norm(usmx.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1).to_numpy()
array([ 5., 10.])
)doc",
                     value_type, kernel_options);
  const std::string about_call = detail::format(
      R"doc(Reduces without waiting, unless memory of the host is among the arguments.

Parameters
----------
{}axis : int or tuple of int, optional
    What is reduced; by default all axes. Negative ones count from the end.
keepdims : bool, optional
    Whether the results keep those axes with length one.
out : array or tuple of arrays, optional
    Outputs to reduce into. They may share memory with the inputs.
{}ValueError
    An axis out of range or named twice, shapes that do not fit, nothing to reduce and no identity,
    read-only or overlapping outputs, memory of another context.
{})doc",
      call_inputs, call_order, call_errors);
  nb::class_<reduction_kernel> c(m, "ReductionKernel", about.c_str());
  c.def(
       "__init__(self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, "
       "post_map_expr: str, identity: str | complex | None = None, name: str = 'kernel', *, "
       "reduce_type: str | None = None, preamble: str = '', options: Sequence[str] = (), "
       "contract: bool = False, driver_math: bool = False) -> None"_sig,
       [](nb::pointer_and_handle<reduction_kernel> self, nb::handle in_params,
          nb::handle out_params, nb::handle map_expr, nb::handle reduce_expr,
          nb::handle post_map_expr, nb::handle identity, nb::handle name, nb::handle reduce_type,
          nb::handle preamble, nb::handle options, bool contract, bool driver_math) {
         auto text = to_joining_text<reduction_text>(map_expr, identity, preamble, options,
                                                     contract, driver_math);
         text.reduce = to_text(reduce_expr, "reduce_expr");
         text.post_map = to_text(post_map_expr, "post_map_expr");
         if (!reduce_type.is_none()) text.reduce_type = to_text(reduce_type, "reduce_type");
         initialise(self, to_text(in_params, "in_params"), to_text(out_params, "out_params"),
                    std::move(text), to_text(name, "name"));
       })
      .def(
          "__call__(self, *args: ArrayOrNumber, "
          "axis: SupportsIndex | Sequence[SupportsIndex] | None = None, "
          "keepdims: bool = False, out: OutputLike = None, queue: QueueLike = None, "
          "depends_on: EventsLike = None) -> ndarray | Any"_sig,
          [](const reduction_kernel& k, nb::args args, nb::handle axis, bool keepdims,
             nb::handle out, nb::handle queue, nb::handle depends_on) {
            const reduction_axes axes = to_axes(axis, keepdims);
            return expression_call(k, args.ptr(), out.ptr(), queue, depends_on).run(k, axes);
          },
          about_call.c_str())
      .def_prop_ro(
          "reduce_expr", [](const reduction_kernel& k) { return k.text().reduce; },
          "How two numbers are joined.")
      .def_prop_ro(
          "post_map_expr", [](const reduction_kernel& k) { return k.text().post_map; },
          "What is stored.");
  bind_joining_kernel(c, "ReductionKernel");
  bind_pickling(c, [](const reduction_kernel& k, nb::list& args, nb::dict& keywords) {
    const reduction_text& text = k.text();
    add_parameters(args, k);
    for (const std::string& one : {text.map, text.reduce, text.post_map}) args.append(one);
    args.append(text.identity);
    args.append(k.name());
    add_joining_keywords(keywords, text, "reduce_type", text.reduce_type);
  });
}

void bind_scan(nb::module_& m) {
  const std::string about =
      detail::format(R"doc(A kernel that scans along one axis: cumulative sums and the like.

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
{}{}Raises
------
ValueError
    Parameters that cannot be read, an empty expression, an exclusive scan without an identity.

Examples
--------
>>> running = usmx.ScanKernel("T x", "T y", "x", "a + b")
>>> running(usmx.asarray([1, 2, 3, 4])).to_numpy()
array([ 1,  3,  6, 10])
)doc",
                     value_type, kernel_options);
  const std::string about_call =
      detail::format(R"doc(Scans without waiting, unless memory of the host is among the arguments.

Parameters
----------
{}axis : int, optional
    Along which to scan; an input of one dimension needs none. Negative ones count from the end.
out : array or tuple of arrays, optional
    Outputs to scan into. They may share memory with the inputs.
{}ValueError
    No axis where one is needed, an axis out of range, shapes that do not fit, read-only or
    overlapping outputs, memory of another context.
{})doc",
                     call_inputs, call_order, call_errors);
  nb::class_<scan_kernel> c(m, "ScanKernel", about.c_str());
  c.def(
       "__init__(self, in_params: str, out_params: str, map_expr: str, scan_expr: str, "
       "post_map_expr: str | None = None, identity: str | complex | None = None, "
       "name: str = 'kernel', *, exclusive: bool = False, scan_type: str | None = None, "
       "preamble: str = '', options: Sequence[str] = (), contract: bool = False, "
       "driver_math: bool = False) -> None"_sig,
       [](nb::pointer_and_handle<scan_kernel> self, nb::handle in_params, nb::handle out_params,
          nb::handle map_expr, nb::handle scan_expr, nb::handle post_map_expr, nb::handle identity,
          nb::handle name, bool exclusive, nb::handle scan_type, nb::handle preamble,
          nb::handle options, bool contract, bool driver_math) {
         auto text = to_joining_text<scan_text>(map_expr, identity, preamble, options, contract,
                                                driver_math);
         text.scan = to_text(scan_expr, "scan_expr");
         if (!post_map_expr.is_none()) text.post_map = to_text(post_map_expr, "post_map_expr");
         text.exclusive = exclusive;
         if (!scan_type.is_none()) text.scan_type = to_text(scan_type, "scan_type");
         initialise(self, to_text(in_params, "in_params"), to_text(out_params, "out_params"),
                    std::move(text), to_text(name, "name"));
       })
      .def(
          "__call__(self, *args: ArrayOrNumber, axis: SupportsIndex | None = None, "
          "out: OutputLike = None, queue: QueueLike = None, "
          "depends_on: EventsLike = None) -> ndarray | Any"_sig,
          [](const scan_kernel& k, nb::args args, nb::handle axis, nb::handle out, nb::handle queue,
             nb::handle depends_on) {
            std::optional<int> along;
            if (!axis.is_none()) along = axis_argument(axis);
            return expression_call(k, args.ptr(), out.ptr(), queue, depends_on).run(k, along);
          },
          about_call.c_str())
      .def_prop_ro(
          "scan_expr", [](const scan_kernel& k) { return k.text().scan; },
          "How what came before and the next are joined.")
      .def_prop_ro(
          "exclusive", [](const scan_kernel& k) { return k.text().exclusive; },
          "Whether each result leaves its own element out.");
  bind_joining_kernel(c, "ScanKernel");
  bind_pickling(c, [](const scan_kernel& k, nb::list& args, nb::dict& keywords) {
    const scan_text& text = k.text();
    add_parameters(args, k);
    for (const std::string& one : {text.map, text.scan}) args.append(one);
    args.append(text.post_map.empty() ? nb::object(nb::none()) : nb::cast(text.post_map));
    args.append(text.identity);
    args.append(k.name());
    keywords["exclusive"] = text.exclusive;
    add_joining_keywords(keywords, text, "scan_type", text.scan_type);
  });
}

}  // namespace usmx::python
