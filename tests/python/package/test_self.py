# Methods and slots are called with any object as self: `usmx.ndarray.copy(7)`, `map(method, many)`,
# a derived class whose __init__ forgets super().__init__(). The answer is a TypeError.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import self_program

import usmx
import usmx.memory


@pytest.fixture(scope="module")
def walk():
    return subprocess.run(
        [sys.executable, Path(self_program.__file__)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_no_method_and_no_slot_of_any_class_crashes_on_a_wrong_self(walk):
    last = "\n".join(walk.stdout.splitlines()[-3:])
    assert walk.returncode == 0, f"{last}\n{walk.stderr[-3000:]}"


def test_every_method_and_slot_of_every_class_refuses_a_wrong_self(walk):
    lines = walk.stdout.splitlines()
    seen = [line for line in lines if line.startswith("class ")]
    assert [line for line in lines if line not in seen][:-1] == []
    assert len(seen) >= 40
    assert int(lines[-1].removeprefix("calls ")) > 40_000


@pytest.mark.parametrize(
    "call",
    [
        lambda: usmx.ndarray.reshape(np.zeros(3), 3),
        lambda: list(map(usmx.ndarray.copy, [np.zeros(3)])),
        lambda: usmx.memory.MemoryUSMShared.__repr__(np.zeros(3)),
        lambda: usmx.ndarray.shape.fget(7),
    ],
    ids=["reshape", "copy", "repr", "shape"],
)
def test_the_message_says_what_self_was_and_what_is_expected(call):
    with pytest.raises(TypeError, match=r"^self: an object of type .*; expected a "):
        call()


class Forgetful(usmx.memory.MemoryUSMShared):
    def __init__(self, n):
        self.n = n


def test_the_message_for_a_forgotten_init_names_the_class_and_the_remedy():
    with pytest.raises(TypeError, match=r"Forgetful: .*never initialised.*super\(\).__init__"):
        repr(Forgetful(3))


def test_an_object_made_by_new_shows_no_freed_memory():
    for _ in range(200):
        m = usmx.memory.MemoryUSMShared(4096)
        m.memset(65)
        del m
        with pytest.raises(TypeError, match="never initialised"):
            memoryview(usmx.memory.MemoryUSMShared.__new__(usmx.memory.MemoryUSMShared))
    a = usmx.ones(4096, usm_type="shared")
    del a
    with pytest.raises(TypeError, match="never initialised"):
        _ = usmx.ndarray.__new__(usmx.ndarray).shape


def test_an_init_that_runs_inside_of_itself_makes_one_object():
    root = usmx.memory.MemoryUSMShared(64)
    m = usmx.memory.MemoryUSMShared.__new__(usmx.memory.MemoryUSMShared)

    class Reentrant:
        def __index__(self):
            m.__init__(root)
            return 32

    with pytest.raises(TypeError, match="initialised by another call"):
        m.__init__(Reentrant())
    assert m.nbytes == 64
    assert m.reference_obj is root
    root.free()
    assert m.freed
