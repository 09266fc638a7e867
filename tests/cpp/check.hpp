// A test harness small enough to read, because no C++ test framework can be relied on where this is
// built. The tests of all files become one program, whose `main` is in check.cpp. A failed check
// says where and what, and the test goes on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace check {

struct test {
  std::string_view file;  // as the compiler was given it
  std::string name;
  void (*run)();
};

/// In the order in which the program initialises its files. A function, because they come first.
inline std::vector<test>& tests() {
  static std::vector<test> all;
  return all;
}
inline bool add(std::string_view file, std::string name, void (*run)()) {
  tests().push_back({file, std::move(name), run});
  return true;
}

/// Whether this run has some of the cases only, as `make test` has (docs/testing.md).
inline bool quick() {
  const char* const depth = std::getenv("USMX_TEST_DEPTH");
  return depth != nullptr && std::string_view(depth) == "quick";
}

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

#define TEST(Suite, Name)                                     \
  static void Suite##_##Name();                               \
  [[maybe_unused]] static const bool Suite##_##Name##_added = \
      check::add(__FILE__, #Suite "." #Name, Suite##_##Name); \
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
