// The stream behind `usmx.random.Generator`: usmx/random.hpp with the arguments of Python.
// Parameters are numbers and arrays, of which the package makes other objects.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array/ndarray.hpp"
#include "protocols/protocols.hpp"
#include "support/error_text.hpp"
#include "support/gil.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"
#include "usmx/random.hpp"

namespace usmx::python {
namespace {

/// `size=`: an int or a sequence of these.
std::optional<extents> to_size(nb::handle size) {
  if (size.is_none()) return {};
  if (PySequence_Check(size.ptr()) == 0) {
    return extents{read_integer(size, "size", fault::shape_overflow)};
  }
  return read_extents(size, "size", fault::shape_overflow);
}

/// Operands, and the arrays among them.
class drawn_from {
 public:
  explicit drawn_from(nb::handle values) {
    const std::size_t count = nb::len(values);
    held_.reserve(count);  // operands point to them
    operands_.reserve(count);
    for (const nb::handle value : nb::iter(values)) {
      if (is_ready<ndarray>(value)) {
        operands_.emplace_back(held_.emplace_back(value_of(value)));
      } else if (PyLong_Check(value.ptr())) {
        add(value);
      } else {
        operands_.emplace_back(nb::cast<double>(value));
      }
    }
  }
  std::span<const operand> get() const noexcept { return operands_; }

 private:
  /// Integers beyond 64 bits are numbers of float64.
  void add(nb::handle integer) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow == 0) return void(operands_.emplace_back(static_cast<std::int64_t>(number)));
    const unsigned long long large = overflow < 0 ? 0 : PyLong_AsUnsignedLongLong(integer.ptr());
    if (overflow > 0 && PyErr_Occurred() == nullptr) {
      return void(operands_.emplace_back(static_cast<std::uint64_t>(large)));
    }
    PyErr_Clear();
    const double near = PyLong_AsDouble(integer.ptr());
    const bool is_beyond = PyErr_Occurred() != nullptr;  // all floats, as 10**400
    PyErr_Clear();
    operands_.emplace_back(is_beyond ? std::copysign(HUGE_VAL, overflow) : near);
  }

  std::vector<array> held_;
  std::vector<operand> operands_;
};

/// Runs without the GIL; a type that a distribution does not have is a TypeError.
template <class Draw>
nb::object drawn(Draw draw) {
  try {
    array made;
    {
      const gil_released release;
      made = draw();
    }
    return wrap_array(std::move(made));
  } catch (const interop_error& e) {
    if (e.code() == fault::dtype_mismatch) throw nb::type_error(e.what());
    throw;
  }
}

/// Where numbers are made, and of which shape and type.
struct options_of_call {
  sycl::queue queue;
  random_options how;

  options_of_call(nb::handle size, nb::handle type, nb::handle usm_type, nb::handle device,
                  nb::handle place)
      : queue(to_place(place, device)), how{.size = to_size(size)} {
    if (!type.is_none()) how.type = to_dtype(type);
    if (!usm_type.is_none()) how.kind = to_kind(usm_type, queue);
  }
};

nb::object draw_into(random_generator& stream, const std::string& name, const drawn_from& values,
                     nb::handle size, nb::handle type, nb::handle out) {
  if (!is_ready<ndarray>(out)) {
    throw type_error("out: expected a usmx.ndarray, got {}", shown(nb::type_name(out.type())));
  }
  const array to = value_of(out);
  const dtype& own = to.elements().dtype();
  if (!type.is_none() && to_dtype(type) != own) {
    throw type_error("out: expected elements of {}, got {}", to_dtype(type).name(), own.name());
  }
  const extents& shape = to.elements().layout().shape();
  if (const auto asked = to_size(size); asked && !(*asked == shape)) {
    throw value_error("out: has the shape {}, and size is {}", detail::shape_text(shape),
                      detail::shape_text(*asked));
  }
  static_cast<void>(drawn([&] {
    stream.draw_into(to, name, values.get());
    return to;
  }));
  return nb::borrow(out);
}

nb::object draw(random_generator& stream, nb::handle distribution, nb::handle parameters,
                nb::handle size, nb::handle type, nb::handle out, nb::handle usm_type,
                nb::handle device, nb::handle queue) {
  const std::string name = to_text(distribution, "name");
  const drawn_from values(parameters);
  if (!out.is_none()) return draw_into(stream, name, values, size, type, out);
  const options_of_call call(size, type, usm_type, device, queue);
  return drawn([&] { return stream.draw(call.queue, name, values.get(), call.how); });
}

nb::object integers(random_generator& stream, nb::handle bounds, nb::handle size, nb::handle type,
                    bool endpoint, nb::handle usm_type, nb::handle device, nb::handle queue) {
  const drawn_from values(bounds);
  options_of_call call(size, type, usm_type, device, queue);
  call.how.endpoint = endpoint;
  const auto both = values.get();
  return drawn([&] { return stream.integers(call.queue, both[0], both[1], call.how); });
}

nb::object multinomial(random_generator& stream, nb::handle n, nb::handle chances, nb::handle size,
                       nb::handle usm_type, nb::handle device, nb::handle queue) {
  const drawn_from trials(nb::make_tuple(n));
  const array table = value_of(chances);
  const options_of_call call(size, nb::none(), usm_type, device, queue);
  return drawn([&] { return stream.multinomial(call.queue, trials.get()[0], table, call.how); });
}

nb::object dirichlet(random_generator& stream, nb::handle alpha, nb::handle size,
                     nb::handle usm_type, nb::handle device, nb::handle queue) {
  const array table = value_of(alpha);
  const options_of_call call(size, nb::none(), usm_type, device, queue);
  return drawn([&] { return stream.dirichlet(call.queue, table, call.how); });
}

std::vector<std::uint64_t> to_counts(nb::handle obj) {
  std::vector<std::uint64_t> counts;
  for (const nb::handle one : obj) counts.push_back(nb::cast<std::uint64_t>(one));
  return counts;
}

}  // namespace

void bind_random(nb::module_& m) {
  nb::class_<random_generator>(m, "_RandomStream", "Random numbers of a seed, and their place.")
      .def(
          "__init__(self, seed: Sequence[str], spawned: Sequence[int] = (), "
          "children: int = 0, place: int = 0) -> None"_sig,
          [](random_generator* self, nb::handle seed, nb::handle spawned, std::uint64_t children,
             std::uint64_t place) {
            new (self) random_generator(
                random_state{to_texts(seed, "seed", "a sequence of str, such as (\"2026\",)"),
                             to_counts(spawned), children, place});
          })
      .def(
          "state(self) -> tuple[list[str], list[int], int, int]"_sig,
          [](const random_generator& self) {
            const random_state now = self.state();
            return nb::make_tuple(now.seed, now.spawned, now.children, now.place);
          },
          "What the constructor takes.")
      .def(
          "become(self, other: _RandomStream) -> None"_sig,
          [](random_generator& self, const random_generator& other) { self = other; },
          "Gives the numbers that the other one is going to give.")
      .def("spawn(self, count: int) -> list[_RandomStream]"_sig,
           [](random_generator& self, std::size_t count) {
             nb::list made = new_list();
             for (random_generator& one : self.spawn(count)) made.append(one);
             return made;
           })
      .def(
          "advance(self, count: int) -> None"_sig,
          [](random_generator& self, std::uint64_t count) {
            self.advance(static_cast<std::int64_t>(count));
          },
          "Skips numbers, modulo 2**64.")
      .def(
          "draw(self, name: str, values: Sequence[object], size: object?, dtype: object?, "
          "out: ndarray | None, usm_type: UsmKind | None, device: DeviceLike?, "
          "queue: QueueLike?) -> ndarray"_sig,
          draw)
      .def(
          "integers(self, bounds: Sequence[object], size: object?, dtype: object?, "
          "endpoint: bool, usm_type: UsmKind | None, device: DeviceLike?, "
          "queue: QueueLike?) -> ndarray"_sig,
          integers)
      .def(
          "multinomial(self, n: object, pvals: ndarray, size: object?, "
          "usm_type: UsmKind | None, device: DeviceLike?, queue: QueueLike?) -> ndarray"_sig,
          multinomial)
      .def(
          "dirichlet(self, alpha: ndarray, size: object?, usm_type: UsmKind | None, "
          "device: DeviceLike?, queue: QueueLike?) -> ndarray"_sig,
          dirichlet);
}

}  // namespace usmx::python
