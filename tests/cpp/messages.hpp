// What exceptions say: a test of an error is one of its words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace check {

/// The text of the exception that the call ends with; another exception passes.
template <class Exception, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Exception& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

/// Whether `part` stands in `text`; prints both if not.
inline bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::printf("  '%s' is not in: %s\n", part.c_str(), text.c_str());
  return false;
}

}  // namespace check
