// Random numbers, made where the arrays are. Number k of a generator depends on its seed and on k
// alone: it is the same on every device, for every shape, and however many are asked for at a time.
// The numbers are those of Philox4x32-10, and Python's `usmx.random.Generator` draws the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usmx/expression.hpp"

namespace usmx {

/// What the numbers to come depend on, to be kept and given back.
struct random_state {
  /// Integers of any size from 0 on, in decimal.
  std::vector<std::string> seed;
  /// Of a child its number, behind that of the generator it comes from; empty for one of a seed.
  std::vector<std::uint64_t> spawned = {};
  /// How many children there are.
  std::uint64_t children = 0;
  /// The number of the next random number.
  std::uint64_t place = 0;
};

/// How many numbers, of which type, and where.
struct random_options {
  /// By default that of the parameters: no dimensions if all are numbers.
  std::optional<extents> size = {};
  /// Of real numbers float64, which is the default, or float32; of `integers` any type of integers
  /// or bool, by default int64. Others have a type of their own.
  std::optional<dtype> type = {};
  /// By default that of results of the parameters: of numbers alone `default_kind`.
  std::optional<usm_kind> kind = {};
  /// Whether `high` is one of the numbers of `integers`.
  bool endpoint = false;
};

namespace detail {
/// Where some numbers of a stream begin.
struct random_place {
  std::uint64_t key, stream, place;
};
}  // namespace detail

/// Makes random numbers on any queue. A copy gives the same ones again. Thread-safe: no number is
/// given twice.
///
///   usmx::random_generator random(2026);
///   usmx::array x = random.normal(queue, {1000, 3});
///   usmx::array y = random.draw(queue, "gamma", {shapes, 2.0}, {.type =
///   usmx::dtype::of<float>()});
class random_generator {
 public:
  explicit random_generator(std::uint64_t seed);
  /// Throws std::invalid_argument for a seed that is not decimal.
  explicit random_generator(random_state state);
  random_generator(const random_generator& other) : random_generator(other.state()) {}
  random_generator& operator=(const random_generator& other);

  /// From which the next numbers follow; `random_generator(state)` gives them too.
  random_state state() const;
  /// Generators of streams that do not meet this one or each other: the same ones for the same seed
  /// and number of earlier children.
  std::vector<random_generator> spawn(std::size_t count);
  /// Skips numbers, or goes back.
  void advance(std::int64_t count);

  /// Numbers from 0 to below 1.
  array random(const sycl::queue& queue, const extents& size, random_options how = {}) {
    return uniform(queue, size, 0, 1, std::move(how));
  }
  /// From `low` to below `high`; see `draw`.
  array uniform(const sycl::queue& queue, const extents& size, const operand& low,
                const operand& high, random_options how = {}) {
    how.size = size;
    return draw(queue, "uniform", {low, high}, how);
  }
  /// Of the normal distribution.
  array normal(const sycl::queue& queue, const extents& size, const operand& mean = 0.0,
               const operand& deviation = 1.0, random_options how = {}) {
    how.size = size;
    return draw(queue, "normal", {mean, deviation}, how);
  }
  /// From `low` to below `high`, each with exactly the same chance; the numbers do not depend on
  /// the type. Throws std::invalid_argument if there is no number between the bounds, or if one
  /// does not fit the type; interop_error (dtype_mismatch) for bounds that are not integers.
  array integers(const sycl::queue& queue, const operand& low, const operand& high,
                 const random_options& how = {});
  /// The numbers from 0 to below `count` in a random order, as int64. Every order has the same
  /// chance, but for equal keys of 64 bits.
  array permutation(const sycl::queue& queue, std::int64_t count,
                    std::optional<usm_kind> kind = {});

  /// Numbers of a distribution, whose parameters may be arrays and broadcast:
  ///
  ///   real numbers      uniform(low, high)  normal(loc, scale)  exponential(scale)
  ///                     gamma(shape, scale)  lognormal(mean, sigma)  laplace(loc, scale)
  ///                     logistic(loc, scale)  gumbel(loc, scale)  rayleigh(scale)  weibull(a)
  ///                     pareto(a)  power(a)  chisquare(df)  noncentral_chisquare(df, nonc)
  ///                     f(dfnum, dfden)  standard_t(df)  beta(a, b)  wald(mean, scale)
  ///                     standard_cauchy()  triangular(left, mode, right)
  ///   int64             poisson(lam)  binomial(n, p)  geometric(p)  negative_binomial(n, p)
  ///                     logseries(p)  zipf(a)
  ///   uint64            bits(), of which all are random; race(p), in whose order elements of these
  ///                     weights are a sample without replacement
  ///
  /// They are NumPy's. Throws std::invalid_argument naming the parameter for a value that the
  /// distribution does not take, and for a size that they do not broadcast to; interop_error
  /// (dtype_mismatch) for a type that it does not take.
  array draw(const sycl::queue& queue, std::string_view distribution,
             std::span<const operand> parameters, const random_options& how = {});
  array draw(const sycl::queue& queue, std::string_view distribution,
             std::initializer_list<operand> parameters, const random_options& how = {}) {
    return draw(queue, distribution, std::span(parameters.begin(), parameters.size()), how);
  }
  /// The same, written to elements that are there. Throws interop_error (dtype_mismatch) for
  /// elements of a type that the distribution does not have.
  void draw_into(const array& out, std::string_view distribution,
                 std::span<const operand> parameters);

  /// How often each of several results occurs in `n` trials, as int64 along a new last axis: along
  /// the last axis of `chances`, whose sum is at most 1; the last result has what is left. Throws
  /// std::invalid_argument.
  array multinomial(const sycl::queue& queue, const operand& n, const array& chances,
                    const random_options& how = {});
  /// Numbers from 0 to 1 with the sum 1 along a new last axis, as float64. The larger those of
  /// `alpha`, which has one dimension, the closer to `alpha / sum(alpha)`. Waits for them. Throws
  /// std::invalid_argument.
  array dirichlet(const sycl::queue& queue, const array& alpha, const random_options& how = {});

 private:
  detail::random_place reserve(std::int64_t count);

  mutable std::mutex mutex_;
  random_state state_;
  std::uint64_t key_ = 0, stream_ = 0;
};

}  // namespace usmx
