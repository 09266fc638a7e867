// Element types, with NumPy and without it, and single elements as Python numbers. usmx.float32
// exists without an import of NumPy, and `a.dtype` is NumPy's own where it is installed, because
// that is what other code compares to.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include "array/ndarray.hpp"
#include "core/cast.hpp"
#include "core/format.hpp"
#include "protocols/protocols.hpp"
#include "support/attributes.hpp"
#include "support/containers.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

struct spelling {
  std::string_view name;
  std::string_view typestr;
};

// NumPy's names first, in the order in which usmx exports them; then its letters and its names of C
// types, as they are on 64-bit Linux.
constexpr std::size_t exported = 14;
constexpr spelling spellings[] = {
    {"bool", "|b1"},      {"int8", "|i1"},        {"int16", "<i2"},    {"int32", "<i4"},
    {"int64", "<i8"},     {"uint8", "|u1"},       {"uint16", "<u2"},   {"uint32", "<u4"},
    {"uint64", "<u8"},    {"float16", "<f2"},     {"float32", "<f4"},  {"float64", "<f8"},
    {"complex64", "<c8"}, {"complex128", "<c16"}, {"?", "|b1"},        {"b", "|i1"},
    {"h", "<i2"},         {"i", "<i4"},           {"l", "<i8"},        {"q", "<i8"},
    {"p", "<i8"},         {"n", "<i8"},           {"B", "|u1"},        {"H", "<u2"},
    {"I", "<u4"},         {"L", "<u8"},           {"Q", "<u8"},        {"P", "<u8"},
    {"N", "<u8"},         {"e", "<f2"},           {"f", "<f4"},        {"d", "<f8"},
    {"F", "<c8"},         {"D", "<c16"},          {"bool_", "|b1"},    {"byte", "|i1"},
    {"short", "<i2"},     {"intc", "<i4"},        {"int", "<i8"},      {"int_", "<i8"},
    {"intp", "<i8"},      {"long", "<i8"},        {"longlong", "<i8"}, {"ubyte", "|u1"},
    {"ushort", "<u2"},    {"uintc", "<u4"},       {"uint", "<u8"},     {"uintp", "<u8"},
    {"ulong", "<u8"},     {"ulonglong", "<u8"},   {"half", "<f2"},     {"single", "<f4"},
    {"double", "<f8"},    {"float", "<f8"},       {"csingle", "<c8"},  {"cdouble", "<c16"},
    {"complex", "<c16"},
};

constexpr const char* expected_dtype =
    "a name such as 'float32', a type string such as '<f4', a type, a dtype, or the fields of a "
    "record";

dtype parsed(std::string_view typestr) {
  dtype out;
  check(dtype::parse(typestr, out), detail::format("'{}'", typestr));
  return out;
}

const spelling* find_name(std::string_view name) noexcept {
  for (const spelling& s : spellings) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

dtype from_text(std::string_view text) {
  if (text == "bfloat16") return dtype::of<bfloat16>();  // no type string names it
  if (const spelling* s = find_name(text)) return parsed(s->typestr);
  const bool has_order =
      !text.empty() && std::string_view("<>|=").find(text.front()) != std::string_view::npos;
  const std::string typestr = detail::format("{}{}", has_order ? "" : "=", text);
  // NumPy writes '|' where the order has no meaning and reads any there.
  dtype out;
  if (dtype::parse(typestr, out) == fault::none) return out;
  if (has_order) return parsed(typestr);
  wrong_type("dtype", new_text(text), expected_dtype);
}

dtype from_type(nb::handle type) {
  PyObject* const t = type.ptr();
  if (t == reinterpret_cast<PyObject*>(&PyBool_Type)) return dtype::of<bool>();
  if (t == reinterpret_cast<PyObject*>(&PyLong_Type)) return dtype::of<std::int64_t>();
  if (t == reinterpret_cast<PyObject*>(&PyFloat_Type)) return dtype::of<double>();
  if (t == reinterpret_cast<PyObject*>(&PyComplex_Type)) return dtype::of<std::complex<double>>();
  const nb::object module = attribute_or_none(type, "__module__");
  const std::string home = nb::isinstance<nb::str>(module) ? shown(module) : std::string();
  if (home == "ml_dtypes" && nb::object(type.attr("__name__")).equal(new_text("bfloat16"))) {
    return dtype::of<bfloat16>();
  }
  if (home == "ctypes") {
    const nb::object letter = attribute_or_none(type, "_type_");
    if (nb::isinstance<nb::str>(letter)) {
      if (const spelling* s = find_name(shown(letter))) return parsed(s->typestr);
    }
  }
  if (home == "numpy") {
    const nb::object name = type.attr("__name__");
    if (const spelling* s = find_name(to_text(name, "dtype"))) return parsed(s->typestr);
  }
  wrong_type("dtype", type, expected_dtype);
}

dtype make_record(nb::handle descr, std::size_t itemsize) {
  dtype out;
  check(dtype::make_record(read_typedescr(descr, "dtype"), itemsize, out));
  return out;
}

/// A numpy.dtype, or what looks like one.
dtype from_dtype_like(nb::handle obj) {
  const nb::object names = attribute_or_none(obj, "names");
  if (!names.is_none()) {
    return make_record(obj.attr("descr"), nb::cast<std::size_t>(obj.attr("itemsize")));
  }
  const nb::object subdtype = attribute_or_none(obj, "subdtype");
  if (!subdtype.is_none())
    wrong_type("dtype", obj, "a type of single elements; put the lengths into shape");
  // Its type string is "<V2", that of any two bytes.
  if (nb::object(obj.attr("str")).equal(new_text("<V2")) &&
      nb::object(obj.attr("name")).equal(new_text("bfloat16"))) {
    return dtype::of<bfloat16>();
  }
  return from_text(to_text(nb::object(obj.attr("str")), "dtype.str"));
}

bool has_padding(const dtype::fields& members) {
  return std::ranges::any_of(members, [](const field& f) {
    return f.name.empty() || (f.type.members() != nullptr && has_padding(*f.type.members()));
  });
}

/// With the places of the fields: a list of fields would make fields of the padding too.
nb::object to_padded_dtype(nb::handle np, const dtype& type) {
  nb::list names = new_list(), formats = new_list(), offsets = new_list(), titles = new_list();
  std::size_t at = 0;
  for (const field& f : *type.members()) {
    const std::size_t begin = at;
    std::size_t size = f.type.itemsize();
    for (const auto n : f.shape) size *= static_cast<std::size_t>(n);
    at += size;
    if (f.name.empty()) continue;
    names.append(new_text(f.name));
    titles.append(f.title.empty() ? nb::none() : nb::object(new_text(f.title)));
    offsets.append(begin);
    nb::list shape = new_list();
    for (const auto n : f.shape) shape.append(n);
    const nb::object one = to_numpy_dtype(f.type);
    formats.append(f.shape.empty() ? one : nb::object(nb::make_tuple(one, nb::tuple(shape))));
  }
  nb::dict about = new_dict();
  about["names"] = names;
  about["formats"] = formats;
  about["offsets"] = offsets;
  about["titles"] = titles;
  about["itemsize"] = type.itemsize();
  return np.attr("dtype")(about);
}

/// NumPy has no bfloat16 of its own; its users take that of this package.
nb::object bfloat16_of_ml_dtypes() {
  PyObject* const package = PyImport_ImportModule("ml_dtypes");
  if (package != nullptr) return nb::steal(package).attr("bfloat16");
  if (PyErr_ExceptionMatches(PyExc_ImportError) == 0) nb::raise_python_error();
  PyErr_Clear();
  throw nb::type_error(
      "dtype: NumPy has no bfloat16; install its type with: pip install ml_dtypes, or convert the "
      "array with astype('float32')");
}

}  // namespace

nb::object to_numpy_dtype(const dtype& type) {
  const nb::object np = numpy();
  if (!np.is_valid())
    throw nb::import_error("numpy is not installed; install it with: pip install numpy");
  if (type.is_bfloat16()) return np.attr("dtype")(bfloat16_of_ml_dtypes());
  if (const dtype::fields* members = type.members()) {
    if (has_padding(*members)) return to_padded_dtype(np, type);
    return np.attr("dtype")(write_typedescr(*members));
  }
  return np.attr("dtype")(type.typestr().c_str());
}

namespace {

nb::object descr_of(const dtype& type) {
  if (const dtype::fields* named = type.description()) return write_typedescr(*named);
  nb::list one = new_list();
  one.append(nb::make_tuple(new_text(""), new_text(type.typestr())));
  return one;
}

nb::object names_of(const dtype& type) {
  const dtype::fields* members = type.members();
  if (members == nullptr) return nb::none();
  nb::list names = new_list();
  for (const field& f : *members) {
    if (!f.name.empty()) names.append(new_text(f.name));
  }
  return nb::tuple(names);
}

/// As in NumPy on 64-bit Linux.
std::string char_of(const dtype& type) {
  if (type.is_bfloat16()) return "E";
  if (type.is_record()) return "V";
  const std::string format = buffer_format(type);
  if (type.kind() == type_class::complex) return type.itemsize() == 8 ? "F" : "D";
  return format;
}

bool equals(const dtype& self, nb::handle other) {
  try {
    return self == to_dtype(other);
  } catch (nb::python_error& e) {
    if (e.matches(PyExc_MemoryError)) throw;  // not an answer
    return false;
  } catch (nb::builtin_exception&) {
    return false;
  } catch (const interop_error&) {
    return false;
  }
}

/// Element types by the object that named them. Only objects that cannot change their meaning are
/// kept, and kept alive, so that an address means one object.
class known_dtypes {
 public:
  /// Null if the object names none that is known. To be copied at once: Python code that runs later
  /// may put another type into the same place.
  const dtype* find(nb::handle obj) const noexcept {
    const entry& e = entries_[place_of(obj)];
    return e.object.is(obj) ? &e.type : nullptr;
  }
  void remember(nb::handle obj, const dtype& type) {
    if (type.is_record()) return;
    entry next{nb::borrow(obj), type};
    std::swap(entries_[place_of(obj)], next);  // what was here ends with `next`
  }

 private:
  struct entry {
    nb::object object;
    dtype type;
  };
  static std::size_t place_of(nb::handle obj) noexcept {
    return (std::bit_cast<std::uintptr_t>(obj.ptr()) >> 4) % capacity;
  }
  static constexpr std::size_t capacity = 64;
  std::array<entry, capacity> entries_;
};

known_dtypes& known() {
  static auto* const all = new known_dtypes;
  return *all;
}

dtype read_dtype(nb::handle obj);

/// What a class names as the dtype of its instances, as NumPy reads it, such as that of usmx.vec;
/// invalid if it names none. It may name another one later.
nb::object dtype_of_class(nb::handle obj) {
  if (!PyType_Check(obj.ptr())) return {};
  nb::object inner = attribute_or_none(obj, "dtype");
  // Classes of scalars have a descriptor of that name.
  if (inner.is_none() || PyType_Check(inner.ptr()) || !has_attribute(inner, "itemsize")) return {};
  return inner;
}

}  // namespace

nb::object numpy() {
  nb::object loaded = nb::steal(PyImport_GetModule(new_text("numpy").ptr()));
  if (loaded.is_valid()) return loaded.is_none() ? nb::object() : loaded;  // None: shut out
  PyErr_Clear();
  PyObject* const imported = PyImport_ImportModule("numpy");
  if (imported != nullptr) return nb::steal(imported);
  if (PyErr_ExceptionMatches(PyExc_ImportError) == 0) nb::raise_python_error();
  PyErr_Clear();
  return {};
}

dtype to_dtype(nb::handle obj) {
  if (const dtype* const type = known().find(obj)) return *type;
  if (is_ready<dtype>(obj)) return *nb::inst_ptr<dtype>(obj);
  if (const nb::object inner = dtype_of_class(obj); inner.is_valid()) return to_dtype(inner);
  if (!PyUnicode_CheckExact(obj.ptr()) && !PyType_Check(obj.ptr())) return read_dtype(obj);
  dtype type = read_dtype(obj);
  known().remember(obj, type);
  return type;
}

namespace {

dtype read_dtype(nb::handle obj) {
  if (PyUnicode_Check(obj.ptr())) return from_text(to_text(obj, "dtype"));
  if (PyType_Check(obj.ptr())) return from_type(obj);
  if (nb::isinstance<nb::list>(obj) || nb::isinstance<nb::tuple>(obj) ||
      nb::isinstance<nb::dict>(obj)) {
    if (const nb::object np = numpy(); np.is_valid()) return from_dtype_like(np.attr("dtype")(obj));
    dtype::fields members = read_typedescr(obj, "dtype");
    std::size_t bytes = 0;
    check(dtype::packed_size(members, bytes));
    dtype out;
    check(dtype::make_record(std::move(members), bytes, out));
    return out;
  }
  if (has_attribute(obj, "str") && has_attribute(obj, "itemsize") && has_attribute(obj, "kind"))
    return from_dtype_like(obj);
  if (const nb::object inner = attribute_or_none(obj, "dtype");
      !inner.is_none() && !inner.is(obj)) {
    return to_dtype(inner);
  }
  wrong_type("dtype", obj, expected_dtype);
}

}  // namespace

nb::object dtype_object(const dtype& type) {
  if (type.is_bfloat16()) return nb::cast(type);  // NumPy has none of its own
  const nb::object np = numpy();
  if (!np.is_valid()) return nb::cast(type);
  if (type.is_record()) return to_numpy_dtype(type);
  // Few and immortal in NumPy, too.
  static std::array<PyObject*, exported> made{};
  const std::string typestr = type.typestr();
  for (std::size_t k = 0; k < exported; ++k) {
    if (spellings[k].typestr != typestr) continue;
    if (made[k] == nullptr) made[k] = to_numpy_dtype(type).release().ptr();
    return nb::borrow(made[k]);
  }
  return to_numpy_dtype(type);
}

void bind_dtype(nb::module_& m) {
  nb::class_<dtype> c(
      m, "dtype",
      "An element type: what `usmx.float32` is. Equal to every other spelling of itself.\n\n"
      "Parameters\n----------\n"
      "obj : str, type, numpy.dtype, usmx.dtype or list of tuple\n"
      "    A name ('float32'), a type string ('<f4'), a Python or NumPy type, or the fields\n"
      "    of a record: ``[('x', '<f4'), ('n', '<i4')]``.\n\n"
      "Raises\n------\n"
      "TypeError\n    `obj` names no element type.\n"
      "InteropError\n    A type string that cannot be used: a byte order or a size.");
  c.attr("__module__") = "usmx";
  c.def(
      "__init__(self, obj: DTypeLike) -> None"_sig,
      [](nb::pointer_and_handle<dtype> self, nb::handle obj) { initialise(self, to_dtype(obj)); });
  c.def_prop_ro("name", &dtype::name, "NumPy's name: 'float32'.", nb::sig("def name(self) -> str"));
  c.def_prop_ro("str", &dtype::typestr, "The type string of the array protocols: '<f4'.",
                nb::sig("def str(self) -> str"));
  c.def_prop_ro(
      "kind", [](const dtype& t) { return std::string(1, static_cast<char>(t.kind())); },
      "One letter of 'biufcV'.", nb::sig("def kind(self) -> str"));
  c.def_prop_ro("char", char_of,
                "NumPy's letter of the type: 'f'; of bfloat16 'E', that of ml_dtypes.",
                nb::sig("def char(self) -> str"));
  c.def_prop_ro("itemsize", &dtype::itemsize, "Bytes of an element.");
  c.def_prop_ro("alignment", &dtype::alignment,
                "Bytes of which the address of an element is a multiple.");
  c.def_prop_ro("descr", descr_of, "The fields as a list of tuples.",
                nb::sig("def descr(self) -> list[tuple[Any, ...]]"));
  c.def_prop_ro("names", names_of, "Names of the fields of a record, otherwise None.",
                nb::sig("def names(self) -> tuple[str, ...] | None"));
  // np.dtype(t) asks for the first, older versions of NumPy for the second.
  c.def_prop_ro("__numpy_dtype__", to_numpy_dtype,
                nb::sig("def __numpy_dtype__(self) -> NumpyDType"));
  c.def_prop_ro("dtype", to_numpy_dtype, "The same as a numpy.dtype; imports NumPy.",
                nb::sig("def dtype(self) -> NumpyDType"));
  c.def_prop_ro(
      "type", [](const dtype& t) { return to_numpy_dtype(t).attr("type"); },
      "NumPy's type of a single element; imports NumPy.", nb::sig("def type(self) -> Any"));
  c.def(
      "__call__(self, value: Any, /) -> Any"_sig,
      [](nb::handle self, nb::handle value) -> nb::object {
        const dtype& type = self_of<dtype>(self);
        if (const nb::object cast = attribute_or_none(value, "astype"); !cast.is_none())
          return cast(self);
        if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()))
          return nb::module_::import_("usmx").attr("asarray")(value, nb::arg("dtype") = self);
        return to_numpy_dtype(type).attr("type")(value);
      },
      "NumPy's number of this type: ``usmx.uint8(7)``; of an array or a list an array.\n\n"
      "Parameters\n----------\nvalue : number, str, array or list\n    What to convert.\n\n"
      "Examples\n--------\n>>> import usmx\n>>> print(usmx.float32(1) / 3)\n0.33333334");
  c.def(
      "__instancecheck__(self, value: object, /) -> bool"_sig,
      [](const dtype& t, nb::handle value) {
        const nb::object type = to_numpy_dtype(t).attr("type");
        const int is_one = PyObject_IsInstance(value.ptr(), type.ptr());
        if (is_one < 0) nb::raise_python_error();
        return is_one != 0;
      },
      "Whether an object is NumPy's number of this type.");
  c.def("__eq__(self, other: object, /) -> bool"_sig, equals, nb::is_operator());
  c.def(
      "__ne__(self, other: object, /) -> bool"_sig,
      [](const dtype& self, nb::handle other) { return !equals(self, other); }, nb::is_operator());
  c.def("__hash__", [](const dtype& t) { return nb::hash(new_text(t.typestr())); });
  c.def("__str__(self) -> str"_sig, &dtype::name);
  c.def("__repr__(self) -> str"_sig, [](nb::handle self) {
    const dtype& t = self_of<dtype>(self);
    if (t.members() == nullptr)
      return "usmx.dtype('" + (t.is_record() ? t.typestr() : t.name()) + "')";
    return "usmx.dtype(" + repr_of(descr_of(t)) + ")";
  });
  c.def("__reduce__(self) -> tuple[Any, ...]"_sig, [](nb::handle self) {
    const dtype& t = self_of<dtype>(self);
    nb::object spec = t.is_bfloat16()          ? nb::object(new_text("bfloat16"))
                      : t.members() == nullptr ? nb::object(new_text(t.typestr()))
                                               : descr_of(t);
    return nb::make_tuple(self.type(), nb::make_tuple(spec));
  });
  for (std::size_t k = 0; k < exported; ++k) {
    // `bool` stays Python's: a module that shadows it confuses its readers.
    const std::string name = k == 0 ? "bool_" : std::string(spellings[k].name);
    m.attr(name.c_str()) = nb::cast(parsed(spellings[k].typestr));
  }
  m.attr("bfloat16") = dtype_object(dtype::of<bfloat16>());
}

namespace {

template <class Wide>
void convert_to(const Wide& value, const dtype& type, std::byte* out) {
  detail::row_cast(type, dtype::of<Wide>())(out, &value);
}

template <class Wide>
Wide convert_from(const std::byte* bytes, const dtype& type) {
  Wide out;
  detail::row_cast(dtype::of<Wide>(), type)(&out, bytes);
  return out;
}

[[noreturn]] void overflow(nb::handle number, const dtype& type) {
  PyErr_Format(PyExc_OverflowError, "%R does not fit into %s", number.ptr(), type.name().c_str());
  nb::raise_python_error();
}

/// For an object that Python could not convert: one that has no way to become a number is named;
/// what its own conversion raised stays.
[[noreturn]] void raise_no_number(nb::handle number, const char* expected) {
  const nb::python_error raised;
  const PyNumberMethods* const slots = Py_TYPE(number.ptr())->tp_as_number;
  const bool converts =
      slots != nullptr && (slots->nb_float != nullptr || slots->nb_index != nullptr);
  if (!converts && !has_attribute(number.type(), "__complex__"))
    wrong_type("value", number, expected);
  throw raised;
}

void integer_element(nb::handle number, const dtype& type, std::byte* out) {
  nb::object whole;
  if (PyIndex_Check(number.ptr())) {
    whole = nb::steal(PyNumber_Index(number.ptr()));
  } else if (PyComplex_Check(number.ptr()) || nb::isinstance<nb::str>(number)) {
    wrong_type("value", number, "a real number");
  } else {
    whole = nb::steal(PyNumber_Long(number.ptr()));  // ValueError, OverflowError for NaN, infinity
  }
  if (!whole.is_valid()) nb::raise_python_error();
  const int bits = static_cast<int>(8 * type.itemsize());
  if (type.kind() == type_class::unsigned_integer) {
    if (PyIndex_Check(number.ptr()) && !PyLong_Check(number.ptr())) {
      // NumPy's own integers wrap around in unsigned types, and only there.
      const unsigned long long value = PyLong_AsUnsignedLongLongMask(whole.ptr());
      if (PyErr_Occurred() != nullptr) nb::raise_python_error();
      return convert_to(static_cast<std::uint64_t>(value), type, out);
    }
    const unsigned long long value = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      overflow(number, type);
    }
    if (bits < 64 && value >> bits != 0) overflow(number, type);
    return convert_to(static_cast<std::uint64_t>(value), type, out);
  }
  int too_big = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &too_big);
  const long long most = bits == 64 ? INT64_MAX : (1LL << (bits - 1)) - 1;
  if (too_big != 0 || value > most || value < -most - 1) overflow(number, type);
  convert_to(static_cast<std::int64_t>(value), type, out);
}

}  // namespace

void to_element(nb::handle number, const dtype& type, std::byte* out) {
  switch (type.kind()) {
    case type_class::boolean: {
      const int truth = PyObject_IsTrue(number.ptr());
      if (truth < 0) nb::raise_python_error();
      *out = static_cast<std::byte>(truth);
      return;
    }
    case type_class::integer:
    case type_class::unsigned_integer:
      return integer_element(number, type, out);
    case type_class::floating: {
      if (PyComplex_Check(number.ptr())) wrong_type("value", number, "a real number");
      if (type.is_bfloat16() && PyLong_CheckExact(number.ptr())) {
        // A double on the way would round first.
        int overflow = 0;
        const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
        if (overflow == 0) return convert_to(std::int64_t{whole}, type, out);
      }
      const double value = PyFloat_AsDouble(number.ptr());
      if (value == -1 && PyErr_Occurred() != nullptr) raise_no_number(number, "a real number");
      return convert_to(value, type, out);
    }
    case type_class::complex: {
      const Py_complex value = PyComplex_AsCComplex(number.ptr());
      if (value.real == -1 && PyErr_Occurred() != nullptr) raise_no_number(number, "a number");
      return convert_to(std::complex<double>(value.real, value.imag), type, out);
    }
    case type_class::record:
      break;
  }
  const nb::object np = numpy();
  if (!np.is_valid())
    wrong_type("value", number, "an array of the same record (other values need NumPy)");
  const nb::object element = np.attr("asarray")(number, dtype_object(type));
  const auto buffer = host_buffer::borrow(element);
  if (!buffer || buffer->elements().size() != 1) wrong_type("value", number, "one record");
  std::memcpy(out, buffer->elements().data(), type.itemsize());
}

std::unique_ptr<std::byte[]> element_of(nb::handle number, const dtype& type) {
  auto element = std::make_unique<std::byte[]>(type.itemsize());
  to_element(number, type, element.get());
  return element;
}

nb::object from_element(const std::byte* bytes, const dtype& type) {
  switch (type.kind()) {
    case type_class::boolean:
      return nb::bool_(*bytes != std::byte{0});
    case type_class::integer:
      return nb::int_(convert_from<std::int64_t>(bytes, type));
    case type_class::unsigned_integer:
      return nb::int_(convert_from<std::uint64_t>(bytes, type));
    case type_class::floating:
      return nb::float_(convert_from<double>(bytes, type));
    case type_class::complex: {
      const auto value = convert_from<std::complex<double>>(bytes, type);
      return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
    }
    case type_class::record:
      break;
  }
  const nb::bytes raw(bytes, type.itemsize());
  const nb::object np = numpy();
  if (!np.is_valid()) return raw;
  return np.attr("frombuffer")(raw, dtype_object(type))[0].attr("item")();
}

dtype natural_dtype(nb::handle number) {
  if (PyBool_Check(number.ptr())) return dtype::of<bool>();
  if (PyFloat_Check(number.ptr())) return dtype::of<double>();
  if (PyComplex_Check(number.ptr())) return dtype::of<std::complex<double>>();
  int too_big = 0;
  static_cast<void>(PyLong_AsLongLongAndOverflow(number.ptr(), &too_big));
  return too_big > 0 ? dtype::of<std::uint64_t>() : dtype::of<std::int64_t>();
}

}  // namespace usmx::python
