// A pass of fourier.hpp over lines: -DRADIX= is the factor that it takes, -DREAL= the type of the
// parts.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/fourier.hpp"

using number = usmx::complex<REAL>;

#ifdef PASS
USMX_KERNEL(1)
pass(const number* from, number* to, const number* roots, int64_t n, int64_t stride, int64_t count,
     bool first, bool last, REAL scale) {
  usmx::fourier::pass<RADIX>(from, to, roots, n, stride, count, first, last, scale);
}
#endif
