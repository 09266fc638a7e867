"""Other libraries are told of arrays when they are imported, and are not imported for it."""
# SPDX-License-Identifier: Apache-2.0

import importlib
import sys

import pytest

from usmx._interop.later import when_imported


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "a_library").mkdir()
    (tmp_path / "a_library" / "__init__.py").write_text("from a_library import arrays\n")
    (tmp_path / "a_library" / "arrays.py").write_text("kinds = ['theirs']\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "a_library.arrays"
    for name in [name for name in sys.modules if name.startswith("a_library")]:
        del sys.modules[name]


def test_a_function_is_called_once_after_the_import(library):
    finders = list(sys.meta_path)
    calls = []
    when_imported(library, lambda: calls.append(list(sys.modules[library].kinds)))
    assert calls == []
    assert library not in sys.modules
    module = importlib.import_module(library)
    assert calls == [["theirs"]]
    assert sys.meta_path == finders
    importlib.reload(module)
    assert calls == [["theirs"]]
    assert module.__spec__.loader is module.__loader__
    assert type(module.__loader__).__module__ != "usmx._interop.later"


def test_a_function_is_called_at_once_where_the_module_is_there(library):
    importlib.import_module(library)
    calls = []
    when_imported(library, lambda: calls.append(1))
    assert calls == [1]


def test_a_module_that_is_not_there_is_still_missing():
    finders = list(sys.meta_path)
    when_imported("a_library_that_is_missing", lambda: pytest.fail("called"))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("a_library_that_is_missing")
    assert sys.meta_path == finders
