// The example of usmx/fft.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <complex>
#include <vector>

#include <usmx/fft.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Fft, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::array{1.F, 0.F, -1.F, 0.F, 1.F, 0.F}, {2, 3});
  using number = std::complex<float>;

  // Of each row, or along another axis.
  const usmx::array rows = usmx::fft(x);
  CHECK(usmx::to_vector<number>(rows)[0] == number(0, 0));
  const usmx::fft_options of_columns{.axis = 0};
  const usmx::array columns = usmx::fft(x, of_columns);
  CHECK(usmx::to_vector<number>(columns)[1] == number(1, 0));

  // Of real numbers half is enough; n numbers come back.
  const usmx::array half = usmx::rfft(x);
  CHECK(half.extent(1) == 2);
  CHECK(usmx::irfft(half, {.n = 3}).extent(1) == 3);

  // Of more numbers than there are, the rest is 0; divided by the root of their number.
  const usmx::array filled = usmx::fft(x, {.n = 4, .norm = usmx::fft_norm::ortho});
  CHECK(filled.extent(1) == 4);
  CHECK(usmx::ifft(filled, {.norm = usmx::fft_norm::ortho}).extent(1) == 4);
}
