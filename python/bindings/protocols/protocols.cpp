// The table of the protocols through which memory comes in and goes out: a new protocol is one row
// here and one file in this folder.
// SPDX-License-Identifier: Apache-2.0
#include "protocols/protocols.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>

namespace usmx::python {

extern const protocol exchange_protocol;  // exchange.cpp
extern const protocol dpctl_protocol;     // dpctl_memory.cpp
extern const protocol suai_protocol;      // suai.cpp
extern const protocol dlpack_protocol;    // dlpack.cpp
extern const protocol numpy_protocol;     // numpy_arrays.cpp
extern const protocol buffer_protocol;    // buffer_import.cpp
// arrow.cpp
extern const protocol arrow_device_protocol;
extern const protocol arrow_protocol;
extern const protocol arrow_device_stream_protocol;
extern const protocol arrow_stream_protocol;
// array_interface.cpp
extern const protocol cuda_protocol;
extern const protocol array_interface_protocol;
extern const protocol array_method_protocol;

namespace {

/// In the order in which they are asked. Arrow's arrays come before DLPack, which does not say that
/// elements are missing; its streams come last, because some objects make one by a conversion.
const protocol* const table[] = {
    &numpy_protocol,                // memory of the host, without a description in between
    &exchange_protocol,             // with the last event
    &dpctl_protocol,                // with the queue, without a dictionary
    &suai_protocol,                 // with the queue
    &arrow_device_protocol,         // with missing elements
    &arrow_protocol,                //
    &dlpack_protocol,               // with streams, without waiting
    &cuda_protocol,                 // with a stream
    &buffer_protocol,               // memory of the host
    &array_interface_protocol,      //
    &array_method_protocol,         // what NumPy gets without a copy
    &arrow_device_stream_protocol,  // in chunks
    &arrow_stream_protocol,         //
};

/// Our own objects carry their array inside: no dictionary, no checks, no driver.
const array* own_array(nb::handle obj) {
  if (!nb::inst_check(obj)) return nullptr;
  const array* const a = array_of(obj);
  return a != nullptr ? a : memory_of(obj);
}

/// Whether objects of the type may have the attribute. Python caches the look-up for each type.
bool may_have(PyTypeObject* type, PyObject* name) noexcept {
  if (_PyType_Lookup(type, name) != nullptr) return true;
#if PY_VERSION_HEX >= 0x030C0000
  if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT) != 0) return true;
#endif
  return type->tp_dictoffset != 0 || type->tp_getattro != PyObject_GenericGetAttr;
}

using row_set = std::uint32_t;
static_assert(std::size(table) <= 8 * sizeof(row_set));

/// The rows that objects of the type may speak: all but those whose attribute they cannot have.
row_set find_rows(PyTypeObject* type) {
  static const auto& names = *new auto([] {
    std::array<PyObject*, std::size(table)> all{};
    std::ranges::transform(table, all.begin(), [](const protocol* row) {
      return row->name == nullptr ? nullptr : PyUnicode_InternFromString(row->name);
    });
    return all;
  }());
  row_set rows = 0;
  for (std::size_t k = 0; k < std::size(table); ++k) {
    const bool may_speak = table[k]->knows != nullptr ? table[k]->knows(type)
                           : names[k] == nullptr      ? true
                                                      : may_have(type, names[k]);
    if (table[k]->offer != nullptr && may_speak) rows |= row_set{1} << k;
  }
  return rows;
}

/// The same, kept for the types that were asked for last. CPython numbers the states of all types:
/// a change of an attribute takes the number of its type away.
row_set rows_of(PyTypeObject* type) {
  struct known_type {
    PyTypeObject* type;
    unsigned int state;
    row_set rows;
  };
  static std::array<known_type, 64> recent{};  // guarded by the GIL
  known_type& known = recent[(reinterpret_cast<std::uintptr_t>(type) >> 6) % recent.size()];
  const auto state = [type] {
    return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) != 0 ? type->tp_version_tag : 0;
  };
  if (known.type == type && known.state != 0 && known.state == state()) return known.rows;
  const row_set rows = find_rows(type);
  known = {type, state(), rows};
  return rows;
}

std::optional<array> ask_rows(row_set left, nb::handle obj, const import_request& request);

/// What the row makes of its offer, otherwise what the rows after it do. One result, in the place
/// of the caller's: an array is large.
std::optional<array> take_from(const protocol& row, nb::object offer, row_set after, nb::handle obj,
                               const import_request& request) {
  std::optional<array> taken = row.take(obj, std::move(offer), request);
  const bool is_answered = taken || (request.to_copy != nullptr && *request.to_copy);
  if (!is_answered) taken = ask_rows(after, obj, request);
  return taken;
}

std::optional<array> ask_rows(row_set left, nb::handle obj, const import_request& request) {
  for (; left != 0; left &= left - 1) {
    const protocol& row = *table[std::countr_zero(left)];
    nb::object offer = row.offer(obj);
    if (offer.is_valid()) return take_from(row, std::move(offer), left & (left - 1), obj, request);
  }
  return {};
}

}  // namespace

std::optional<array> import_array(nb::handle obj, const import_request& request) {
  if (const array* const own = own_array(obj)) return *own;
  return ask_rows(rows_of(Py_TYPE(obj.ptr())), obj, request);
}

std::optional<array> import_array(nb::handle obj) { return import_array(obj, {}); }

bool shows_usm(const any_view& v, const sycl::queue& queue) noexcept {
  return v.size() > 0 && kind_of(v.first_byte(), queue.get_context()) != usm_kind::unknown;
}

void bind_exports(nb::object type, array_access array_of) {
  for (const protocol* const row : table) {
    if (row->bind != nullptr) row->bind(type, array_of);
  }
}

const std::string& expected_protocols() {
  static const auto& text = *new std::string([] {
    std::vector<const char*> names;
    for (const protocol* const row : table) {
      if (row->name != nullptr) names.push_back(row->name);
    }
    std::string all = "an object with ";
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (k > 0) all += k + 1 == names.size() ? " or " : ", ";
      all += names[k];
    }
    return all;
  }());
  return text;
}

nb::object read_attribute(nb::handle obj, PyObject* interned_name) {
  PyTypeObject* const type = Py_TYPE(obj.ptr());
  if (!may_have(type, interned_name)) return {};
  PyObject* const value = PyObject_GetAttr(obj.ptr(), interned_name);
  if (value != nullptr) return nb::steal(value);
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
  PyErr_Clear();
  return {};
}

bool offers_host_elements(nb::handle obj) {
  PyObject* const o = obj.ptr();
  if (PyType_Check(o) != 0 || PyBytes_Check(o) || PyByteArray_Check(o)) return false;
  if (PyObject_CheckBuffer(o) != 0) return true;
  static const auto& names = *new auto([] {
    std::array<PyObject*, 8> all{};
    std::ranges::transform(std::array{"__array_interface__", "__array_struct__", "__array__",
                                      "__dlpack__", "__arrow_c_array__", "__arrow_c_stream__",
                                      "__arrow_c_device_array__", "__arrow_c_device_stream__"},
                           all.begin(), PyUnicode_InternFromString);
    return all;
  }());
  return std::ranges::any_of(names,
                             [&](PyObject* name) { return read_attribute(obj, name).is_valid(); });
}

void bind_property(nb::object type, const char* name, const nb::object& getter) {
  nb::setattr(type, name, nb::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))(getter));
}

void bind_protocols(nb::module_& m) {
  def(
      m, "_imported(obj: object?, host: bool = False) -> Any"_sig,
      [](nb::handle obj, bool host) {
        import_request request;
        request.host = host;
        std::optional<array> a = import_array(obj, request);
        return a ? wrap_array(std::move(*a)) : nb::none();
      },
      "The array that another library's object describes, None if it describes none. Asks once.\n"
      "With `host`, memory of the host is one too, where the default device uses it.");
  def(
      m, "_offers_elements(obj: object?) -> bool"_sig,
      [](nb::handle obj) {
        return own_array(obj) != nullptr || import_array(obj).has_value() ||
               offers_host_elements(obj);
      },
      "Whether an object has elements by any protocol, which `asarray` takes.");
  bind_from_dlpack(m);
  bind_placement(m);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(forget_queues));
}

}  // namespace usmx::python
