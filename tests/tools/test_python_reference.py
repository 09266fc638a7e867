"""The reference of Python: each public name on one page, and docstrings as Markdown."""
# SPDX-License-Identifier: Apache-2.0

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import usmx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import python_reference  # noqa: E402

DIRECTIVE = re.compile(r"^:{3,4}\{py:(?:class|exception|function|data)\} (\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def of_usmx() -> dict[str, str]:
    return python_reference.of_usmx()


def test_each_public_name_is_on_one_page(of_usmx: dict[str, str]) -> None:
    found = Counter(name for text in of_usmx.values() for name in DIRECTIVE.findall(text))
    # `from usmx import *` must not hide the `open` of Python.
    assert "open" not in usmx.__all__
    assert found == Counter([*usmx.__all__, "open"])


def test_members_of_a_class_are_described_once(of_usmx: dict[str, str]) -> None:
    members = re.findall(r"^:::\{py:(?:method|attribute)\} (\w+)", of_usmx["ndarray"], re.MULTILINE)
    assert {"shape", "sum", "to_numpy", "T"} <= set(members)
    assert max(Counter(members).values()) == 1


def test_names_that_compat_gives_a_class_are_not_its_members() -> None:
    import usmx.compat.dpctl  # gives the class names, some of which refuse to be read

    assert isinstance(usmx.Device, type)
    text = python_reference.of_name("usmx", "Device", {})
    members = re.findall(r"^:::\{py:(?:method|attribute)\} (\w+)", text, re.MULTILINE)
    assert "filter_string" in members
    names = {"addressof_ref", "get_filter_string", "max_work_item_sizes1d"}
    assert not names & set(members)


def test_another_name_of_a_function_refers_to_the_first(of_usmx: dict[str, str]) -> None:
    text = "\n".join(of_usmx.values())
    assert ":::{py:data} usm_ndarray\n\nAnother name of {py:obj}`usmx.ndarray`." in text


def test_a_signature_has_types_defaults_and_marks() -> None:
    def function(a: "Axis", /, b: int = 3, *rest: str, key=object(), **more: float) -> "x | None":  # noqa: B008, F821
        """Nothing."""

    shown = python_reference.signature(function)
    assert shown == "(a: Axis, /, b: int = 3, *rest: str, key=..., **more: float) -> x | None"
    assert python_reference.signature(lambda a, *, b: a) == "(a, *, b)"
    assert python_reference.signature(lambda a, b: a, without_first=True) == "(b)"


def test_the_sections_of_a_docstring_are_lists() -> None:
    text = python_reference.markdown(
        """Add <things> with * and `a * b`.

        Parameters
        ----------
        a, b : array, optional
            Of type <f4.

        Returns
        -------
        ndarray

        Keywords of a call
        ------------------
        size : int
            The length.

        Examples
        --------
        >>> add(1)
        2
        """
    )
    assert text == (
        "Add \\<things> with \\* and `a * b`.\n\n"
        "**Parameters**\n\n- `a, b` (array, optional):\n  Of type \\<f4.\n\n"
        "**Returns**\n\n- `ndarray`\n\n"
        "**Keywords of a call**\n\n- `size` (int):\n  The length.\n\n"
        "**Examples**\n\n```pycon\n>>> add(1)\n2\n```"
    )


def test_every_public_module_has_a_page() -> None:
    package = Path(usmx.__file__).parent
    modules = {
        ".".join(path.relative_to(package).with_suffix("").parts)
        for path in [*package.glob("*.py"), *(package / "compat").glob("*.py")]
        if not path.name.startswith("_")
    }
    assert modules - {"cli"} - set(python_reference.MODULES) == set()
