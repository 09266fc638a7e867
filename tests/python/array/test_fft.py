# Transforms are those of NumPy up to rounding, for lengths of all kinds, axes and scales.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import usmx
from usmx import fft
from usmx._namespace import _libraries

pytestmark = pytest.mark.usefixtures("each_library")

#: How many epsilons of the largest number of a result an element may be off.
EPSILONS = 16
# Passes of each factor, several of them, primes that need a convolution, and lengths around both.
LENGTHS = [
    *range(1, 18),
    19,
    22,
    26,
    30,
    34,
    64,
    97,
    121,
    128,
    169,
    210,
    343,
    360,
    1000,
    1009,
    1024,
]
NORMS = ["backward", "ortho", "forward"]


def some(shape: tuple[int, ...], char: str) -> np.ndarray:
    rng = np.random.default_rng(sum(shape) + ord(char))
    x = rng.standard_normal(shape) * 10
    return (x + 10j * rng.standard_normal(shape) if char in "FD" else x).astype(char)


def close(got: usmx.ndarray, wanted: np.ndarray) -> None:
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    if got.size:
        error = np.abs(got.to_numpy() - wanted).max()
        epsilons = EPSILONS * (4 if _libraries.chosen() == "onemkl" else 1)
        assert error <= epsilons * np.finfo(wanted.dtype).eps * max(np.abs(wanted).max(), 1)


@pytest.mark.parametrize("char", "FD")
def test_lengths_of_all_kinds(char: str) -> None:
    for n in LENGTHS:
        x = some((3, n), char)
        a = usmx.asarray(x)
        close(fft.fft(a), np.fft.fft(x))
        close(fft.ifft(a), np.fft.ifft(x))
        close(fft.rfft(a.real), np.fft.rfft(x.real))
        close(fft.irfft(a, n), np.fft.irfft(x, n))
        np.testing.assert_array_equal(a.to_numpy(), x)


@pytest.mark.parametrize("char", "?bHqefdFD")
def test_types_are_those_of_numpy(char: str) -> None:
    x = some((4, 6), "d").astype(char)
    a = usmx.asarray(x)
    close(fft.fft(a), np.fft.fft(x))
    if char == "e":  # NumPy rounds back to float16 in between
        assert fft.rfft(a).dtype == np.complex64
    elif char not in "FD":
        close(fft.rfft(a), np.fft.rfft(x))
        close(fft.ihfft(a), np.fft.ihfft(x))


@pytest.mark.parametrize("norm", [*NORMS, None])
def test_scales_axes_and_lengths(norm: Any) -> None:
    x = some((3, 4, 5), "D")
    a = usmx.asarray(x)
    for axis in (0, 1, -1, -3):
        for n in (None, 1, 3, 8):
            for name in ("fft", "ifft", "irfft", "hfft"):
                close(getattr(fft, name)(a, n=n, axis=axis, norm=norm),
                      getattr(np.fft, name)(x, n=n, axis=axis, norm=norm))  # fmt: skip
            for name in ("rfft", "ihfft"):
                close(getattr(fft, name)(a.real, n=n, axis=axis, norm=norm),
                      getattr(np.fft, name)(x.real, n=n, axis=axis, norm=norm))  # fmt: skip
    for axes in (None, (0,), (2, 0), (-1, -2), (0, 1, 2)):
        lengths = range(len(axes or x.shape))
        for s in (
            None,
            tuple((2, 6, 4)[k] for k in lengths),
            tuple((-1, 3, -1)[k] for k in lengths),
        ):
            given = {"s": s, "axes": axes, "norm": norm}
            if s is not None and axes is None:
                given["axes"] = (0, 1, 2)  # NumPy warns of axes that are left out
            close(fft.fftn(a, **given), np.fft.fftn(x, **given))
            close(fft.ifftn(a, **given), np.fft.ifftn(x, **given))
            close(fft.rfftn(a.real, **given), np.fft.rfftn(x.real, **given))
            close(fft.irfftn(a, **given), np.fft.irfftn(x, **given))
    for name in ("fft2", "ifft2", "irfft2"):
        close(getattr(fft, name)(a, norm=norm), getattr(np.fft, name)(x, norm=norm))
    close(fft.rfft2(a.real, norm=norm), np.fft.rfft2(x.real, norm=norm))


def test_views_and_kinds_of_memory() -> None:
    x = some((6, 8), "f")
    for kind in ("device", "shared", "host"):
        a = usmx.asarray(x, usm_type=kind)
        made = fft.fft(a[::-1, ::2])
        assert (made.usm_type, made.queue) == (kind, a.queue)
        close(made, np.fft.fft(x[::-1, ::2]))
        close(fft.fft(usmx.broadcast_to(a[0], (5, 8))), np.fft.fft(np.broadcast_to(x[0], (5, 8))))
        close(fft.fft(a + a), np.fft.fft(x + x))
    close(fft.fft(usmx.zeros((0, 4))), np.fft.fft(np.zeros((0, 4))))


def test_long_lines_of_both_kinds(request: pytest.FixtureRequest) -> None:
    # The stand-in of NVIDIA's library sums each line as the definition says.
    short = "nvidia" in request.node.name and usmx.Device().backend != "cuda"
    for n in (1 << 12, 4_003) if short else (1 << 17, 100_003):
        x = some((n,), "F")
        close(fft.fft(usmx.asarray(x)), np.fft.fft(x))


def test_frequencies_and_shifts() -> None:
    for n in (1, 2, 5, 8):
        for d in (1.0, 0.25):
            np.testing.assert_array_equal(fft.fftfreq(n, d).to_numpy(), np.fft.fftfreq(n, d))
            np.testing.assert_array_equal(fft.rfftfreq(n, d).to_numpy(), np.fft.rfftfreq(n, d))
    frequencies = fft.fftfreq(5, d=0.5, dtype="float32", usm_type="host")
    assert (frequencies.dtype, frequencies.usm_type) == (np.float32, "host")
    x = np.arange(60).reshape(3, 4, 5)
    for axes in (None, 0, -1, (0, 2)):
        for name in ("fftshift", "ifftshift"):
            got = getattr(fft, name)(usmx.asarray(x), axes=axes).to_numpy()
            np.testing.assert_array_equal(got, getattr(np.fft, name)(x, axes=axes))


def test_functions_of_numpy_compute_on_the_device() -> None:
    x = some((4, 6), "d")
    a = usmx.asarray(x, usm_type="device")
    close(np.fft.fft(a, 8, 0), np.fft.fft(x, 8, 0))
    close(np.fft.rfft2(a), np.fft.rfft2(x))
    close(np.fft.irfft(np.fft.rfft(a)), x)
    assert isinstance(np.fft.fftshift(a), usmx.ndarray)


def test_errors_say_what_was_wrong() -> None:
    a = usmx.ones((3, 4))
    with pytest.raises(ValueError, match="n: 0 elements; expected at least one"):
        fft.fft(a, n=0)
    with pytest.raises(ValueError, match="n: 0 elements"):
        fft.fft(a[:, :0])
    with pytest.raises(ValueError, match="norm: 'both'; expected 'backward'"):
        fft.fft(a, norm="both")
    with pytest.raises(IndexError, match="axis: 2 is out of bounds"):
        fft.fft(a, axis=2)
    with pytest.raises(TypeError, match="rfft: a has type complex64; expected real numbers"):
        fft.rfft(a.astype("complex64"))
    with pytest.raises(ValueError, match="s: has 1 lengths for 2 axes"):
        fft.fftn(a, s=(2,), axes=(0, 1))
    with pytest.raises(ValueError, match="axes: is empty"):
        fft.rfftn(a, axes=())
    with pytest.raises(TypeError, match="dtype: int32; expected float32 or float64"):
        fft.fftfreq(4, dtype="int32")


# The signatures of edition 2025.12.
SIGNATURES = """
fft(x, /, *, n=None, axis=-1, norm='backward')
ifft(x, /, *, n=None, axis=-1, norm='backward')
fftn(x, /, *, s=None, axes=None, norm='backward')
ifftn(x, /, *, s=None, axes=None, norm='backward')
rfft(x, /, *, n=None, axis=-1, norm='backward')
irfft(x, /, *, n=None, axis=-1, norm='backward')
rfftn(x, /, *, s=None, axes=None, norm='backward')
irfftn(x, /, *, s=None, axes=None, norm='backward')
hfft(x, /, *, n=None, axis=-1, norm='backward')
ihfft(x, /, *, n=None, axis=-1, norm='backward')
fftfreq(n, /, *, d=1.0, dtype=None, device=None)
rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
fftshift(x, /, *, axes=None)
ifftshift(x, /, *, axes=None)
"""


@pytest.mark.parametrize("line", SIGNATURES.split("\n")[1:-1])
def test_each_call_that_the_standard_allows_is_accepted(line: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def {line}: ...", scope)
    name = line.split("(", maxsplit=1)[0]
    wanted = inspect.signature(scope[name]).parameters
    ours = inspect.signature(getattr(fft, name)).parameters
    assert len(ours) >= len(wanted)
    for (parameter, same), mine in zip(wanted.items(), ours, strict=False):
        # What is given by place alone has the name that NumPy gives it.
        if same.kind is same.KEYWORD_ONLY:
            assert mine == parameter
            assert ours[parameter].kind in (same.kind, same.POSITIONAL_OR_KEYWORD)
            assert ours[parameter].default == same.default
    for own in [*ours.values()][len(wanted) :]:
        assert own.default is not own.empty


@pytest.mark.parametrize("axes", [(0, 0), (1, 0, 1), (0, 1, 0), (1, 1, 1)])
def test_an_axis_may_be_transformed_twice(axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).random((4, 5))
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        want = getattr(np.fft, name)(x, axes=axes)
        got = getattr(fft, name)(usmx.asarray(x), axes=axes).to_numpy()
        assert got.shape == want.shape, name
        assert np.allclose(got, want), name
    lengths = (3, 6, 4)[: len(axes)]
    for name in ("fftn", "rfftn", "irfftn"):
        want = getattr(np.fft, name)(x, s=lengths, axes=axes)
        got = getattr(fft, name)(usmx.asarray(x), s=lengths, axes=axes).to_numpy()
        assert got.shape == want.shape, name
        assert np.allclose(got, want), name


def test_a_shift_along_no_axis_is_a_copy(kind: str) -> None:
    x = usmx.asarray(np.arange(4.0), usm_type=kind)
    for shifted in (usmx.fft.fftshift(x, axes=()), usmx.fft.ifftshift(x, axes=())):
        x[0] = 9
        assert shifted.tolist() == [0, 1, 2, 3]
        x[0] = 0


@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2"])
def test_along_no_axes_nothing_is_computed(name):
    x = usmx.arange(3)
    made = getattr(usmx.fft, name)(x, axes=())
    assert (made.dtype, made.tolist()) == (np.dtype("q"), [0, 1, 2])
    made[0] = 5
    assert x.tolist() == [0, 1, 2]
