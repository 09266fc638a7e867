"""The check of imports finds each kind of circle, and none in the package as it is."""
# SPDX-License-Identifier: Apache-2.0

import sys
from pathlib import Path

import pytest

import usmx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_imports  # noqa: E402

LATE = "def f():\n    from . import a\n"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import A\n"


def findings(root: Path, files: dict[str, str]) -> str:
    package = root / "package"
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return "\n".join(check_imports.findings(check_imports.modules(package)))


@pytest.mark.parametrize(
    "back",
    ["from . import a", "from .a import A", "import package.a", LATE, FOR_TYPES],
    ids=["module", "name", "absolute", "late", "for types"],
)
def test_modules_that_import_each_other_are_found(back, tmp_path):
    found = findings(tmp_path, {"__init__.py": "", "a.py": "from . import b", "b.py": back})
    assert "modules import each other" in found
    assert "package.a:1 imports package.b" in found


def test_a_circle_through_others_names_each_step(tmp_path):
    files = {"a.py": "from . import b", "b.py": "from .c import x", "c.py": "from . import a"}
    found = findings(tmp_path, {"__init__.py": "", **files})
    for step in ("a:1 imports package.b", "b:1 imports package.c", "c:1 imports package.a"):
        assert step in found


def test_every_circle_is_named(tmp_path):
    files = {"a.py": "from . import b, c", "b.py": "from . import a", "c.py": "from . import a"}
    found = findings(tmp_path, {"__init__.py": "", **files})
    assert len(found.splitlines()) == 2


def test_rooms_that_import_each_other_are_found_though_no_modules_do(tmp_path):
    files = {
        "one/__init__.py": "",
        "one/a.py": "from ..two import c",
        "one/b.py": "",
        "two/__init__.py": "",
        "two/c.py": "",
        "two/d.py": "from ..one.b import x",
    }
    found = findings(tmp_path, {"__init__.py": "", **files})
    assert "package.one and package.two import each other" in found or (
        "package.two and package.one import each other" in found
    )


def test_a_name_that_the_face_of_a_package_gives_is_an_import_of_the_face(tmp_path):
    found = findings(
        tmp_path, {"__init__.py": "from .a import A", "a.py": "def f():\n    from . import B"}
    )
    assert "package.a:2 imports package" in found


def test_what_a_package_imports_of_itself_is_no_circle(tmp_path):
    files = {
        "__init__.py": "from .room import a",
        "room/__init__.py": "from .a import A",
        "room/a.py": "from . import b",
        "room/b.py": "from .. import other",
        "other.py": "import sys",
    }
    assert not findings(tmp_path, files)


def test_the_package_has_no_circles():
    files = check_imports.modules(Path(usmx.__file__).parent)
    assert {"usmx", "usmx._usmx", "usmx._kernel.launch"} <= files.keys()
    assert not check_imports.findings(files)
