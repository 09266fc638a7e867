// Reads operands from Python and applies operations to them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>

#include <nanobind/stl/string.h>

#include "array/ndarray.hpp"
#include "compute/on_host.hpp"
#include "compute/operate.hpp"
#include "compute/small_arrays.hpp"
#include "core/format.hpp"
#include "expression/expression_arguments.hpp"
#include "kernel/kernel_arguments.hpp"
#include "kernel/kernel_state.hpp"
#include "memory/memory.hpp"
#include "protocols/protocols.hpp"
#include "support/containers.hpp"
#include "support/signature.hpp"
#include "support/slot_errors.hpp"
#include "support/text.hpp"
#include "usmx/promotion.hpp"

namespace usmx::python {

namespace {

/// A few elements are computed on the host, but only when no command is working on them.
bool may_be_computed_on_host(const array& a) noexcept {
  const any_view& v = a.elements();
  return v.size() <= detail::most_on_host && host_accessible(v.kind());
}

/// The buffer of an object; empty where its elements come by another protocol.
std::optional<host_buffer> borrow_if_plain(nb::handle obj) {
  try {
    return host_buffer::borrow(obj);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_BufferError)) throw;
    return {};
  }
}

bool has_operators(PyTypeObject* type) noexcept {
  const PyNumberMethods* const numbers = type->tp_as_number;
  return numbers != nullptr && (numbers->nb_add != nullptr || numbers->nb_multiply != nullptr ||
                                numbers->nb_matrix_multiply != nullptr);
}

}  // namespace

bool operation_operands::read(std::span<PyObject* const> objects) {
  borrowed_.reserve(objects.size());
  for (PyObject* const o : objects) {
    if (!is_ready<ndarray>(o)) continue;
    const ndarray& a = *nb::inst_ptr<ndarray>(o);
    if (!queue_) queue_ = a.queue();
    a.tell(kinds_);
  }
  return std::ranges::all_of(objects, [this](PyObject* o) { return add(o); });
}

bool operation_operands::add(nb::handle obj) {
  PyObject* const o = obj.ptr();
  if (is_ready<ndarray>(obj)) {
    ndarray& a = *nb::inst_ptr<ndarray>(obj);
    if (a.later()) {
      all.emplace_back(a.later());
    } else {
      if (may_be_computed_on_host(a.known())) remember_ended_work(a.known());
      all.emplace_back(operand(a.known()));
    }
    return true;
  }
  if (PyFloat_CheckExact(o)) return all.emplace_back(operand(PyFloat_AS_DOUBLE(o))), true;
  if (PyBool_Check(o)) return all.emplace_back(operand(o == Py_True)), true;
  if (PyLong_CheckExact(o)) return all.emplace_back(whole_number(o)), true;
  if (PyComplex_CheckExact(o)) {
    const std::complex<double> z(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    return all.emplace_back(operand(z)), true;
  }
  if (auto imported = import_array(obj)) {
    borrowed_.push_back(*std::move(imported));
  } else if (offers_host_elements(obj)) {
    if (PyObject_CheckBuffer(o) != 0) {
      const auto buffer = borrow_if_plain(obj);
      if (buffer && buffer->elements().rank() == 0 && !buffer->elements().dtype().is_record()) {
        // NumPy's scalars are such buffers.
        const any_view& v = buffer->elements();
        return all.emplace_back(operand(v.dtype(), v.data())), true;
      }
    } else if (!takes_all_ && has_operators(Py_TYPE(o))) {
      return false;  // what has operators of its own answers for both
    }
    const nb::none none;
    const sycl::queue place = queue();
    const nb::object kind = new_text(name(kinds_.result(place)));
    const nb::object made = as_array(obj, none, kind, none, nb::cast(place), none);
    borrowed_.push_back(value_of(made));
  } else if (PyLong_Check(o)) {  // enums
    return all.emplace_back(whole_number(o)), true;
  } else if (queue_ && (PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyRange_Check(o))) {
    // As NumPy's operators do: the numbers go where the array is.
    const nb::none none;
    const nb::object made =
        as_array(obj, none, new_text(name(kinds_.result(*queue_))), none, nb::cast(*queue_), none);
    borrowed_.push_back(value_of(made));
  } else {
    return false;
  }
  if (!queue_) queue_ = borrowed_.back().queue();
  all.emplace_back(operand(borrowed_.back()));
  return true;
}

sycl::queue operation_operands::queue() const { return queue_ ? *queue_ : default_queue(); }

namespace {

/// The types of calls, which are found once for operands of the same types. Guarded by the GIL.
class found_types {
 public:
  /// Null where `resolve` finds none.
  const operation_types* find(const operation& op, std::span<const operand_type> operands) {
    std::uint64_t key = row_number(op) + 1;
    for (const operand_type& o : operands) {
      const int index = number_index(o.type);
      if (index < 0) return nullptr;
      key = key << 8 | static_cast<std::uint64_t>(index) << 1 | (o.weak ? 1U : 0U);
    }
    entry& e = entries_[key * 0x9E3779B97F4A7C15U >> 55];
    if (e.key == key) return &e.types;
    auto found = resolve(op, operands);
    if (!found) return nullptr;
    e = {key, *std::move(found)};
    return &e.types;
  }

 private:
  struct entry {
    std::uint64_t key = 0;
    operation_types types;
  };
  std::array<entry, 512> entries_{};
};

/// A number of Python's, in the type that it has by itself.
std::optional<operand> plain_number(PyObject* o) {
  if (PyFloat_CheckExact(o)) return operand(PyFloat_AS_DOUBLE(o));
  if (PyBool_Check(o)) return operand(o == Py_True);
  if (!PyLong_CheckExact(o)) return {};
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0) return {};
  return operand(static_cast<std::int64_t>(whole));
}

/// The plain case of few elements: arrays of one shape, kind and queue that are there, and numbers.
/// Nothing is deferred, and nothing was done where this gives nothing.
std::optional<array> operate_plain(const operation& op, std::span<PyObject* const> objects) {
  std::array<detail::small_operand, 3> in;
  std::array<std::optional<operand>, 3> numbers;
  std::array<operand_type, 3> types;
  const array* first = nullptr;
  for (std::size_t k = 0; k < objects.size(); ++k) {
    if (is_ready<ndarray>(objects[k])) {
      const array* const a = computed_at_once(*nb::inst_ptr<ndarray>(objects[k]));
      if (a == nullptr) return {};
      if (first == nullptr) first = a;
      if (a->queue() != first->queue() || a->kind() != first->kind() ||
          !(a->elements().layout().shape() == first->elements().layout().shape())) {
        return {};
      }
      in[k].elements = a;
      types[k] = {a->elements().dtype(), false};
    } else if ((numbers[k] = plain_number(objects[k]))) {
      in[k].number = &*numbers[k];
      types[k] = {numbers[k]->type(), numbers[k]->weak()};
    } else {
      return {};
    }
  }
  if (first == nullptr || is_eager()) return {};
  static auto& known = *new found_types;
  const operation_types* const found =
      known.find(op, std::span<const operand_type>(types).first(objects.size()));
  if (found == nullptr) return {};
  // Of their own: memory for the result may make Python release others, and run code of theirs.
  const sycl::queue queue = first->queue();
  const extents shape = first->elements().layout().shape();
  try {
    return detail::operate_small(queue, op, *found, std::span(in).first(objects.size()), shape,
                                 first->kind());
  } catch (const std::overflow_error&) {
    return {};  // a number that is compared by value, or one that needs a message
  }
}

}  // namespace

const array* computed_at_once(const ndarray& holder) {
  const array& a = holder.known();
  const bool is_own = a.keep_alive() && !a.keep_alive()->is_lent();
  if (holder.later() || !may_be_computed_on_host(a) || a.kind() == usm_kind::unknown || !is_own ||
      !detail::is_idle_at_once(a)) {
    return nullptr;
  }
  return &a;
}

std::optional<shared_deferred> cast_later(nb::handle self, const dtype& wanted) {
  const ndarray& a = self_of<ndarray>(self);
  const dtype own = a.dtype();
  const bool is_computed = !a.later() || a.later()->is_computed();
  // A plain copy of what is there needs no kernel.
  if (own == wanted && is_computed) return {};
  if (a.kind() == usm_kind::unknown || a.size() == 0) return {};
  const sycl::device device = a.queue().get_device();
  for (const dtype& type : {own, wanted}) {
    if (number_index(type) < 0 || !detail::computes_with(device, type)) return {};
  }
  PyObject* const one[] = {self.ptr()};
  operation_operands operands;
  operands.read(one);
  return cast(operands.queue(), operands.all.front(), wanted);
}

PyObject* operate(const operation& op, std::span<PyObject* const> objects) {
  if (auto few = operate_plain(op, objects)) return wrap_array(*std::move(few)).release().ptr();
  operation_operands operands;
  if (!operands.read(objects)) Py_RETURN_NOTIMPLEMENTED;
  try {
    return wrap_deferred(apply(operands.queue(), op, operands.all)).release().ptr();
  } catch (const interop_error& e) {
    if (e.code() == fault::dtype_mismatch) throw nb::type_error(e.what());
    throw;
  }
}

value_reduction to_reduction(nb::handle value, nb::handle result, nb::handle map, nb::handle reduce,
                             nb::handle post_map, nb::handle identity, nb::handle reduce_type) {
  value_reduction how;
  how.value = to_dtype(value);
  how.result = to_dtype(result);
  how.map = to_text(map, "map");
  how.reduce = to_text(reduce, "reduce");
  how.post_map = to_text(post_map, "post_map");
  if (!identity.is_none()) how.identity = to_text(identity, "identity");
  how.reduce_type = to_text(reduce_type, "reduce_type");
  return how;
}

std::vector<shared_deferred> passing_values(std::span<PyObject* const> objects,
                                            Py_ssize_t references) {
  std::vector<shared_deferred> passing;
  for (PyObject* const o : objects) {
    if (Py_REFCNT(o) <= references && is_ready<ndarray>(o) && self_of<ndarray>(o).later()) {
      passing.push_back(self_of<ndarray>(o).later());
    }
  }
  return passing;
}

PyObject* operate_in_place(const operation& op, PyObject* self, PyObject* other) {
  operation_operands operands;
  PyObject* const both[] = {self, other};
  // x ** 2 is the square of x alone.
  if (!operands.read(std::span(both).first(op.arity == 1 ? 1 : 2))) Py_RETURN_NOTIMPLEMENTED;
  ndarray& target = self_of<ndarray>(self);
  // First, as in NumPy. What is not computed yet can be written.
  if (!target.later() && target.known().elements().read_only())
    throw nb::value_error("output array is read-only");
  try {
    shared_deferred made = compose(target.queue(), op, operands.all);
    if (!can_cast_same_kind(made->dtype(), target.dtype())) {
      throw nb::type_error(detail::format("{} gives {}, which an array of {} cannot hold without "
                                          "losing the kind of number; write x = x op y",
                                          op.name, made->dtype().name(), target.dtype().name())
                               .c_str());
    }
    if (!(made->shape() == target.shape())) {
      throw nb::value_error(detail::format("{} gives shape {}, the array has {}", op.name,
                                           detail::shape_text(made->shape()),
                                           detail::shape_text(target.shape()))
                                .c_str());
    }
    if (target.later() && !target.later()->is_shared()) {
      settle(made);
      if (made->dtype() != target.dtype()) made = cast(target.queue(), made, target.dtype());
      target.become(std::move(made));
    } else {
      store(made, target.value(), passing_values({&other, 1}));
    }
  } catch (const interop_error& e) {
    if (e.code() == fault::dtype_mismatch) throw nb::type_error(e.what());
    throw;
  }
  return Py_NewRef(self);
}

namespace {

/// A function of the table.
struct named_operation {
  const operation* row;
};

PyObject* call_operation(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  try {
    const operation& op = *self_of<named_operation>(self).row;
    PyObject* out = Py_None;
    PyObject* type = Py_None;
    bool has_more = false;
    if (keywords != nullptr) {
      PyObject* key = nullptr;
      PyObject* value = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &key, &value) != 0;) {
        if (PyUnicode_CompareWithASCIIString(key, "out") == 0) {
          out = value;
        } else if (PyUnicode_CompareWithASCIIString(key, "dtype") == 0) {
          type = value;
        } else {
          has_more = true;
        }
      }
    }
    // NumPy's other keywords are read, and names of types are followed, in one place in Python.
    const auto with_all_arguments = [&] {
      const nb::object given = keywords == nullptr ? nb::none() : nb::borrow(keywords);
      return nb::module_::import_("usmx._namespace.ufunc_arguments")
          .attr("operation")(nb::handle(self), nb::handle(args), given)
          .release()
          .ptr();
    };
    const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(args));
    const bool has_keywords = keywords != nullptr && PyDict_GET_SIZE(keywords) > 0;
    if (op.chooses && count == 1 && !has_keywords) {
      // As NumPy's: where a condition alone is true.
      return nb::module_::import_("usmx")
          .attr("nonzero")(nb::handle(PyTuple_GET_ITEM(args, 0)))
          .release()
          .ptr();
    }
    const auto arity = static_cast<std::size_t>(op.arity);
    if (has_more || count != arity) return with_all_arguments();
    const auto objects = std::span(&PyTuple_GET_ITEM(args, 0), count);
    if (out == Py_None && type == Py_None) {
      PyObject* const made = operate(op, objects);
      if (made != Py_NotImplemented) return made;
      Py_DECREF(made);
    }
    for (PyObject* const o : objects) {
      if (is_ready<ndarray>(o)) continue;
      // What stands for an array while a function is traced.
      const nb::object traced = nb::steal(
          PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__usmx_operation__"));
      if (!traced) {
        PyErr_Clear();
        continue;
      }
      const nb::object name = nb::cast(std::string(op.name));
      return traced(nb::handle(o), name, nb::handle(args), nb::handle(out), nb::handle(type))
          .release()
          .ptr();
    }
    if (type != Py_None || (out != Py_None && !is_ready<ndarray>(out))) return with_all_arguments();
    operation_operands operands(true);
    if (!operands.read(objects)) {
      PyObject* const wrong = objects[operands.all.size()];
      throw nb::type_error(
          detail::format("argument {} of {}: {}", operands.all.size(), op.name,
                         no_memory_text(wrong, operands.queue().get_device(), " or a number"))
              .c_str());
    }
    shared_deferred made = compose(operands.queue(), op, operands.all);
    if (out == Py_None) settle(made);
    if (out == Py_None) return wrap_deferred(std::move(made)).release().ptr();
    ndarray& target = self_of<ndarray>(out);
    // An array that the result is broadcast to.
    if (!(made->shape() == target.shape())) return with_all_arguments();
    if (!can_cast_same_kind(made->dtype(), target.dtype())) {
      throw nb::type_error(detail::format("out: has type {}, {} gives {}", target.dtype().name(),
                                          op.name, made->dtype().name())
                               .c_str());
    }
    // Python has them on its stack and in the tuple.
    store(made, target.value(), passing_values(objects, 2));
    return Py_NewRef(out);
  } catch (const interop_error& e) {
    if (e.code() == fault::dtype_mismatch) {
      PyErr_SetString(PyExc_TypeError, e.what());
      return nullptr;
    }
    return raise_current();
  } catch (...) {
    return raise_current();
  }
}

PyObject* signature_of(PyObject* self, void*) noexcept {
  try {
    const operation& op = *self_of<named_operation>(self).row;
    return nb::module_::import_("usmx._namespace.signatures")
        .attr("of_operation")(op.arity, op.chooses, std::string(op.name))
        .release()
        .ptr();
  } catch (...) {
    return raise_current();
  }
}
PyObject* name_of(PyObject* self, void*) noexcept {
  try {
    return nb::cast(std::string(self_of<named_operation>(self).row->name)).release().ptr();
  } catch (...) {
    return raise_current();
  }
}
// A property of that name would be taken for the name of the class.
PyGetSetDef name_property[] = {
    {"__name__", name_of, nullptr, "As NumPy calls it.", nullptr},
    {"__qualname__", name_of, nullptr, "The same, for pickle.", nullptr},
    {"__signature__", signature_of, nullptr, "What inspect.signature() shows.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot operation_slots[] = {
    {Py_tp_getset, name_property},
    {Py_tp_call, reinterpret_cast<void*>(call_operation)},
    {0, nullptr},
};

}  // namespace

void bind_operations(nb::module_& m) {
  detail::set_unlocked([](void (*wait)(void*), void* of) {
    if (PyGILState_Check() == 0) return wait(of);
    const gil_released released;
    wait(of);
  });
  detail::set_wait_for_lock([](std::recursive_mutex& mutex) {
    if (PyGILState_Check() == 0) return mutex.lock();
    const gil_released released;
    mutex.lock();
  });
  const auto in_python = [](const char* module, const char* function) {
    return nb::module_::import_(module).attr(function);
  };
  const nb::object type = m.attr("ndarray");
  nb::setattr(type, "__array_ufunc__",
              nb::cpp_function(
                  [in_python](nb::handle self, const nb::args& args, const nb::kwargs& keywords) {
                    static_cast<void>(self_of<ndarray>(self));
                    return in_python("usmx._namespace.numpy_protocols", "array_ufunc")(*args,
                                                                                       **keywords);
                  },
                  nb::is_method(), nb::scope(type), nb::name("__array_ufunc__"),
                  nb::sig("def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, "
                          "**keywords: object) -> Any"),
                  "What NumPy's ufuncs do with the array: they compute on its device."));
  def(
      type, "__array_function__(self, *args: Any) -> Any"_sig,
      [in_python](nb::handle self, const nb::args& args) {
        static_cast<void>(self_of<ndarray>(self));
        return in_python("usmx._namespace.numpy_protocols", "array_function")(self, *args);
      },
      "What NumPy's functions do with the array: those of the same name in `usmx`.");
  def(
      type, "__array_namespace__(self, *, api_version: str | None = None) -> Any"_sig,
      [](nb::handle self, nb::handle version) {
        static_cast<void>(self_of<ndarray>(self));
        if (!version.is_none()) {
          const std::string text = to_text(version, "api_version");
          static constexpr std::string_view known[] = {"2021.12", "2022.12", "2023.12", "2024.12",
                                                       "2025.12"};
          if (std::ranges::find(known, text) == std::end(known)) {
            throw nb::value_error(detail::format("api_version: '{}'; expected None or '2021.12' to "
                                                 "'2025.12'",
                                                 text)
                                      .c_str());
          }
        }
        return nb::module_::import_("usmx");
      },
      "The functions of the Array API standard: `usmx` itself.");
  nb::class_<named_operation> c(
      m, "Operation", "A function of arrays, element by element; see `usmx.add` and the others.",
      nb::is_weak_referenceable(), nb::type_slots(operation_slots));
  c.def("__init__(self, name: str) -> None"_sig,
        [](nb::pointer_and_handle<named_operation> self, nb::handle name) {
          const std::string text = to_text(name, "name");
          const operation* const row = find_operation(text);
          if (row == nullptr) {
            throw nb::value_error(
                detail::format("name: '{}': there is no such operation", text).c_str());
          }
          initialise(self, named_operation{row});
        })
      .def_prop_ro(
          "nin", [](const named_operation& o) { return o.row->arity; },
          "How many operands it takes.")
      .def("__repr__",
           [](const named_operation& o) {
             return detail::format("<usmx.Operation '{}'>", o.row->name);
           })
      .def("__reduce__(self) -> str | tuple[Any, ...]"_sig,
           [](const named_operation& o) {
             return nb::module_::import_("usmx._namespace.signatures").attr("reduced")(nb::find(o));
           })
      .def("__copy__(self) -> Operation"_sig, [](const named_operation& o) { return nb::find(o); })
      .def("__deepcopy__(self, memo: object) -> Operation"_sig,
           [](const named_operation& o, nb::handle) { return nb::find(o); });
  def(
      m, "_explain(x: ndarray) -> list[tuple[str, tuple[int, ...], int, int, int, int]]"_sig,
      [](nb::handle x) {
        nb::list out = new_list();
        if (!is_ready<ndarray>(x)) wrong_type("x", x, "an array of usmx");
        const shared_deferred later = self_of<ndarray>(x).later();
        if (!later) return out;
        for (const planned_kernel& k : explain(later)) {
          out.append(nb::make_tuple(k.text, tuple_of(k.shape), k.operations, k.bytes_read,
                                    k.bytes_written, k.bytes_saved));
        }
        return out;
      },
      "The kernels that computing an array would run.");
  def(
      m, "_set_eager(eager: bool) -> bool"_sig,
      [](bool eager) {
        const bool before = is_eager();
        set_eager(eager);
        return before;
      },
      "See `usmx.eager`. Returns what held before.");
  def(
      m,
      "_reduce(x: ArrayOrNumber, value: DTypeLike, result: DTypeLike, *, map: str = 'x', "
      "reduce: str, post_map: str = 'a', identity: str | None = None, "
      "reduce_type: str = '', axes: tuple[int, ...] | None = None, keepdims: bool = False, "
      "out: ndarray | None = None) -> ndarray"_sig,
      [](nb::handle x, nb::handle value, nb::handle result, nb::handle map, nb::handle reduce_text,
         nb::handle post_map, nb::handle identity, nb::handle reduce_type, nb::handle axes,
         bool keepdims, nb::handle out) -> nb::object {
        PyObject* const one[] = {x.ptr()};
        operation_operands operands;
        if (!operands.read(one) || is_python_number(x)) wrong_type("x", x, "an array");
        const value_reduction how =
            to_reduction(value, result, map, reduce_text, post_map, identity, reduce_type);
        reduction_axes which;
        which.keep = keepdims;
        if (!axes.is_none()) {
          which.axes.emplace();
          for (const nb::handle axis : nb::borrow<nb::tuple>(axes)) {
            which.axes->push_back(nb::cast<int>(axis));
          }
        }
        const auto& of = operands.all.front();
        if (out.is_none()) return wrap_deferred(reduce(operands.queue(), of, how, which));
        reduce(operands.queue(), of, how, which, value_of(out));
        return nb::borrow(out);
      },
      "A reduction by texts of C++, as `ReductionKernel` takes them, of elements that are cast to "
      "`value`\nand called `x`; deferred values are computed in it.");
  def(
      m, "_result_types(name: str, *operands: object) -> list[NumpyDType] | None"_sig,
      [](nb::handle name, const nb::args& operands) -> nb::object {
        const operation* const row = find_operation(to_text(name, "name"));
        operation_operands all;
        std::vector<operand_type> types;
        for (const nb::handle o : operands) {
          if (is_python_number(o)) {
            PyObject* const one[] = {o.ptr()};
            all.read(one);
            const auto& number = std::get<operand>(all.all.back());
            types.push_back({number.type(), number.weak()});
          } else {
            types.push_back({to_dtype(o), false});
          }
        }
        const auto found = resolve(*row, types);
        if (!found) return nb::none();
        nb::list out = new_list();
        for (std::size_t k = 0; k < types.size(); ++k) out.append(dtype_object(found->operands[k]));
        out.append(dtype_object(found->result));
        return out;
      },
      "The types that an operation casts operands of these types to, and that of the result.");
}

}  // namespace usmx::python
