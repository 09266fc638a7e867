// Finds the entry of docs/troubleshooting.md for a message. The headings of the page are read when
// the module is built, so that there is no link without an entry.
// SPDX-License-Identifier: Apache-2.0
#include "support/help_link.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "help_headings.inc"
#include "support/containers.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

/// The only place that knows where the site is.
constexpr std::string_view site = "https://usmx.readthedocs.io/en/stable/";

/// The anchor that Markdown gives a heading.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (c == ' ') {
      anchor += '-';
    } else if (std::isalnum(letter) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(letter));
    }
  }
  return anchor;
}

/// The address of the entry for a message; empty if there is none. Of several headings that are
/// parts of the message the longest counts.
std::string help_link(std::string_view message) {
  std::string_view found;
  for (const std::string_view heading : help_headings) {
    if (heading.size() > found.size() && message.find(heading) != message.npos) found = heading;
  }
  if (found.empty()) return {};
  return std::string(site) + "troubleshooting.html#" + anchor_of(found);
}

/// None, or the line that is added to the error.
nb::object note_for(std::string_view message) {
  const std::string link = help_link(message);
  return link.empty() ? nb::object(nb::none()) : nb::object(new_text("help: " + link));
}

void add_note(nb::handle error) {
  const nb::object note = note_for(shown(nb::str(error)));
  if (note.is_none()) return;
  const nb::object notes = nb::getattr(error, "__notes__", nb::none());
  if (nb::isinstance<nb::list>(notes)) {
    for (const nb::handle known : nb::list(notes)) {
      if (known.equal(note)) return;  // a call inside of another one added it
    }
  }
  error.attr("add_note")(note);
}

}  // namespace

void add_help_link() noexcept {
  // Python's own MemoryError says that nothing can be made now.
  PyObject* const type = PyErr_Occurred();
  if (type == nullptr || type == PyExc_MemoryError) return;
  nb::python_error error;
  try {
    add_note(error.value());
  } catch (...) {  // an exception that cannot be read or changed: it stays as it is
    PyErr_Clear();
  }
  error.restore();
}

std::span<const std::string_view> all_help_headings() noexcept { return help_headings; }

void bind_help_links(nb::module_& m) {
  def(
      m, "_help_note(message: str) -> str | None"_sig,
      [](const nb::str& message) { return note_for(to_text(message, "message")); },
      "The line that leads to the page of troubleshooting, for a message that has an entry there.");
}

}  // namespace usmx::python
