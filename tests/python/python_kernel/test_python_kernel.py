# What Python kernels compute, construct by construct, against NumPy: on the device and again in the
# simulator, which has to agree.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

import usmx

SIZE = 24
WEIGHTS = (1, 2.5, 4)
FACTOR = 3


@pytest.fixture(params=["device", "simulator"])
def run(request):
    """Launches a function over arrays and gives back what the arrays hold then."""

    def launch(function, *args, over=SIZE):
        passed = [
            usmx.asarray(a, usm_type="shared") if isinstance(a, np.ndarray) else a for a in args
        ]
        usmx.kernel(function, simulate=request.param == "simulator")[over](*passed).wait()
        got = [a.to_numpy() for a in passed if isinstance(a, usmx.ndarray)]
        return got[0] if len(got) == 1 else got

    return launch


def numbers(dtype="f4", n=SIZE):
    return np.arange(n).astype(dtype)


def test_branches_loops_and_jumps(run):
    def f(item, out):
        i = item.get_id(0)
        total = 0
        for k in range(i + 1):
            if k % 3 == 0:
                continue
            elif k > 15:
                break
            total += k
        n = i
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        for k in range(10, 0, -3):
            total += k
        for k in range(i, 0, -1):
            total -= 1 if 2 < k <= 5 else 0
        out[i] = total * 1000 + steps

    def wanted(i):
        total, n, steps = 0, i, 0
        for k in range(i + 1):
            if k % 3 == 0:
                continue
            if k > 15:
                break
            total += k
        while n > 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        total += 10 + 7 + 4 + 1 - sum(1 for k in range(1, i + 1) if 2 < k <= 5)
        return total * 1000 + steps

    got = run(f, np.zeros(SIZE, "i4"))
    assert got.tolist() == [wanted(i) for i in range(SIZE)]


def test_a_loop_variable_keeps_its_last_value_and_range_its_bounds(run):
    def f(item, out):
        i = item.get_id(0)
        n = i % 5 + 1
        for k in range(n):  # noqa: B007
            n = 100
        for m in range(0, 10, item.get_id(0) - 3):
            out[m] += 0
        step = -2 if i % 2 else 2
        s = 0
        for q in range(5, 5 + 4 * step, step):
            s += q
        out[i] = k * 10000 + n + s

    got = run(f, np.zeros(SIZE, "i4"), over=3)  # steps of -3, -2, -1: no round
    wanted = [(i % 5) * 10000 + 100 + (20 + (-12 if i % 2 else 12)) for i in range(3)]
    assert got[:3].tolist() == wanted


def test_assignments(run):
    def f(item, out):
        i = item.get_id(0)
        a = b = i + 1
        a, b = b + 1, a
        a += 2
        a -= b
        b *= 3
        c = (a, b)
        c = (c[1], c[0] + 1)
        x, (y, z) = c[0], (c[1], 5)
        flag = (i > 3 and not a == 4) or i == 1  # noqa: SIM201
        out[i] = x * 100 + y * 10 + z + (1000 if flag else 0)
        out[i] //= 2
        out[i] ^= 1
        out[i] <<= 1

    def wanted(i):
        a = b = i + 1
        a, b = b + 1, a
        a += 2 - b
        b *= 3
        x, y, z = b, a + 1, 5
        flag = (i > 3 and a != 4) or i == 1
        return (((x * 100 + y * 10 + z + (1000 if flag else 0)) // 2) ^ 1) << 1

    got = run(f, np.zeros(SIZE, "i4"))
    assert got.tolist() == [wanted(i) for i in range(SIZE)]


def test_numbers_of_python_adapt_to_what_they_meet(run):
    def f(item, a, b, x, d, out):
        i = item.get_id(0)
        s = 0.0
        for k in range(3):
            s += x[k] * a
        out[0] = s.dtype == usmx.float32
        out[1] = (b * x[i]).dtype == usmx.float32
        out[2] = (b * 0.5).dtype == usmx.float64
        out[3] = (d[0] + x[i]).dtype == usmx.float64
        out[4] = (x[i] / 3).dtype == usmx.float32
        out[5] = (d[0] / d[1]).dtype == usmx.float64
        out[6] = (d[0] + 1).dtype == usmx.int32
        out[7] = (x[i] * 1j).dtype == usmx.complex64
        out[8] = x.dtype == usmx.float32
        out[9] = d.dtype == usmx.float32

    x, d = numbers(), numbers("i4")
    *_, got = run(f, 2.0, 3, x, d, np.zeros(10, "?"), over=1)
    assert got.tolist() == [True] * 9 + [False]


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
)
def test_operators_agree_with_numpy(run, dtype):
    def f(item, a, b, out, true):
        i = item.get_id(0)
        x, y = a[i], b[i]
        out[0, i] = x + y
        out[1, i] = x - y
        out[2, i] = x * y
        out[3, i] = x // y
        out[4, i] = x % y
        out[5, i] = -x
        out[6, i] = abs(x)
        out[7, i] = x**2
        out[8, i] = min(x, y)
        out[9, i] = max(x, y, 1)
        true[0, i] = x / y
        true[1, i] = x < y
        true[2, i] = x == y or x >= y
        true[3, i] = +x

    def g(item, a, b, out):
        i = item.get_id(0)
        x, y = a[i], b[i]
        out[0, i] = x & y
        out[1, i] = x | y
        out[2, i] = x ^ y
        out[3, i] = ~x
        out[4, i] = x << (y & 7)
        out[5, i] = x >> (y & 15)
        out[6, i] = x**3

    random = np.random.default_rng(3)
    low = 0 if dtype[0] == "u" else -50
    a = random.integers(low, 100, SIZE).astype(dtype)
    b = random.integers(1, 9, SIZE).astype(dtype)
    if dtype[0] in "if":
        b[::2] *= -1
    with np.errstate(all="ignore"):
        table = [a + b, a - b, a * b, a // b, a % b, -a, abs(a), a**2, np.minimum(a, b)]
        table.append(np.maximum(np.maximum(a, b), a.dtype.type(1)))
        true = [a / b, a < b, a >= b, a]
    _, _, got, got_true = run(f, a, b, np.zeros((10, SIZE), dtype), np.zeros((4, SIZE), "f8"))
    np.testing.assert_array_equal(got, np.array(table))
    np.testing.assert_allclose(got_true, np.array(true, "f8"), rtol=1e-15)
    if dtype[0] != "f":
        table = [a & b, a | b, a ^ b, ~a, a << (b & 7), a >> (b & 15), a**3]
        got = run(g, a, b, np.zeros((7, SIZE), dtype))[-1]
        np.testing.assert_array_equal(got, np.array(table))


def test_integers_wrap_and_never_trap(run):
    def f(item, a, z, out):
        i = item.get_id(0)
        out[0] = a[0] + 1
        out[1] = a[1] - 1
        out[2] = a[1] * -1
        out[3] = a[1] // -1
        out[4] = a[1] % -1
        out[5] = a[0] << 33
        out[6] = a[1] >> 40
        out[7] = z[0] - 1 > 0
        out[8] = i - 1 < z[0]
        out[9] = a[1] < z[0]

    a = np.array([2**31 - 1, -(2**31)], "i4")
    got = run(f, a, np.array([0], "u8"), np.zeros(10, "i4"), over=1)[-1]
    assert got.tolist() == [-(2**31), 2**31 - 1, -(2**31), -(2**31), 0, 0, -1, 1, 1, 1]


def test_division_by_zero_gives_zero_for_integers_on_the_device():
    def f(item, a, out):
        out[0] = a[0] // a[1]
        out[1] = a[0] % a[1]

    a = usmx.asarray(np.array([5, 0], "i4"), usm_type="shared")
    out = usmx.ones(2, dtype="i4", usm_type="shared")
    usmx.kernel(f)[1](a, out).wait()
    assert out.to_numpy().tolist() == [0, 0]
    with pytest.raises(ZeroDivisionError):
        usmx.kernel(f, simulate=True)[1](a, out)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers(run, dtype):
    def f(item, z, a, out, real):
        i = item.get_id(0)
        x = z[i]
        out[0, i] = x * x + a
        out[1, i] = x / (x + 1) - 2j
        out[2, i] = x.conjugate() * x.real
        out[3, i] = complex(x.imag, 1) ** 2
        real[i] = abs(x) + (1 if x == z[0] else 0)

    random = np.random.default_rng(4)
    z = (random.normal(size=SIZE) + 1j * random.normal(size=SIZE)).astype(dtype)
    out, real = np.zeros((4, SIZE), dtype), np.zeros(SIZE, "f8")
    _, got, got_real = run(f, z, 1 + 2j, out, real)
    table = [z * z + (1 + 2j), z / (z + 1) - 2j, z.conj() * z.real, (z.imag + 1j) ** 2]
    np.testing.assert_allclose(got, np.array(table), rtol=1e-5 if dtype == "c8" else 1e-13)
    np.testing.assert_allclose(got_real, abs(z) + (z == z[0]), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "f8", "c8"])
def test_elements_of_every_type_are_copied(run, dtype):
    def f(item, a, out):
        i = item.get_id(0)
        out[i] = a[len(a) - 1 - i]

    a = (numbers("i4") % 2).astype(dtype) if dtype == "?" else numbers(dtype)
    np.testing.assert_array_equal(run(f, a, np.zeros(SIZE, dtype))[1], a[::-1])


def test_conversions(run):
    def f(item, x, out):
        i = item.get_id(0)
        out[0, i] = int(x[i])
        out[1, i] = float(int(x[i] * 2))
        out[2, i] = usmx.int8(x[i] * 30)
        out[3, i] = np.float32(i) / 3
        out[4, i] = bool(int(x[i]))
        out[5, i] = x.dtype.type(2) * round(x[i])
        n: usmx.int16 = int(x[i]) + 7
        out[6, i] = n

    x = np.linspace(-4, 4, SIZE)
    with np.errstate(all="ignore"):
        table = [np.trunc(x), np.trunc(x * 2), (x * 30).astype("i8").astype("i1")]
        table += [np.arange(SIZE, dtype="f4") / np.float32(3), np.trunc(x) != 0]
        table += [2 * np.rint(x), np.trunc(x) + 7]
    np.testing.assert_array_equal(run(f, x, np.zeros((7, SIZE)))[1], np.array(table, "f8"))


def test_shapes_sizes_and_indices_from_the_end(run):
    def f(item, a, b, out):
        rows, columns = a.shape
        out[0] = rows * 100 + columns
        out[1] = a.size * 10 + a.ndim
        out[2] = len(b) + len(a.shape)
        out[3] = a[-1, -2]
        out[4] = a[1][2]
        out[-1] = b[-1]
        at = (1, 1)
        out[6] = a[at]

    a = numbers("i8").reshape(4, 6)
    got = run(f, a, numbers("i8", 5), np.zeros(8, "i8"), over=1)[-1]
    assert got.tolist() == [406, 242, 7, 22, 8, 0, 7, 4]


@pytest.mark.parametrize("simulate", [False, True])
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::-1],
        lambda a: a[:, ::-2],
        lambda a: a.T,
        lambda a: a[2:, 1:3],
        lambda a: a[:, :1],
    ],
)
def test_strided_views_are_reached_in_place(view, simulate):
    def f(item, a, b):
        i, j = item.get_id(0), item.get_id(1)
        b[i, j] = a[i, j] * 2 + b[i, j]

    host = np.arange(48, dtype="f4").reshape(8, 6)
    a = usmx.asarray(host, usm_type="shared")
    b = usmx.ones((8, 6), dtype="f4", usm_type="shared")
    wanted = np.ones((8, 6), "f4")
    view(wanted)[...] += 2 * view(host)
    usmx.kernel(f, simulate=simulate)[view(host).shape](view(a), view(b)).wait()
    np.testing.assert_array_equal(b.to_numpy(), wanted)


def test_an_array_of_no_dimension_has_a_value(run):
    def f(item, a, out):
        out[item.get_id(0)] = a.size + out.size

    assert run(f, np.zeros((3, 0), "f4"), np.zeros(4, "i4"), over=4)[1].tolist() == [4] * 4


@usmx.device_func
def horner(x, a, b, c):
    return (a * x + b) * x + c


@usmx.device_func
def smaller_first(a, b):
    if a < b:
        return a, b
    return b, a


@usmx.device_func
def add_at(a, i, x):
    a[i] += horner(x, 0, 1, x.dtype.type(1))


@usmx.device_func
def apply(f, x, y):
    return f(x, y)[1]


def test_device_functions(run):
    def f(item, x, out):
        i = item.get_id(0)
        low, high = smaller_first(x[i], x[SIZE - 1 - i])
        out[i] = horner(low, 1, 2, 3) - high
        add_at(out, i, x[i])
        out[i] += apply(smaller_first, 1, 2)

    x = numbers()
    low, high = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    wanted = (low + 2) * low + 3 - high + x + 1 + 2
    np.testing.assert_array_equal(run(f, x, np.zeros(SIZE, "f4"))[1], wanted)


def test_numbers_of_the_surroundings_are_captured(run):
    offset = np.float32(0.5)
    settings = type("Settings", (), {"scale": 4})

    def f(item, x, out):
        i = item.get_id(0)
        out[i] = x[i] * FACTOR + offset + WEIGHTS[1] * settings.scale + math.pi

    wanted = numbers() * np.float32(3) + np.float32(0.5) + np.float32(10) + np.float32(math.pi)
    np.testing.assert_allclose(run(f, numbers(), np.zeros(SIZE, "f4"))[1], wanted, rtol=1e-6)


def test_an_argument_may_be_none(run):
    def f(item, x, bias, out):
        i = item.get_id(0)
        out[i] = x[i]
        if bias is not None:
            out[i] += bias[i]

    x = numbers()
    assert run(f, x, None, np.zeros(SIZE, "f4"))[1].tolist() == x.tolist()
    assert run(f, x, x, np.zeros(SIZE, "f4"))[2].tolist() == (2 * x).tolist()


def test_names_that_c_has_taken(run):
    def f(item, double, new, int32_t):
        class_ = double[0]
        struct, this, x__y = 1, 2, 3
        half = linux = 4
        new[0] = struct + this + x__y + half + linux + class_ + int32_t[0]

    assert run(f, np.ones(1, "f8"), np.zeros(1, "f8"), np.ones(1, "i4"), over=1)[1][0] == 16


def test_annotations_say_what_a_number_is(run):
    def f(item, a: usmx.float32, n: "usmx.int16", out):
        out[0] = (a * 1.5).dtype == usmx.float32
        out[1] = (n + 1).dtype == usmx.int16
        out[2] = a

    assert run(f, 2.5, 3, np.zeros(3, "f8"), over=1).tolist() == [1, 1, 2.5]
    with pytest.raises(TypeError, match="'n' of kernel 'f' is declared int16, got a Python float"):
        run(f, 2.5, 3.5, np.zeros(3, "f8"), over=1)


def test_ranges_of_several_dimensions(run):
    def f(item, out):
        i, j, k = item.get_id(0), item.get_id(1), item.get_id(2)
        out[i, j, k] = item.get_linear_id() + 1000 * item.get_range(2)

    got = run(f, np.zeros((2, 3, 4), "i4"), over=(2, 3, 4))
    np.testing.assert_array_equal(got, np.arange(24).reshape(2, 3, 4) + 4000)


@usmx.device_func
def same_name(x):
    return x + 1


same_function = same_name
same_table = usmx.constant.array([5.0])


def test_variables_hide_neither_functions_nor_tables(run):
    def sin(item, same_table_, device, out):
        same_name = 2.0
        table = same_table[0]
        out[0] = same_function(same_name) + table + device

    assert run(sin, 0, 10, np.zeros(1, "f8"), over=1)[0] == 18


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_an_integer_that_a_condition_chose_keeps_its_sign_as_a_float(run, dtype):
    def f(item, x, out):
        i = item.get_id(0)
        out[0, i] = -1 if x[i] > 0 else 0
        out[1, i] = -(x[i] > 0)
        out[2, i] = x[i] - (-1 if x[i] > 0 else 0)

    x = np.linspace(-2, 2, SIZE).astype("f4").astype(dtype)
    _, got = run(f, x, np.zeros((3, SIZE), dtype))
    sign = np.where(x > 0, -1, 0).astype(dtype)
    np.testing.assert_array_equal(got, [sign, sign, x - sign])
