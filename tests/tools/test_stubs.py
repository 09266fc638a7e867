"""The type stub that is installed says what the compiled module says of itself."""
# SPDX-License-Identifier: Apache-2.0

import ast
import subprocess
import sys
from pathlib import Path

import usmx

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_stubs.py"


def generated(first: str = "") -> str:
    """The stub of the installed module, after some lines of Python."""
    program = (
        f"import runpy, sys\n{first}\nsys.argv = ['make_stubs']\n"
        f"runpy.run_path({str(TOOL)!r}, run_name='__main__')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


def test_the_stub_that_is_installed_is_the_generated_one() -> None:
    installed = Path(usmx.__file__).with_name("_usmx.pyi").read_text(encoding="utf-8")
    assert installed == generated()
    names = {node.name for node in ast.parse(installed).body if isinstance(node, ast.ClassDef)}
    assert {"ndarray", "Queue", "ElementwiseKernel", "MemoryUSMShared"} <= names


def test_what_the_module_has_in_addition_is_in_the_stub() -> None:
    assert "surprise: int" in generated("from usmx import _usmx; _usmx.surprise = 1")
