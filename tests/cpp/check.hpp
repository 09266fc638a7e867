// A test harness small enough to read, because no C++ test framework can be relied on where this is
// built. Include it in one file that becomes one program; it brings `main`. Arguments select tests
// by part of their name. A failed check says where and what, and the test goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace check {

inline std::vector<std::pair<std::string, void (*)()>> tests;
inline std::atomic<int> failures = 0;  // of the test that runs now, from all of its threads

template <class T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (requires { out << value; }) {
    out << std::boolalpha << value;
  } else if constexpr (std::is_enum_v<T>) {
    out << "enumerator " << static_cast<long long>(value);
  } else if constexpr (requires { value.begin() != value.end(); }) {
    for (const auto& item : value) out << show(item) << " ";
  } else {
    out << "(not printable)";
  }
  return out.str();
}

// Fails loudly ten times, then only counts: a wrong loop would print without end.
inline void fail(const char* file, int line, const std::string& what) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (++failures <= 10) std::printf("%s:%d: %s\n", file, line, what.c_str());
}

template <class A, class B>
void equal(const char* file, int line, const char* text, const A& a, const B& b) {
  bool same = false;
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    using C = std::common_type_t<A, B>;
    same = static_cast<C>(a) == static_cast<C>(b) && (a < A{}) == (b < B{});
  } else {
    same = a == b;
  }
  if (!same) fail(file, line, std::string(text) + ": " + show(a) + " is not " + show(b));
}

}  // namespace check

#define TEST(Suite, Name)                                          \
  static void Suite##_##Name();                                    \
  static const auto Suite##_##Name##_added =                       \
      check::tests.emplace_back(#Suite "." #Name, Suite##_##Name); \
  static void Suite##_##Name()
#define CHECK(...) \
  ((__VA_ARGS__) ? void() : check::fail(__FILE__, __LINE__, "false: " #__VA_ARGS__))
#define CHECK_EQUAL(...) check::equal(__FILE__, __LINE__, #__VA_ARGS__, __VA_ARGS__)
#define CHECK_THROWS(Exception, ...)                                 \
  try {                                                              \
    (void)(__VA_ARGS__);                                             \
    check::fail(__FILE__, __LINE__, "did not throw: " #__VA_ARGS__); \
  } catch (const Exception&) {                                       \
  }

int main(int argc, char** argv) {
  int passed = 0, failed = 0;
  for (const auto& [name, run] : check::tests) {
    bool selected = argc < 2;
    for (int i = 1; i < argc; ++i) selected |= name.find(argv[i]) != std::string::npos;
    if (!selected) continue;
    check::failures = 0;
    try {
      run();
    } catch (const std::exception& e) {
      check::fail(name.c_str(), 0, std::string("threw ") + e.what());
    } catch (...) {
      check::fail(name.c_str(), 0, "threw something");
    }
    ++(check::failures == 0 ? passed : failed);
    std::printf("%s %s\n", check::failures == 0 ? "ok    " : "FAILED", name.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
