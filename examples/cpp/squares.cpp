// A C++ program on usmx:  g++ squares.cpp $(usmx --cflags --libs) -o squares && ./squares
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <usmx/arithmetic.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

int main() {
  sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::array{0.F, 1.F, 2.F, 3.F, 4.F});
  const usmx::array y = x * x;  // one kernel, compiled for the device when it is first needed
  for (const float one : usmx::to_vector<float>(y)) std::printf("%g ", one);
}
