// Turns a fuzzer's bytes into values that are interesting more often than chance: small numbers,
// numbers near powers of two and near the ends, and raw ones. Running out of bytes gives zeros.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// What a broken promise looks like to a fuzzer and to the replay: a message, then the end.
[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return at_ == end_ ? std::uint8_t{0} : *at_++; }
  /// 0 to n - 1.
  unsigned below(unsigned n) { return byte() % n; }

  std::uint64_t raw() {
    std::uint64_t n = 0;
    for (int k = 0; k < 8; ++k) n = n << 8 | byte();
    return n;
  }

  std::int64_t number() {
    const std::uint8_t kind = byte();
    const auto delta = static_cast<std::int64_t>(kind >> 4) - 8;
    switch (kind & 15) {
      case 0:
        return static_cast<std::int64_t>(raw());
      case 1: {  // near plus a power of two
        const std::uint64_t power = std::uint64_t{1} << below(64);
        return static_cast<std::int64_t>(power + static_cast<std::uint64_t>(delta));
      }
      case 2: {  // near minus a power of two
        const std::uint64_t power = std::uint64_t{1} << below(64);
        return static_cast<std::int64_t>(~power + static_cast<std::uint64_t>(delta));
      }
      case 3: {  // near a fraction of the largest
        return INT64_MAX / (1 + below(32)) - (delta + 8);
      }
      default:
        return delta + (kind & 1 ? 0 : 6);
    }
  }

  std::string text(std::size_t length) {
    std::string s;
    while (s.size() < length && !empty()) s += static_cast<char>(byte());
    return s;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};
