// The one door for text from Python, and to it. A str may hold lone surrogates, which no C++ text
// can hold, and may be too large for memory: both are exceptions here, never a null pointer and
// never an abort.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

namespace usmx::python {

namespace nb = nanobind;

/// The text of a str argument. TypeError for other types, ValueError for text that is not valid
/// Unicode; both name the argument.
std::string to_text(nb::handle obj, const char* where, const char* expected = "a str");
/// A sequence of str, but no str itself. `expected` says so with an example.
std::vector<std::string> to_texts(nb::handle obj, const char* where, const char* expected);
/// `options=` of everything that compiles.
std::vector<std::string> to_options(nb::handle obj);
/// The same with what `contract=` and `driver_math=` ask for.
std::vector<std::string> to_options(nb::handle obj, bool contract, bool driver_math);

/// A str of valid UTF-8. nb::str of a text says RuntimeError where Python has no memory for it
/// (docs/upstream/nanobind-text.md).
nb::str new_text(std::string_view text);

/// For messages and reprs: the text of a str, with lone surrogates written as escapes.
std::string shown(nb::handle str);
/// For messages and reprs: `repr(obj)`; raises what that raises.
std::string repr_of(nb::handle obj);

}  // namespace usmx::python
