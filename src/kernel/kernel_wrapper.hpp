// Wraps kernels that take views or structs in kernels that take pointers and numbers, because
// only those can be passed on every backend: the generated text, and its number of arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/source/kernel_signature.hpp"
#include "runtime/backend.hpp"
#include "usmx/kernel.hpp"

namespace usmx::detail {

/// The source, in which each kernel that takes a view or struct is followed, on its last line, by
/// the kernel of the same name that calls it. Lines keep their numbers. Of the kernels that take
/// local memory only `sized` is called, with memory of these sizes.
std::string with_wrappers(std::string source, std::span<const signature> signatures,
                          std::string_view sized, std::span<const local_memory> sizes);

/// Turns a compiler's message about such a source into one about the user's source.
std::string without_wrappers(std::string_view message);

/// Throws std::invalid_argument naming a parameter that a wrapper cannot pass.
void check_wrapper(const signature& s);

/// Throws std::invalid_argument naming the first parameter that would be passed as a structure by
/// value, if the backend's compiler does not support that.
void check_by_value(const backend_row& backend, std::span<const signature> signatures);

/// What the source declares about one kernel.
struct declared_kernel {
  std::optional<std::vector<kernel_parameter>> parameters;
  int rank = 0;
};
/// `passed` is the number of arguments that the runtime reports, if it does. Parameters are left
/// out if that number differs, if it is not known and a parameter cannot be read, or if there are
/// two functions of that name. Throws as check_wrapper.
declared_kernel declaration_of(std::span<const signature> signatures, std::string_view name,
                               std::optional<std::size_t> passed);

/// Whether a scalar of this type is passed as numbers of eight bytes: what is a struct in kernels,
/// as complex numbers and bfloat16 are.
inline bool is_in_words(const dtype& type) noexcept {
  return type.is_record() || type.kind() == type_class::complex || type.is_bfloat16();
}

/// Whether the kernel can be compiled only when the sizes of its local memory are known.
bool takes_local(const signature& s) noexcept;

/// The number of arguments that the runtime passes for these parameters.
std::size_t passed_count(std::span<const kernel_parameter> parameters) noexcept;

}  // namespace usmx::detail
