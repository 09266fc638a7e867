// The dictionary that other libraries read. It stands on the path of every exchange, so it is made
// by copying a prepared one and filling in what differs.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include "protocols.hpp"

namespace usmx::python {
namespace {

nb::object owned(PyObject* o) {
  if (o == nullptr) throw nb::python_error();
  return nb::steal(o);
}

void set(PyObject* dict, PyObject* key, const nb::object& value) {
  if (PyDict_SetItem(dict, key, value.ptr()) != 0) throw nb::python_error();
}

/// Everything that is the same in each dictionary; lives as long as the process.
struct prepared {
  PyObject* shape = PyUnicode_InternFromString("shape");
  PyObject* typestr = PyUnicode_InternFromString("typestr");
  PyObject* typedescr = PyUnicode_InternFromString("typedescr");
  PyObject* data = PyUnicode_InternFromString("data");
  PyObject* strides = PyUnicode_InternFromString("strides");
  PyObject* offset = PyUnicode_InternFromString("offset");
  PyObject* syclobj = PyUnicode_InternFromString("syclobj");
  PyObject* blank = PyDict_New();

  prepared() {
    const nb::object none = nb::none();
    for (PyObject* key : {shape, typestr, data, strides}) PyDict_SetItem(blank, key, none.ptr());
    PyDict_SetItem(blank, offset, nb::int_(0).ptr());
    PyDict_SetItemString(blank, "version", nb::int_(suai::version).ptr());
    PyDict_SetItem(blank, syclobj, none.ptr());
  }
};

const prepared& common() {
  static const prepared p;
  return p;
}

nb::object write_extents(const extents& e) {
  nb::object out = owned(PyTuple_New(static_cast<Py_ssize_t>(e.size())));
  for (std::size_t k = 0; k < e.size(); ++k) {
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(k),
                     owned(PyLong_FromLongLong(e[k])).release().ptr());
  }
  return out;
}

nb::object new_typestr(const dtype& type) {
  PyObject* text = PyUnicode_FromString(type.typestr().c_str());
  PyUnicode_InternInPlace(&text);
  return owned(text);
}

/// Type strings are few; each is made once.
nb::object write_typestr(const dtype& type) {
  if (type.is_record()) return new_typestr(type);
  static std::array<std::array<PyObject*, 5>, 26> made{};
  const auto letter = static_cast<std::size_t>(static_cast<char>(type.kind()) - 'a');
  PyObject*& text = made[letter][static_cast<std::size_t>(std::countr_zero(type.itemsize()))];
  if (text == nullptr) text = new_typestr(type).release().ptr();
  return nb::borrow(text);
}

nb::object write_data(const std::byte* p, bool read_only) {
  nb::object pair = owned(PyTuple_New(2));
  PyTuple_SET_ITEM(pair.ptr(), 0,
                   owned(PyLong_FromSize_t(reinterpret_cast<std::uintptr_t>(p))).release().ptr());
  PyTuple_SET_ITEM(pair.ptr(), 1, nb::borrow(read_only ? Py_True : Py_False).release().ptr());
  return pair;
}

}  // namespace

nb::dict export_suai(const array& a) {
  // The protocol has no event: whoever reads the dictionary may use the memory at once. What other
  // libraries submitted meanwhile is theirs to order, or each look at the attribute would wait.
  if (const shared_owner& keep = a.keep_alive()) {
    if (keep->has_own_work()) {
      const gil_released unlocked;
      keep->wait();
    }
    keep->exposed_on(a.queue());
  }

  const prepared& p = common();
  const any_view& v = a.elements();
  nb::object out = owned(PyDict_Copy(p.blank));
  PyObject* dict = out.ptr();
  set(dict, p.shape, write_extents(v.layout().shape()));
  set(dict, p.typestr, write_typestr(v.dtype()));
  if (const dtype::fields* members = v.dtype().members()) {
    set(dict, p.typedescr, write_typedescr(*members));
  }
  // The lowest address and an offset, the form that every consumer understands.
  set(dict, p.data, write_data(v.first_byte(), v.read_only()));
  if (!v.layout().is_c_contiguous()) {
    set(dict, p.strides, write_extents(v.layout().strides()));
    if (const std::int64_t first = v.layout().range().first; first != 0) {
      set(dict, p.offset, nb::int_(-first));
    }
  }
  set(dict, p.syclobj, nb::cast(a.queue()));
  return nb::steal<nb::dict>(out.release());
}

}  // namespace usmx::python
