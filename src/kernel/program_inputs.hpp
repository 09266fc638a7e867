// What a program depends on besides its text and options, so that a stored one is not used after
// that has changed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace usmx::detail {

enum class program_input {
  text,     ///< only the text, the options and the files of kernels/
  headers,  ///< also headers of SYCL and of the standard library, which the compiler can list
  files     ///< also files whose changes cannot be detected
};
program_input input_of(std::string_view source, std::span<const std::string> options);

/// The files of kernels/ that a text includes: "usmx/expression.hpp".
std::vector<std::string> own_headers(std::string_view source);

/// Lets a compiler list the files that it reads, in memory.
class read_files {
 public:
  read_files();
  read_files(const read_files&) = delete;
  read_files& operator=(const read_files&) = delete;
  ~read_files();

  /// Options for the compiler; empty if there is no memory for the list.
  std::vector<std::string> options() const;
  /// The files on disk. False if there is no list, or if a path in it is relative.
  bool get(std::vector<std::string>& paths) const;

 private:
  int memory_;
};

}  // namespace usmx::detail
