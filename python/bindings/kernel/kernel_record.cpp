// Copies field by field, so that records which NumPy packs arrive in structs which C++ pads.
// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_record.hpp"

#include <cstring>
#include <span>

#include "kernel/kernel_arguments.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

struct buffer {
  Py_buffer view{};
  explicit buffer(nb::handle obj) {
    if (PyObject_GetBuffer(obj.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { PyBuffer_Release(&view); }
  std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)};
  }
};

[[noreturn]] void wrong(const std::string& where, const std::string& what) {
  throw nb::type_error((where + ": " + what).c_str());
}

std::size_t size_of(const field& f) {
  auto bytes = f.type.itemsize();
  for (const auto n : f.shape) bytes *= static_cast<std::size_t>(n);
  return bytes;
}

std::string describe(const std::string& typestr, nb::handle shape) {
  return nb::len(shape) == 0 ? typestr : typestr + repr_of(shape);
}
nb::tuple shape_of(const field& f) {
  nb::list sizes;
  for (const auto n : f.shape) sizes.append(n);
  return nb::tuple(sizes);
}

/// From a record with NumPy's `dtype`.
void copy(nb::handle numpy, std::span<const std::byte> from, const dtype& type, std::byte* to,
          const std::string& where) {
  std::vector<std::string> names;
  const nb::object given = numpy.attr("names");
  if (!given.is_none()) {
    for (const nb::handle name : given) names.push_back(to_text(name, "dtype.names"));
  }
  std::size_t count = 0, offset = 0;
  for (const auto& f : *type.members()) count += f.name.empty() ? 0 : 1;
  if (names.size() != count) {
    wrong(where,
          "has " + std::to_string(names.size()) + " fields, expected " + std::to_string(count));
  }
  std::size_t at = 0;
  for (const auto& f : *type.members()) {
    const auto bytes = size_of(f);
    if (!f.name.empty()) {
      if (names[at] != f.name) {
        wrong(where,
              "field " + std::to_string(at) + " is '" + names[at] + "', expected '" + f.name + "'");
      }
      const nb::object entry = numpy.attr("fields")[names[at].c_str()];
      const nb::object is = entry[0];
      const auto start = nb::cast<std::size_t>(entry[1]);
      const nb::object base = is.attr("base"), shape = is.attr("shape");
      const std::string typestr = to_text(nb::object(base.attr("str")), "dtype.str");
      const bool nested = f.type.members() && !base.attr("names").is_none();
      const auto inside = where + ": field '" + f.name + "'";
      if (!shape.equal(shape_of(f)) || (!nested && typestr != f.type.typestr())) {
        wrong(inside, "has type " + describe(typestr, shape) + ", expected " +
                          describe(f.type.typestr(), shape_of(f)));
      }
      const auto step = nb::cast<std::size_t>(base.attr("itemsize"));
      // Whoever says it has a dtype may lie about it.
      const auto held = nested ? bytes / f.type.itemsize() * step : bytes;
      if (start > from.size() || held > from.size() - start) wrong(inside, "is not in its buffer");
      if (nested) {
        for (std::size_t k = 0; k < bytes / f.type.itemsize(); ++k) {
          copy(base, from.subspan(start + k * step), f.type, to + offset + k * f.type.itemsize(),
               inside);
        }
      } else {
        std::memcpy(to + offset, from.data() + start, bytes);
      }
      ++at;
    }
    offset += bytes;
  }
}

}  // namespace

std::vector<std::byte> to_record(nb::handle obj, const dtype& type, const std::string& where) {
  std::vector<std::byte> bytes(type.itemsize());
  if (PyBytes_Check(obj.ptr())) {
    const buffer from(obj);
    if (from.bytes().size() != bytes.size()) {
      throw nb::value_error((where + ": has " + std::to_string(from.bytes().size()) +
                             " bytes, expected " + std::to_string(bytes.size()))
                                .c_str());
    }
    std::memcpy(bytes.data(), from.bytes().data(), bytes.size());
    return bytes;
  }
  nb::object numpy = nb::getattr(obj, "dtype", nb::none());
  if (numpy.is_none() && nb::hasattr(obj, "_fields_") && PyObject_CheckBuffer(obj.ptr())) {
    // NumPy reads the layouts of ctypes, bit fields and unions included, which it refuses.
    numpy = nb::module_::import_("numpy").attr("dtype")(obj.type());
  }
  const bool is_one = !nb::hasattr(obj, "shape") || nb::len(nb::object(obj.attr("shape"))) == 0;
  if (numpy.is_none() || !is_one || !PyObject_CheckBuffer(obj.ptr()) ||
      nb::getattr(numpy, "names", nb::none()).is_none()) {
    wrong(where, "is of type " + python_type(obj) +
                     ", expected one NumPy record, a ctypes.Structure or " +
                     std::to_string(bytes.size()) + " bytes");
  }
  const buffer from(obj);
  copy(numpy, from.bytes(), type, bytes.data(), where);
  return bytes;
}

}  // namespace usmx::python
