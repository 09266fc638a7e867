# `__cuda_array_interface__` both ways without CUDA: devices are treated as CUDA's, and a recorded
# driver waits for streams. What is asked of a driver is in tests/cpp/runtime/test_cuda_driver.cpp.
# SPDX-License-Identifier: Apache-2.0
import gc
import weakref

import dlpack_structs
import numpy as np
import pytest
from backend_row import needs
from flat_memory import growth

import usmx
import usmx.memory as um

ATTRIBUTE = "__cuda_array_interface__"


@pytest.fixture
def waited():
    """What was waited for while devices count as CUDA's."""
    calls = []
    usmx._usmx._Testing.exchange_as("cuda", lambda *what: calls.append(what))
    yield calls
    usmx._usmx._Testing.exchange_as("")


class Theirs:
    """An array of a library of CUDA, over memory of ours."""

    def __init__(self, memory, **changes):
        self.memory = memory
        self.asked = 0
        self.description = {
            "shape": memory.shape,
            "typestr": memory.dtype.str,
            "data": (memory.pointer, False),
            "strides": None,
            "stream": None,
            "version": 3,
            **changes,
        }

    @property
    def __cuda_array_interface__(self):
        self.asked += 1
        return self.description


@needs("oneapi")
def test_other_backends_do_not_have_the_attribute():
    for x in (usmx.zeros(3), um.MemoryUSMShared(16)):
        assert not hasattr(x, ATTRIBUTE)
        with pytest.raises(AttributeError, match="not a device of CUDA"):
            getattr(x, ATTRIBUTE)


@needs("oneapi")
def test_other_backends_refuse_memory_of_cuda_by_its_address():
    source = Theirs(usmx.zeros(3, "f4"))
    with pytest.raises(
        usmx.InteropError, match=r"data: 0x[0-9a-f]+ is memory of CUDA, and SYCL has"
    ):
        usmx.asarray(source)


@pytest.mark.usefixtures("waited")
@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_an_array_is_described_with_strides_in_bytes(kind):
    x = usmx.asarray(np.arange(12, dtype="i4").reshape(3, 4), usm_type=kind)
    assert x.__cuda_array_interface__ == {
        "shape": (3, 4),
        "typestr": "<i4",
        "data": (x.pointer, False),
        "strides": None,
        "stream": None,
        "version": 3,
    }
    part = x[::-1, 1::2]
    seen = part.__cuda_array_interface__
    assert (seen["shape"], seen["strides"]) == ((3, 2), (-16, 8))
    assert seen["data"] == (part.pointer, False)


@pytest.mark.usefixtures("waited")
@needs("host_memory")
def test_an_array_says_what_else_it_is():
    x = usmx.zeros(4, "f4")
    x.flags.writeable = False
    assert getattr(x, ATTRIBUTE)["data"] == (x.pointer, True)
    assert getattr(usmx.empty((0, 3)), ATTRIBUTE)["data"] == (0, False)
    assert getattr(usmx.zeros((), "f8"), ATTRIBUTE)["shape"] == ()
    record = getattr(usmx.zeros(2, [("a", "<i4"), ("b", "<f8")]), ATTRIBUTE)
    assert record["typestr"] == "|V12"
    assert record["descr"] == [("a", "<i4"), ("b", "<f8")]
    assert getattr(um.MemoryUSMDevice(16), ATTRIBUTE)["typestr"] == "|u1"
    host = usmx.asarray(np.zeros(3), copy=False)
    with pytest.raises(AttributeError, match="memory of the host"):
        getattr(host, ATTRIBUTE)


@pytest.mark.usefixtures("waited")
def test_what_is_submitted_is_finished():
    x = usmx.empty(1 << 22, "i4", queue=usmx.Queue(in_order=True), usm_type="shared")
    view = np.asarray(x)
    for value in range(10):
        usmx.fill_async(x, value)
        assert getattr(x, ATTRIBUTE)["stream"] is None
        assert view[-1] == value


@pytest.mark.usefixtures("waited")
def test_memory_comes_in_without_a_copy():
    x = usmx.arange(12, dtype="f4").reshape(3, 4)
    for source, expected in (
        (Theirs(x), x),
        (Theirs(x, shape=(4, 3), strides=(4, 16)), x.T),
        (Theirs(x, shape=(2, 4), strides=[32, 4]), x[::2]),
        (Theirs(x, shape=(1, 4), strides=(3, 4)), x[:1]),
        (Theirs(x, data=(x.pointer, True)), x),
    ):
        y = usmx.asarray(source)
        assert source.asked == 1
        assert y.pointer == x.pointer
        assert y.usm_type == "device"
        assert y.tolist() == expected.tolist()
        assert y.flags.writeable is not source.description["data"][1]
    y = usmx.asarray(Theirs(x, data=(x[2].pointer, False), shape=(3, 4), strides=(-16, 4)))
    assert y.tolist() == x[::-1].tolist()


@pytest.mark.usefixtures("waited")
def test_the_producer_lives_as_long_as_the_array():
    source = Theirs(usmx.arange(4))
    gone = weakref.ref(source)
    x = usmx.asarray(source)
    y = x[1:]
    del source, x
    gc.collect()
    assert gone() is not None
    assert y.tolist() == [1, 2, 3]
    del y
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"stream": None}, []),
        ({"stream": 1}, [("stream", 1)]),
        ({"stream": 2}, [("stream", 2)]),
        ({"stream": 0x7F0012345678}, [("stream", 0x7F0012345678)]),
        # Before version 3 there was no stream: the default one.
        ({"version": 2}, [("stream", 1)]),
        ({"version": 0}, [("stream", 1)]),
    ],
    ids=str,
)
def test_the_stream_of_the_producer_is_waited_for(waited, changes, expected):
    usmx.asarray(Theirs(usmx.zeros(3), **changes))
    assert waited == expected


def test_a_stream_that_cannot_be_waited_for_is_an_error():
    def fail(*_):
        raise usmx.DeviceError("stream: lost")

    source = Theirs(usmx.zeros(3), stream=1)
    usmx._usmx._Testing.exchange_as("cuda", fail)
    try:
        with pytest.raises(usmx.DeviceError, match="lost"):
            usmx.asarray(source)
    finally:
        usmx._usmx._Testing.exchange_as("")


BAD = {
    "stream 0": ({"stream": 0}, ValueError, "stream: 0 is ambiguous"),
    "stream -1": ({"stream": -1}, ValueError, "stream"),
    "stream text": ({"stream": "1"}, TypeError, "stream"),
    "version": ({"version": 4}, ValueError, "version: 4 of __cuda_array_interface__"),
    "version text": ({"version": "3"}, TypeError, "version"),
    "mask": ({"mask": object()}, ValueError, "mask: "),
    "byte order": ({"typestr": ">f4"}, ValueError, "typestr"),
    "type": ({"typestr": "<O8"}, ValueError, "typestr"),
    "no type": ({"typestr": None}, ValueError, "typestr: is missing"),
    "no shape": ({"shape": None}, ValueError, "shape: is missing"),
    "negative": ({"shape": (-1,)}, ValueError, "shape"),
    "too large": ({"shape": (1 << 62,)}, ValueError, "shape"),
    "too long": ({"shape": (1 << 20,)}, ValueError, "not inside its allocation"),
    "strides": ({"strides": (3,)}, ValueError, r"strides: \(3,\) bytes are not multiples"),
    "two strides": ({"strides": (4, 4)}, ValueError, "strides"),
    "huge strides": ({"strides": (1 << 62,)}, ValueError, "strides"),
    "before": ({"strides": (-4,)}, ValueError, "not inside its allocation"),
    "no data": ({"data": None}, ValueError, "data: is missing"),
    "data": ({"data": 5}, TypeError, r"data: 5.*a tuple \(address, read_only\)"),
    "null": ({"data": (0, False)}, ValueError, "data"),
    "negative address": ({"data": (-4, False)}, ValueError, r"data\[0\]"),
    "misaligned": ({"data": (0x10001, False)}, ValueError, "not aligned"),
    "elsewhere": ({"data": (0x10000, False)}, ValueError, "not known to a device of CUDA"),
}


@pytest.mark.usefixtures("waited")
@pytest.mark.parametrize("name", BAD)
def test_bad_descriptions_are_refused_by_the_field(name):
    changes, error, words = BAD[name]
    source = Theirs(usmx.zeros(6, "f4"), **changes)
    gone = weakref.ref(source)
    with pytest.raises(error, match=words):
        usmx.asarray(source)
    del source
    gc.collect()
    assert gone() is None


@pytest.mark.usefixtures("waited")
def test_arrays_without_elements_go_both_ways():
    source = Theirs(usmx.zeros(3), shape=(0, 3), data=(0, False))
    x = usmx.asarray(source)
    assert x.shape == (0, 3)


def test_an_object_that_refuses_the_attribute_has_none():
    class OnHost:
        """As a tensor of PyTorch in memory of the host."""

        @property
        def __cuda_array_interface__(self):
            raise AttributeError("not on a device of CUDA")

        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    assert usmx.asarray(OnHost()).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match=ATTRIBUTE):
        um.as_usm_memory(OnHost())


def test_a_description_that_is_no_dict_is_refused():
    class Wrong:
        __cuda_array_interface__ = 5

    with pytest.raises(TypeError, match="__cuda_array_interface__: 5"):
        usmx.asarray(Wrong())


@pytest.mark.usefixtures("waited")
@pytest.mark.parametrize("what", ["out", "in", "refused"])
def test_ten_thousand_exchanges_keep_memory_flat(what):
    x = usmx.zeros((4, 6), "f4")[::-1]
    theirs, wrong = Theirs(x, strides=(-24, 4)), Theirs(x, strides=(3, 4))

    def once():
        if what == "out":
            getattr(x, ATTRIBUTE)
        elif what == "in":
            usmx.asarray(theirs)
        else:
            with pytest.raises(ValueError, match="strides"):
                usmx.asarray(wrong)

    assert growth(once) < 1 << 20


@pytest.mark.parametrize(("kind", "notes"), [("device", [("behind", 4096)]), ("shared", [])])
def test_a_stream_of_the_consumer_is_put_behind_device_memory(waited, kind, notes):
    # What the host sees too is finished instead: it would not ask the stream.
    x = usmx.zeros(3, usm_type=kind)
    x.__dlpack__(stream=4096, max_version=(1, 0))
    assert waited == notes


@pytest.mark.usefixtures("waited")
def test_memory_that_the_host_sees_too_has_the_name_of_its_device_if_asked_for():
    # PyTorch knows no other name.
    number = usmx.zeros(3).__dlpack_device__()[1]
    for kind in ("shared", "host"):
        x = usmx.zeros(3, "f4", usm_type=kind)
        capsule = x.__dlpack__(dl_device=(2, number), max_version=(1, 0))
        tensor = dlpack_structs.struct_in(capsule).tensor
        assert (tensor.device_type, tensor.device_id) == (2, number)
        assert tensor.data == x.pointer
        with pytest.raises(BufferError, match=r"device: \(2, 77\)"):
            x.__dlpack__(dl_device=(2, 77), max_version=(1, 0))
    with pytest.raises(BufferError, match=r"dl_device: \(13, "):
        usmx.zeros(3).__dlpack__(dl_device=(13, number), max_version=(1, 0))
