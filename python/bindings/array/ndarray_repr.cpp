// Arrays as text. Only the elements that are printed leave the device: of a large array the edges.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "array/ndarray.hpp"
#include "core/format.hpp"
#include "support/attributes.hpp"
#include "support/text.hpp"
#include "usmx/copy.hpp"

namespace usmx::python {
namespace {

constexpr std::int64_t most_elements = 1000;

/// What programs set with np.set_printoptions, and the values that NumPy begins with.
struct print_options {
  static constexpr int plain_precision = 8;

  int precision = plain_precision;  // digits after the point
  bool suppress = false;            // no exponents
  double threshold = most_elements;
  std::int64_t edge = 3;
  std::size_t width = 75;

  bool limits_digits() const noexcept { return suppress || precision != plain_precision; }
};

/// Those of NumPy where it is imported; otherwise no program can have changed them.
print_options options_now() {
  print_options out;
  const nb::object np = nb::module_::import_("sys").attr("modules").attr("get")("numpy");
  const nb::object read = attribute_or_none(np, "get_printoptions");
  if (read.is_none()) return out;
  const nb::object given = read();
  const auto number = [&](const char* name) {
    const double value = PyFloat_AsDouble(nb::object(nb::float_(given[name])).ptr());
    return std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1e15);  // inf is a usual threshold
  };
  out.precision = static_cast<int>(std::min(number("precision"), 17.0));
  out.suppress = nb::cast<bool>(given["suppress"]);
  out.threshold = number("threshold");
  out.edge = std::max<std::int64_t>(static_cast<std::int64_t>(number("edgeitems")), 1);
  out.width = static_cast<std::size_t>(number("linewidth"));
  return out;
}

/// What is shown of one axis: everything, or so many elements of each end.
struct excerpt {
  std::int64_t length;
  std::int64_t edge;
  bool is_cut() const noexcept { return length > 2 * edge; }
  std::int64_t shown() const noexcept { return is_cut() ? 2 * edge : length; }
};

std::vector<excerpt> choose(const layout& l, const print_options& options) {
  const bool is_whole = static_cast<double>(l.size()) <= options.threshold;
  const std::int64_t most = is_whole ? std::max(l.size(), most_elements) : most_elements;
  std::int64_t edge = is_whole ? l.size() : options.edge;
  for (;; --edge) {
    std::vector<excerpt> axes;
    std::int64_t count = 1;
    for (const std::int64_t n : l.shape()) {
      axes.push_back({n, edge});
      count *= axes.back().shown();
      if (count > most) break;
    }
    if (count <= most) return axes;
    if (edge == 1) return {};
  }
}

/// The shown elements, contiguous in host memory.
struct gathered {
  std::unique_ptr<std::byte[]> bytes;
  any_view view;
};

gathered gather(const array& a, const std::vector<excerpt>& axes) {
  const dtype& type = a.elements().dtype();
  extents shape(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) shape[k] = axes[k].shown();
  layout where;
  check(layout::c_order(shape, type.itemsize(), where));
  gathered out;
  out.bytes.reset(new std::byte[std::max<std::size_t>(
      static_cast<std::size_t>(where.size()) * type.itemsize(), 16)]);
  out.view = checked_view(out.bytes.get(), type, std::move(where), usm_kind::unknown, false);

  std::vector<std::size_t> cut;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].is_cut()) cut.push_back(k);
  }
  const gil_released released;
  const untraced quiet;  // printing while a trace is on should not add a copy to it
  // One block for each combination of beginnings and ends.
  for (std::size_t corner = 0; corner < std::size_t{1} << cut.size(); ++corner) {
    any_view from = a.elements();
    any_view to = out.view;
    for (std::size_t bit = 0; bit < cut.size(); ++bit) {
      const excerpt& e = axes[cut[bit]];
      const bool is_end = (corner >> bit & 1) != 0;
      const auto take = [&](const any_view& v, std::int64_t start) {
        std::int64_t shift = 0;
        layout part = v.layout().sliced(static_cast<int>(cut[bit]), start, e.edge, 1, shift);
        return v.with_layout(std::move(part), shift);
      };
      from = take(from, is_end ? e.length - e.edge : 0);
      to = take(to, is_end ? e.edge : 0);
    }
    copy_to_host(to, a.with_view(from));
  }
  return out;
}

/// The fewest digits that are read back as the same element, at most 8, or those after the point
/// that the program asked for: 0.3 of float32, not 0.30000001. No locale changes the point.
std::string real_text(double x, const dtype& type, const print_options& options) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const int most_digits = options.limits_digits() ? 17 : 8;
  std::array<char, 40> text;
  char* end = text.data();
  const auto write = [&](std::chars_format format, int decimals) {
    end = std::to_chars(text.data(), text.data() + text.size(), x, format, decimals).ptr;
  };
  const auto read = [&](int digits) {
    write(std::chars_format::scientific, digits - 1);
    double number = 0;
    std::from_chars(text.data(), end, number);
    return number;
  };
  const auto stored = [&](double number) {
    std::array<std::byte, 16> element;
    to_element(nb::float_(number), type, element.data());
    return PyFloat_AsDouble(from_element(element.data(), type).ptr());
  };
  const double most = read(most_digits);
  int digits = 1;
  while (digits < most_digits) {
    const double number = read(digits);
    if (number == most || stored(number) == x) break;
    ++digits;
  }
  if (digits == most_digits) read(digits);
  int exponent = 0;
  const char* const sign = std::find(text.data(), end, 'e') + 1;
  std::from_chars(*sign == '+' ? sign + 1 : sign, end, exponent);
  const bool is_short =
      exponent < (options.suppress ? 16 : 8) && (options.suppress || -5 < exponent);
  int decimals = std::max(digits - 1 - exponent, 0);
  if (options.limits_digits()) {
    decimals = std::min(decimals, options.precision);
    if (!is_short && digits - 1 > options.precision) read(options.precision + 1);
  }
  if (is_short) write(std::chars_format::fixed, decimals);
  std::string out(text.data(), end);
  if (!is_short) return out;
  if (decimals == 0) return out + '.';
  if (options.limits_digits()) out.erase(out.find_last_not_of('0') + 1);
  return out;
}

std::string element_text(const std::byte* p, const dtype& type, const print_options& options) {
  switch (type.kind()) {
    case type_class::boolean:
      return *p != std::byte{0} ? "True" : "False";
    case type_class::floating:
      // All digits of bfloat16, as of the float32 that it is: few would tell its elements apart.
      return real_text(PyFloat_AsDouble(from_element(p, type).ptr()),
                       type.is_bfloat16() ? dtype::of<float>() : type, options);
    case type_class::complex: {
      const Py_complex z = PyComplex_AsCComplex(from_element(p, type).ptr());
      const dtype part = part_type(type);
      const std::string imaginary = real_text(z.imag, part, options);
      return real_text(z.real, part, options) + (imaginary.front() == '-' ? "" : "+") + imaginary +
             "j";
    }
    default:
      return repr_of(from_element(p, type));
  }
}

class printer {
 public:
  printer(const any_view& shown, const std::vector<excerpt>& axes, std::size_t indent,
          const print_options& options)
      : axes_(axes), indent_(indent), line_width_(options.width) {
    const auto* p = static_cast<const std::byte*>(shown.data());
    for (std::int64_t k = 0; k < shown.size(); ++k, p += shown.dtype().itemsize()) {
      texts_.push_back(element_text(p, shown.dtype(), options));
      width_ = std::max(width_, texts_.back().size());
    }
  }

  std::string print() {
    next_ = 0;
    return axes_.empty() ? texts_.front() : print(0);
  }

 private:
  std::string print(std::size_t axis) {
    const excerpt& e = axes_[axis];
    const bool is_last = axis + 1 == axes_.size();
    const std::string start(indent_ + axis + 1, ' ');
    std::string out = "[";
    std::size_t column = indent_ + axis + 1;
    for (std::int64_t k = 0; k < e.shown(); ++k) {
      if (is_last) {
        if (e.is_cut() && k == e.edge) out += "..., ", column += 5;
        std::string item = texts_[next_++];
        item.insert(0, width_ - item.size(), ' ');
        if (k + 1 < e.shown()) item += ',';
        if (column + item.size() > line_width_ && column > start.size()) {
          out.erase(out.find_last_not_of(' ') + 1);
          out += "\n" + start;
          column = start.size();
        }
        out += item;
        column += item.size() + 1;
        if (k + 1 < e.shown()) out += ' ';
      } else {
        const std::string gap(axes_.size() - axis - 1, '\n');
        if (e.is_cut() && k == e.edge) out += start + "..." + "," + gap;
        if (k > 0) out += start;
        out += print(axis + 1);
        if (k + 1 < e.shown()) out += "," + gap;
      }
    }
    return out + "]";
  }

  const std::vector<excerpt>& axes_;
  std::size_t indent_;
  std::size_t line_width_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

std::string represent(const array& a, std::size_t indent) {
  const layout& l = a.elements().layout();
  if (l.size() == 0) return "[]";
  const print_options options = options_now();
  const std::vector<excerpt> axes = choose(l, options);
  if (axes.empty() && l.rank() > 0) return "[...]";
  const gathered shown = gather(a, axes);
  return printer(shown.view, axes, indent, options).print();
}

std::string represent(const array& a) {
  const any_view& v = a.elements();
  const std::string head = "usmx.ndarray(";
  std::string out = head + represent(a, head.size());
  if (v.size() == 0 || out.find("...") != std::string::npos)
    out += ", shape=" + detail::shape_text(v.layout().shape());
  out += ", dtype=" + (v.dtype().members() != nullptr ? repr_of(nb::cast(v.dtype()).attr("descr"))
                                                      : v.dtype().name());
  out += detail::format(", usm_type='{}'", name(a.kind()));
  const std::string device = filter_string(a.queue().get_device());
  if (!device.empty()) out += ", device='" + device + "'";
  return out + ")";
}

}  // namespace usmx::python
