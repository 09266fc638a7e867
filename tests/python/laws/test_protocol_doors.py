# Elements of others come in by one door: what `asarray(copy=False)` takes, each function takes that
# computes with arrays, writes them, copies them or uses them as indices.
# SPDX-License-Identifier: Apache-2.0
import array
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backend_row import needs

import usmx

HOST = np.arange(6.0)
PLACES = np.array([4, 0, 2])
MASK = np.array([True, False, True, False, False, True])


class Keep:
    def __init__(self, obj):
        self.obj = obj


def only(**members):
    """A class whose objects have nothing else."""
    return type("Only", (Keep,), members)


def read(name):
    return property(lambda self: getattr(self.obj, name))


def shared(values):
    return usmx.asarray(values, usm_type="shared")


DLPACK = only(
    __dlpack__=lambda self, **asked: self.obj.__dlpack__(**asked),
    __dlpack_device__=lambda self: self.obj.__dlpack_device__(),
)
PROTOCOLS = {
    "dictionary of SYCL": lambda a: only(
        __sycl_usm_array_interface__=read("__sycl_usm_array_interface__")
    )(shared(a)),
    "DLPack of the host": DLPACK,
    "DLPack of oneAPI": lambda a: DLPACK(shared(a)),
    "__array_interface__": only(__array_interface__=read("__array_interface__")),
    "__array_struct__": only(__array_struct__=read("__array_struct__")),
    "__array__": only(__array__=lambda self, dtype=None, copy=None: self.obj),
    "Arrow's array": lambda a: only(
        __arrow_c_array__=lambda self, schema=None: self.obj.__arrow_c_array__(schema)
    )(pa.array(a)),
    "Arrow's array of a device": lambda a: only(
        __arrow_c_device_array__=lambda self, schema=None, **more: (
            self.obj.__arrow_c_device_array__(schema, **more)
        )
    )(pa.array(a)),
    "Arrow's stream": lambda a: only(
        __arrow_c_stream__=lambda self, schema=None: self.obj.__arrow_c_stream__(schema)
    )(pa.chunked_array([a])),
    "buffer": memoryview,
}
E = usmx.ElementwiseKernel("T x", "T y", "y = x + 1")
R = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "door_sum")


def assigned(p):
    x = usmx.zeros(6)
    x[:] = p
    return x


def copied(p):
    x = usmx.zeros(6)
    usmx.copy(x, p)
    return x


def put(p):
    x = usmx.zeros(6)
    x[usmx.arange(6)] = p
    return x


U = shared(HOST)
# Function -> what it gives, and what NumPy does.
DOORS = {
    "asarray": (usmx.asarray, HOST),
    "asarray, copy": (lambda p: usmx.asarray(p, copy=True), HOST),
    "asarray, no copy": (lambda p: usmx.asarray(p, copy=False), HOST),
    "asarray, shared": (lambda p: usmx.asarray(p, usm_type="shared"), HOST),
    "asarray, float32": (lambda p: usmx.asarray(p, dtype="f"), HOST.astype("f")),
    "array": (usmx.array, HOST),
    "assignment": (assigned, HOST),
    "assignment to indices": (put, HOST),
    "copy": (copied, HOST),
    "zeros_like": (usmx.zeros_like, HOST * 0),
    "full": (lambda p: usmx.full((2, 6), p), np.full((2, 6), HOST)),
    "add": (lambda p: usmx.add(U, p), HOST * 2),
    "add, other order": (lambda p: usmx.add(p, U), HOST * 2),
    "operator": (lambda p: U * p, HOST * HOST),
    "reflected operator": (lambda p: p - U, HOST * 0),
    "in place": (lambda p: usmx.asarray(HOST).__iadd__(p), HOST * 2),
    "matrix product": (lambda p: U @ p, HOST @ HOST),
    "where": (lambda p: usmx.where(U > 1, U, p), HOST),
    "sqrt": (usmx.sqrt, np.sqrt(HOST)),
    "concat": (lambda p: usmx.concat([U, p]), np.concatenate([HOST, HOST])),
    "stack": (lambda p: usmx.stack([p, U]), np.stack([HOST, HOST])),
    "sum": (usmx.sum, HOST.sum()),
    "cumsum": (usmx.cumsum, HOST.cumsum()),
    "sort": (usmx.sort, HOST),
    "take": (lambda p: usmx.take(p, [1, 3]), HOST[[1, 3]]),
    "searchsorted": (lambda p: usmx.searchsorted(U, p), np.arange(6)),
    "isin": (lambda p: usmx.isin(U, p), HOST >= 0),
    "clip": (lambda p: usmx.clip(p, 1, 3), HOST.clip(1, 3)),
    "dot": (lambda p: usmx.dot(U, p), HOST @ HOST),
    "interp": (lambda p: usmx.interp(p, U, U), HOST),
    "fft": (usmx.fft.fft, np.fft.fft(HOST)),
    "norm": (usmx.linalg.norm, np.linalg.norm(HOST)),
    "ElementwiseKernel": (E, HOST + 1),
    "ReductionKernel": (R, HOST.sum()),
    "NumPy's add": (lambda p: np.add(U, usmx.asarray(p)), HOST * 2),
}


#: Doors that leave memory of the host where it is.
IN_PLACE = ("asarray, no copy", "ElementwiseKernel", "ReductionKernel")


def doors() -> Iterator[Any]:
    for door, protocol in itertools.product(DOORS, PROTOCOLS):
        in_place = door in IN_PLACE and protocol != "dictionary of SYCL"
        yield pytest.param(door, protocol, marks=needs("host_memory") if in_place else ())


@pytest.mark.parametrize(("door", "protocol"), doors())
def test_each_function_takes_each_protocol(door, protocol):
    function, expected = DOORS[door]
    made = function(PROTOCOLS[protocol](HOST.copy()))
    np.testing.assert_allclose(usmx.asarray(made).to_numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("protocol", [p for p in PROTOCOLS if p != "dictionary of SYCL"])
def test_indices_and_masks_come_by_each_protocol(protocol):
    make = PROTOCOLS[protocol]
    for kind in ("device", "shared"):
        x = usmx.asarray(HOST * 10, usm_type=kind)
        assert x[make(PLACES.copy())].tolist() == (HOST * 10)[PLACES].tolist()
        if "Arrow" not in protocol and protocol != "DLPack of the host":  # bits, and NumPy's rules
            assert x[make(MASK.copy())].tolist() == (HOST * 10)[MASK].tolist()
        x[make(PLACES.copy())] = 7
        assert [k for k, v in enumerate(x.tolist()) if v == 7] == sorted(PLACES.tolist())


def test_indices_and_masks_in_usm_of_others():
    make = PROTOCOLS["dictionary of SYCL"]
    x = usmx.asarray(HOST * 10)
    assert x[make(PLACES)].tolist() == (HOST * 10)[PLACES].tolist()
    assert x[make(MASK)].tolist() == (HOST * 10)[MASK].tolist()
    dpnp = pytest.importorskip("dpnp")
    assert x[dpnp.asarray(PLACES)].tolist() == (HOST * 10)[PLACES].tolist()
    assert x[dpnp.asarray(MASK)].tolist() == (HOST * 10)[MASK].tolist()
    assert x.reshape(2, 3)[dpnp.asarray([1]), 1].tolist() == [40.0]
    assert float(x[dpnp.asarray(3)]) == 30.0


ATTRIBUTES = (
    "__sycl_usm_array_interface__", "__cuda_array_interface__", "__arrow_c_array__",
    "__arrow_c_device_array__", "__arrow_c_stream__", "__dlpack__", "__dlpack_device__",
    "__array_interface__", "__array_struct__", "__array__",
)  # fmt: skip


@pytest.mark.parametrize("name", ATTRIBUTES)
@needs("host_memory")
def test_a_property_that_raises_attribute_error_is_absent(name):
    def absent(self):
        raise AttributeError("not for this one")

    members = {"__array_interface__": read("__array_interface__")}
    if name == "__array_interface__":
        members = {"__array__": lambda self, dtype=None, copy=None: self.obj}
    frame = type("Frame", (Keep,), {**members, name: property(absent)})(HOST.copy())
    assert not hasattr(frame, name)
    for made in (
        usmx.asarray(frame),
        usmx.asarray(frame, copy=False),
        usmx.add(U, frame) - U,
        usmx.concat([frame]),
        E(frame) - 1,
    ):
        assert made.tolist() == HOST.tolist()


def test_objects_with_operators_of_their_own_answer_for_both():
    class Answers(Keep):
        def __array__(self, dtype=None, copy=None):
            return self.obj

        def __add__(self, other):
            return "mine"

        __radd__ = __add__

    theirs = Answers(HOST)
    assert U + theirs == "mine"
    assert usmx.add(U, theirs).tolist() == (HOST * 2).tolist()


def test_each_operator_takes_usm_of_a_library_with_operators_of_its_own():
    class Refuses:
        def __init__(self, of):
            self.__sycl_usm_array_interface__ = of.__sycl_usm_array_interface__
            self.of = of

        def refuse(self, other):
            raise TypeError("An array must be any of supported type")

        __radd__ = __rmatmul__ = __matmul__ = __add__ = refuse

    for kind in ("shared", "device"):
        mine = usmx.asarray([[1.0, 2.0], [3.0, 4.0]], usm_type=kind)
        theirs = Refuses(usmx.asarray([[0.0, 1.0], [1.0, 0.0]], usm_type=kind))
        assert (mine + theirs).tolist() == [[1, 3], [4, 4]]
        assert (mine @ theirs).tolist() == [[2, 1], [4, 3]]
        same = mine
        mine @= theirs
        assert mine is same
        assert mine.tolist() == [[2, 1], [4, 3]]


def test_an_object_without_elements_is_refused_by_each_door():
    for door in ("asarray", "add", "concat", "ElementwiseKernel", "copy", "assignment"):
        with pytest.raises(TypeError):
            DOORS[door][0](object())
    assert usmx.add(U, array.array("d", HOST)).tolist() == (HOST * 2).tolist()
