// See usmx/fft.hpp. Lines are transformed by a pass for each factor of their length; of a length
// with large factors the transform is a convolution with a chirp (L. Bluestein, "A linear filtering
// approach to the computation of discrete Fourier transform", 1970).
// SPDX-License-Identifier: Apache-2.0
#include "usmx/fft.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithm/axes.hpp"
#include "algorithm/fourier.hpp"
#include "algorithm/own_kernels.hpp"
#include "algorithm/rows.hpp"
#include "core/format.hpp"
#include "memory/spare.hpp"
#include "usmx/copy.hpp"
#include "usmx/elementwise.hpp"
#include "usmx/promotion.hpp"

namespace usmx {
namespace {

using detail::format;
using detail::transform_kind;

/// What a pass can take out of a length.
constexpr std::int64_t pass_factors[] = {4, 2, 3, 5, 7, 11, 13};
constexpr std::int64_t items_of_pass = 64;

dtype complex_of(const dtype& type) {
  const bool is_small = type.itemsize() <= 4 || type == dtype::of<std::complex<float>>();
  const bool is_float = type.kind() == type_class::floating || type.kind() == type_class::complex;
  return is_float && is_small ? dtype::of<std::complex<float>>()
                              : dtype::of<std::complex<double>>();
}

array new_like(const array& like, const extents& shape, const dtype& type) {
  return array::empty(like.queue(), shape.span(), type, detail::kind_of_results(like));
}
array new_like(const array& like) {
  return new_like(like, extents(like.shape()), like.elements().dtype());
}
/// With another length of the last axis.
array new_lines(const array& like, std::int64_t length, const dtype& type) {
  extents shape(like.shape());
  shape[shape.size() - 1] = length;
  return new_like(like, shape, type);
}

// --- kernels of one expression ------------------------------------------------------------------

/// Texts in which T is complex and `part` is the type of its parts.
struct fourier_text {
  const char *inputs, *text, *name;
};
constexpr fourier_text roots_text{"int64 length", "z = usmx::fourier::root_of_one<part>(i, length)",
                                  "roots"};
constexpr fourier_text chirp_text{
    "int64 length",
    "z = usmx::fourier::root_of_one<part>("
    "int64_t(uint64_t(i) * uint64_t(i) % uint64_t(2 * length)), 2 * length)",
    "chirp"};
constexpr fourier_text filter_text{
    "raw T chirp, int64 length, int64 size",
    "if (i < length) z = conj(chirp[i]); else if (i > size - length) z = conj(chirp[size - i]); "
    "else z = T(0);",
    "filter"};
constexpr fourier_text spread_text{
    "raw T x, raw T chirp, int64 length, int64 size, bool inverse",
    "const int64_t k = i % size; if (k < length) {"
    "  const T value = x[(i / size) * length + k];"
    "  z = (inverse ? usmx::fourier::exchanged(value) : value) * chirp[k]; } else z = T(0);",
    "spread"};
constexpr fourier_text respond_text{"T x, raw T response, int64 size", "z = x * response[i % size]",
                                    "respond"};
constexpr fourier_text gather_text{
    "raw T x, raw T chirp, int64 length, int64 size, bool inverse, S scale",
    "const int64_t k = i % length; T value = x[(i / length) * size + k] * chirp[k];"
    "value.re = value.re * scale; value.im = value.im * scale;"
    "z = inverse ? usmx::fourier::exchanged(value) : value;",
    "gather_back"};
constexpr fourier_text hermitian_text{
    "raw T x, int64 length, int64 kept",
    "const int64_t k = i % length, line = i / length * kept;"
    "if (k == 0 || 2 * k == length) { z = x[line + k]; z.im = 0; }"
    "else if (k < kept) z = x[line + k]; else z = conj(x[line + length - k]);",
    "hermitian"};
constexpr fourier_text real_text{"T x", "z = x.re", "real_parts"};

/// Fills an array that is there.
void write(const fourier_text& what, const array& to, std::initializer_list<operand> inputs) {
  static auto& mutex = *new std::mutex;  // leaked, as those of sorts
  static auto& known = *new std::map<std::string_view, elementwise_kernel>;
  const elementwise_kernel* kernel = nullptr;
  {
    const std::lock_guard lock(mutex);
    auto found = known.find(what.name);
    if (found == known.end()) {
      const bool is_real = &what == &real_text;
      elementwise_text text;
      text.preamble = "#include \"usmx/fourier.hpp\"\n";
      text.options = {"-ffp-contract=fast"};
      if (!is_real) text.loop_prep = "using part = decltype(T::re)";
      found = known
                  .emplace(what.name, elementwise_kernel(what.inputs, is_real ? "R z" : "T z",
                                                         what.text, what.name, std::move(text)))
                  .first;
    }
    kernel = &found->second;
  }
  expression_output outputs[1];
  outputs[0].given = &to;
  kernel->submit(to.queue(), std::span(inputs.begin(), inputs.size()), outputs);
}

// --- tables -------------------------------------------------------------------------------------

struct table_key {
  const fourier_text* what;
  std::int64_t n;
  dtype type;
  usm_kind kind;
  sycl::queue queue;

  bool operator==(const table_key&) const = default;
};
/// Tables that are kept, and how many bytes one may have.
constexpr std::size_t most_tables = 16, most_bytes = std::size_t{1} << 20;

struct kept_tables {
  using list = std::list<std::pair<table_key, array>>;

  std::mutex mutex;
  list tables;  // the last one used first

  static kept_tables& instance() {
    static auto& only = []() -> kept_tables& {
      auto& made = *new kept_tables;
      detail::drop_when_trimmed([]() noexcept { instance().drop(); });
      return made;
    }();
    return only;
  }

  void drop() noexcept {
    list old;  // ends without the lock
    const std::lock_guard lock(mutex);
    old.swap(tables);
  }
};

template <class Make>
array table_of(const fourier_text& what, const array& like, std::int64_t n, Make make) {
  kept_tables& all = kept_tables::instance();
  kept_tables::list& kept = all.tables;
  const table_key key{&what, n, like.elements().dtype(), detail::kind_of_results(like),
                      like.queue()};
  {
    const std::lock_guard lock(all.mutex);
    const auto found = std::ranges::find(kept, key, &std::pair<table_key, array>::first);
    if (found != kept.end()) {
      kept.splice(kept.begin(), kept, found);
      return found->second;
    }
  }
  array made = make();
  kept_tables::list old;  // ends without the lock
  if (made.elements().nbytes() <= most_bytes) {
    const std::lock_guard lock(all.mutex);
    kept.emplace_front(key, made);
    if (kept.size() > most_tables) old.splice(old.begin(), kept, std::prev(kept.end()));
  }
  return made;
}

/// exp(-2 pi i k / n) for all k.
array roots_of(const array& like, std::int64_t n) {
  return table_of(roots_text, like, n, [&] {
    const array made = new_like(like, {n}, like.elements().dtype());
    write(roots_text, made, {n});
    return made;
  });
}
/// exp(-pi i k k / n).
array chirp_of(const array& like, std::int64_t n) {
  return table_of(chirp_text, like, n, [&] {
    const array made = new_like(like, {n}, like.elements().dtype());
    write(chirp_text, made, {n});
    return made;
  });
}

// --- transforms of lines ------------------------------------------------------------------------

/// Factors that passes can take; none if there are others.
std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (const std::int64_t factor : pass_factors) {
    for (; n % factor == 0; n /= factor) factors.push_back(factor);
  }
  if (n != 1) factors.clear();
  return factors;
}

std::int64_t convolution_size(std::int64_t n) {
  return std::int64_t{1} << std::bit_width(static_cast<std::uint64_t>(2 * n - 2));
}

/// In new memory; `x` keeps its elements.
array by_factors(const array& x, const std::vector<std::int64_t>& factors, bool inverse,
                 double scale) {
  static auto& kernels = *new detail::own_kernels("fourier.cpp");
  const std::int64_t n = x.extent(1);
  const dtype part = part_type(x.elements().dtype());
  const array roots = roots_of(x, n);
  array source = x, spare;
  std::int64_t stride = 1;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const bool is_last = k + 1 == factors.size();
    const array target = k < 2 ? new_like(x) : spare;
    const double factor = is_last ? scale : 1;
    const auto single = static_cast<float>(factor);
    const std::int64_t count = x.size() / factors[k];
    kernels
        .get(x.queue(), "pass",
             {"-ffp-contract=fast", format("-DRADIX={}", factors[k]),
              format("-DREAL={}", device_name(part))})
        .enqueue(x.queue(),
                 detail::in_groups(detail::quotient_up(count, items_of_pass), items_of_pass),
                 {source, target, roots, n, stride, count, inverse && k == 0, inverse && is_last,
                  part == dtype::of<float>() ? kernel_argument(single) : kernel_argument(factor)});
    spare = source;
    source = target;
    stride *= factors[k];
  }
  return source;
}

/// The transform of the chirp's conjugate, as it is convolved with.
array filter_of(const array& like, std::int64_t n, const array& chirp) {
  return table_of(filter_text, like, n, [&] {
    const std::int64_t size = convolution_size(n);
    const array turned = new_like(like, {1, size}, like.elements().dtype());
    write(filter_text, turned, {chirp, n, size});
    return by_factors(turned, factors_of(size), false, 1);
  });
}

array by_convolution(const array& x, bool inverse, double scale) {
  const std::int64_t n = x.extent(1), size = convolution_size(n);
  const std::vector<std::int64_t> factors = factors_of(size);
  const array chirp = chirp_of(x, n), response = filter_of(x, n, chirp);
  const array padded = new_lines(x, size, x.elements().dtype());
  write(spread_text, padded, {x, chirp, n, size, inverse});
  array product = by_factors(padded, factors, false, 1);
  write(respond_text, product, {product, response, size});
  product = by_factors(product, factors, true, 1 / static_cast<double>(size));
  array made = new_like(x);
  const auto single = static_cast<float>(scale);
  const bool is_single = part_type(x.elements().dtype()) == dtype::of<float>();
  const operand factor =
      is_single ? operand(dtype::of<float>(), &single) : operand(dtype::of<double>(), &scale);
  write(gather_text, made, {product, chirp, n, size, inverse, factor});
  return made;
}

// --- lines of arrays ----------------------------------------------------------------------------

/// Elements from `first` on along the last axis.
array part_of_lines(const array& a, std::int64_t first, std::int64_t count) {
  std::int64_t shift = 0;
  layout part = a.elements().layout().sliced(a.rank() - 1, first, count, 1, shift);
  return a.with_view(a.elements().with_layout(std::move(part), shift));
}

/// New contiguous lines along the last axis, cut or filled with zeros.
array cut(const array& x, int axis, std::int64_t length, const dtype& type) {
  const array turned = detail::with_axis_last(x, axis);
  const std::int64_t own = turned.extent(turned.rank() - 1), kept = std::min(own, length);
  array made = new_lines(turned, length, type);
  if (made.size() == 0) return made;
  copy_async(x.queue(), part_of_lines(made, 0, kept), part_of_lines(turned, 0, kept));
  if (own < length) {
    const std::array<std::byte, 16> zero{};
    fill_async(x.queue(), part_of_lines(made, own, length - own), zero.data());
  }
  return made;
}

double scale_of(std::int64_t n, fft_norm norm, bool inverse) {
  const auto count = static_cast<double>(n);
  if (norm == fft_norm::ortho) return 1 / std::sqrt(count);
  return (norm == fft_norm::forward) != inverse ? 1 / count : 1;
}

array along(transform_kind kind, const array& x, const fft_options& how) {
  const dtype& type = x.elements().dtype();
  const int axis = detail::axis_of(x, how.axis);
  const std::int64_t own = x.extent(axis);
  const std::int64_t n = how.n.value_or(kind == transform_kind::irfft ? 2 * (own - 1) : own);
  if (n < 1) throw std::invalid_argument(format("n: {} elements; expected at least one", n));
  if (type.is_record() || (kind == transform_kind::rfft && type.kind() == type_class::complex)) {
    throw interop_error(fault::dtype_mismatch,
                        format("x: of {}; expected {}", type.name(),
                               type.is_record() ? "numbers" : "real numbers"));
  }
  const array view = detail::transform(kind, x, n, axis, how.norm);
  if (view.elements().layout().is_c_contiguous()) return view;
  array made = new_like(view);
  copy_async(view.queue(), made, view);
  return made;
}

}  // namespace

namespace detail {

array transform_lines(const array& x, bool inverse, double scale) {
  const std::int64_t n = x.extent(x.rank() - 1);
  layout rows;
  x.elements().layout().reshaped({x.size() / n, n}, rows);
  const array lines = x.with_view(x.elements().with_layout(std::move(rows), 0));
  const std::vector<std::int64_t> factors = factors_of(n);
  const array made = n != 1 && factors.empty() ? by_convolution(lines, inverse, scale)
                                               : by_factors(lines, factors, inverse, scale);
  layout whole;
  made.elements().layout().reshaped(extents(x.shape()), whole);
  return made.with_view(made.elements().with_layout(std::move(whole), 0));
}

array transform(transform_kind kind, const array& x, std::int64_t n, int axis, fft_norm norm,
                lines_transform of_lines) {
  const bool inverse = kind == transform_kind::ifft || kind == transform_kind::irfft;
  const bool to_real = kind == transform_kind::irfft;
  const dtype type = complex_of(x.elements().dtype());
  const std::int64_t half = n / 2 + 1;
  array lines = cut(x, axis, to_real ? half : n, type);
  if (lines.size() != 0) {
    if (to_real) {
      const array all = new_lines(lines, n, type);
      write(hermitian_text, all, {lines, n, half});
      lines = all;
    }
    lines = of_lines(lines, inverse, scale_of(n, norm, inverse));
  }
  if (to_real) {
    const array real = new_lines(lines, n, part_type(type));
    if (real.size() != 0) write(real_text, real, {lines});
    lines = real;
  } else if (kind == transform_kind::rfft) {
    const array first = new_lines(lines, half, type);
    if (first.size() != 0) copy_async(x.queue(), first, part_of_lines(lines, 0, half));
    lines = first;
  }
  return with_axis_at(lines, axis);
}

}  // namespace detail

array fft(const array& x, const fft_options& how) { return along(transform_kind::fft, x, how); }
array ifft(const array& x, const fft_options& how) { return along(transform_kind::ifft, x, how); }
array rfft(const array& x, const fft_options& how) { return along(transform_kind::rfft, x, how); }
array irfft(const array& x, const fft_options& how) { return along(transform_kind::irfft, x, how); }

}  // namespace usmx
