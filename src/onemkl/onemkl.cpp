// Finds the adapter, and gives it the memory and the order of commands.
// SPDX-License-Identifier: Apache-2.0
#include "onemkl/onemkl.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <iterator>
#include <list>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/format.hpp"
#include "onemkl/functions.hpp"
#include "usmx/promotion.hpp"
#include "usmx/submission.hpp"
#include "usmx/wait.hpp"

namespace usmx::detail::onemkl {
namespace {

const onemkl_functions* functions = nullptr;

const onemkl_functions& loaded() {
  if (functions == nullptr) throw std::logic_error("oneMKL was not loaded");
  return *functions;
}

number_type type_of(const array& a) {
  const dtype& type = a.elements().dtype();
  if (type == dtype::of<float>()) return number_type::f32;
  if (type == dtype::of<double>()) return number_type::f64;
  if (type == dtype::of<std::complex<float>>()) return number_type::c64;
  if (type == dtype::of<std::complex<double>>()) return number_type::c128;
  throw std::invalid_argument("oneMKL computes with float32, float64, complex64 and complex128");
}

std::int64_t length(const array& a, std::size_t from_end) {
  const extents& shape = a.elements().layout().shape();
  if (shape.size() < from_end) throw std::invalid_argument("oneMKL: too few dimensions");
  return shape[shape.size() - from_end];
}

void* at(const array& a, std::int64_t element) {
  return static_cast<std::byte*>(a.data()) +
         element * static_cast<std::int64_t>(a.elements().dtype().itemsize());
}

/// What would otherwise end in memory of others.
void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(format("oneMKL: {}", what));
}
void require_elements(const array& a, const dtype& type, std::int64_t count, const char* what) {
  require(a.elements().dtype() == type && a.elements().layout().is_c_contiguous() &&
              a.elements().size() == count,
          what);
}

/// Submits what `command` does with arrays.
template <class Command>
void submit(const sycl::queue& queue, std::initializer_list<const array*> arrays,
            const Command& command) {
  submission one(queue);
  for (const array* a : arrays) {
    if (a != nullptr) one.uses(*a);
  }
  one.submit(command);
}

array scratch_of(const array& a, std::int64_t count) {
  const std::int64_t shape[] = {std::max<std::int64_t>(count, 1)};
  return array::empty(a.queue(), shape, a.elements().dtype(), usm_kind::device);
}

/// Transforms that are ready for a queue: making one takes longer than running it. Runs of one
/// follow each other, because it may have memory of its own.
class made_transforms {
 public:
  sycl::event run(sycl::queue& queue, const transform_form& form, const void* from, void* to,
                  std::vector<sycl::event> before) {
    std::list<one> left_out;
    const sycl::event event = [&] {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(
          all_, [&](const one& made) { return made.form == form && made.queue == queue; });
      if (found != all_.end()) {
        all_.splice(all_.begin(), all_, found);
        before.push_back(all_.front().last);
      } else {
        all_.push_front({queue, form, loaded().make_transform(queue, form), {}});
      }
      if (all_.size() > most) left_out.splice(left_out.end(), all_, std::prev(all_.end()));
      return all_.front().last = loaded().transform(all_.front().made, form, from, to, before);
    }();
    for (const one& last : left_out) {
      wait(last.last);
      loaded().end_transform(last.made, last.form);
    }
    return event;
  }

 private:
  static constexpr std::size_t most = 32;
  struct one {
    sycl::queue queue;
    transform_form form;
    void* made;
    sycl::event last;
  };

  std::mutex mutex_;
  std::list<one> all_;
};

}  // namespace

const std::string& load(const std::string& path) {
  static const std::string why = [&]() -> std::string {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return dlerror();
    using getter = const onemkl_functions* (*)();
    const auto get = reinterpret_cast<getter>(dlsym(library, "usmx_onemkl_functions"));
    if (get == nullptr) return dlerror();
    functions = get();
    return {};
  }();
  return why;
}

void multiply(const array& a, bool a_turned, std::int64_t a_step, const array& b, bool b_turned,
              std::int64_t b_step, const array& made) {
  matrix_product p;
  p.type = type_of(made);
  p.n = length(made, 2);
  p.m = length(made, 1);
  p.length = length(a, a_turned ? 2 : 1);
  const dtype& type = made.elements().dtype();
  require(made.elements().size() > 0 && p.length > 0, "empty matrices");
  p.count = made.elements().size() / (p.n * p.m);
  require_elements(made, type, p.count * p.n * p.m, "the result is not contiguous");
  const auto holds = [&](const array& x, std::int64_t step, std::int64_t size) {
    require(step == 0 || step == size, "step");
    require_elements(x, type, step == 0 ? size : p.count * size, "x1 or x2 do not fit the result");
  };
  holds(a, a_step, p.n * p.length);
  holds(b, b_step, p.length * p.m);
  p.a = {a.data(), a_step, a_turned};
  p.b = {b.data(), b_step, b_turned};
  p.made = made.data();
  submit(made.queue(), {&a, &b, &made}, [&](sycl::queue& queue, const auto& before) {
    return loaded().multiply(queue, p, before);
  });
}

void eigh(const array& a, const array& values, bool vectors) {
  const std::int64_t n = length(a, 1);
  require(a.elements().size() > 0, "empty matrices");
  const std::int64_t count = a.elements().size() / (n * n);
  const number_type type = type_of(a);
  require_elements(a, a.elements().dtype(), count * n * n, "x is not contiguous or not square");
  require_elements(values, part_type(a.elements().dtype()), count * n, "values do not fit x");
  sycl::queue asked = a.queue();
  const array scratch = scratch_of(a, loaded().eigh_scratch(asked, type, vectors, n));
  submit(a.queue(), {&a, &values, &scratch}, [&](sycl::queue& queue, const auto& before) {
    return one_after_another(count, before, [&](std::int64_t k, const auto& after) {
      return loaded().eigh(queue, type, vectors, n, at(a, k * n * n), at(values, k * n),
                           scratch.data(), scratch.elements().size(), after);
    });
  });
}

void svd(const array& a, const array& values, const array* u, const array* vh, bool full) {
  const std::int64_t m = length(a, 2), n = length(a, 1), k = std::min(m, n);
  require(a.elements().size() > 0, "empty matrices");
  const std::int64_t count = a.elements().size() / (m * n);
  const dtype& own = a.elements().dtype();
  require_elements(a, own, count * m * n, "x is not contiguous");
  require_elements(values, part_type(own), count * k, "values do not fit x");
  const number_type type = type_of(a);
  const char job = u == nullptr ? 'N' : full ? 'A' : 'S';
  const std::int64_t columns = full ? m : k, rows = full ? n : k;
  if (u != nullptr) {
    require_elements(*u, own, count * m * columns, "u does not fit x");
    require_elements(*vh, own, count * rows * n, "vh does not fit x");
  }
  sycl::queue asked = a.queue();
  const array scratch = scratch_of(a, loaded().svd_scratch(asked, type, job, m, n));
  submit(a.queue(), {&a, &values, u, vh, &scratch}, [&](sycl::queue& queue, const auto& before) {
    return one_after_another(count, before, [&](std::int64_t i, const auto& after) {
      return loaded().svd(queue, type, job, m, n, at(a, i * m * n), at(values, i * k),
                          u != nullptr ? at(*u, i * m * columns) : nullptr,
                          vh != nullptr ? at(*vh, i * rows * n) : nullptr, scratch.data(),
                          scratch.elements().size(), after);
    });
  });
}

void transform(const array& from, const array& to, bool inverse, double scale) {
  const dtype& type = from.elements().dtype();
  require(from.elements().size() > 0 && type.kind() == type_class::complex, "x has no numbers");
  require_elements(from, type, from.elements().size(), "x is not contiguous");
  require_elements(to, type, from.elements().size(), "the result does not fit x");
  static auto& made = *new made_transforms;  // leaked: the driver may be gone at exit
  const transform_form form{.is_single = type_of(from) == number_type::c64,
                            .inverse = inverse,
                            .n = length(from, 1),
                            .count = from.elements().size() / length(from, 1),
                            .scale = scale};
  submit(from.queue(), {&from, &to}, [&](sycl::queue& queue, const auto& before) {
    return made.run(queue, form, from.data(), to.data(), before);
  });
}

}  // namespace usmx::detail::onemkl
