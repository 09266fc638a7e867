"""The kit for C, Cython and pybind11: each example is a project of its own, built on the installed
wheel outside the checkout, and run as its README says."""
# SPDX-License-Identifier: Apache-2.0

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import ROOT, once, run

EXAMPLES = ROOT / "examples"
MODULES = {"exchange": "usm_window", "pybind11": "usmx_pybind11", "cython": "usmx_cython"}


@pytest.fixture(scope="session")
def kit(developer_environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the three extensions."""

    def make(place: Path) -> None:
        for name in MODULES:
            ignored = shutil.ignore_patterns("build", "*.so")
            shutil.copytree(EXAMPLES / name, place / name, ignore=ignored)
        pip = (sys.executable, "-m", "pip", "--python", developer_environment)
        run(*pip, "install", "--no-build-isolation", "--no-deps", *(place / n for n in MODULES))

    once(tmp_path_factory, "kit", make)
    return developer_environment


@pytest.fixture
def check(kit: Path, tmp_path: Path) -> Callable[[str], str]:
    """Run a few lines of Python in that environment."""

    def check(lines: str) -> str:
        program = tmp_path / "program.py"
        program.write_text(
            "import gc, numpy as np, usmx, usm_window, usmx_pybind11, usmx_cython\n"
            "def raises(kind, part, call, *given, **named):\n"
            "    try:\n        call(*given, **named)\n"
            "    except kind as error:\n        assert part in str(error), str(error)\n"
            "    else:\n        raise AssertionError(f'no {kind.__name__}')\n"
            "def shared(values, dtype='float32'):\n"
            "    return usmx.asarray(np.asarray(values, dtype), usm_type='shared')\n"
            + textwrap.dedent(lines)
        )
        return run(kit, program)

    return check


@pytest.mark.parametrize("name", MODULES)
def test_the_readme_prints_what_it_says(kit: Path, name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text()
    (block,) = re.findall(r"```console\n(.*?)```", text, re.S)
    (program,) = re.findall(r'python -c "\n(.*?)"\n', block, re.S)
    expected = block[block.index(program) + len(program) + 2 :]
    assert run(kit, "-c", program).strip() == expected.strip()


# --- C without our headers ------------------------------------------------------------------------


def test_the_pure_c_example_includes_no_header_of_ours() -> None:
    included = re.findall(r"#include (.*)", (EXAMPLES / "exchange" / "window.c").read_text())
    assert included == ["<Python.h>", "<stdint.h>", "<string.h>"]


def test_the_page_of_the_protocol_is_enough_to_implement_it(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "exchange.md").read_text()
    fields = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", text, re.M)
    assert len(fields) == 15
    declared = [
        kind.replace("(*)", f"(*{name})") if "(*)" in kind else f"{kind} {name}"
        for name, kind in fields
    ]
    struct = "struct sycl_usm_array { " + "; ".join(declared) + "; };\n"
    table, consumer = re.findall(r"```c\n(.*?)```", text, re.S)
    functions = re.findall(r"\(\*(\w+)\)", table)
    page = "typedef struct sycl_usm_array sycl_usm_array;\n" + struct + table + consumer
    checks = [f"offsetof(page_array, {f}) == offsetof(sycl_usm_array, {f})" for f, _ in fields]
    checks += [
        f"offsetof(page_exchange_api, {f}) == offsetof(sycl_usm_exchange_api, {f})"
        for f in ("major", "minor", "size", *functions)
    ]
    checks += ["sizeof(page_exchange_api) == sizeof(sycl_usm_exchange_api)"]
    file = tmp_path / "page.c"
    file.write_text(
        "#include <Python.h>\n#include <stddef.h>\n#include <usmx/exchange.h>\n"
        + page.replace("sycl_usm_", "page_").replace('"page_exchange', '"sycl_usm_exchange')
        + "".join(f'_Static_assert({check}, "{check}");\n' for check in checks)
        + "double (*const used)(PyObject*) = sum;\n"
    )
    folders = (f"-I{ROOT / 'include'}", "-isystem", sysconfig.get_path("include"))
    run("gcc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *folders, file)


def test_a_consumer_and_producer_in_c_shares_memory_both_ways(check: Callable[[str], str]) -> None:
    check("""
        x = shared(np.arange(24).reshape(4, 6))
        w = usm_window.Window(x, 1, 2, height=2, width=3)
        assert usm_window.total(w) == float(np.arange(24).reshape(4, 6)[1:3, 2:5].sum())
        y = usmx.asarray(w)
        assert y.pointer == x[1:, 2:].pointer and y.shape == (2, 3)
        y[:] = 1
        assert usm_window.total(w) == 6
        usm_window.add(usm_window.Window(w, 1, 1, 1, 1), 4)
        assert x[2, 3].item() == 5
        raises(ValueError, "not inside", usm_window.Window, x, 3, 0, 2, 1)
        raises(TypeError, "__sycl_usm_exchange_api__", usm_window.total, object())
        raises(TypeError, "float32", usm_window.total, shared([1, 2]))
        device = usmx.asarray(x.to_numpy(), usm_type="device")
        raises(ValueError, "device memory", usm_window.total, device)
        x.flags.writeable = False
        raises(ValueError, "read-only", usm_window.add, usm_window.Window(x, 0, 0, 1, 1), 1)
        assert not usmx.asarray(usm_window.Window(x, 0, 0, 1, 1)).flags.writeable
    """)


def test_memory_lives_as_long_as_its_last_user_in_c(check: Callable[[str], str]) -> None:
    check("""
        from usmx import memory as um
        counted = um.StatisticsResource(um.UsmResource("shared"))
        with um.using(counted):
            x = usmx.zeros((8, 8), "float32", usm_type="shared")
            w = usm_window.Window(x, 2, 2, 4, 4)
            del x
            y = w.as_array()
            z = usmx.asarray(w)[1:]
            del w
            gc.collect()
            assert counted.stats()["blocks"] == 1
            y[:] = 2
            assert z.to_numpy().sum() == 24
            del y, z
            gc.collect()
            usmx._usmx._Testing.drain()
            assert counted.stats()["blocks"] == 0, counted.stats()
    """)


def test_a_window_in_c_passes_on_what_is_pending(check: Callable[[str], str]) -> None:
    check("""
        x = usmx.zeros((512, 512), "float32", usm_type="shared")
        w = usm_window.Window(x, 0, 0, 512, 512)
        for value in range(1, 20):
            usmx.fill_async(x, value)
            assert usm_window.total(w) == value * 512 * 512
        for value in range(1, 20):
            usmx.fill_async(usmx.asarray(w), value)
            assert usm_window.total(x) == value * 512 * 512
    """)


# --- Cython ---------------------------------------------------------------------------------------


def test_cython_reads_and_writes_memory_of_all_libraries(check: Callable[[str], str]) -> None:
    check("""
        import dpctl.memory
        x = shared(np.arange(12).reshape(3, 4))
        assert usmx_cython.total(x) == 66
        assert usmx_cython.total(x[::-1, ::2]) == 30
        row = shared([1, 2, 3, 4, 5], "int32")
        usmx_cython.add_one(row[::-2])
        assert row.to_numpy().tolist() == [2, 2, 4, 4, 6]
        class Matrix:
            def __init__(self, memory):
                self.memory = memory
            @property
            def __sycl_usm_array_interface__(self):
                suai = dict(self.memory.__sycl_usm_array_interface__)
                data = (suai["data"][0], False)
                return suai | {"shape": (2, 3), "typestr": "<f4", "strides": (1, 2), "data": data}
        theirs = dpctl.memory.MemoryUSMShared(24)
        np.frombuffer(theirs, np.float32)[:] = range(6)
        assert usmx_cython.total(Matrix(theirs)) == 15
    """)


def test_cython_refuses_with_the_reason(check: Callable[[str], str]) -> None:
    check("""
        raises(TypeError, "expected f4 with 2", usmx_cython.total, shared([1, 2]))
        raises(TypeError, "expected i4 with 1", usmx_cython.add_one, shared([1], "int64"))
        locked = shared([1], "int32")
        locked.flags.writeable = False
        raises(ValueError, "read-only", usmx_cython.add_one, locked)
        device = usmx.zeros((2, 2), "float32", usm_type="device")
        raises(ValueError, "device", usmx_cython.total, device)
        raises(ValueError, "copy=False", usmx_cython.total, [1.0])
    """)


def test_cython_calls_the_library_on_device_memory(check: Callable[[str], str]) -> None:
    check("""
        for kind in ("device", "shared", "host"):
            x = usmx.zeros((3, 5), "float32", usm_type=kind)
            usmx_cython.fill(x[:, ::2], 2.5)
            assert x.to_numpy().sum() == 2.5 * 9
        raises(ValueError, "bytes: 4; expected the 8", usmx_cython.fill, usmx.zeros(3), 1)
    """)


# --- pybind11 -------------------------------------------------------------------------------------


def test_pybind11_functions_take_and_return_memory(check: Callable[[str], str]) -> None:
    check("""
        x = shared([[1, 2], [3, 4]])
        y = usmx_pybind11.scale(x, 10)
        assert type(y) is usmx.ndarray and y.queue == x.queue
        assert y.to_numpy().tolist() == [[10, 20], [30, 40]]
        assert usmx_pybind11.dot(shared([1, 2]), shared([3, 4])) == 11
        assert usmx_pybind11.dot(shared([1, 2], "float64")) == 3
        raises(TypeError, "float64", usmx_pybind11.dot, shared([1], "int8"))
        raises(ValueError, "as long as", usmx_pybind11.dot, shared([1]), shared([1, 2]))
        row = shared([1, 2, 3], "int32")
        usmx_pybind11.add_one(row[::-2])
        assert row.to_numpy().tolist() == [2, 2, 4]
        z = usmx_pybind11.cleared(usmx.ones((2, 3), "int16", usm_type="device"))
        assert z.usm_type == "device" and not z.to_numpy().any()
    """)


# --- without `import usmx` ------------------------------------------------------------------------

BARE = """
import importlib.machinery, importlib.util, sys
sys.path.append(sys.argv[1])
loader = importlib.machinery.ExtensionFileLoader(sys.argv[2], sys.argv[3])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader(sys.argv[2], loader))
loader.exec_module(module)
assert "usmx" not in sys.modules
"""


def bare(python: Path, program: str, *arguments: str | Path) -> str:
    """Run it with no variable at all, and no `site`: nothing has looked for a driver before."""
    done = subprocess.run(
        [str(python), "-I", "-S", "-c", textwrap.dedent(program), *map(str, arguments)],
        env={},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_cython_extension_works_where_nothing_has_imported_usmx(kit: Path) -> None:
    place = run(kit, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    (file,) = Path(place).glob("usmx_cython.*.so")
    program = BARE + textwrap.dedent("""
        import ctypes
        from ctypes import byref, c_char_p, c_void_p
        usmx = ctypes.CDLL(None)  # what the extension has linked
        library = next(line.split()[-1] for line in open("/proc/self/maps") if "libusmx.so" in line)
        usmx = ctypes.CDLL(library)
        usmx.usmx_error.restype = c_char_p
        queue, name = c_void_p(), ctypes.create_string_buffer(64)
        assert usmx.usmx_queue_open(None, byref(queue)) == 0, usmx.usmx_error()
        assert usmx.usmx_queue_device(queue, name, 64) == 0
        print(name.value.decode())
    """)
    assert "cpu" in bare(kit, program, place, "usmx_cython", file)


def test_a_pybind11_extension_works_where_nothing_has_imported_usmx(kit: Path) -> None:
    place = run(kit, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    program = """
        import sys
        sys.path.append(sys.argv[1])
        import usmx_pybind11, usmx
        x = usmx.ones(3, "float32", usm_type="shared")
        print(usmx_pybind11.dot(x))
    """
    assert bare(kit, program, place) == "3.0"


def test_a_c_program_computes_without_any_variable(tmp_path: Path, kit: Path) -> None:
    source = (EXAMPLES / "c" / "squares.c").read_text()
    (command,) = re.findall(r"^ \* (gcc .*) && \./squares$", source, re.M)
    (tmp_path / "squares.c").write_text(source)
    tool = f"{kit} -m usmx"
    run("bash", "-c", command.replace("usmx --", f"{tool} --"), cwd=tmp_path)
    done = subprocess.run(
        [tmp_path / "squares"], env={}, capture_output=True, text=True, timeout=120, check=False
    )
    expected = re.search(r"\./squares\n(.*)\n", (EXAMPLES / "c" / "README.md").read_text())
    assert expected
    assert (done.stdout.split(), done.stderr) == (expected[1].split(), "")


def test_the_c_headers_compile_as_strict_c_and_cpp(tmp_path: Path) -> None:
    for name, compiler in (("c", ("gcc", "-std=c99")), ("cpp", ("g++", "-std=c++17"))):
        file = tmp_path / f"header.{name}"
        file.write_text("#include <usmx/usmx.h>\nint main(void) { return usmx_error() == 0; }\n")
        options = ("-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
        run(*compiler, *options, f"-I{ROOT / 'include'}", file)


def test_no_example_leaves_files_in_the_checkout(kit: Path) -> None:
    assert kit.exists()
    for name in MODULES:
        left = [f for f in os.listdir(EXAMPLES / name) if f.endswith((".so", ".c++", "build"))]
        assert left == []
