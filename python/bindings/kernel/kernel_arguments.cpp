// Reads what Python passes to a launch, for kernels from text and for those compiled from Python.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_arguments.hpp"

#include <algorithm>
#include <array>

#include "support/text.hpp"
#include "support/type_slots.hpp"

namespace usmx::python {

std::string python_type(nb::handle obj) { return shown(nb::type_name(obj.type())); }

namespace {

std::vector<std::size_t> to_sizes(nb::handle obj, const char* where) {
  std::vector<std::size_t> sizes;
  const auto add = [&](nb::handle item) {
    if (!PyIndex_Check(item.ptr()) || PyBool_Check(item.ptr())) {
      throw nb::type_error((std::string(where) +
                            " range: expected an int or a tuple of ints, got " + python_type(item))
                               .c_str());
    }
    const auto n = PyNumber_AsSsize_t(item.ptr(), PyExc_ValueError);
    if (n == -1 && PyErr_Occurred()) throw nb::python_error();
    if (n < 0) {
      throw nb::value_error(
          (std::string(where) + " range: " + std::to_string(n) + " is negative").c_str());
    }
    sizes.push_back(static_cast<std::size_t>(n));
  };
  if (nb::isinstance<nb::tuple>(obj) || nb::isinstance<nb::list>(obj)) {
    for (const nb::handle item : obj) add(item);
  } else {
    add(obj);
  }
  return sizes;
}

}  // namespace

bracketed_range to_launch_range(nb::handle key, int rank) {
  if (const Py_ssize_t n = plain_count(key.ptr()); n >= 0) {
    return {launch_range(std::array{static_cast<std::size_t>(n)})};
  }
  if (rank == 1 && PyTuple_CheckExact(key.ptr()) && PyTuple_GET_SIZE(key.ptr()) == 2) {
    const Py_ssize_t global = plain_count(PyTuple_GET_ITEM(key.ptr(), 0));
    const Py_ssize_t local = plain_count(PyTuple_GET_ITEM(key.ptr(), 1));
    if (global >= 0 && local >= 0) {
      return {launch_range(std::array{static_cast<std::size_t>(global)},
                           std::array{static_cast<std::size_t>(local)}),
              true};
    }
  }
  if (!nb::isinstance<nb::tuple>(key)) return {launch_range(to_sizes(key, "global"))};
  const auto parts = nb::borrow<nb::tuple>(key);
  const bool numbers =
      std::all_of(parts.begin(), parts.end(), [](nb::handle n) { return PyIndex_Check(n.ptr()); });
  if (numbers && (parts.size() < 2 || rank == 0 || rank > 1)) {
    return {launch_range(to_sizes(key, "global"))};
  }
  if (numbers && parts.size() == 2) {
    const auto global = to_sizes(parts[0], "global");
    const auto local = to_sizes(parts[1], "local");
    if (rank < 0) {
      const auto n = std::to_string(global[0]), m = std::to_string(local[0]);
      throw nb::type_error(("[" + n + ", " + m +
                            "] is ambiguous, because it is unclear over how many dimensions the "
                            "kernel runs; write [(" +
                            n + ", " + m + "), None] for a range of two dimensions, or [" + n +
                            ", (" + m + ",)] for a global and a local range")
                               .c_str());
    }
    return {launch_range(global, local), true};
  }
  if (numbers && rank < 0) return {launch_range(to_sizes(key, "global"))};
  if (parts.size() == 1) return {launch_range(to_sizes(parts[0], "global"))};
  if (parts.size() != 2) {
    throw nb::type_error(
        ("a launch takes [global] or [global, local], each an int or a tuple of one to three ints; "
         "got " +
         std::to_string(parts.size()) + " values" +
         (rank == 1 ? std::string(" for a kernel over 1 dimension") : std::string()))
            .c_str());
  }
  const auto global = to_sizes(parts[0], "global");
  if (parts[1].is_none()) return {launch_range(global)};
  return {launch_range(global, to_sizes(parts[1], "local"))};
}

void check_pair(const bracketed_range& read, const std::string& kernel, std::size_t argument,
                std::span<const std::int64_t> shape) {
  if (!read.is_pair || shape.size() != 2) return;
  const std::size_t global = read.range.global()[0], local = read.range.local()[0];
  if (static_cast<std::size_t>(shape[0]) != global || static_cast<std::size_t>(shape[1]) != local) {
    return;
  }
  const auto n = std::to_string(global), m = std::to_string(local);
  throw nb::value_error(("kernel '" + kernel + "' runs over one dimension, for which [" + n + ", " +
                         m + "] is a global range of " + n + " and a local range of " + m +
                         ", but it is also the shape of argument " + std::to_string(argument) +
                         "; write [x.size] for one work-item per element, or [" + n + ", (" + m +
                         ",)] if a local range is meant")
                            .c_str());
}

array retyped(const array& bytes, const dtype& type) {
  const auto& v = bytes.elements();
  layout where;
  any_view typed;
  const auto count = static_cast<std::int64_t>(v.nbytes() / type.itemsize());
  auto code = layout::c_order(extents{count}, type.itemsize(), where);
  if (code == fault::none) {
    code = any_view::make(v.data(), type, std::move(where), v.kind(), v.read_only(), typed);
  }
  if (code != fault::none) throw interop_error(code, std::string(message(code)));
  return bytes.with_view(std::move(typed));
}

memory_argument to_memory(nb::handle obj, borrowed_arrays& borrowed) {
  if (const auto* a = array_of(obj)) return {a, false};
  // Numbers are asked before protocols: a look-up of attributes fails slowly.
  if (PyLong_Check(obj.ptr()) || PyFloat_Check(obj.ptr())) return {};
  // A copy of memory's own array, which blocks its `free()`.
  if (const auto* m = memory_of(obj)) return {&borrowed.emplace_front(*m), true};
  auto imported = import_array(obj);
  if (!imported) return {};
  const bool bytes = imported->elements().dtype() == dtype::of<std::uint8_t>() &&
                     imported->elements().layout().is_c_contiguous();
  return {&borrowed.emplace_front(*std::move(imported)), bytes};
}

memory_argument to_any_memory(nb::handle obj, borrowed_arrays& borrowed) {
  PyObject* const o = obj.ptr();
  if (PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || o == Py_None) return {};
  auto found = to_memory(obj, borrowed);
  if (found.memory != nullptr || !PyObject_CheckBuffer(o)) return found;
  auto buffer = host_buffer::borrow(obj);
  // NumPy's scalars have a buffer too.
  if (!buffer || (buffer->elements().rank() == 0 && !nb::hasattr(obj, "strides"))) return found;
  if (nb::hasattr(obj, "flat") == false || buffer->elements().rank() > 0) {
    const any_view elements = buffer->elements();
    auto owner = own_python(nb::borrow(obj), elements.first_byte(),
                            static_cast<std::size_t>(elements.last_byte() - elements.first_byte()));
    found.memory =
        &borrowed.emplace_front(array::bind(elements, default_queue(), std::move(owner)));
  }
  return found;
}

namespace {

/// What a launch on `queue` has to come after, array by array.
class order {
 public:
  explicit order(const sycl::queue& queue) : queue_(queue) {
    if (!queue.is_in_order()) add(queue);
  }
  void add(const array& a) {
    if (a.queue() != queue_) add(a.queue());
    // Transfers may have gone to a third queue.
    if (const shared_owner& keep = a.keep_alive()) keep->pending(queue_, before);
  }

  std::vector<sycl::event> before;

 private:
  void add(const sycl::queue& other) {
    if (std::ranges::count(seen_, other) != 0) return;
    seen_.push_back(other);
    sycl::event last = marker(other);
    if (!is_done(last)) before.push_back(std::move(last));
  }

  const sycl::queue& queue_;
  std::vector<sycl::queue> seen_;
};

std::vector<sycl::event> order_of(const sycl::queue& queue,
                                  std::span<const kernel_argument> arguments) {
  order found(queue);
  for (const auto& argument : arguments) {
    if (argument.array() != nullptr) found.add(*argument.array());
  }
  return std::move(found.before);
}

/// Makes the event of the launch in `made`, which is complete.
void launch(event& made, const kernel& k, sycl::queue& queue, const launch_range& range,
            std::span<const kernel_argument> arguments, const std::vector<sycl::event>* before) {
  launch_line* const line = launch_line::of(queue);
  const bool needs_event = line == nullptr || !line->may_skip_event();
  std::optional<sycl::event> launched;
  {
    const gil_released release;
    std::vector<sycl::event> found;
    if (before == nullptr) found = order_of(queue, arguments);
    const std::span<const sycl::event> depends = before == nullptr ? found : *before;
    if (needs_event) {
      launched = k.launch(queue, range, arguments, depends);
    } else {
      k.enqueue(queue, range, arguments, depends);
    }
  }
  if (launched) {
    made.be(std::move(*launched), line == nullptr ? nullptr : &queue);
  } else {
    made.be_behind(queue);
  }
  if (line != nullptr) line->watch(made);
}

}  // namespace

std::vector<sycl::event> order_of(const sycl::queue& queue,
                                  std::span<const array* const> arguments) {
  order found(queue);
  for (const array* const a : arguments) {
    if (a != nullptr) found.add(*a);
  }
  return std::move(found.before);
}

void refuse_keywords(const nb::kwargs& keywords, const std::string& kernel) {
  if (keywords.size() == 0) return;
  std::string names;
  for (const auto [name, value] : keywords)
    names += (names.empty() ? "'" : ", '") + shown(nb::str(name)) + "'";
  throw nb::type_error(("kernel '" + kernel + "': got the keyword arguments " + names +
                        "; arguments of a kernel are positional, only queue= and depends_on= are "
                        "passed by name")
                           .c_str());
}

nb::object submit(const kernel& k, sycl::queue& queue, const launch_range& range,
                  std::span<const kernel_argument> arguments,
                  const std::vector<sycl::event>* before) {
  static const nb::handle event_class = nb::type<event>();
  nb::object made = nb::inst_alloc(event_class);
  auto* const e = new (nb::inst_ptr<event>(made)) event();
  nb::inst_mark_ready(made);
  try {
    launch(*e, k, queue, range, arguments, before);
  } catch (const interop_error& error) {
    if (error.code() == fault::kind_mismatch || error.code() == fault::dtype_mismatch) {
      throw nb::type_error(error.what());
    }
    throw;
  }
  return made;
}

}  // namespace usmx::python
