// Finds two tones in noise, on the device, without Python:
//
//   g++ tones.cpp $(usmx --cflags --libs) -o tones && ./tones
//
// Printed are how many periods of each tone the signal has, and how strong the tones are: the
// factors by which sums of them are nearest to the signal.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <vector>

#include <usmx/arithmetic.hpp>
#include <usmx/elementwise.hpp>
#include <usmx/fft.hpp>
#include <usmx/matmul.hpp>
#include <usmx/random.hpp>
#include <usmx/runtime.hpp>
#include <usmx/sort.hpp>
#include <usmx/typed_array.hpp>

int main() {
  const sycl::queue queue = usmx::default_queue();
  constexpr std::int64_t n = 1 << 14;
  const usmx::elementwise_kernel tone("int64 periods, int64 length", "float64 y",
                                      "y = sin(6.283185307179586 * periods * i / length)", "tone");
  const auto wave = [&](std::int64_t periods) {
    usmx::expression_output made;
    const auto place = usmx::empty<double>(queue, {n});
    made.given = &place;
    const usmx::operand inputs[] = {periods, n};
    tone.submit(queue, inputs, std::span(&made, 1));
    return place;
  };
  usmx::random_generator random(1);
  const usmx::array signal = 3 * wave(440) + wave(1000) + random.normal(queue, {n}, 0, 2);

  const usmx::array strength = absolute(usmx::rfft(signal));
  const auto order = usmx::to_vector<std::int64_t>(usmx::argsort(strength, {.descending = true}));
  for (const std::int64_t periods : {order[0], order[1]}) {
    const auto found = wave(periods);
    const double factor = usmx::item<double>(usmx::matmul(found, signal)) /
                          usmx::item<double>(usmx::matmul(found, found));
    std::printf("%d periods, %.1f\n", static_cast<int>(periods), factor);
  }
}
