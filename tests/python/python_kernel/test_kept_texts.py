"""The C++ of Python kernels on disk: warm processes import no compiler, and changes are seen."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from backend_row import needs

import usmx
from usmx import cli

pytestmark = needs("binaries")

RunPython = Callable[..., subprocess.CompletedProcess[str]]

SCRIPT = """
import sys
import usmx
from usmx import _usmx
import settings

OFFSET = 1

@usmx.device_func
def twice(v):
    return v * 2

@usmx.kernel
def scale(item, x, n):
    i = item.get_id(0)
    x[i] = twice(x[i]) * n + OFFSET + settings.LEVEL

@usmx.kernel
def reverse(item, x):
    n = item.get_local_range(0)
    tile = usmx.local.array(n, x.dtype)
    k = item.get_local_id(0)
    tile[k] = x[item.get_global_id(0)]
    usmx.barrier()
    x[item.get_global_id(0)] = tile[n - 1 - k]

@usmx.kernel
def plane(item, x):
    x[item.get_id(1), item.get_id(0)] = item.get_id(1)

x = usmx.arange(8, dtype="int32", usm_type="shared")
scale[8](x, 3).wait()
reverse[8, 4](x).wait()
y = usmx.zeros((2, 2), dtype="int32", usm_type="shared")
plane[2, 2](y).wait()
imported = "usmx._kernel.frontend.compiler" in sys.modules
print(x.to_numpy().tolist(), y.to_numpy().tolist())
print(_usmx._ProgramStore.counts()[0], imported)
"""
RESULT = "[20, 14, 8, 2, 44, 38, 32, 26] [[0, 0], [1, 1]]"


@pytest.fixture
def script(run_python: RunPython, tmp_path: Path) -> Callable[..., list[str]]:
    """Runs the script, or one like it, and gives its two lines."""
    (tmp_path / "settings.py").write_text("LEVEL = 1\n")

    def run(old: str = "", new: str = "", **env: str) -> list[str]:
        path = tmp_path / "script.py"
        assert old in SCRIPT
        path.write_text(SCRIPT.replace(old, new) if old else SCRIPT)
        done = subprocess.run(
            [sys.executable, "-B", str(path)],
            env={**os.environ, "USMX_CACHE": "1", "USMX_CACHE_DIR": str(tmp_path / "kept"), **env},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done.stdout.splitlines()

    return run


def test_a_warm_process_imports_no_compiler(script: Callable[..., list[str]]) -> None:
    assert script() == [RESULT, "3 True"]
    assert script() == [RESULT, "0 False"]


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("OFFSET = 1", "OFFSET = 2", 21),
        ("OFFSET = 1", "OFFSET = 1.0", 20),
        ("return v * 2", "return v * 4", 38),
        ("* n + OFFSET", "* n - OFFSET", 18),
    ],
)
def test_what_a_kernel_is_made_of_is_noticed(
    script: Callable[..., list[str]], old: str, new: str, first: int
) -> None:
    script()
    result, about = script(old, new)
    assert result.startswith(f"[{first}, ")
    assert about.split()[1] == "True"  # the compiler was asked


def test_a_number_of_another_module_is_noticed(
    script: Callable[..., list[str]], tmp_path: Path
) -> None:
    script()
    (tmp_path / "settings.py").write_text("LEVEL = 11\n")
    assert script()[0].startswith("[30, ")


def test_another_type_and_another_local_range_are_texts_of_their_own(
    script: Callable[..., list[str]],
) -> None:
    script()
    assert script("[8, 4]", "[8, 8]")[0].startswith("[44, ")
    assert script('arange(8, dtype="int32"', 'arange(8, dtype="float32"')[0].startswith("[20.0, ")


def test_damaged_files_are_made_again(script: Callable[..., list[str]], tmp_path: Path) -> None:
    script()
    texts = sorted((tmp_path / "kept" / "usmx-programs").glob("*.text"))
    assert texts
    for number, path in enumerate(texts):
        data = path.read_bytes()
        path.write_bytes([b"", data[:-5], data[:20] + b"?" + data[21:], b"junk" * 9][number % 4])
    assert script() == [RESULT, "0 True"]
    assert script() == [RESULT, "0 False"]


def test_files_that_others_may_write_are_not_believed(
    script: Callable[..., list[str]], tmp_path: Path
) -> None:
    script()
    for path in (tmp_path / "kept" / "usmx-programs").glob("*.text"):
        path.chmod(0o666)
    assert script()[1].split()[1] == "True"


def test_the_cache_may_be_off(script: Callable[..., list[str]], tmp_path: Path) -> None:
    assert script(USMX_CACHE="0") == [RESULT, "3 True"]
    assert not (tmp_path / "kept").exists()


def test_clearing_removes_texts_too(
    script: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script()
    monkeypatch.setenv("USMX_CACHE_DIR", str(tmp_path / "kept"))
    assert usmx._usmx._ProgramStore.clear() == 3
    assert list((tmp_path / "kept" / "usmx-programs").iterdir()) == []


def test_the_command_counts_texts_and_clears_them(
    script: Callable[..., list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script()
    folder = tmp_path / "kept" / "usmx-programs"
    monkeypatch.setenv("USMX_CACHE_DIR", str(folder.parent))
    sizes = [path.stat().st_size for path in folder.glob("*.text")]
    others = sum(path.stat().st_size for path in folder.iterdir()) - sum(sizes)
    assert len(sizes) > 3  # one or two for each kernel, one for its dimensions
    assert cli.main(["cache", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["texts"] == {"count": len(sizes), "bytes": sum(sizes)}
    assert len(about["programs"]) == 3
    cli.main(["cache"])
    text = capsys.readouterr().out
    assert f"{len(sizes)} texts of Python kernels in C++, {cli._size(sum(sizes))}" in text
    assert f"3 programs, {cli._size(sum(sizes) + others)} of at most" in text
    cli.main(["cache", "--clear"])
    assert capsys.readouterr().out == f"3 programs and {len(sizes)} texts removed\n"
    assert list(folder.iterdir()) == []
    cli.main(["cache"])
    assert "texts of" not in capsys.readouterr().out


@pytest.fixture
def key_of() -> Callable[..., object]:
    kept = importlib.import_module("usmx._kernel.kept")

    def key(function: object, *args: object) -> object:
        found = kept.key_of(function, args)  # type: ignore[arg-type]
        return found and found[:2]  # and what was read

    return key


def test_every_file_that_the_compiler_imports_is_part_of_the_key(run_python) -> None:  # type: ignore[no-untyped-def]
    run_python("""
        import os, sys
        import usmx, numpy
        from usmx._kernel import kept, launch
        before = set(sys.modules)
        import usmx._kernel.frontend.compiler
        new = [m for name, m in sys.modules.items() if name not in before and "usmx" in name]
        files = {os.path.realpath(m.__file__) for m in new}
        assert len(files) > 20, files
        assert not files - set(map(os.path.realpath, kept.sources()))
    """)


def test_tables_belong_to_the_key(
    key_of: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USMX_CACHE", "1")
    table = usmx.constant.array([1, 2], dtype="int32")

    def reads(item, x):  # type: ignore[no-untyped-def]
        x[0] = table[0]

    before = key_of(reads)
    assert before is not None
    assert before[1] == {table: False}  # type: ignore[index]
    # Once it is updated, its values are not part of the text.
    table.update([3, 4])
    after = key_of(reads)
    assert after is not None
    assert after[0] != before[0]  # type: ignore[index]
    assert after[1] == {table: True}  # type: ignore[index]
    table.update([5, 6])
    assert key_of(reads) == after
    other = usmx.constant.array([1, 3], dtype="int32")
    found = key_of(reads)
    table = other
    assert key_of(reads) not in (None, before, found)


size = object()  # nothing that a key describes


def test_an_attribute_that_is_called_as_a_global_is_none(key_of: Callable[..., object]) -> None:
    def attribute(item, x):  # type: ignore[no-untyped-def]
        x[0] = x.size

    def reads(item, x):  # type: ignore[no-untyped-def]
        def inner(v):  # type: ignore[no-untyped-def]
            return v + size

        x[0] = inner(x[0])

    assert key_of(attribute) is not None
    assert key_of(reads) is None


def test_records_and_vectors_belong_to_the_key(key_of: Callable[..., object]) -> None:
    def reads(item, x, v):  # type: ignore[no-untyped-def]
        x[0].a = made(v).x

    def key(fields: object, v: object) -> object:
        found = key_of(reads, usmx.zeros(1, dtype=fields), v)
        assert found is not None
        return found[0]  # type: ignore[index]

    vec2 = usmx.vec(2, "float32")
    made = usmx.vec(2, "float32")
    fields = [("a", "f4"), ("b", "i4")]
    first = key(fields, vec2(1, 2))
    assert first == key(fields, vec2(3, 4))
    assert first != key(fields[::-1], vec2(1, 2))
    assert first != key([*fields[:1], ("c", "i4")], vec2(1, 2))
    assert first != key(fields, usmx.vec(2, "float64")(1, 2))
    made = usmx.vec(2, "float64")
    assert first != key(fields, vec2(1, 2))


def test_names_that_several_functions_have_of_one_module_belong_to_the_key(
    key_of: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USMX_CACHE", "1")
    module = ModuleType("module")
    module.first, module.second = 1, 2  # type: ignore[attr-defined]
    module.table = usmx.constant.array([1])  # type: ignore[attr-defined]

    @usmx.device_func
    def also(v):  # type: ignore[no-untyped-def]
        return v + module.first

    def reads(item, x):  # type: ignore[no-untyped-def]
        x[0] = also(module.second) + module.table[0]

    found = [key_of(reads)]
    module.first = 3  # type: ignore[attr-defined]
    found.append(key_of(reads))
    module.second = 4  # type: ignore[attr-defined]
    found.append(key_of(reads))
    module.table.update([2])  # type: ignore[attr-defined]
    found.append(key_of(reads))
    assert None not in found
    assert len({key for key, _ in found}) == 4  # type: ignore[misc]
    assert found[-1][1] == {module.table: True}  # type: ignore[attr-defined, index]


def test_what_has_no_description_is_not_kept(
    key_of: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USMX_CACHE", "1")

    class Settings:
        level = 3

    def reads(item, x):  # type: ignore[no-untyped-def]
        x[0] = Settings.level

    names: dict[str, object] = {}
    exec("def typed(item, x):\n    x[0] = 1\n", names)
    assert key_of(reads) is None
    assert key_of(names["typed"]) is None
    assert key_of(test_the_cache_may_be_off, object()) is None
