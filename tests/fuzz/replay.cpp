// Runs a fuzz target without a fuzzer: on 200 000 inputs generated from a fixed seed, the same on
// every machine, or on the files given as arguments (a crash that the fuzzer wrote down).
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) broken(std::string("cannot read ") + argv[i]);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  if (argc > 1) return 0;

  constexpr int runs = 200000;
  std::mt19937_64 random(20260101);
  std::vector<std::uint8_t> bytes;
  for (int run = 0; run < runs; ++run) {
    bytes.resize(random() % 160);
    // Few different bytes in some inputs: equal numbers are rarer by chance than in life.
    const std::uint64_t mask = run % 3 == 0 ? 0x35 : 0xff;
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random() & mask);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%d inputs replayed\n", runs);
  return 0;
}
