# Names that programs for numba.cuda use: libdevice, bits, parts of complex numbers, devices.
# SPDX-License-Identifier: Apache-2.0
import math
from fractions import Fraction

import numpy as np
import pytest

import usmx
from usmx.compat import cuda
from usmx.compat.cuda import libdevice

simulated = pytest.mark.parametrize("debug", [False, True])


def bits(out, numbers):
    out[0] = libdevice.mul64hi(-3, 2**62)
    out[1] = libdevice.umul64hi(2**63, 6)
    out[2] = libdevice.byte_perm(0x33221100, 0x77665544, 0x7531)
    out[3] = libdevice.float_as_int(1.0)
    out[4] = libdevice.double_as_longlong(1.0)
    out[5] = libdevice.double2hiint(-2.5)
    out[6] = libdevice.double2loint(0.1)
    out[7] = libdevice.float2half_rn(1.5)
    numbers[0] = libdevice.int_as_float(0x40400000)
    numbers[1] = libdevice.longlong_as_double(0x3FF8000000000000)
    numbers[2] = libdevice.hiloint2double(0x3FF80000, 0)
    numbers[3] = libdevice.half2float(0x3E00)
    rest, quotient = libdevice.remquo(29.0, 3.0)
    numbers[4] = rest
    numbers[5] = quotient
    rest, quotient = libdevice.remquof(-100.0, 3.0)
    numbers[6] = rest
    numbers[7] = quotient
    numbers[8] = cuda.float32(1.5).view(cuda.int32)
    numbers[9] = cuda.int32(1).view("uint32")


@simulated
def test_libdevice_takes_numbers_apart(debug):
    out, numbers = np.zeros(8, "i8"), np.zeros(10)
    cuda.jit(bits, debug=debug)[1, 1](out, numbers)
    low = np.float64(0.1).view("i8").astype("i4")
    assert out.tolist() == [
        -1, 3, 0x77553311, 0x3F800000, 0x3FF0000000000000, -1073479680, low, 0x3E00,
    ]  # fmt: skip
    assert numbers.tolist() == [3, 1.5, 1.5, 1.5, -1, 2, -1, -1, 0x3FC00000, 1]


@simulated
def test_bits_are_viewed_as_a_type_of_as_many_bytes(debug):
    def wrong(out):
        out[0] = out[0].view(cuda.int32)

    with pytest.raises(cuda.errors.TypingError, match="a type of 8 bytes"):
        cuda.jit(wrong, debug=debug)[1, 1](np.zeros(1))


# --- rounding in a direction ----------------------------------------------------------------------

OPERATORS = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "div": lambda a, b, c: a / b if b else None,
    "rcp": lambda a, b, c: 1 / a if a else None,
    "fma": lambda a, b, c: a * b + c,
}


def neighbours(exact, t):
    """The numbers of a type below and above an exact one, or twice the one that is equal."""
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf if exact > 0 else -math.inf
    with np.errstate(all="ignore"):
        low = t(near)
        while low == np.inf or (low > -np.inf and Fraction(float(low)) > exact):
            low = np.nextafter(low, t(-np.inf))
        high = np.nextafter(low, t(np.inf))
        while high < np.inf and Fraction(float(high)) <= exact:
            low, high = high, np.nextafter(high, t(np.inf))
    return low, low if low > -np.inf and Fraction(float(low)) == exact else high


def some_numbers(t, seed):
    draw = np.random.default_rng(seed)
    about = np.finfo(t)
    any_bits = draw.integers(0, 256, (60, about.bits // 8), dtype="u1").view(t)[:, 0]
    small = np.asarray([about.tiny, about.smallest_subnormal, -about.smallest_subnormal], t)
    others = np.asarray([1, -1, 3, 1 / 3, about.max, -about.max], t)
    found = np.concatenate([any_bits[np.isfinite(any_bits)], small, others, draw.normal(size=30)])
    return draw.permutation(found.astype(t))


@pytest.mark.parametrize("how", ["rd", "ru", "rz"])
@pytest.mark.parametrize("t", [np.float32, np.float64])
def test_libdevice_rounds_in_a_direction(t, how):
    letter = "f" if t is np.float32 else "d"
    add, sub, mul, div, rcp, root = (
        getattr(libdevice, f"{letter}{name}_{how}")
        for name in ("add", "sub", "mul", "div", "rcp", "sqrt")
    )
    both = getattr(libdevice, f"fma{'f' if letter == 'f' else ''}_{how}")

    @cuda.jit
    def rounded(a, b, c, out):
        i = cuda.grid(1)
        if i < a.size:
            out[0, i] = add(a[i], b[i])
            out[1, i] = sub(a[i], b[i])
            out[2, i] = mul(a[i], b[i])
            out[3, i] = div(a[i], b[i])
            out[4, i] = rcp(a[i])
            out[5, i] = both(a[i], b[i], c[i])
            out[6, i] = root(abs(a[i]))

    a, b, c = (some_numbers(t, seed) for seed in range(3))
    n = min(a.size, b.size, c.size)
    a, b, c = a[:n], b[:n], c[:n]
    out = np.zeros((7, n), t)
    rounded[4, 64](a, b, c, out)
    wrong = []
    for k, exact_of in enumerate(OPERATORS.values()):
        for i in range(n):
            exact = exact_of(*(Fraction(float(x[i])) for x in (a, b, c)))
            if not exact:
                continue
            low, high = neighbours(exact, t)
            wanted = low if how == "rd" or (how == "rz" and exact > 0) else high
            if out[k, i] != wanted:
                wrong.append((k, a[i], b[i], c[i], out[k, i], wanted))
    for i in range(n):
        square = abs(Fraction(float(a[i])))
        got = Fraction(float(out[6, i]))
        next_one = Fraction(float(np.nextafter(out[6, i], t(np.inf if how != "ru" else 0))))
        fits = got**2 >= square > next_one**2 if how == "ru" else got**2 <= square < next_one**2
        if square and not fits:
            wrong.append(("sqrt", a[i], out[6, i]))
    assert not wrong


def test_libdevice_converts_in_a_direction():
    @cuda.jit
    def converted(x, u, d, floats, doubles):
        i = cuda.grid(1)
        if i < x.size:
            floats[0, i] = libdevice.ll2float_rd(x[i])
            floats[1, i] = libdevice.ll2float_ru(x[i])
            floats[2, i] = libdevice.ull2float_rd(u[i])
            floats[3, i] = libdevice.ull2float_ru(u[i])
            floats[4, i] = libdevice.double2float_rd(d[i])
            floats[5, i] = libdevice.double2float_ru(d[i])
            doubles[0, i] = libdevice.ll2double_rd(x[i])
            doubles[1, i] = libdevice.ll2double_ru(x[i])
            doubles[2, i] = libdevice.ull2double_rd(u[i])
            doubles[3, i] = libdevice.ull2double_ru(u[i])

    draw = np.random.default_rng(4)
    x = draw.integers(-(2**63), 2**63, 50, dtype="i8")
    x[:6] = [1, -1, 2**63 - 1, -(2**63), 2**24 + 1, -(2**24) - 1]
    u = x.view("u8").copy()
    u[6] = 2**64 - 1
    d = np.exp(draw.normal(size=50) * 40)
    d[:3] = [1e300, -1e300, 0.1]
    floats, doubles = np.zeros((6, 50), "f4"), np.zeros((4, 50))
    converted[1, 64](x, u, d, floats, doubles)
    for out, t, rows in ((floats, np.float32, (x, u, d)), (doubles, np.float64, (x, u))):
        for k, row in enumerate(rows):
            for i, number in enumerate(row.tolist()):
                low, high = neighbours(Fraction(number), t)
                assert (out[2 * k, i], out[2 * k + 1, i]) == (low, high), (number, t)


# --- parts of complex numbers ---------------------------------------------------------------------


def gridded(grid, x, sums):
    i = cuda.grid(1)
    cuda.atomic.add(grid.real, i % 2, x[i].real)
    cuda.atomic.add(grid.imag, i % 2, x.imag[i])
    sums[i] = x.real[i] + x.imag[i]
    own = cuda.shared.array(4, cuda.complex64)
    if i < 4:
        own.real[i] = i
        own.imag[i] = 1
    cuda.syncthreads()
    if i < 4:
        x[i] = own[i]


@simulated
def test_parts_of_complex_arrays_are_read_written_and_added_to(debug):
    x = (np.arange(8) + 1j * np.arange(8)[::-1]).astype("c8")
    grid, sums = np.zeros(2, "c16"), np.zeros(8)
    cuda.jit(gridded, debug=debug)[1, 8](grid, x, sums)
    assert grid.tolist() == [12 + 16j, 16 + 12j]
    assert sums.tolist() == [7] * 8
    assert x[:5].tolist() == [1j, 1 + 1j, 2 + 1j, 3 + 1j, 4 + 3j]


def test_a_part_of_a_complex_array_is_not_passed():
    @cuda.jit(device=True)
    def first(x):
        return x[0]

    @cuda.jit
    def passes(x, out):
        out[0] = first(x.real)

    with pytest.raises(cuda.errors.TypingError, match="a part of complex numbers"):
        passes[1, 1](np.zeros(2, "c8"), np.zeros(1))


# --- what is said ---------------------------------------------------------------------------------


def says(x):
    print(x[0] > 1, "and", f"{x[0] > 2}", x[0])


def test_bools_are_printed_as_python_prints_them(capfd):
    cuda.jit(says)[1, 1](np.array([1.5]))
    cuda.synchronize()
    usmx.default_queue().wait()
    assert capfd.readouterr().out.strip() == "True and False 1.5"


def test_devices_and_kernels_answer_what_programs_ask():
    device = cuda.get_current_device()
    for name in ("ASYNC_ENGINE_COUNT", "L2_CACHE_SIZE", "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"):
        assert isinstance(getattr(device, name), int)
    assert (device.COMPUTE_CAPABILITY_MAJOR, device.COMPUTE_CAPABILITY_MINOR) == (9, 0)

    @cuda.jit("void(float32[:])", fastmath=True)
    def kernel(x):
        x[0] = 1

    assert kernel.targetoptions["fastmath"] is True
    [signature] = kernel.signatures
    assert kernel.get_regs_per_thread(signature) == 0
    assert kernel.get_shared_mem_per_block() == {signature: 0}
    assert kernel.get_max_threads_per_block(signature) == device.MAX_THREADS_PER_BLOCK
    kernel.recompile()
    kernel.enable_caching()
