// What decides a program besides its text and options, so that one that was kept is not believed
// once that has changed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace usmx::detail {

enum class program_input {
  text,     ///< the text, the options and the files of kernels/ alone
  headers,  ///< also the headers of SYCL and of the standard library, which the compiler can list
  files     ///< also files that could change, or appear, without being noticed
};
program_input input_of(std::string_view source, std::span<const std::string> options);

/// The files of kernels/ that a text includes: "usmx/expression.hpp".
std::vector<std::string> own_headers(std::string_view source);

/// Lets a compiler write down the files that it reads, in memory.
class read_files {
 public:
  read_files();
  read_files(const read_files&) = delete;
  read_files& operator=(const read_files&) = delete;
  ~read_files();

  /// For the compiler; empty if there is no memory for it.
  std::vector<std::string> options() const;
  /// The files on disk. False if there is no list, or one file cannot be found again by its name.
  bool get(std::vector<std::string>& paths) const;

 private:
  int memory_;
};

}  // namespace usmx::detail
