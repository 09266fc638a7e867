// What the libraries that stand in for a driver's write down of each call, and which call a test
// wants to be refused. One source of each of them includes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <sstream>
#include <string>
#include <utility>

namespace {

std::mutex guard;
std::string log_of_calls;
std::string refused;
int refused_status = 0;

/// Writes a call down. The status that the test wants of it.
template <class... Values>
int called(const char* name, const Values&... values) {
  const std::lock_guard lock(guard);
  std::ostringstream line;
  line << name;
  ((line << ' ' << values), ...);
  log_of_calls += line.str() + '\n';
  return refused == name ? refused_status : 0;
}

}  // namespace

/// The calls since it was asked last, one a line.
extern "C" __attribute__((visibility("default"))) const char* stand_in_calls() {
  static std::string given;
  const std::lock_guard lock(guard);
  given = std::exchange(log_of_calls, {});
  return given.c_str();
}
/// The function gives the status from now on, without computing.
extern "C" __attribute__((visibility("default"))) void stand_in_refuses(const char* name,
                                                                        int status) {
  const std::lock_guard lock(guard);
  refused = name;
  refused_status = status;
}
