# New arrays have the kind of memory that suits their device, unless the program, the process or the
# environment says otherwise.
# SPDX-License-Identifier: Apache-2.0
import io
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from backend_row import needs

import usmx

KINDS = ("device", "shared", "host")


# What makes an array without an operand of ours.
MAKERS = {
    "zeros": lambda: usmx.zeros(3),
    "ones": lambda: usmx.ones(3),
    "empty": lambda: usmx.empty((2, 3), order="F"),
    "full": lambda: usmx.full(3, 2.0),
    "full of an array of the host": lambda: usmx.full(3, np.arange(3.0)),
    "arange": lambda: usmx.arange(3),
    "a long arange": lambda: usmx.arange(100_000),
    "linspace": lambda: usmx.linspace(0, 1, 5),
    "logspace": lambda: usmx.logspace(0, 1, 5),
    "eye": lambda: usmx.eye(3),
    "identity": lambda: usmx.identity(3),
    "tri": lambda: usmx.tri(3),
    "indices": lambda: usmx.indices((2, 2)),
    "diag_indices": lambda: usmx.diag_indices(3)[0],
    "tril_indices": lambda: usmx.tril_indices(3)[0],
    "mgrid": lambda: usmx.mgrid[0:2, 0:2],
    "hanning": lambda: usmx.hanning(5),
    "fromfunction": lambda: usmx.fromfunction(lambda i, j: i + j, (2, 2)),
    "asarray of a list": lambda: usmx.asarray([1.0, 2.0]),
    "asarray of a number": lambda: usmx.asarray(1.0),
    "asarray of an array of the host": lambda: usmx.asarray(np.arange(3.0)),
    "asarray of bytes": lambda: usmx.asarray(memoryview(b"abc")),
    "array": lambda: usmx.array([1, 2]),
    "from_numpy": lambda: usmx.from_numpy(np.arange(3.0)),
    "zeros_like of the host": lambda: usmx.zeros_like(np.arange(3.0)),
    "ndarray": lambda: usmx.ndarray((3,)),
    "fft.fftfreq": lambda: usmx.fft.fftfreq(8),
    "random": lambda: usmx.random.default_rng(1).random(5),
    "integers": lambda: usmx.random.default_rng(1).integers(0, 9, 5),
    "standard_normal": lambda: usmx.random.default_rng(1).standard_normal(5),
    "rand": lambda: usmx.random.rand(3),
    "add of the host": lambda: usmx.add(np.ones(3), np.ones(3)),
    "sort of the host": lambda: usmx.sort(np.ones(3)),
    "sum of the host": lambda: usmx.sum(np.ones(3)),
    "concat of the host": lambda: usmx.concat([np.ones(3), np.ones(3)]),
    "copy of the host in place": lambda: usmx.asarray(np.ones(3), copy=False).copy(),
    "load": lambda: usmx.load(saved()),
    "frombuffer": lambda: usmx.frombuffer(b"abcdefgh", "u1"),
    "fromiter": lambda: usmx.fromiter([1.0, 2.0], "f8"),
    "fromstring": lambda: usmx.fromstring("1 2", sep=" "),
}


def saved():
    file = io.BytesIO()
    np.save(file, np.arange(3.0))
    file.seek(0)
    return file


def maker(name: str) -> Any:
    marks = needs("host_memory") if "in place" in name else ()
    return pytest.param(MAKERS[name], id=name, marks=marks)


@pytest.mark.parametrize("make", map(maker, MAKERS))
def test_new_arrays_have_the_default_kind(make):
    for kind in KINDS:
        with usmx.default_usm_type(kind):
            assert make().usm_type == kind


@needs("cpu")
def test_on_a_processor_new_arrays_are_shared_memory_which_numpy_reads_in_place(run_python):
    code = """
        import numpy as np, usmx
        for device in usmx.devices():
            own = "shared" if device.is_cpu else "device"
            assert usmx.default_usm_type(device=device) == own
            assert usmx.zeros(3, device=device).usm_type == own
        assert usmx.default_usm_type() == usmx.zeros(3).usm_type
        assert usmx.default_usm_type(device="cpu") == "shared"
        x = usmx.zeros(3, device="cpu")
        np.asarray(x)[1] = 5
        assert x.tolist() == [0, 5, 0]
        np.testing.assert_array_equal(np.asarray(usmx.arange(3, device="cpu") * 2.0), [0, 2, 4])
    """
    run_python(code, env={"USMX_USM_TYPE": None})


def test_what_a_program_says_comes_first():
    with usmx.default_usm_type("host"):
        assert usmx.zeros(3, usm_type="device").usm_type == "device"
        x = usmx.ones(3, usm_type="shared")
        for made in (x + 1, x.copy(), usmx.zeros_like(x), usmx.asarray(x), usmx.sort(x), x.sum()):
            assert made.usm_type == "shared"
        assert usmx.ndarray((3,), "f4", "device").usm_type == "device"


def test_a_pickle_keeps_its_kind():
    pickled = pickle.dumps(usmx.ones(3, usm_type="device"))
    with usmx.default_usm_type("host"):
        assert pickle.loads(pickled).usm_type == "device"


def test_a_choice_holds_until_the_block_ends_in_all_threads():
    before = usmx.default_usm_type()
    seen = []
    with usmx.default_usm_type("host"):
        with usmx.default_usm_type("shared"):
            thread = threading.Thread(target=lambda: seen.append(usmx.zeros(3).usm_type))
            thread.start()
            thread.join()
        assert usmx.default_usm_type() == "host"
    assert seen == ["shared"]
    assert usmx.default_usm_type() == before
    with pytest.raises(ZeroDivisionError), usmx.default_usm_type("host"):
        raise ZeroDivisionError
    assert usmx.default_usm_type() == before


def test_a_choice_without_a_block_holds_until_the_next():
    with usmx.default_usm_type("device"):
        usmx.default_usm_type("host")
        assert usmx.zeros(3).usm_type == "host"
        usmx.default_usm_type("shared")
        assert usmx.zeros(3).usm_type == "shared"


@pytest.mark.parametrize("wrong", ["devices", "", "unknown", "Shared"])
def test_another_text_is_refused(wrong):
    before = usmx.default_usm_type()
    with pytest.raises(ValueError, match=f"usm_type: '{wrong}'; expected 'device', 'shared' or"):
        usmx.default_usm_type(wrong)
    assert usmx.default_usm_type() == before


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="usm_type"):
        usmx.default_usm_type(3)
    with pytest.raises(TypeError, match="device: with usm_type, the kind of all devices"):
        usmx.default_usm_type("host", device="cpu")


def test_the_environment_names_a_kind(run_python):
    code = """
        import usmx
        print(usmx.default_usm_type(), usmx.zeros(3).usm_type)
        with usmx.default_usm_type("device"):
            print(usmx.zeros(3).usm_type)
        with usmx.default_usm_type(None):
            print(usmx.zeros(3).usm_type)
    """
    shown = run_python(code, env={"USMX_USM_TYPE": "host"}).stdout
    assert shown.split() == ["host", "host", "device", "host"]
    own = "shared" if usmx.Device().is_cpu else "device"
    for empty in (None, ""):
        shown = run_python(code, env={"USMX_USM_TYPE": empty}).stdout
        assert shown.split() == [own, own, "device", own]


def test_a_wrong_kind_in_the_environment_is_named_each_time(run_python):
    code = """
        import usmx
        for _ in range(2):
            try:
                usmx.zeros(3)
            except ValueError as error:
                print(error)
        print(usmx.zeros(3, usm_type="host").usm_type)
        usmx.default_usm_type("host")
        print(usmx.zeros(3).usm_type)
    """
    shown = run_python(code, env={"USMX_USM_TYPE": "managed"}).stdout.splitlines()
    message = "USMX_USM_TYPE: 'managed' is not supported; expected 'device', 'shared' or 'host'"
    assert shown == [message, message, "host", "host"]
