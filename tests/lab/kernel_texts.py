"""Prints every kind of kernel text that usmx makes, as JSON, with the forms of a backend's devices.

    python kernel_texts.py cuda

Each call runs on the device that is there and is checked: the forms give the same values
everywhere. A list of ``[name, text, options]``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import io
import json
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import usmx
from usmx import _usmx

TESTS = Path(__file__).resolve().parents[1] / "python"
sys.path[:0] = [str(TESTS), str(TESTS / "package"), str(TESTS / "python_kernel")]

import lab  # noqa: E402
import test_examples  # noqa: E402
import test_kernel_intrinsics  # noqa: E402

EVERY_PRELUDE_FUNCTION = Path(__file__).with_name("every_prelude_function.cpp")
TYPES = ("int8", "uint64", "float16", "float64", "complex64")


def some(dtype: str, *shape: int) -> np.ndarray:
    """Small whole numbers, of which sums and products are exact."""
    return (np.arange(math.prod(shape)).reshape(shape) % 5).astype(dtype)


def same(got: usmx.ndarray, expected: np.ndarray) -> None:
    """They are equal."""
    np.testing.assert_array_equal(got.to_numpy(), expected)


def elementwise() -> None:
    """Every way to an element: in a row, strided, broadcast, raw; every type; casts."""
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    for dtype in TYPES:
        x = some(dtype, 5, 7)
        same(add(usmx.asarray(x), usmx.asarray(x)), x + x)
    x = some("float32", 5, 7)
    a = usmx.asarray(x)
    same(add(a[::2, ::-1], a[::2, ::-1]), 2 * x[::2, ::-1])
    same(add(a, a[:1]), x + x[:1])
    same(add(a, 2), x + 2)
    cast = usmx.ElementwiseKernel("float32 x", "int8 z", "z = x * 2", "twice")
    same(cast(a), (x * 2).astype("int8"))
    two = usmx.ElementwiseKernel("T x", "T s, float64 d", "s = x + 1; d = x / 2.0", "two")
    s, d = two(a)
    same(s, x + 1)
    same(d, x.astype("float64") / 2)
    turned = usmx.ElementwiseKernel("raw T x", "T z", "z = x[n - 1 - i]", "turned")
    same(turned(a.reshape(-1), size=35), x.reshape(-1)[::-1])
    fused = usmx.fuse(lambda p, q: p * q + 1)
    same(fused(a, a), x * x + 1)


def reductions() -> None:
    """Along and across, of few and of many, whole and in parts, with an index."""
    total = usmx.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
    for dtype in TYPES:
        x = some(dtype, 7, 40)
        same(total(usmx.asarray(x)), x.sum(dtype=dtype))
        same(total(usmx.asarray(x), axis=0), x.sum(axis=0, dtype=dtype))
    x = some("int64", 300, 300)
    a = usmx.asarray(x)
    for axis in (0, 1, None):
        same(total(a, axis=axis), x.sum(axis=axis))
    x = some("float32", 40_000, 3)
    a = usmx.asarray(x)
    same(total(a, axis=0), x.sum(axis=0))
    same(total(a, axis=1), x.sum(axis=1))
    same(total(usmx.asarray(x[:0]), axis=0), x[:0].sum(axis=0))
    place = usmx.ReductionKernel(
        "T x",
        "int64 y",
        "place{x, i}",
        "a.value < b.value ? b : a",
        "y = a.at",
        name="place",
        reduce_type="place",
        preamble="struct place { T value; int64_t at; };",
    )
    same(place(usmx.asarray(some("float32", 4))), np.int64(3))


def scans() -> None:
    """Along and across, inclusive and exclusive, of one chunk and of several."""
    running = usmx.ScanKernel("T x", "T y", "x", "a + b", name="running")
    before = usmx.ScanKernel(
        "T x", "T y", "x", "a + b", identity="0", exclusive=True, name="before"
    )
    for dtype in TYPES[:2]:
        x = some(dtype, 40)
        same(running(usmx.asarray(x)), np.cumsum(x, dtype=dtype))
    x = some("int64", 40_000)
    same(running(usmx.asarray(x)), np.cumsum(x))
    same(before(usmx.asarray(x)), np.cumsum(x) - x)
    for dtype in TYPES:  # each with a tile of its own
        x = (np.arange(40_000) % 1000 == 0).astype(dtype)
        a = usmx.asarray(x)
        same(running(a), np.cumsum(x, dtype=dtype))
        same(before(a[1:]), np.cumsum(x[1:], dtype=dtype) - x[1:])
    last = usmx.ScanKernel(
        "T x",
        "int64 y",
        "place{x, i}",
        "b.value < a.value ? a : b",
        "y = a.at",
        name="last",
        scan_type="place",
        preamble="struct place { T value; int64_t at; };",
    )
    same(last(usmx.asarray(np.ones(40_000, "float32"))), np.arange(40_000))
    x = some("int64", 3000, 40)
    same(running(usmx.asarray(x), axis=0), np.cumsum(x, axis=0))
    same(before(usmx.asarray(x), axis=1), np.cumsum(x, axis=1) - x)


def sorts() -> None:
    """Short and long rows, of every form of elements, as groups of items sort them; searches."""
    chosen = sys.argv[1]
    for dtype in ("bool", *TYPES, "complex128"):
        for shape in ((40, 7), (2, 3000)):
            x = some(dtype, *shape)
            a = usmx.asarray(x)
            same(usmx.sort(a), np.sort(x))
            same(usmx.argsort(a), np.argsort(x, kind="stable"))
        same(usmx.searchsorted(a[0, :5], a[1]), np.searchsorted(x[0, :5], x[1]))
    numbers = some("int64", 5000)
    for backend in ("native_cpu", "cuda"):
        _usmx._Testing.use_forms_of(backend)
        a = usmx.asarray(numbers)
        same(usmx.bincount(a), np.bincount(numbers))
        same(usmx.bincount(a, a), np.bincount(numbers, numbers))
        same(usmx.sort(a), np.sort(numbers))
    _usmx._Testing.use_forms_of(chosen)


def matrices() -> None:
    """Products, and each decomposition, of each type of numbers."""
    from usmx import linalg

    for dtype in TYPES:
        x = some(dtype, 17, 17)
        same(usmx.asarray(x) @ usmx.asarray(x), x @ x)
    x = some("float64", 5, 5) + 4 * np.eye(5)
    for dtype in ("float32", "float64", "complex64", "complex128"):
        a = usmx.asarray(x.astype(dtype))
        # Their bits depend on the device; that they are right is tested elsewhere.
        for call in (linalg.inv, linalg.det, linalg.qr, linalg.svd, linalg.eig):
            call(a)
        linalg.solve(a, a[0])
        linalg.cholesky(a @ a.T)


def transforms() -> None:
    """A pass of each factor, and a convolution."""
    from usmx import fft

    for dtype in ("complex64", "complex128"):
        for n in (4 * 2 * 3, 5 * 7, 11 * 13, 17):
            a = usmx.asarray(some(dtype, n))
            fft.irfft(fft.fft(a), n)


def copies() -> None:
    """Strided, transposed and casting copies of device memory."""
    for dtype in ("int8", "float32", "complex128"):
        x = some(dtype, 70, 90)
        a = usmx.asarray(x, usm_type="device")
        same(a[:, ::2].copy(), x[:, ::2])
        same(a.T.copy(), x.T)
    x = some("float32", 6, 5, 4, 3, 2)
    a = usmx.asarray(x, usm_type="device")
    same(a[::2, :, ::-1, :, ::-1].copy(), x[::2, :, ::-1, :, ::-1])
    for dtype in ("bool", *TYPES, "complex128"):
        same(a.astype(dtype), x.astype(dtype))


def raw_kernels() -> None:
    """A kernel that takes views and local memory, by the generated kernel before it."""
    x = some("float32", 4, 8)
    a = usmx.asarray(x)
    turned = usmx.RawKernel(
        "USMX_KERNEL(1) turned(usmx::strided<float, 2> x, usmx::local_view<float, 1> row) {"
        "  const auto k = usmx::local_id();"
        "  row(k) = x(usmx::group_id(), k);"
        "  usmx::group_barrier();"
        "  x(usmx::group_id(), k) = row(usmx::local_range() - 1 - k);"
        "}",
        "turned",
    )
    turned[x.size, x.shape[1]](a, usmx.LocalMemory(x.shape[1], "float32")).wait()
    same(a, x[:, ::-1])


def prelude() -> None:
    """Every function of the prelude."""
    assert usmx.RawKernel(EVERY_PRELUDE_FUNCTION.read_text(), "every_atomic").limits()


def intrinsics() -> None:
    """Every function of numbers of Python kernels, for every type."""
    for dtype in test_kernel_intrinsics.DTYPES:
        with tempfile.TemporaryDirectory() as folder:
            test_kernel_intrinsics.test_every_function_of_the_table_agrees_with_numpy(
                dtype, Path(folder)
            )


@usmx.kernel
def speaking(item, x, n):
    """Prints, and asserts what holds."""
    i = item.get_global_id(0)
    assert x[i] >= 0, "x must not be negative"
    if i == n:
        print("item", i, f"{x[i]:.2f}", n, 1.5, True)


BODY = np.dtype([("tag", "u1"), ("mass", "f8"), ("vel", usmx.vec(3, "float32").dtype), ("z", "c8")])


def turned(p, m):
    q = p.copy()
    q.vel = (m @ p.vel).normalize() if p.tag > 1 and p.vel.length() > 1 else -p.vel
    p.mass += q.vel.dot(p.vel)
    return q


@usmx.kernel
def of_records(item, x, m):
    i = item.get_id(0)
    p = x[i]
    p.z *= 2
    x[i] = turned(p, m)


def python_kernels() -> None:
    """Print and assert, records and vectors, and the examples."""
    speaking[8](usmx.asarray(some("float16", 8)), 9).wait()
    of_records[8](usmx.zeros(8, dtype=BODY), usmx.mat(3, 3, "float32")(range(9))).wait()
    for path in sorted((lab.ROOT / "examples" / "kernels").glob("*.py")):
        with contextlib.redirect_stdout(io.StringIO()):
            test_examples.load(path).main()


@usmx.kernel
def of_bfloat16(item, x, y):
    i = item.get_id(0)
    y[i] = x[i] * 2 + i
    y[i] += x[i]


def bfloat16s() -> None:
    """What the other cases do with numbers, of bfloat16."""
    x = usmx.asarray(np.arange(64, dtype="float32")).astype("bfloat16")
    for name in ("int8", "int64", "uint64", "float16", "float64", "complex64"):
        assert usmx.all(x.astype(name).astype("bfloat16") == x).item()
    square = x.reshape(8, 8)
    for made in (
        usmx.sqrt(x) + x * 3 - usmx.special.j0(x), x // 3, x % 3, usmx.sum(x), usmx.var(x),
        usmx.cumulative_sum(x), usmx.sort(x), usmx.argmax(x), square @ square,
    ):  # fmt: skip
        assert made.to_numpy().size
    y = usmx.empty_like(x)
    usmx.ElementwiseKernel("T x, T a", "T y", "y = x < a ? x + 1 : -a / 2")(x, 3.5, y)
    of_bfloat16[64](x, y).wait()
    assert y[3].item() == 12


def random_numbers() -> None:
    """Every distribution, in every type that it has."""
    rng = usmx.random.default_rng(1)
    real = (
        ("random", ()), ("uniform", (0, 1)), ("normal", (0, 1)), ("standard_normal", ()),
        ("exponential", (1,)), ("standard_exponential", ()), ("gamma", (0.5,)),
        ("lognormal", (0, 1)), ("laplace", (0, 1)), ("logistic", (0, 1)), ("gumbel", (0, 1)),
        ("rayleigh", (1,)), ("weibull", (2,)), ("pareto", (2,)), ("power", (2,)),
        ("chisquare", (2,)), ("noncentral_chisquare", (2, 1)), ("f", (2, 3)), ("beta", (1, 2)),
        ("standard_t", (3,)), ("standard_cauchy", ()), ("wald", (1, 2)), ("triangular", (0, 1, 2)),
    )  # fmt: skip
    counts = (
        ("integers", (9,)), ("poisson", (20,)), ("binomial", (50, 0.5)), ("geometric", (0.5,)),
        ("negative_binomial", (2, 0.5)), ("logseries", (0.5,)), ("zipf", (2,)),
    )  # fmt: skip
    for name, parameters in real:
        for dtype in ("float32", "float64"):
            made = getattr(rng, name)(*parameters, size=9, dtype=dtype)
            assert np.isfinite(made.to_numpy()).all()
    for name, parameters in counts:
        assert (getattr(rng, name)(*parameters, size=9).to_numpy() >= 0).all()
    assert rng.choice(9, 9, p=np.full(9, 1 / 9)).size == rng.permutation(9).size


CASES: tuple[Callable[[], None], ...] = (
    elementwise,
    reductions,
    scans,
    sorts,
    matrices,
    transforms,
    copies,
    raw_kernels,
    prelude,
    intrinsics,
    python_kernels,
    bfloat16s,
    random_numbers,
)


def main(backend: str) -> None:
    """Run everything with the forms of that backend and print what was compiled."""
    texts: dict[tuple[str, ...], tuple[str, str, list[str]]] = {}
    _usmx._Testing.use_forms_of(backend)
    usmx.default_usm_type("device")  # the host computes few elements of other memory
    for case in CASES:
        _usmx._Testing.keep_compiled_texts(True)
        with usmx.linalg.use_library("kernels"):
            case()
        for number, (text, options) in enumerate(_usmx._Testing.kept_compiled_texts()):
            texts[text, *options] = (f"{case.__name__}-{number}", text, list(options))
    json.dump(list(texts.values()), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
