// Launches kernels that are compiled from Python functions: finds the text that was made for
// arguments of these types without looking into the function again, or asks Python to make it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "core/aliasing.hpp"
#include "kernel/captured_values.hpp"
#include "kernel/constant_table.hpp"
#include "kernel/kernel_arguments.hpp"
#include "memory/numpy_numbers.hpp"
#include "support/attributes.hpp"
#include "support/containers.hpp"
#include "support/error_text.hpp"
#include "support/self.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/detail/built_kernels.hpp"
#include "usmx/detail/whole_groups.hpp"

namespace usmx::python {
namespace {

/// A number that the text is specialised for, and where a launch has it.
struct known_number {
  /// 'v': the argument itself, 'p': whether it is not negative, 's': length of its axis, 'l': local
  /// range.
  char what;
  std::size_t argument;
  std::size_t axis;
  bool operator==(const known_number&) const = default;
};

/// C++ made from the function for one list of types.
struct kernel_text {
  std::string source;
  std::string name;
  /// One letter for each argument: n number, c complex, d contiguous array, s strided, - not
  /// passed.
  std::string plan;
  /// The length of the last dimension is passed too, and items beyond it end at once.
  bool is_partial = false;
  /// It asks something of whole vectors of items, so that there is another one for short rows.
  bool asks_vectors = false;
  /// There is another one whose items take several rows.
  bool has_tall = false;
  /// Its items take several rows, whose number is passed before the length.
  bool is_tall = false;
  std::vector<std::string> options;
  /// Why a local range is needed; empty if it is not.
  std::string needs_group;
  /// Updated tables, whose values are passed after the arguments.
  std::vector<std::shared_ptr<constant_table>> tables;
  /// Tables that were not updated yet and whose values stand in the text.
  std::vector<std::shared_ptr<constant_table>> frozen;

  /// The globals, closure variables and attributes that the function read.
  nb::object captured;

  bool is_outdated() const {
    return std::ranges::any_of(frozen, [](const auto& t) { return t->is_updated(); });
  }

  detail::built_kernels built;
};

/// Texts for the same arguments, made while the function read different values; the last one that
/// was launched is the first.
using variants = std::vector<std::shared_ptr<kernel_text>>;
/// More are forgotten: what they were made of is kept alive, and the programs have a cache.
constexpr std::size_t most_variants = 32;

/// All texts for one list of types; they differ in what they are specialised for.
struct family {
  // Shared: reading the numbers may run Python code that replaces it.
  std::shared_ptr<const std::vector<known_number>> known =
      std::make_shared<const std::vector<known_number>>();
  std::unordered_map<std::string, variants> texts;
};

/// What a launch says of its text in addition to the types of its arguments.
struct text_form {
  bool is_partial = false;  ///< some items lie beyond the range
  bool is_apart = false;    ///< no two of its arrays have a byte in common
  bool is_wide = true;      ///< rows of items are long enough for the vectors of a processor
  bool is_tall = false;     ///< items take several rows
};

/// Whether most items of a row are in whole vectors of a processor: those that are not take part in
/// one with lanes that do nothing where a kernel asks something of its vectors.
constexpr bool fills_vectors(std::size_t length) {
  constexpr std::size_t vector = 16, long_row = 64;
  return length % vector == 0 || length >= long_row;
}

/// Whether no two of the arrays have a byte in common; false for a single one, which nothing could
/// overlap.
bool lie_apart(std::span<const memory_argument> arguments) {
  int found = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].memory == nullptr) continue;
    ++found;
    for (std::size_t k = 0; k < i; ++k) {
      if (arguments[k].memory != nullptr &&
          detail::overlap(arguments[i].memory->elements(), arguments[k].memory->elements())) {
        return false;
      }
    }
  }
  return found > 1;
}

/// The part of a Python kernel that every launch goes through. Guarded by the GIL.
class dispatcher {
 public:
  /// Ask Python whether to simulate, even if simulation is not switched on.
  bool always_ask = false;

  nb::object launch(nb::handle self, const bracketed_range& read, const nb::args& args,
                    nb::handle queue_or_none, nb::handle depends_on);
  std::size_t count() const {
    std::size_t n = 0;
    for (const auto& [key, f] : families_) {
      for (const auto& [values, texts] : f.texts) n += texts.size();
    }
    return n;
  }
  /// Shows the collector what the texts hold: a kernel is often one of the globals that it reads.
  int traverse(visitproc visit, void* arg) const noexcept {
    for (const auto& [key, f] : families_) {
      for (const auto& [values, texts] : f.texts) {
        for (const auto& text : texts) Py_VISIT(text->captured.ptr());
      }
    }
    return 0;
  }

 private:
  std::shared_ptr<kernel_text> find(nb::handle self, const launch_range& range,
                                    const nb::args& args, const nb::tuple& parts,
                                    const std::string& key, const text_form& form,
                                    std::span<const memory_argument> memory);
  std::shared_ptr<kernel_text> known(const std::string& key, const std::string& values);

  std::unordered_map<std::string, family> families_;
};

/// Whether any launch may be a simulated one, so that all have to ask.
bool ask_for_simulation = false;

struct bound_kernel {
  nb::object kernel;
  bracketed_range read;
};

std::string name_of(nb::handle kernel) { return shown(nb::str(kernel.attr("__name__"))); }

/// A record by what its fields are and where; names stand with their lengths, so that no two
/// records have one text.
void add_record(std::string& key, const dtype& type) {
  key += '[';
  if (const dtype::fields* const members = type.members()) {
    for (const field& f : *members) {
      key += std::to_string(f.name.size());
      key += ':';
      key += f.name;
      for (const auto n : f.shape) {
        key += std::to_string(n);
        key += ',';
      }
      if (f.type.is_record()) {
        add_record(key, f.type);
      } else {
        key += f.type.typestr();
      }
    }
  }
  key += std::to_string(type.itemsize());
  key += ']';
}

/// The type of one argument as a few letters that no other type has.
void add_type(std::string& key, nb::handle obj, const memory_argument& a, nb::handle kernel,
              std::size_t number, const nb::args& args) {
  PyObject* const o = obj.ptr();
  if (a.memory) {
    const auto& v = a.memory->elements();
    key += v.read_only() ? 'r' : 'w';
    key += v.layout().is_c_contiguous() ? 'd' : 's';
    key += static_cast<char>('0' + v.rank());
    if (v.dtype().is_record()) {
      add_record(key, v.dtype());
    } else {
      key += static_cast<char>('a' + static_cast<int>(v.dtype().kind()));
      key += static_cast<char>('0' + v.dtype().itemsize());
    }
  } else if (PyBool_Check(o)) {
    key += 'B';
  } else if (PyLong_CheckExact(o)) {
    key += 'I';
  } else if (PyFloat_CheckExact(o)) {
    key += 'F';
  } else if (PyComplex_CheckExact(o)) {
    key += 'C';
  } else if (o == Py_None) {
    key += '0';
  } else if (const dtype* const type = type_of_numpy_number(Py_TYPE(o))) {
    key += 'N';
    key += static_cast<char>(type->kind());
    key += static_cast<char>('0' + type->itemsize());
  } else if (has_attribute(obj, "_kernel_key")) {
    key += '{' + to_text(nb::object(obj.attr("_kernel_key")), "_kernel_key") + '}';
  } else {
    // A member of an enumeration, a dtype, a device function: Python says what it is, or that it is
    // nothing.
    key += '{' +
           to_text(nb::module_::import_("usmx._kernel.arguments")
                       .attr("key_of_argument")(obj, kernel, number, args),
                   "key_of_argument") +
           '}';
  }
}

std::size_t value_of(const known_number& k, const launch_range& range, const nb::tuple& parts,
                     std::span<const memory_argument> memory) {
  switch (k.what) {
    case 'l':
      return k.axis < range.local().size() ? range.local()[k.axis] : 0;
    case 's':
      return static_cast<std::size_t>(
          memory[k.argument].memory->elements().layout().shape()[k.axis]);
    default: {
      const auto index = nb::steal(PyNumber_Index(parts[k.argument].ptr()));
      if (!index.is_valid()) throw nb::python_error();
      int overflow = 0;
      const auto number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
      return k.what == 'p' ? number >= 0 : static_cast<std::size_t>(number);
    }
  }
}

/// Whether it is one record of NumPy or a struct of ctypes, which is passed field by field. By
/// names: neither module needs to be loaded.
bool is_one_record(nb::handle obj) {
  const PyTypeObject* type = Py_TYPE(obj.ptr());
  if (std::strcmp(Py_TYPE(type)->tp_name, "_ctypes.PyCStructType") == 0) return true;
  for (; type != nullptr; type = type->tp_base) {
    if (std::strcmp(type->tp_name, "numpy.void") == 0) return true;
  }
  return false;
}

/// A tuple of the fields if it is one record, else the argument.
nb::object unpacked(nb::handle obj) {
  if (!is_one_record(obj)) return nb::borrow(obj);
  return nb::module_::import_("usmx._kernel.arguments").attr("fields_of_record")(obj);
}

/// Whether an argument is passed in several.
bool has_parts(nb::handle obj) { return PyTuple_Check(obj.ptr()) || is_one_record(obj); }

/// Tuples in tuples deeper than this are refused, because what reads them calls itself.
constexpr int most_depth = 32;

/// The arguments with those in tuples one by one. The types of the tuples stand in the key at once.
void add_parts(nb::list& parts, std::string& key, nb::handle given, int depth) {
  const nb::object obj = unpacked(given);
  if (!PyTuple_Check(obj.ptr())) {
    parts.append(obj);
    key += '.';
    return;
  }
  if (depth == most_depth) {
    throw value_error("tuples are nested deeper than {}, the most that kernels take", most_depth);
  }
  key += '(';
  if (!PyTuple_CheckExact(obj.ptr())) {
    key += to_text(nb::object(nb::module_::import_("usmx._kernel.arguments")
                                  .attr("key_of_class")(nb::handle((PyObject*)Py_TYPE(obj.ptr())))),
                   "key_of_class") +
           ':';
  }
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(obj.ptr()); ++k) {
    add_parts(parts, key, PyTuple_GET_ITEM(obj.ptr(), k), depth + 1);
  }
  key += ')';
}

/// An argument with the arrays that its parts became.
nb::object with_arrays(nb::handle given, std::span<const memory_argument> memory,
                       std::size_t& next) {
  const nb::object obj = unpacked(given);
  if (!PyTuple_Check(obj.ptr())) {
    const auto& a = memory[next++];
    return a.memory ? wrap_array(*a.memory) : nb::borrow(obj);
  }
  nb::list items = new_list();
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(obj.ptr()); ++k) {
    items.append(with_arrays(PyTuple_GET_ITEM(obj.ptr(), k), memory, next));
  }
  return nb::module_::import_("usmx._kernel.arguments").attr("tuple_like")(obj, items);
}

nb::object to_tuple(std::span<const std::size_t> sizes) {
  nb::list list = new_list();
  for (const auto n : sizes) list.append(n);
  return nb::tuple(list);
}

/// The text that was made while the function read what it reads now; null if there is none.
std::shared_ptr<kernel_text> dispatcher::known(const std::string& key, const std::string& values) {
  const auto texts_of = [&]() -> variants* {
    const auto hit = families_.find(key);
    if (hit == families_.end()) return nullptr;
    const auto found = hit->second.texts.find(values);
    return found == hit->second.texts.end() ? nullptr : &found->second;
  };
  variants* texts = texts_of();
  if (texts == nullptr || texts->empty()) return nullptr;
  // The usual case. To compare may run code of Python, so nothing of the table is used after it.
  if (const auto first = texts->front(); !first->is_outdated() && still_holds(first->captured)) {
    return first;
  }
  texts = texts_of();
  if (texts == nullptr) return nullptr;
  for (const auto& text : variants(*texts)) {
    if (text->is_outdated() || !still_holds(text->captured)) continue;
    texts = texts_of();
    if (texts == nullptr) return text;
    const auto at = std::ranges::find(*texts, text);
    if (at != texts->end()) std::rotate(texts->begin(), at, at + 1);
    return text;
  }
  return nullptr;
}

/// What `_make` of the kernel gives. An error in its text is shown at the line of the launch,
/// without the frames between it and the compiler.
nb::dict make(nb::handle self, const nb::tuple& args, const launch_range& range,
              const text_form& form) {
  try {
    return nb::cast<nb::dict>(self.attr("_make")(args, to_tuple(range.global()),
                                                 to_tuple(range.local()), form.is_partial,
                                                 form.is_apart, form.is_wide, form.is_tall));
  } catch (nb::python_error& error) {
    const auto own = nb::module_::import_("usmx._kernel.source.diagnostics").attr("KernelError");
    if (!nb::isinstance(error.value(), own)) throw;
    const nb::object value = nb::borrow(error.value());
    PyException_SetTraceback(value.ptr(), Py_None);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())), value.ptr());
    nb::raise_python_error();
  }
}

std::shared_ptr<kernel_text> dispatcher::find(nb::handle self, const launch_range& range,
                                              const nb::args& args, const nb::tuple& parts,
                                              const std::string& key, const text_form& form,
                                              std::span<const memory_argument> memory) {
  const auto values_of = [&](const family& f) {
    std::string values;
    const auto known = f.known;
    for (const auto& k : *known) {
      values +=
          std::to_string(static_cast<std::ptrdiff_t>(value_of(k, range, parts, memory))) + ',';
    }
    return values;
  };
  {
    const auto hit = families_.find(key);
    if (hit != families_.end()) {
      const std::string values = values_of(hit->second);
      if (auto text = known(key, values)) return text;
    }
  }
  // Arrays as Python looks at them: those that came by a protocol in the form that we made of them.
  nb::list seen = new_list();
  std::size_t next = 0;
  for (const nb::handle obj : args) seen.append(with_arrays(obj, memory, next));
  const auto made = make(self, nb::tuple(seen), range, form);
  auto text = std::make_shared<kernel_text>();
  text->source = to_text(nb::object(made["source"]), "source");
  text->name = to_text(nb::object(made["name"]), "name");
  text->plan = to_text(nb::object(made["plan"]), "plan");
  text->asks_vectors = text->plan.ends_with('v');
  if (text->asks_vectors) text->plan.pop_back();
  text->has_tall = text->plan.ends_with('t');
  text->is_tall = text->plan.ends_with('T');
  if (text->has_tall || text->is_tall) text->plan.pop_back();
  text->is_partial = text->plan.ends_with('r');
  if (text->is_partial) text->plan.pop_back();
  text->options = to_options(nb::object(made["options"]));
  text->needs_group = to_text(nb::object(made["needs_group"]), "needs_group");
  text->captured = nb::object(made["captured"]);
  for (const auto& [list, name] : {std::pair{&text->tables, "tables"}, {&text->frozen, "frozen"}}) {
    for (const nb::handle item : made[name]) list->push_back(self_of<table_handle>(item).table);
  }
  std::vector<known_number> numbers;
  for (const nb::handle item : made["known"]) {
    const auto row = nb::cast<nb::tuple>(item);
    numbers.push_back({to_text(nb::object(row[0]), "known").at(0), nb::cast<std::size_t>(row[1]),
                       nb::cast<std::size_t>(row[2])});
  }
  auto& f = families_[key];
  variants ended;  // after the table is whole again: its objects may run code of Python
  if (numbers != *f.known) {
    f.known = std::make_shared<const std::vector<known_number>>(std::move(numbers));
    for (auto& [values, texts] : f.texts) ended.insert(ended.end(), texts.begin(), texts.end());
    f.texts.clear();
  }
  const std::string values = values_of(f);
  // What was changed meanwhile, or is another object at each look, would never be found again.
  if (!still_holds(text->captured)) return text;
  auto& texts = families_[key].texts[values];
  for (auto at = texts.begin(); at != texts.end();) {
    const bool is_last = texts.size() >= most_variants && at + 1 == texts.end();
    if (is_last || (*at)->is_outdated()) {
      ended.push_back(*at);
      at = texts.erase(at);
    } else {
      ++at;
    }
  }
  texts.insert(texts.begin(), text);
  return text;
}

const kernel& built_for(kernel_text& text, const sycl::queue& queue) {
  if (const kernel* const built = text.built.find(queue)) return *built;
  const gil_released release;
  return text.built.get(
      queue, [&] { return program::build(queue, text.source, text.options).get(text.name); });
}

nb::object dispatcher::launch(nb::handle self, const bracketed_range& read, const nb::args& args,
                              nb::handle queue_or_none, nb::handle depends_on) {
  const launch_range& range = read.range;
  borrowed_arrays borrowed;
  std::vector<memory_argument> memory;
  std::string key(1, static_cast<char>('0' + range.rank()));
  nb::tuple parts = args;
  if (std::ranges::any_of(args, has_parts)) {
    nb::list found = new_list();
    for (const nb::handle obj : args) add_parts(found, key, obj, 0);
    parts = nb::tuple(found);
  }
  memory.reserve(parts.size());
  // Decides which memory of the host can be used.
  std::optional<sycl::queue> named;
  if (!queue_or_none.is_none()) named = to_queue(queue_or_none);
  queue_of_arrays place;
  for (const nb::handle obj : parts) {
    const auto& a = memory.emplace_back(to_memory(obj, borrowed, named ? &*named : nullptr));
    add_type(key, obj, a, self, memory.size() - 1, args);
    if (a.memory == nullptr) continue;
    place.see(*a.memory);
    if (read.is_pair) check_pair(read, name_of(self), memory.size() - 1, *a.memory);
  }
  sycl::queue queue = named ? *named : place.get();
  // The kernel has more parameters than the function, which its own messages would name.
  const auto called = [&](std::size_t i) {
    return to_text(nb::object(self.attr("_called")(i, args)), "_called");
  };
  put_on_queue(borrowed, queue, memory, called, [&](std::size_t i) { return parts[i]; });
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const array* const a = memory[i].memory;
    if (a != nullptr && !can_use(queue, *a)) refuse_placement(called(i), *a, queue);
  }
  auto before = to_order(depends_on);

  const auto whole = detail::in_whole_groups(queue, range);
  text_form form{whole.has_value(), lie_apart(memory)};
  if (form.is_apart) key.push_back('x');
  if (form.is_partial) key.push_back('r');
  auto text = find(self, range, args, parts, key, form, memory);
  const auto row = range.local().empty() ? range.global().back() : range.local().back();
  if (text->asks_vectors && !fills_vectors(row)) {
    form.is_wide = false;
    key.push_back('n');
    text = find(self, range, args, parts, key, form, memory);
  }
  std::optional<launch_range> several;
  if (text->has_tall) several = detail::in_several_rows(queue, range);
  if (several) {
    form.is_tall = true;
    key.push_back('t');
    text = find(self, range, args, parts, key, form, memory);
    if (!text->is_tall) several.reset();  // it asks for a range that is another one then
  }
  if (!text->needs_group.empty() && range.local().empty()) {
    throw value_error(
        "kernel '{}' needs the size of a work-group, for {}: launch it as {}[global, "
        "(local,)](...)",
        text->name, text->needs_group, text->name);
  }
  const kernel& k = built_for(*text, queue);

  std::vector<array> tables;
  if (!text->tables.empty()) {
    const gil_released release;
    if (!before) {
      std::vector<const array*> arrays;
      for (const auto& a : memory) arrays.push_back(a.memory);
      before = order_of(queue, arrays);
    }
    for (const auto& table : text->tables) tables.push_back(table->on(queue, *before));
  }

  std::vector<kernel_argument> arguments;
  arguments.reserve(parts.size() * 3);
  for (std::size_t i = 0; i < text->plan.size(); ++i) {
    const auto* p = k.parameters() && arguments.size() < k.parameters()->size()
                        ? &(*k.parameters())[arguments.size()]
                        : nullptr;
    const auto where = [&] { return detail::format("argument {} of '{}'", i, text->name); };
    const auto add_sizes = [&](const extents& sizes) {
      for (const auto n : sizes) arguments.emplace_back(static_cast<std::int64_t>(n));
    };
    switch (text->plan[i]) {
      case 'n':
        if (const auto plain = plain_scalar(parts[i], p)) {
          arguments.push_back(*plain);
        } else {
          arguments.push_back(to_scalar(parts[i], p, where()));
        }
        break;
      case 'c': {
        const Py_complex z = PyComplex_AsCComplex(parts[i].ptr());
        if (PyErr_Occurred()) throw nb::python_error();
        for (const double part : {z.real, z.imag}) {
          if (p && p->type && p->type->itemsize() == 4) {
            arguments.emplace_back(static_cast<float>(part));
          } else {
            arguments.emplace_back(part);
          }
        }
        break;
      }
      case 'd':
      case 's': {
        const auto& a = *memory[i].memory;
        arguments.emplace_back(a);
        add_sizes(a.elements().layout().shape());
        if (text->plan[i] == 's') add_sizes(a.elements().layout().strides());
        break;
      }
      default:
        break;
    }
  }
  for (const array& values : tables) arguments.emplace_back(values);
  if (several) {
    arguments.emplace_back(static_cast<std::int64_t>(range.global()[range.rank() - 2]));
    const auto group = several->local();
    const auto items =
        std::accumulate(group.begin(), group.end(), std::size_t{1}, std::multiplies{});
    if (items > k.max_work_group_size()) several = launch_range(several->global());
  }
  if (text->is_partial) arguments.emplace_back(static_cast<std::int64_t>(range.global().back()));
  const bool has_more =
      text->is_partial && !several && whole->local().back() <= k.max_work_group_size();
  const launch_range& items = several ? *several : has_more ? *whole : range;
  nb::object made = submit(k, queue, items, arguments, borrowed, before ? &*before : nullptr);
  for (array& values : tables) give_back(values);
  return made;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<dispatcher>(self)->traverse(visit, arg) : 0;
}

PyType_Slot dispatcher_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {0, nullptr},
};

}  // namespace

void bind_kernel_dispatch(nb::module_& m) {
  bind_constant_table(m);
  bind_captured_values(m);
  nb::class_<bound_kernel>(m, "_BoundKernel", "A Python kernel with its range.")
      .def(
          "__call__",
          [](const bound_kernel& self, nb::args args, nb::handle queue, nb::handle depends_on,
             const nb::kwargs& keywords) -> nb::typed<nb::object, event> {
            if (keywords.size() != 0)
              refuse_keywords(keywords, shown(nb::str(self.kernel.attr("__name__"))));
            return self_of<dispatcher>(self.kernel)
                .launch(self.kernel, self.read, args, queue, depends_on);
          },
          // It takes other names too, to say itself what they are: no signature says that.
          nb::arg("args"), nb::kw_only(), nb::arg("queue") = nb::none(),
          nb::arg("depends_on") = nb::none(), nb::arg("keywords"),
          nb::sig("def __call__(self, *args: KernelArgument, queue: QueueLike = None, "
                  "depends_on: EventsLike = None) -> Event"),
          "Submits the kernel and returns its Event: without waiting, unless memory of the host "
          "is\n"
          "among the arguments.");

  // Attributes and weak references are what classes of Python that derive from it have.
  nb::class_<dispatcher> launches(m, "_KernelDispatcher",
                                  "What launches a kernel made from a Python function.",
                                  nb::type_slots(dispatcher_slots));
  refuse_iteration(launches);
  launches.def(nb::init<>())
      .def(
          "__getitem__(self, range: LaunchRange) -> _BoundKernel"_sig,
          [](nb::handle self, nb::handle range) -> nb::object {
            static_cast<void>(self_of<dispatcher>(self));
            if (ask_for_simulation || self_of<dispatcher>(self).always_ask) {
              nb::object simulation = self.attr("_simulation")(range);
              if (!simulation.is_none()) return simulation;
            }
            // The rank matters only if two ints could be a range of two dimensions.
            const int rank = nb::isinstance<nb::tuple>(range) && nb::len(range) > 1 &&
                                     PyIndex_Check(nb::handle(range[0]).ptr())
                                 ? nb::cast<int>(self.attr("_rank"))
                                 : 0;
            return nb::cast(bound_kernel{nb::borrow(self), to_launch_range(range, rank)});
          },
          "Binds a range: [global] or [global, local].")
      .def_rw("_always_ask", &dispatcher::always_ask)
      .def_prop_ro("_count", &dispatcher::count, "How many texts were made so far.")
      .def(
          "_lie_apart(arguments: list[Any]) -> bool"_sig,
          [](const nb::list& arguments) {
            std::vector<memory_argument> memory;
            for (const nb::handle obj : arguments) memory.push_back({array_of(obj)});
            return lie_apart(memory);
          },
          "Whether there are several arrays, of which no two have a byte in common.")
      .def("_fills_vectors(length: int) -> bool"_sig, &fills_vectors,
           "Whether a row of so many items is in whole vectors of a processor, or most of it.")
      .def(
          "_refuse_keywords(kernel: str, keywords: dict[str, Any]) -> None"_sig,
          [](nb::handle kernel, const nb::dict& keywords) {
            refuse_keywords(nb::borrow<nb::kwargs>(keywords), to_text(kernel, "kernel"));
          },
          "The error of a launch with keywords.")
      .def(
          "_ask_for_simulation(on: bool) -> None"_sig, [](bool on) { ask_for_simulation = on; },
          "From now on ask each kernel at its launch whether it is simulated.");
  // The simulator's ranges are read here too, so that they mean the same.
  nb::class_<bracketed_range>(m, "_LaunchRange", "A global and a local range.")
      .def("read(key: object, rank: int) -> _LaunchRange"_sig, &to_launch_range,
           "What stands in the brackets of a launch.")
      .def_prop_ro("global_range",
                   [](const bracketed_range& r) { return to_tuple(r.range.global()); })
      .def_prop_ro("local_range",
                   [](const bracketed_range& r) { return to_tuple(r.range.local()); })
      .def("check_shape(self, kernel: str, argument: int, shape: tuple[int, ...]) -> None"_sig,
           [](const bracketed_range& r, nb::handle kernel, std::size_t argument,
              const nb::tuple& shape) {
             std::vector<std::int64_t> lengths;
             for (const nb::handle n : shape) lengths.push_back(nb::cast<std::int64_t>(n));
             check_pair(r, to_text(kernel, "kernel"), argument, lengths);
           });
}

}  // namespace usmx::python
