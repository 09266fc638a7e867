"""`usmx.open`: arrays in files that are computed piece by piece."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import usmx

rng = np.random.default_rng(3)
NUMBERS = rng.normal(size=(1000, 6)).astype("f4")
#: A hundred rows of `NUMBERS`.
PIECE = 100 * 6 * 4


@pytest.fixture
def x(tmp_path: Path) -> usmx.FileArray:
    np.save(tmp_path / "x.npy", NUMBERS)
    opened = usmx.open(tmp_path / "x.npy", piece_bytes=PIECE)
    assert isinstance(opened, usmx.FileArray)
    return opened


def opened(path: Path, values: np.ndarray, piece: int = 1000) -> usmx.FileArray:
    np.save(path, values)
    made = usmx.open(path, piece_bytes=piece)
    assert isinstance(made, usmx.FileArray)
    return made


# --- expressions --------------------------------------------------------------------------------

ROWS = rng.random((1000, 1)).astype("f4")
EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "operators": lambda x, xp: (2 - x * 3) / (x * x + 1) - x % 2,
    "functions": lambda x, xp: xp.sin(x) + xp.maximum(x, 0),
    "numpy's functions": lambda x, xp: np.exp(-np.abs(x)),
    "conditions": lambda x, xp: xp.where(x > 0, x, -1),
    "comparisons": lambda x, xp: (x < 0.5) & ~(x == 0) | (x != 1),
    "row": lambda x, xp: np.arange(6, dtype="f4") * x,
    "column": lambda x, xp: x + xp.asarray(ROWS),
    "type": lambda x, xp: x.astype("float64") ** 2,
    "part": lambda x, xp: x[:, 1:4] - x[..., :1],
    "same file twice": lambda x, xp: x * x - x,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_have_the_values_of_numpy(name: str, x: usmx.FileArray) -> None:
    wanted = EXPRESSIONS[name](NUMBERS, np)
    made = EXPRESSIONS[name](x, usmx)
    assert isinstance(made, usmx.FileArray)
    assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(made.compute().to_numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_it_says_what_it_is(x: usmx.FileArray) -> None:
    assert (x.shape, x.ndim, x.size, len(x), x.nbytes) == ((1000, 6), 2, 6000, 1000, 24000)
    assert x.dtype == "float32"
    assert repr(x * 2).startswith("FileArray(shape=(1000, 6), dtype=float32, of ")
    np.testing.assert_array_equal(np.asarray(x), NUMBERS)


def test_x_plus_equals_names_a_new_array(x: usmx.FileArray) -> None:
    before = y = x
    y += 1
    np.testing.assert_array_equal(y.compute().to_numpy(), NUMBERS + 1)
    np.testing.assert_array_equal(before.compute().to_numpy(), NUMBERS)


def test_a_function_gets_each_piece(x: usmx.FileArray) -> None:
    lengths = []

    def sort(piece: usmx.ndarray) -> usmx.ndarray:
        lengths.append(piece.shape[0])
        return usmx.sort(piece, axis=1)[:, :2]

    made = x.map_blocks(sort)
    assert made.shape == (1000, 2)
    np.testing.assert_array_equal(made.compute().to_numpy(), np.sort(NUMBERS, axis=1)[:, :2])
    assert lengths == [0] + [100] * 10  # the first call asks for the shape


def test_files_are_computed_together(x: usmx.FileArray, tmp_path: Path) -> None:
    other = rng.integers(0, 9, (1000, 6))
    made = x * opened(tmp_path / "other.npy", other) + x
    np.testing.assert_allclose(made.compute().to_numpy(), NUMBERS * other + NUMBERS, rtol=1e-6)


# --- reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("name", ["sum", "mean", "std", "var", "min", "max", "any", "all"])
def test_reductions_are_those_of_numpy(name: str, axis: Any, x: usmx.FileArray) -> None:
    for keepdims in (False, True):
        wanted = getattr(NUMBERS + 1, name)(axis, keepdims=keepdims)
        got = getattr(x + 1, name)(axis, keepdims=keepdims)
        if isinstance(got, usmx.FileArray):
            assert axis in (1, -1)
            got = got.compute()
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f8", "c8"])
def test_types_of_sums_are_those_of_numpy(dtype: str, tmp_path: Path) -> None:
    values = rng.integers(0, 2, 5000).astype(dtype)
    made = opened(tmp_path / "x.npy", values)
    for name in ("sum", "prod", "mean", "var"):
        got, wanted = getattr(made, name)(), getattr(values, name)()
        assert got.dtype == wanted.dtype, name
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-5)


def test_parts_are_added_without_loss(tmp_path: Path) -> None:
    values = np.full(100_000, 0.1, "f4")
    values[0] = 1e7
    got = opened(tmp_path / "x.npy", values).sum().item()
    assert (
        abs(got - (1e7 + 9999.9)) <= 10
    )  # the first piece alone rounds; in float32 nothing would be added


def test_ddof_and_pieces_far_from_each_other(tmp_path: Path) -> None:
    values = np.concatenate([rng.random(500) + 1e6, rng.random(700) - 1e6])
    made = opened(tmp_path / "x.npy", values)
    np.testing.assert_allclose(made.std(ddof=1).item(), values.std(ddof=1), rtol=1e-12)


@pytest.mark.parametrize("bins", [7, [-2.0, 0, 0.5, 9]])
@pytest.mark.parametrize("range", [None, (-1.0, 2.0)])
def test_histograms_are_those_of_numpy(bins: Any, range: Any, x: usmx.FileArray) -> None:
    counts, edges = x.histogram(bins, range)
    wanted, at = np.histogram(NUMBERS, bins, range)
    np.testing.assert_array_equal(counts.to_numpy(), wanted)
    np.testing.assert_allclose(edges.to_numpy(), at, rtol=1e-5)


# --- files --------------------------------------------------------------------------------------


def test_types_and_orders_of_bytes(tmp_path: Path) -> None:
    for dtype in ("?", "<i2", ">i4", "<u8", "<f2", ">f8", "<c16"):
        values = rng.integers(0, 2, (999, 3)).astype(dtype)
        made = opened(tmp_path / "x.npy", values)
        assert made.dtype == np.dtype(dtype).newbyteorder("=")
        np.testing.assert_array_equal(made.compute().to_numpy(), values)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_columns_of_tables(suffix: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    a, b = rng.random(5000), rng.integers(0, 9, 5000).astype("i2")
    table = pa.table({"a": a, "b": b, "name": ["x"] * 5000, "gap": [None, 1.5] * 2500})
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=700)
    elif suffix == "feather":
        pyarrow.feather.write_feather(table, path, chunksize=700)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=700)
    opened = usmx.open(path, piece_bytes=8000)
    assert isinstance(opened, usmx.FileTable)
    assert [*opened] == ["a", "b", "name", "gap"]
    made = opened["a"] * opened["b"]
    np.testing.assert_allclose(made.compute().to_numpy(), a * b)
    alone = usmx.open(path, column="b")
    assert isinstance(alone, usmx.FileArray)
    assert alone.sum().item() == b.sum()
    assert np.isnan(opened["gap"].compute().to_numpy()).sum() == 2500
    with pytest.raises(TypeError, match="column: 'name' is of type string"):
        opened["name"]
    with pytest.raises(KeyError, match="has the columns a, b, name, gap"):
        opened["c"]


def test_missing_integers_are_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"n": [1, None, 3]}), tmp_path / "t.parquet")
    column = usmx.open(tmp_path / "t.parquet", column="n")
    with pytest.raises(ValueError, match="column 'n' has 1 missing values of int64"):
        column.sum()  # type: ignore[union-attr]


def test_results_are_written_piece_by_piece(x: usmx.FileArray, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    (x * 2).save(tmp_path / "y.npy", progress=lambda done, total: seen.append((done, total)))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), NUMBERS * 2)
    assert seen == [(2400 * k, 24000) for k in range(1, 11)]
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "y.npy"]


def test_an_error_leaves_what_was_there(x: usmx.FileArray, tmp_path: Path) -> None:
    (tmp_path / "y.npy").write_bytes(b"before")

    def fail(piece: usmx.ndarray) -> usmx.ndarray:
        if piece.shape[0] and piece[0, 0].item() == NUMBERS[500, 0]:
            raise ArithmeticError("half-way")
        return piece

    with pytest.raises(ArithmeticError, match="half-way"):
        x.map_blocks(fail).save(tmp_path / "y.npy")
    assert (tmp_path / "y.npy").read_bytes() == b"before"
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "y.npy"]


KILLED = """
import os, sys, usmx
rows = 0
def f(x):
    global rows
    rows += x.shape[0]
    if rows > 500:
        os.kill(os.getpid(), 9)
    return x
usmx.open(sys.argv[1], piece_bytes=2400).map_blocks(f).save(sys.argv[2])
"""


def test_a_process_that_is_killed_leaves_no_half_file(x: usmx.FileArray, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    assert subprocess.run(command, check=False, timeout=120).returncode == -9
    assert not (tmp_path / "y.npy").exists()


LIMITED = """
import sys, usmx
x = usmx.open(sys.argv[1], piece_bytes=1 << 20)
print(float((x * 2).sum()), [float(v) for v in x.histogram(4, (0, 1))[0].to_numpy()])
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    used = []
    for megabytes in (4, 256):
        with open(tmp_path / "x.npy", "wb") as file:
            shape = (megabytes << 18,)
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            file.truncate(file.tell() + 4 * shape[0])
        command = [sys.executable, "-c", LIMITED, str(tmp_path / "x.npy")]
        said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        result, peak = said.stdout.splitlines()
        assert result.startswith("0.0 ["), result
        used.append(int(peak))
    assert used[1] - used[0] < 100 << 10, used  # of kilobytes


# --- errors -------------------------------------------------------------------------------------


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="path: "):
        usmx.open(tmp_path / "none.npy")
    (tmp_path / "x.csv").write_text("1,2")
    with pytest.raises(ValueError, match=r"ends in one of '\.npy', '\.zarr'"):
        usmx.open(tmp_path / "x.csv")
    np.save(tmp_path / "f.npy", np.asfortranarray(NUMBERS))
    with pytest.raises(ValueError, match="is in Fortran order"):
        usmx.open(tmp_path / "f.npy")
    np.save(tmp_path / "s.npy", NUMBERS[0, 0])
    with pytest.raises(ValueError, match="without dimensions"):
        usmx.open(tmp_path / "s.npy")
    np.save(tmp_path / "x.npy", NUMBERS)
    with pytest.raises(ValueError, match="column: 'a', but "):
        usmx.open(tmp_path / "x.npy", column="a")
    with pytest.raises(ValueError, match="piece_bytes: 0; expected at least 1"):
        usmx.open(tmp_path / "x.npy", piece_bytes=0)
    os.truncate(tmp_path / "x.npy", 5000)
    with pytest.raises(ValueError, match="bytes of elements; expected 24000"):
        usmx.open(tmp_path / "x.npy")


def test_a_file_that_becomes_shorter_is_an_error(x: usmx.FileArray, tmp_path: Path) -> None:
    os.truncate(tmp_path / "x.npy", 9000)
    with pytest.raises(ValueError, match="became shorter while it was read"):
        x.sum()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x + np.zeros((3, 6)), ValueError, "an operand has 3 rows; expected 1000 or 1"),
        (lambda x: x + np.zeros((2, 1, 6)), ValueError, "an operand has 3 axes"),
        (lambda x: x[3], IndexError, "index: 3; expected ':'"),
        (lambda x: x.map_blocks(lambda p: p[:1])[:].sum(), ValueError, "expected as many rows"),
        (bool, TypeError, "use any"),
        (lambda x: x.sum(2), ValueError, "axis: 2"),
        (lambda x: x.save("y.txt"), ValueError, "path: 'y.txt'; expected a name that ends in"),
        (lambda x: usmx.add(x, 1, out=usmx.zeros(1)), TypeError, "out: is not written"),
    ],
)
def test_wrong_uses_are_named(
    call: Callable[[Any], Any], error: Any, words: str, x: usmx.FileArray
) -> None:
    with pytest.raises(error, match=words):
        call(x)


def test_files_of_other_lengths_are_refused(x: usmx.FileArray, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="operands have 1000 and 999 rows"):
        x + opened(tmp_path / "other.npy", NUMBERS[1:])


def test_an_array_without_rows(tmp_path: Path) -> None:
    made = opened(tmp_path / "x.npy", NUMBERS[:0])
    assert (made * 2).compute().shape == (0, 6)
    with pytest.raises(ValueError, match="sum: the array has no rows"):
        made.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.save(tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").shape == (0, 6)
