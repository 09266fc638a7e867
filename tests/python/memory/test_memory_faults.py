"""A failed copy raises an error: dpctl.memory returns uninitialised bytes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lab
import pytest

COPIES = {
    "copy_to_host": ("memcpy", "m.copy_to_host(bytearray(64))"),
    "tobytes": ("memcpy", "m.tobytes()"),
    "copy_from_host": ("memcpy", "m.copy_from_host(bytes(64))"),
    "copy_from_device": ("memcpy", "m.copy_from_device(other)"),
    "memset": ("fill", "m.memset(1)"),
    "constructor": ("memcpy", "um.MemoryUSMDevice(m, copy=True)"),
    "pickle": ("memcpy", "pickle.dumps(m)"),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_failed_copy_raises_and_the_next_one_works(
    name: str, run_python: Callable[..., Any]
) -> None:
    fault, call = COPIES[name]
    code = f"""
        import pickle, sys
        sys.path.insert(0, {str(lab.HERE)!r})
        import lab
        from usmx import memory as um
        m, other = um.MemoryUSMDevice(64), um.MemoryUSMDevice(64)
        m.memset(3), other.memset(4)
        device = lab.SimulatedDevice()
        device.fail({fault!r}, 1)
        live = device.live
        try:
            {call}
        except RuntimeError as error:
            print("raised")
        device.fail({fault!r}, 0)
        assert device.live == live
        {call}
        assert len(m.tobytes()) == 64
    """
    assert run_python(code, env=lab.simulated()).stdout == "raised\n"
