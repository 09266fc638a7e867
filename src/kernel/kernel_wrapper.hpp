// Kernels that take views or structs are called by kernels that take pointers and numbers, because
// nothing else arrives on every backend: what is generated, and how many arguments it has.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.hpp"
#include "usmx/kernel.hpp"

namespace usmx::detail {

/// The source in which each kernel that takes a view or struct is followed, on the line on which it
/// ends, by the kernel of the same name that calls it. No line gets another number. Of kernels that
/// take local memory only `sized` is called, with memory of these sizes.
std::string with_wrappers(std::string source, std::span<const signature> signatures,
                          std::string_view sized, std::span<const local_memory> sizes);

/// A compiler's message about such a source as one about the user's.
std::string without_wrappers(std::string_view message);

/// Throws std::invalid_argument naming the parameter that no wrapper could be made for.
void check_wrapper(const signature& s);

/// Throws std::invalid_argument naming the first parameter that would be passed by value as a
/// structure, if the backend's compiler does not take that.
void check_by_value(const backend_row& backend, std::span<const signature> signatures);

/// What the source says about the kernel of a name.
struct declared_kernel {
  std::optional<std::vector<kernel_parameter>> parameters;
  int rank = 0;
};
/// `passed` is what the runtime says about the number of arguments, if it can be asked. Without
/// parameters if it says another number, if one of them cannot be read and it says none, or if
/// there are two functions of that name. Throws as check_wrapper.
declared_kernel declaration_of(std::span<const signature> signatures, std::string_view name,
                               std::optional<std::size_t> passed);

/// Whether there is a kernel only once the sizes of its local memory are known.
bool takes_local(const signature& s) noexcept;

/// How many arguments the runtime passes for these parameters.
std::size_t passed_count(std::span<const kernel_parameter> parameters) noexcept;

}  // namespace usmx::detail
