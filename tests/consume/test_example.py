"""The example extension, as its README says: a project of its own, built on the installed wheel."""
# SPDX-License-Identifier: Apache-2.0

import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import ROOT, once, run

EXAMPLE = ROOT / "examples" / "extension"

# What the checks below start with; each is a program of its own.
PREAMBLE = """
import numpy as np, usmx, usmx_example as e
from checks import raises
def shared(values, dtype):
    return usmx.asarray(np.asarray(values, dtype), usm_type="shared")
"""
RAISES = """
import contextlib
@contextlib.contextmanager
def raises(kind, part):
    try:
        yield
    except kind as error:
        assert part in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")
"""


@pytest.fixture(scope="session")
def example(developer_environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the example, built outside the checkout."""

    def make(source: Path) -> None:
        shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("build", "__pycache__"))
        pip = (sys.executable, "-m", "pip", "--python", developer_environment)
        run(*pip, "install", "--no-build-isolation", "--no-deps", source)

    once(tmp_path_factory, "example", make)
    return developer_environment


@pytest.fixture
def check(example: Path, tmp_path: Path) -> Callable[[str], str]:
    """Run a few lines of Python in that environment."""
    (tmp_path / "checks.py").write_text(RAISES)

    def check(lines: str) -> str:
        program = tmp_path / "program.py"
        program.write_text(PREAMBLE + textwrap.dedent(lines))
        return run(example, program)

    return check


def test_a_view_goes_in_and_an_array_comes_out(check: Callable[[str], str]) -> None:
    check("""
        x = shared([[1, 2], [3, 4]], np.float32)
        y = e.scale(x, 10)
        assert type(y) is usmx.ndarray
        assert y.to_numpy().tolist() == [[10, 20], [30, 40]]
        assert y.queue == x.queue
    """)


def test_a_wrong_call_is_told_in_one_line(check: Callable[[str], str]) -> None:
    check("""
        try:
            e.scale(shared([[1, 2]], np.float32), facter=10)
        except TypeError as error:
            text = str(error)
        expected = "usmx_example.scale: got an unexpected argument 'facter'; did you mean 'factor'?"
        assert text == expected, text
    """)


def test_extensions_draw_from_the_resource_that_python_chose(check: Callable[[str], str]) -> None:
    check("""
        from usmx import memory as um
        x = shared([[1, 2], [3, 4]], np.float32)
        counted = um.StatisticsResource(um.PoolResource(um.UsmResource("shared")))
        with um.using(counted):
            blocks = [usmx.empty(4, "f4", usm_type="shared"), e.scale(x, 2)]
            assert counted.stats()["blocks"] == 2, counted.stats()
        e.scale(x, 2)
        assert counted.stats()["total_blocks"] == 2, counted.stats()
        um.set_resource(counted)
        blocks.append(e.scale(x, 2))
        assert counted.stats()["blocks"] == 3, counted.stats()
        blocks.clear()
        assert counted.stats()["blocks"] == 0, counted.stats()
    """)


def test_objects_of_dpctl_are_as_good(check: Callable[[str], str]) -> None:
    check("""
        import dpctl.memory
        class Matrix:
            def __init__(self, memory):
                self.memory = memory
            @property
            def __sycl_usm_array_interface__(self):
                suai = dict(self.memory.__sycl_usm_array_interface__)
                data = (suai["data"][0], False)
                return suai | {"shape": (2, 3), "typestr": "<f4", "strides": (1, 2), "data": data}
        memory = dpctl.memory.MemoryUSMShared(24)
        np.frombuffer(memory, np.float32)[:] = range(6)
        y = e.scale(Matrix(memory), 2)
        assert y.to_numpy().tolist() == [[0, 4, 8], [2, 6, 10]]
        picture = e.take_picture(2, 2, queue=dpctl.SyclQueue("cpu"))
        assert picture.to_numpy().tolist() == [[0, 1], [2, 3]]
    """)


def test_memory_is_changed_in_place_whatever_its_strides(check: Callable[[str], str]) -> None:
    check("""
        x = shared([1, 2, 3, 4, 5], np.int32)
        e.add_one(x[::-2])
        assert x.to_numpy().tolist() == [2, 2, 4, 4, 6]
        with raises(TypeError, "int32"):
            e.add_one(shared([1.0], np.float64))
    """)


def test_the_overload_that_fits_the_dtype_is_called(check: Callable[[str], str]) -> None:
    check("""
        assert e.largest(shared([1.5, 2.5], np.float32)) == 2.5
        assert e.largest(shared([1, 2**53 + 1], np.int64)) == 2**53 + 1
        with raises(TypeError, "float64"):
            e.largest(shared([1], np.uint8))
        with raises(ValueError, "empty"):
            e.largest(shared([], np.float64))
    """)


def test_work_may_outlive_the_call(check: Callable[[str], str]) -> None:
    check("""
        x = usmx.asarray(np.arange(12, dtype=np.int16).reshape(3, 4), usm_type="device")
        y = e.cleared(x)
        assert y.usm_type == "device"
        assert y.to_numpy().tolist() == [[0] * 4] * 3
    """)


def test_device_memory_is_refused_by_host_loops_and_fine_for_copies(
    check: Callable[[str], str],
) -> None:
    check("""
        a = usmx.asarray(np.arange(4, dtype=np.float32), usm_type="device")
        b = usmx.zeros(4, dtype="float32", usm_type="device")
        with raises(usmx.InteropError, "device"):
            e.largest(a)
        e.copy_contiguous(b, a)
        assert b.to_numpy().tolist() == [0, 1, 2, 3]
    """)


def test_adopted_memory_goes_back_through_the_librarys_own_function(
    check: Callable[[str], str],
) -> None:
    check("""
        picture = e.take_picture(3, 4)
        part = e.every_second_column(picture)
        assert part.to_numpy().tolist() == [[0, 2], [4, 6], [8, 10]]
        del picture
        assert e.pictures_outstanding() == 1
        del part
        assert e.pictures_outstanding() == 0
    """)


def test_the_module_works_where_nothing_has_imported_usmx_before(example: Path) -> None:
    # -S: nothing of the environment has run before, so the library itself finds the driver.
    program = """
        import importlib.machinery, importlib.util, os, sys
        folder = sys.argv[1]
        sys.path.append(folder)
        (file,) = (f for f in os.listdir(folder + "/usmx_example") if f.startswith("_core"))
        path = folder + "/usmx_example/" + file
        loader = importlib.machinery.ExtensionFileLoader("_core", path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_core", loader))
        loader.exec_module(module)
        print(module.take_picture(2, 3).to_numpy().tolist())
    """
    place = run(example, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    lines = textwrap.dedent(program)
    assert run(example, "-I", "-S", "-c", lines, place).strip() == "[[0, 1, 2], [3, 4, 5]]"


def test_the_readme_prints_what_it_says(example: Path, tmp_path: Path) -> None:
    text = (EXAMPLE / "README.md").read_text()
    (block,) = re.findall(r"```console\n(.*?)```", text, re.S)
    (program,) = re.findall(r'python -c "\n(.*?)"\n', block, re.S)
    expected = block[block.index(program) + len(program) + 2 :]
    assert run(example, "-c", program).strip() == expected.strip()
