// The kernel of matrix_product.hpp: -DTYPE= says what elements are, -DSUM= in what they are added.
// SPDX-License-Identifier: Apache-2.0

#include "usmx/matrix_product.hpp"

using namespace usmx;

#ifdef PRODUCT
USMX_KERNEL(1)
product(const TYPE* a, const TYPE* b, TYPE* c, int64_t n, int64_t length, int64_t m, int64_t step_a,
        int64_t step_b) {
  local<SUM[matrix_product::depth][matrix_product::columns]> second;
  matrix_product::tile<TYPE, SUM>(second.get(), a, b, c, n, length, m, step_a, step_b);
}
#endif
