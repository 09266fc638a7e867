// A C++ program on usmx:  g++ squares.cpp $(usmx --cflags --libs) -o squares && ./squares
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <usmx/elementwise.hpp>
#include <usmx/runtime.hpp>

int main() {
  sycl::queue queue = usmx::default_queue();
  const std::int64_t shape[] = {5};
  auto x = usmx::array::empty(queue, shape, usmx::dtype::of<float>(), usmx::usm_kind::shared);
  for (int i = 0; i < 5; ++i) static_cast<float*>(x.data())[i] = static_cast<float>(i);
  const usmx::elementwise_kernel squared("T x", "T y", "y = x * x", "squared");
  const usmx::array y = squared(queue, {x});  // compiled for the device, at run time
  y.wait();
  for (int i = 0; i < 5; ++i) std::printf("%g ", static_cast<float*>(y.data())[i]);
}
