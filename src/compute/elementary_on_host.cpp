// See elementary_on_host.hpp. Compiled without contraction, which would change the bits, and once
// more for processors with fma: without, each fma is a call. The bits are the same.
// SPDX-License-Identifier: Apache-2.0
#include "compute/elementary_on_host.hpp"

#include "../../kernels/prelude/elementary.hpp"

#if defined(__x86_64__) && !defined(__FMA__)
#define USMX_WITH_FMA [[gnu::target("avx2,fma")]]
#endif

namespace usmx::detail {
namespace {

template <elementary_function Function, class T>
[[gnu::always_inline]] inline void loop(std::byte* out, const std::byte* const* in,
                                        std::int64_t count) {
  using enum elementary_function;
  auto* const __restrict to = reinterpret_cast<T*>(out);
  const auto* const x = reinterpret_cast<const T*>(in[0]);
  if constexpr (Function == atan2 || Function == hypot) {
    const auto* const y = reinterpret_cast<const T*>(in[1]);
    for (std::int64_t k = 0; k < count; ++k) {
      if constexpr (Function == atan2) to[k] = elementary::atan2(x[k], y[k]);
      if constexpr (Function == hypot) to[k] = elementary::hypot(x[k], y[k]);
    }
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      if constexpr (Function == exp) to[k] = elementary::exp(x[k]);
      if constexpr (Function == log) to[k] = elementary::log(x[k]);
      if constexpr (Function == sin) to[k] = elementary::sin(x[k]);
      if constexpr (Function == cos) to[k] = elementary::cos(x[k]);
      if constexpr (Function == tanh) to[k] = elementary::tanh(x[k]);
    }
  }
}

#ifdef USMX_WITH_FMA
template <elementary_function Function, class T>
USMX_WITH_FMA void loop_with_fma(std::byte* out, const std::byte* const* in, std::int64_t count) {
  loop<Function, T>(out, in, count);
}
#endif

}  // namespace

template <elementary_function Function, class T>
void elementary_loop(std::byte* out, const std::byte* const* in, std::int64_t count) {
#ifdef USMX_WITH_FMA
  static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_fma) return loop_with_fma<Function, T>(out, in, count);
#endif
  loop<Function, T>(out, in, count);
}

#define USMX_LOOPS(name)                                            \
  template void elementary_loop<elementary_function::name, float>(  \
      std::byte*, const std::byte* const*, std::int64_t);           \
  template void elementary_loop<elementary_function::name, double>( \
      std::byte*, const std::byte* const*, std::int64_t);
USMX_LOOPS(exp)
USMX_LOOPS(log)
USMX_LOOPS(sin)
USMX_LOOPS(cos)
USMX_LOOPS(tanh)
USMX_LOOPS(atan2)
USMX_LOOPS(hypot)
#undef USMX_LOOPS

}  // namespace usmx::detail
