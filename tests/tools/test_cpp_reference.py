"""The reference of C++: headers in the form of this project, as pages."""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import cpp_reference  # noqa: E402

HEADER = """\
// Says what the file is for:
//
//   some<T>   an example
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace usmx {

class later;

/// A box of `T`, not a <bag>.
template <class T>
class box final : public base<T> {
 public:
  /// Empty.
  box() noexcept : size_{0}, items_() {}
  int size() const noexcept { return size_; }  ///< at least 0

  /// What is inside.
  struct inner {
    int a = {};  ///< "a;"
  };

 protected:
  void grow(int by = 1);

 private:
  int size_ = 0;
  std::vector<T> items_;
};

/// Both.
void put(box<int>& b, char c = ';');
void put(box<int>& b);

// Numbers.

inline constexpr int most = 3;
struct other; /* of C */
enum class colour : char { red, green };  ///< of a box

namespace detail {
/// Not for users.
void hidden();
}  // namespace detail

}  // namespace usmx
"""


def test_a_header_has_its_comment_and_its_declarations() -> None:
    header = cpp_reference.read_header(HEADER)
    assert header.intro.splitlines()[0] == "Says what the file is for:"
    assert "SPDX" not in header.intro
    assert [entry.names for entry in header.entries] == [
        ["box"],
        ["put"],
        [],
        ["most", "colour"],
    ]
    assert [len(entry.declarations) for entry in header.entries] == [1, 2, 0, 2]
    assert header.entries[2].is_prose
    assert header.entries[1].doc == "Both."


def test_a_class_is_shown_without_bodies_and_private_members() -> None:
    (shown,) = cpp_reference.read_header(HEADER).entries[0].declarations
    assert shown == (
        "template <class T>\n"
        "class box final : public base<T> {\n"
        " public:\n"
        "  /// Empty.\n"
        "  box() noexcept;\n"
        "  int size() const noexcept;  ///< at least 0\n"
        "\n"
        "  /// What is inside.\n"
        "  struct inner {\n"
        '    int a = {};  ///< "a;"\n'
        "  };\n"
        "\n"
        " protected:\n"
        "  void grow(int by = 1);\n"
        "};"
    )


def test_a_page_escapes_what_is_not_code() -> None:
    page = cpp_reference.page_of("box.hpp", cpp_reference.read_header(HEADER))
    assert page.startswith("# usmx/box.hpp\n\nSays what the file is for:\n\n```text\nsome<T>   an")
    assert "## `box`\n\nA box of `T`, not a \\<bag>.\n\n```cpp\ntemplate <class T>\n" in page
    assert "hidden" not in page


def test_a_header_of_c_is_read_as_well() -> None:
    header = cpp_reference.read_header(
        "/* For C.\n * SPDX-License-Identifier: Apache-2.0 */\n#ifndef A\n#define A\n\n"
        'extern "C" {\n\n/** Kinds. */\nenum { A_NONE = 0, A_ONE = 1 };\n\n'
        "/** A pair. */\ntypedef struct pair {\n  int a; /**< the first */\n} pair;\n\n"
        "/** Makes one. */\npair* pair_new(int a);\n}\n#endif\n"
    )
    assert [entry.names for entry in header.entries] == [[], ["pair"], ["pair_new"]]
    assert header.entries[1].declarations == [
        "typedef struct pair {\n  int a; /**< the first */\n} pair;"
    ]


@pytest.mark.parametrize(
    "path", cpp_reference.headers(ROOT / "include" / "usmx"), ids=lambda path: path.name
)
def test_every_class_and_enum_of_a_public_header_is_on_its_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"namespace detail \{.*?\n\}  // namespace detail\n", "", text, flags=re.DOTALL)
    text = re.split(r"^namespace (?:nanobind|pybind11)::detail", text, flags=re.MULTILINE)[0]
    declared = re.findall(r"^(?:class|struct|enum class) (\w+)[^;]*\{", text, re.MULTILINE)
    header = cpp_reference.read_header(path.read_text(encoding="utf-8"))
    names = [name for entry in header.entries for name in entry.names]
    assert set(declared) <= set(names)
    for entry in header.entries:
        for declaration in entry.declarations:
            assert declaration.count("{") == declaration.count("}")


@pytest.mark.parametrize(
    "path", cpp_reference.headers(ROOT / "include" / "usmx"), ids=lambda path: path.name
)
def test_every_declaration_of_a_public_header_has_a_comment(path: Path) -> None:
    entries = cpp_reference.read_header(path.read_text(encoding="utf-8")).entries
    assert not [entry.declarations for entry in entries if not entry.doc]


#: Names that no example shows, each with where it is used instead.
WITHOUT = {
    "exchange.h": {"test_exchange.cpp and test_usmx.cpp": ("sycl_usm_array",)},
    "nanobind.hpp": {"casters of one's own: tests/consume/probe": ("argument", "refusal")},
    "program_cache.hpp": {
        "`usmx build`, and tests of programs, which need processes of their own": (
            "add_installed_programs", "clear_cached_programs", "link_for_package",
            "record_programs",
        ),
    },
    "pybind11.hpp": {"casters of one's own": ("returned",)},
    "python_api.hpp": {"the casters use it: usmx/nanobind.hpp": ("python_api",)},
    "torch_allocator.hpp": {
        "PyTorch loads them by name: usmx.interop.torch_allocator": (
            "usmx_torch_cuda_allocate", "usmx_torch_cuda_free", "usmx_torch_xpu_allocate",
            "usmx_torch_xpu_free",
        ),
    },
    "umf.hpp": {
        "tests/cpp/memory/test_umf.cpp, which links UMF": (
            "umf_provider_resource", "umf_resource", "umf_source",
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "path", cpp_reference.headers(ROOT / "include" / "usmx"), ids=lambda p: p.name
)
def test_each_name_of_a_public_header_is_in_its_example(path: Path) -> None:
    header = cpp_reference.read_header(path.read_text(encoding="utf-8"))
    example = cpp_reference.example_of(path.name)
    text = "" if example is None else example.read_text(encoding="utf-8")
    names = {name for entry in header.entries for name in entry.names}
    missing = {name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)}
    allowed = {name for group in WITHOUT.get(path.name, {}).values() for name in group}
    assert missing == allowed, (
        f"{path.name}: write how {sorted(missing - allowed)} are used into "
        f"tests/cpp/reference/test_{path.stem}.cpp; take {sorted(allowed - missing)} off the list"
    )


def test_the_page_of_a_header_ends_with_its_example() -> None:
    page = cpp_reference.pages(ROOT / "include" / "usmx")["wait.hpp"]
    example = page[page.index("## Example") :]
    assert "```cpp\n#include <array>\n" in example
    assert "usmx::is_done(filled)" in example
    assert "check.hpp" not in example
