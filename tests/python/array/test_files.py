# Files of NumPy are read into USM and written from it as NumPy does, and files that are cut off,
# changed or of another kind are errors that name the file.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import pathlib
import zipfile
from typing import Any

import numpy as np
import pytest

import usmx
from usmx._namespace import files

RECORD = np.dtype([("x", "<f4"), ("id", "<i2", (2,))])
ARRAYS: list[np.ndarray] = [
    *(np.arange(6).reshape(2, 3).astype(char) for char in "?bBhHiIqQefdFD"),
    np.array(2.5),
    np.zeros((0, 3)),
    np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    np.arange(5, dtype=">f8"),
    np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
    np.array([(1, (2, 3)), (4, (5, 6))], RECORD),
]


def written(n: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, n, version)
    return stream.getvalue()


@pytest.mark.parametrize("n", ARRAYS, ids=lambda n: f"{n.dtype.str}-{n.shape}")
def test_files_are_exchanged_with_numpy(n: np.ndarray, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.npy"
    for version in ((1, 0), (2, 0), (3, 0)):
        x: Any = usmx.load(io.BytesIO(written(n, version)))
        assert x.shape == n.shape
        assert x.dtype == n.dtype.newbyteorder("=")
        np.testing.assert_array_equal(x.to_numpy(), n)
        assert x.flags.c_contiguous == n.flags.c_contiguous
    usmx.save(path, x)
    np.testing.assert_array_equal(np.load(path), n)
    assert np.load(path).flags.c_contiguous == n.flags.c_contiguous
    usmx.save(tmp_path / "y", n.astype(n.dtype.newbyteorder("=")))
    np.testing.assert_array_equal(usmx.load(str(tmp_path / "y.npy")).to_numpy(), n)  # type: ignore[union-attr]


def test_pieces_make_the_whole(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setattr(files, "_PIECE", 100)
    n = np.arange(1000.0).reshape(10, 100)
    seen: list[tuple[int, int]] = []
    x: Any = usmx.load(
        io.BytesIO(written(n)), usm_type=kind, progress=lambda *done: seen.append(done)
    )
    assert x.usm_type == kind
    np.testing.assert_array_equal(x.to_numpy(), n)
    assert seen[-1] == (8000, 8000)
    assert len(seen) == 84  # of twelve elements
    stream = io.BytesIO()
    usmx.save(stream, x[::2, ::-1], progress=lambda *done: seen.append(done))
    assert seen[-1] == (4000, 4000)
    stream.seek(0)
    np.testing.assert_array_equal(np.load(stream), n[::2, ::-1])


def test_archives(tmp_path: pathlib.Path) -> None:
    a, b = np.arange(5), np.eye(3, dtype="f4")
    for save in (usmx.savez, usmx.savez_compressed):
        save(tmp_path / "x", usmx.asarray(a), b=usmx.asarray(b, usm_type="shared"))
        with np.load(tmp_path / "x.npz") as loaded:
            assert loaded.files == ["arr_0", "b"]
            np.testing.assert_array_equal(loaded["b"], b)
        with usmx.load(tmp_path / "x.npz", usm_type="host") as ours:  # type: ignore[union-attr]
            assert isinstance(ours, usmx.NpzFile)
            assert [*ours] == ours.files == ["arr_0", "b"]
            assert len(ours) == 2
            np.testing.assert_array_equal(ours["arr_0"].to_numpy(), a)
            assert ours["b"].usm_type == "host"
            with pytest.raises(KeyError):
                ours["c"]
    with pytest.raises(ValueError, match="arr_0: is the name"):
        usmx.savez(io.BytesIO(), a, arr_0=b)


def test_files_that_end_early_are_errors() -> None:
    whole = written(np.arange(10.0))
    for length in range(len(whole)):
        with pytest.raises(ValueError, match="file: "):
            usmx.load(io.BytesIO(whole[:length]))


def test_claims_are_checked_before_memory_is_allocated() -> None:
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    stream.write(b"12345678")
    stream.seek(0)
    with pytest.raises(ValueError, match=r"has 8 bytes of elements, and \(1099511627776,\)"):
        usmx.load(stream)


def test_changed_files_are_read_or_are_errors_that_say_so() -> None:
    rng = np.random.default_rng(5)
    messages: list[str] = []
    for n in (np.arange(3.0), np.array([(1, (2, 3))], RECORD)):
        whole = written(n)
        end = whole.index(b"\n")
        for _ in range(600):
            changed = bytearray(whole)
            for _ in range(rng.integers(1, 4)):
                changed[rng.integers(0, end)] = rng.integers(0, 256)
            try:
                x = usmx.load(io.BytesIO(changed))
            except ValueError as error:
                messages.append(str(error))
            else:
                assert x.nbytes <= len(whole)  # type: ignore[union-attr]
    assert len(messages) > 500
    assert all(messages)


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2,
                                 zipfile.ZIP_LZMA])  # fmt: skip
def test_changed_archives_are_read_or_are_value_errors(how: int) -> None:
    rng = np.random.default_rng(5)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        archive.writestr("x.npy", written(rng.integers(0, 9, 300)))
    refused = 0
    for place in range(len(stream.getvalue())):
        for bits in (1, 64, 255):
            changed = bytearray(stream.getvalue())
            changed[place] ^= bits
            try:
                with usmx.load(io.BytesIO(changed)) as ours:  # type: ignore[union-attr]
                    for x in ours.values():
                        assert x.nbytes <= 2400
            except ValueError as error:
                refused += bool(str(error))
    assert refused > 300


def test_an_archive_that_cannot_be_read_by_the_system_is_not_called_damaged() -> None:
    class Disk(io.BytesIO):
        broken = False

        def read(self, count: int | None = -1) -> bytes:
            if self.broken:
                raise OSError(5, "Input/output error")
            return super().read(count)

    stream = Disk()
    usmx.savez(stream, x=usmx.arange(100_000))
    stream.seek(0)
    with usmx.load(stream) as ours:  # type: ignore[union-attr]
        stream.broken = True
        with pytest.raises(OSError, match="Input/output error"):
            ours["x"]


def test_foreign_files_and_pickles_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="expected one of NumPy"):
        usmx.load(io.BytesIO(b"\x89HDF\r\n\x1a\n and more"))
    with pytest.raises(ValueError, match=r"versions 1.0, 2.0 and 3.0"):
        usmx.load(io.BytesIO(b"\x93NUMPY\x09\x00 and more"))
    with pytest.raises(ValueError, match="the archive cannot be read"):
        usmx.load(io.BytesIO(b"PK\x03\x04 and more"))
    objects = io.BytesIO()
    np.save(objects, np.array([{}], object), allow_pickle=True)
    objects.seek(0)
    with pytest.raises(ValueError, match="Python objects"):
        usmx.load(objects)
    with pytest.raises(ValueError, match="allow_pickle: expected False"):
        usmx.load(objects, allow_pickle=True)
    with pytest.raises(FileNotFoundError):
        usmx.load(tmp_path / "none.npy")
    with zipfile.ZipFile(tmp_path / "cut.npz", "w") as archive:
        archive.writestr("x.npy", written(np.arange(9))[:-1])
    with (
        usmx.load(tmp_path / "cut.npz") as ours,  # type: ignore[union-attr]
        pytest.raises(ValueError, match="has 71 bytes"),
    ):
        ours["x"]
