// The dictionary that other libraries read. It stands on the path of every exchange, so it is made
// by copying a prepared one and filling in what differs.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <utility>

#include "memory/memory.hpp"
#include "protocols/protocols.hpp"

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
    for (PyObject* key : {data, shape, strides}) PyDict_SetItem(blank, key, none.ptr());
    PyDict_SetItem(blank, offset, nb::int_(0).ptr());
    PyDict_SetItem(blank, typestr, none.ptr());
    PyDict_SetItemString(blank, "version", nb::int_(suai::version).ptr());
    PyDict_SetItem(blank, syclobj, none.ptr());
  }
};

const prepared& common() {
  static const prepared p;
  return p;
}

nb::object copy_of(nb::object dict) { return owned(PyDict_Copy(dict.ptr())); }

nb::object new_blank(const dtype& type, const nb::object& queue) {
  const prepared& p = common();
  nb::object made = owned(PyDict_Copy(p.blank));
  PyObject* text = PyUnicode_FromString(type.typestr().c_str());
  if (text != nullptr) PyUnicode_InternInPlace(&text);
  set(made.ptr(), p.typestr, owned(text));
  set(made.ptr(), p.syclobj, queue);
  return made;
}

/// The dictionaries that were handed out last, without what differs from array to array: making a
/// Queue object alone costs as much as copying one and filling it in. Guarded by the GIL.
class recent_blanks {
 public:
  /// A fresh dictionary with all keys, of which `typestr` and `syclobj` have their values.
  nb::object get(const sycl::queue& queue, const dtype& type) {
    // Every call of Python may collect garbage, and with that come back here: no entry is held
    // across one.
    nb::object object;
    if (entry* const known = find(queue)) {
      if (!type.is_record() && known->blank(type).is_valid()) return copy_of(known->blank(type));
      object = known->queue;
    } else {
      object = nb::cast(queue);
      remember({object, {}});
    }
    nb::object made = new_blank(type, object);
    if (type.is_record()) return made;
    if (entry* const known = find(queue)) known->blank(type) = made;
    return copy_of(made);
  }
  /// Before the interpreter goes, and for good.
  void close() noexcept {
    closed_ = true;
    for (entry& e : entries_) const entry last = std::exchange(e, {});
  }

 private:
  struct entry {
    nb::object queue;
    std::array<std::array<nb::object, 5>, 26> blanks;

    nb::object& blank(const dtype& type) {
      const auto letter = static_cast<std::size_t>(static_cast<char>(type.kind()) - 'a');
      return blanks[letter][static_cast<std::size_t>(std::countr_zero(type.itemsize()))];
    }
  };

  entry* find(const sycl::queue& queue) {
    for (entry& e : entries_) {
      if (e.queue.is_valid() && *nb::inst_ptr<sycl::queue>(e.queue) == queue) return &e;
    }
    return nullptr;
  }

  void remember(entry fresh) {
    if (closed_) return;
    std::swap(entries_[next_], fresh);
    next_ = (next_ + 1) % entries_.size();
  }

  std::array<entry, 4> entries_;
  std::size_t next_ = 0;
  bool closed_ = false;
};

recent_blanks& blanks() {
  // Leaked: Python is gone when statics are destroyed, and the runtime may be.
  static auto& recent = *new recent_blanks;
  return recent;
}

nb::object write_extents(const extents& e) {
  nb::object out = owned(PyTuple_New(static_cast<Py_ssize_t>(e.size())));
  for (std::size_t k = 0; k < e.size(); ++k) {
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(k),
                     owned(PyLong_FromLongLong(e[k])).release().ptr());
  }
  return out;
}

nb::object write_data(const std::byte* p, bool read_only) {
  nb::object pair = owned(PyTuple_New(2));
  PyTuple_SET_ITEM(pair.ptr(), 0,
                   owned(PyLong_FromSize_t(reinterpret_cast<std::uintptr_t>(p))).release().ptr());
  PyTuple_SET_ITEM(pair.ptr(), 1, nb::borrow(read_only ? Py_True : Py_False).release().ptr());
  return pair;
}

}  // namespace

void forget_queues() noexcept { blanks().close(); }

nb::dict export_suai(const array& a) {
  const traced record(trace_action::exported, [&] {
    return trace_subject{.bytes = a.elements().nbytes(), .address = a.data(), .kind = a.kind()};
  });
  // The protocol has no event: the consumer may use the memory at once. What other
  // libraries submitted meanwhile is theirs to order, or each look at the attribute would wait.
  if (const shared_owner keep = a.keep_alive()) {
    if (const auto at_work = keep->try_own_work(); at_work.value_or(true)) {
      const gil_released unlocked;
      if (at_work || keep->has_own_work()) keep->wait();
    }
    expose(a);
  }

  const prepared& p = common();
  const any_view& v = a.elements();
  nb::object out = blanks().get(a.queue(), v.dtype());
  PyObject* dict = out.ptr();
  set(dict, p.shape, write_extents(v.layout().shape()));
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
  return nb::steal<nb::dict>(out.release());
}

namespace {

void bind_suai(nb::object type, array_access array_of) {
  bind_property(
      type, suai::attribute,
      nb::cpp_function(
          [array_of](nb::handle self) {
            const held_array held = array_of(self);
            return export_suai(*held.elements);
          },
          nb::is_method(), nb::sig("def __sycl_usm_array_interface__(self) -> dict[str, Any]")));
}

}  // namespace

extern const protocol suai_protocol = {suai::attribute, offer_suai, import_suai, bind_suai};

}  // namespace usmx::python
