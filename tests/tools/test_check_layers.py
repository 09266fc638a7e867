"""The layer check finds each break that it is there for, and nothing in the sources as they are."""
# SPDX-License-Identifier: Apache-2.0

import sys
from functools import partial
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


FILES = frozenset(
    [
        "src/core/layout.cpp",
        "src/core/view.cpp",
        "src/memory/memory.cpp",
        "src/memory/array.cpp",
        "src/kernel/kernel.cpp",
        "src/kernel/inspection.cpp",
    ]
)


def findings(path: str, text: str) -> str:
    room_of = partial(check_layers.header_room, FILES)
    found = check_layers.check_file(PurePosixPath(path), text, room_of)
    return "\n".join(what for _, what in found)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("include/usmx/layout.hpp", '#include "usmx/array.hpp"', "of the room memory"),
        ("include/usmx/memory.hpp", "#include <usmx/kernel.hpp>", "of the room kernel"),
        ("include/usmx/layout.hpp", "#include <sycl/queue.hpp>", "needs no SYCL"),
        ("include/usmx/array.hpp", "#include <sycl/sycl.hpp>", "includes all of SYCL"),
        ("include/usmx/array.hpp", " #  include <nanobind/nanobind.h>", "only the kit"),
        ("include/usmx/array.hpp", "#include <Python.h>", "only the kit"),
        ("include/usmx/array.hpp", "#include <pybind11/pybind11.h>", "only the kit"),
        ("include/usmx/layout.hpp", '#include "usmx/brand_new.h"', "is in no room"),
        ("include/usmx/brand_new.hpp", "", "is in no room"),
        ("include/usmx/array.hpp", '#include "usmx/brand_new.hpp"', "is in no room"),
        ("src/array.cpp", "", "is in no room"),
        ("src/spare/array.cpp", "", "is in no room"),
        ("src/memory/array.cpp", "#include <nanobind/nanobind.h>", "only the kit"),
        ("src/memory/array.cpp", '#include "usmx/nanobind.hpp"', "of the room kit"),
        ("src/memory/array.cpp", '#include "kernel/kernel_text.hpp"', "of the room kernel"),
        ("src/memory/pool/pool.cpp", '#include "transfer/staging.hpp"', "of the room transfer"),
        ("src/core/layout.cpp", "#include <sycl/queue.hpp>", "needs no SYCL"),
        ("src/core/layout.cpp", '#include "runtime/backend.hpp"', "of the room runtime"),
        ("python/bindings/module.cpp", '#include "usmx/nanobind.hpp"', "for extensions"),
        ("python/bindings/module.cpp", '#include "usmx/pybind11.hpp"', "for extensions"),
        ("python/bindings/a.cpp", "auto s = nb::cast<std::string>(obj);", "reads a str by itself"),
        ("python/bindings/a.cpp", "auto s = nb::str(o.attr(x)).c_str();", "reads a str by itself"),
        ("python/bindings/a.cpp", "[](nb::str a, std::string b) {", "reads a str by itself"),
        ("python/bindings/a.cpp", "nb::object o = nb::str(f.name.c_str());", "use new_text"),
        ("python/bindings/a.cpp", 'nb::object o = nb::str("host");', "use new_text"),
        ("python/bindings/a.cpp", "nb::dict named;", "use new_list"),
        ("python/bindings/a.cpp", "return nb::str(name(kind));", "use new_text"),
        ("python/usmx/cli.py", 'HERE = "/home/somebody/usmx"', "path of one machine"),
    ],
)
def test_a_broken_rule_is_found(path: str, text: str, expected: str) -> None:
    assert expected in findings(path, SPDX + text)
    assert len(findings(path, SPDX + text).splitlines()) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("include/usmx/array.hpp", '#include "usmx/memory.hpp"\n#include <sycl/queue.hpp>\n'),
        ("include/usmx/nanobind.hpp", "#include <nanobind/nanobind.h>\n"),
        ("src/kernel/kernel.cpp", '#include "usmx/view.hpp"\n#include <sycl/event.hpp>\n'),
        ("python/bindings/module.cpp", "#include <nanobind/nanobind.h>\n"),
        ("python/bindings/a.cpp", "nb::object o = new_text(f.name);\n"),
        ("python/bindings/a.cpp", "nb::object o = nb::str(type);\n"),
        (
            "src/transfer/copy.cpp",
            '#include "transfer/copy_loops.hpp"\nconst char* url = "https://a.b/home/x";\n',
        ),
        ("src/memory/pool/pool.cpp", '#include "memory/pool/pool_parts.hpp"\n'),
        ("src/kernel/kernel.cpp", '#include "usmx/detail/inspection.hpp"\n'),
    ],
)
def test_what_is_allowed_is_left_alone(path: str, text: str) -> None:
    assert findings(path, SPDX + text) == ""


def test_a_file_without_a_licence_line_is_found() -> None:
    assert "SPDX" in findings("src/memory/array.cpp", "int x;\n")


def write(root: Path, name: str, text: str) -> str:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(SPDX + text)
    return name


def test_usm_is_given_back_in_one_place(tmp_path: Path) -> None:
    one = write(
        tmp_path,
        "src/memory/memory_resource.cpp",
        "// sycl::free(p) is called here:\nsycl::free(p, c);\n",
    )
    assert check_layers.check_tree(tmp_path, [one]) == []
    two = write(tmp_path, "src/memory/array.cpp", "sycl::free (p, c);\n")
    (message,) = check_layers.check_tree(tmp_path, [one, two])
    assert "src/memory/array.cpp:2" in message
    assert "src/memory/memory_resource.cpp:3" in message
    (message,) = check_layers.check_tree(tmp_path, [])
    assert "nowhere" in message


def test_only_one_file_waits_for_sycl_by_itself(tmp_path: Path) -> None:
    free = write(tmp_path, "src/memory/memory_resource.cpp", "sycl::free(p, c);\n")
    wait = write(tmp_path, "src/runtime/wait.cpp", "event.wait_and_throw();\n")
    fine = write(tmp_path, "src/transfer/copy.cpp", "wait(queue);  // not queue.wait_and_throw()\n")
    test = write(tmp_path, "tests/cpp/test_copy.cpp", "queue.wait_and_throw();\n")
    assert check_layers.check_tree(tmp_path, [free, wait, fine, test]) == []
    bad = write(tmp_path, "python/bindings/bind_queue.cpp", "q.ext_oneapi_empty();\n")
    (message,) = check_layers.check_tree(tmp_path, [free, bad])
    assert "bind_queue.cpp:2" in message
    assert "ext_oneapi_empty" in message
    asks = write(tmp_path, "python/bindings/event.cpp", "event.get_backend();\n")
    (message,) = check_layers.check_tree(tmp_path, [free, asks])
    assert "asks an event for event.get_backend" in message


def test_long_files_are_listed_as_advice(tmp_path: Path) -> None:
    short = write(tmp_path, "src/core/layout.cpp", "int x;\n")
    long = write(tmp_path, "src/core/view.cpp", "int x;\n" * check_layers.LONG)
    assert check_layers.long_files(tmp_path, [short, long]) == ["src/core/view.cpp: 501 lines"]
