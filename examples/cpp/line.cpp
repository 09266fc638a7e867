// Fits a straight line to points read from a text file, on the device, without Python:
//
//   g++ line.cpp $(usmx --cflags --libs) -o line && ./line points.txt
//
// The file has two numbers in each line, x and y. Printed are slope, intercept, the standard
// deviation of what is left, and how many points lie within one of it.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <vector>

#include <usmx/arithmetic.hpp>
#include <usmx/elementwise.hpp>
#include <usmx/reduction.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "usage: line FILE\n"), 2;
  std::ifstream file(words[1]);
  std::vector<double> xs, ys;
  for (double x, y; file >> x >> y;) xs.push_back(x), ys.push_back(y);

  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<double>(queue, xs);
  const auto y = usmx::from_host<double>(queue, ys);

  // Operators: each line is at most one kernel.
  const auto dx = x - mean(x), dy = y - mean(y);
  const auto slope = sum(dx * dy) / sum(dx * dx);
  const auto intercept = mean(y) - slope * mean(x);
  const usmx::array left = y - (slope * x + intercept);
  const double deviation = usmx::item<double>(sqrt(mean(square(left))));

  // A reduction of one's own, where no operator says it.
  const usmx::reduction_kernel within("T left, float64 limit", "int64 n",
                                      {.map = "abs(left) <= limit ? 1 : 0",
                                       .reduce = "a + b",
                                       .post_map = "n = a",
                                       .identity = "0",
                                       .reduce_type = "int64"});
  const double near = usmx::item<double>(within(queue, {left, deviation}));
  std::printf("y = %.6g x + %.6g, deviation %.6g, %g of %zu points within it\n",
              usmx::item<double>(slope), usmx::item<double>(intercept), deviation, near, xs.size());
}
