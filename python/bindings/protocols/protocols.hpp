// What the protocol files share and nobody else needs: reading foreign Python values with errors
// that name the place, and one function for each protocol.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "support/bindings.hpp"
#include "usmx/suai.hpp"

namespace usmx::python {

// --- foreign_values.cpp: Python values of unknown origin ----------------------------------------

/// "8.7 (float)": what an object is, short enough for a message; never raises.
std::string describe_value(nb::handle value);
/// TypeError: "<where>: <value> (<type>); expected <what>".
[[noreturn]] void wrong_type(const std::string& where, nb::handle value, const char* expected);
/// interop_error: the same with a rule that a fault names.
[[noreturn]] void wrong_value(const std::string& where, nb::handle value, fault rule);

/// An int, or anything with `__index__`; a bool is no number here. TypeError otherwise,
/// interop_error with `too_big` if 64 bits do not hold it; what `__index__` raises passes through.
std::int64_t read_integer(nb::handle value, const char* where, fault too_big);
/// An address: as above, but 0 <= value < 2**64.
std::uintptr_t read_address(nb::handle value, const char* where);
/// A tuple, a list or any other sequence of integers but no str, bytes or mapping; at most
/// `max_rank` of them. Its length is asked once and each item is read once.
extents read_extents(nb::handle value, const char* where, fault too_big);
/// A str without lone surrogates; TypeError otherwise.
std::string read_text(nb::handle value, const std::string& where, fault malformed);
/// True and False, NumPy's or Python's, and the numbers 0 and 1.
bool read_flag(nb::handle value, const char* where);

// --- typedescr.cpp: the fields of a record -------------------------------------------------------

/// The list of `(name, type[, shape])` of the array interface; name may be `(title, name)`, type
/// may be a list again. TypeError, or interop_error that says which entry.
dtype::fields read_typedescr(nb::handle value);
nb::list write_typedescr(const dtype::fields& members);

// --- suai_import.cpp / suai_export.cpp
// -------------------------------------------------------------

/// Whether `data[1]` of this object says "writable" where the protocol says "read-only": true for
/// objects whose attribute is answered by dpctl.memory.
bool flag_means_writable(nb::handle producer) noexcept;
/// Lets go of the Queue objects that dictionaries shared; none is kept after it.
void forget_queues() noexcept;
/// By way of `__sycl_usm_array_interface__`; empty if the object does not have it.
std::optional<array> import_suai(nb::handle obj);

}  // namespace usmx::python
