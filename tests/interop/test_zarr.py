"""Zarr 3 reads into USM and writes what is in device memory; xarray does it through Zarr."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import zarr

import usmx
import usmx.zarr

A = np.arange(10_000, dtype="float32").reshape(100, 100)


def stored(codec="auto", **arguments):
    return zarr.create_array(
        store={}, shape=A.shape, chunks=(30, 30), dtype=A.dtype, compressors=codec, **arguments
    )


def test_zarr_finds_the_classes_by_entry_points():
    from zarr.registry import get_buffer_class, get_ndbuffer_class

    with zarr.config.set({"buffer": "usmx.zarr.Buffer", "ndbuffer": "usmx.zarr.NDBuffer"}):
        assert get_buffer_class() is usmx.zarr.Buffer
        assert get_ndbuffer_class() is usmx.zarr.NDBuffer


@pytest.mark.parametrize("codec", ["auto", None])
@pytest.mark.parametrize("kind", ["shared", "device", "host"])
def test_parts_are_read_and_written(codec, kind):
    z = stored(codec)
    z[:] = A
    with usmx.zarr.enable(kind):
        part = z[10:95, 5:]
        assert isinstance(part, usmx.ndarray)
        assert part.usm_type == kind
        assert (part.to_numpy() == A[10:95, 5:]).all()
        z[0:50] = usmx.zeros((50, 100), dtype="float32", usm_type="device")
        z[50:60, 7] = usmx.full(10, -1.0, dtype="float32", usm_type="device")
        assert z.oindex[[1, 55], [7, 8]].tolist() == [[0, 0], [-1, 5508]]
    expected = A.copy()
    expected[:50] = 0
    expected[50:60, 7] = -1
    assert isinstance(z[:], np.ndarray)
    assert (z[:] == expected).all()


@pytest.mark.parametrize(
    "dtype", ["bool", "int16", "uint8", "float16", "complex64", ">f4", "<U4", "datetime64[s]"]
)
def test_every_type_comes_back(dtype):
    values = np.arange(35).reshape(7, 5).astype(dtype)
    with usmx.zarr.enable("device"):
        z = zarr.create_array(store={}, shape=values.shape, chunks=(3, 3), dtype=dtype)
        z[:] = values
        got = z[1:]
    assert (np.asarray(got if isinstance(got, np.ndarray) else got.to_numpy()) == values[1:]).all()


@pytest.mark.parametrize("fill", [0.0, -0.0, 2.5, np.nan])
def test_chunks_of_the_fill_value_alone_are_not_stored(fill):
    store = {}
    with usmx.zarr.enable("device"):
        z = zarr.create_array(store=store, shape=(4, 4), chunks=(2, 2), dtype="f4", fill_value=fill)
        z[:] = usmx.full((4, 4), fill, dtype="float32", usm_type="device")
        assert not [key for key in store if key.startswith("c/")]
        z[3, 3] = 7
        z[0, 0] = usmx.asarray(0.0 if fill else -0.0, dtype="float32")
        assert len([key for key in store if key.startswith("c/")]) >= 1
    assert z[3, 3] == 7


def test_wrong_kinds_are_named():
    with pytest.raises(ValueError, match="usm_type: is 'gpu'"):
        usmx.zarr.enable("gpu")


def test_xarray_writes_and_reads_device_memory(tmp_path):
    data = xr.Dataset({"t": (("y", "x"), usmx.asarray(A, usm_type="device"))})
    assert "device 0 1 2" in repr(data)
    with usmx.zarr.enable("device"):
        data.to_zarr(tmp_path / "a.zarr", consolidated=False)
        back = xr.open_zarr(tmp_path / "a.zarr", chunks=None, consolidated=False).load()
    assert back.t.data.usm_type == "device"
    assert (back.t.data.to_numpy() == A).all()
    assert float((back.t * 2).mean()) == float(2 * A.mean())
