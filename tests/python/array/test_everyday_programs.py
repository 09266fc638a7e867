# Short programs as NumPy's users write them each day run with `import usmx as np`, and print what
# NumPy prints.
# SPDX-License-Identifier: Apache-2.0
import math
import os
import warnings

import numpy
import pytest

import usmx

PROGRAMS = {
    "mean of rows": """
x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
out = x.mean(axis=1)
""",
    "circle": """
t = np.linspace(0, 2 * np.pi, 9)
out = np.array([np.cos(t), np.sin(t)])
""",
    "mesh": """
y, x = np.mgrid[0:3, 0:4]
out = x ** 2 + y
""",
    "mesh by count": """
x = np.mgrid[0:1:5j]
out = x * 2
""",
    "open mesh": """
y, x = np.ogrid[-2:3, -2:3]
out = x * x + y * y <= 4
""",
    "rows and columns": "out = np.r_[np.arange(3), 7, 1:4]",
    "columns": "out = np.c_[np.arange(3), np.ones(3)]",
    "indices": "out = np.indices((2, 3))",
    "fit of a line": """
x = np.arange(10.0)
out = np.polyfit(x, 3 * x + 1, 1)
""",
    "fit of a parabola, evaluated": """
x = np.arange(-5.0, 6.0)
p = np.polyfit(x, x * x - 2 * x, 2)
out = np.polyval(p, np.array([0.0, 1.0, 10.0]))
""",
    "zeros of a polynomial": "out = np.sort(np.roots(np.array([1.0, -6.0, 11.0, -6.0])).real)",
    "derivative and integral": """
p = np.array([3.0, 2.0, 1.0])
out = np.polyadd(np.polyder(p), np.polyint(p))
""",
    "windows": "out = np.hanning(8) + np.hamming(8) + np.blackman(8) + np.bartlett(8)",
    "window of Kaiser": "out = np.kaiser(9, 8.6)",
    "smoothed": """
w = np.ones(3) / 3
out = np.convolve(np.arange(8.0), w, mode="same")
""",
    "moving mean": """
x = np.arange(10.0)
c = np.cumsum(np.concatenate([np.zeros(1), x]))
out = (c[4:] - c[:-4]) / 4
""",
    "days modulo": "out = np.mod(np.arange(-3, 10), 7)",
    "shapes": """
x = np.zeros((3, 4))
out = np.array([np.ndim(x), np.size(x), *np.shape(x), np.size(x, 1)])
""",
    "of lists": "out = np.array([np.ndim([[1, 2]]), np.size([1, 2, 3]), *np.shape([[1], [2]])])",
    "table of text": """
np.savetxt(path, np.arange(6.0).reshape(2, 3), delimiter=",")
out = np.loadtxt(path, delimiter=",")
""",
    "table with gaps": """
with open(path, "w") as f:
    f.write("1,2,3\\n4,,6\\n")
out = np.nan_to_num(np.genfromtxt(path, delimiter=","), nan=-1.0)
""",
    "bytes of a file": """
np.arange(5, dtype=np.int32).tofile(path)
out = np.fromfile(path, dtype=np.int32)
""",
    "a division by zero that is meant": """
with np.errstate(divide="ignore", invalid="ignore"):
    out = np.array([1.0, 2.0]) / np.array([0.0, 2.0])
""",
    "a function of numbers": """
@np.vectorize
def f(x):
    return 1 if x > 2 else -1
out = f(np.arange(5))
""",
    "a ufunc of Python": """
f = np.frompyfunc(lambda a, b: a + 2 * b, 2, 1)
out = f(np.arange(3), 1).astype(int)
""",
    "in one dimension": """
x = np.arange(6).reshape(2, 3)
x.flat[4] = 40
out = np.array([int(v) for v in x.flat])
""",
    "filled through flat": """
x = np.zeros((2, 3)).T
x.flat[::2] = 1
out = x
""",
    "chosen": """
x = np.arange(3)
out = np.array([2, 0, 1]).choose([x, x * 10, x * 100])
""",
    "compressed": "out = np.arange(6).reshape(2, 3).compress([True, False, True], axis=1)",
    "blocks": """
a, b = np.eye(2), np.zeros((2, 1))
out = np.block([[a, b], [np.ones((1, 3))]])
""",
    "sub matrix": "out = np.arange(20).reshape(4, 5)[np.ix_([0, 2], [1, 3])]",
    "upper triangle": """
x = np.arange(9).reshape(3, 3)
out = x[np.triu_indices(3, 1)]
""",
    "diagonal set": """
x = np.zeros((3, 3))
x[np.diag_indices(3)] = 5
out = x
""",
    "counts in a plane": """
x = np.array([0.1, 0.4, 0.5, 0.9]); y = np.array([0.2, 0.2, 0.8, 0.9])
out = np.histogram2d(x, y, bins=2, range=[[0, 1], [0, 1]])[0]
""",
    "a function of lines": """
x = np.arange(6).reshape(2, 3) ** 2
out = np.apply_along_axis(lambda r: r.max() - r.min(), 1, x)
""",
    "sums over axes": "out = np.apply_over_axes(np.sum, np.arange(24).reshape(2, 3, 4), [0, 2])",
    "repeated to a shape": "out = np.resize(np.arange(3), (2, 4))",
    "constants and types": """
x = np.arange(3, dtype=np.float32)
out = np.array([np.pi, np.e, np.inf, float(np.euler_gamma), float(x.dtype == np.single)])
""",
    "types by name": "out = np.array([1.7, 2.2]).astype(np.intp) + np.zeros(2, dtype=np.int_)",
    "kinds of types": """
x = np.arange(2)
out = np.array([np.issubdtype(x.dtype, np.integer), np.isscalar(3.0)])
""",
    "places and elements": """
x = np.arange(4)
out = np.array([i * 10 + v for (i,), v in np.ndenumerate(x)])
""",
    "indices of a shape": "out = np.array([i + 10 * j for i, j in np.ndindex(2, 3)])",
    "checked": """
np.testing.assert_allclose(np.arange(3.0), [0, 1, 2])
np.testing.assert_array_equal(np.arange(3), np.array([0, 1, 2]))
out = np.arange(3)
""",
    "text": """
with np.printoptions(precision=2):
    text = np.array2string(np.array([1.23456, 2.0]), separator=", ")
out = np.array([len(text)])
""",
    "normalised": """
x = np.array([[3.0, 4.0], [6.0, 8.0]])
out = x / np.linalg.norm(x, axis=1, keepdims=True)
""",
    "solved": "out = np.linalg.solve(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([3.0, 5.0]))",
    "conditions": "out = np.where(np.arange(6) % 2 == 0, np.arange(6), -1)",
    "sorted by a column": """
x = np.array([[3, 1], [1, 2], [2, 0]])
out = x[np.argsort(x[:, 0])]
""",
    "unique with counts": """
x = np.array([3, 1, 3, 2, 1, 3])
out = np.array(np.unique(x, return_counts=True))
""",
    "geometric": "out = np.geomspace(1, 1000, 4)",
    "contiguous": "out = np.ascontiguousarray(np.arange(6).reshape(2, 3).T)",
    "made of an iterable": "out = np.fromiter((k * k for k in range(5)), dtype=float)",
    "made of a function": "out = np.fromfunction(lambda i, j: i + j, (3, 3), dtype=int)",
    "windows of a line": """
x = np.arange(6.0)
out = windows(x, 3)
""",
    "scattered sums": """
x = np.zeros(4)
add_at(x, np.array([0, 0, 3]), np.array([1.0, 2.0, 5.0]))
out = x
""",
}


def run(program, module, folder):
    path = os.fspath(folder / f"{module.__name__}.txt")
    names = {"np": module, "math": math, "path": path, "add_at": numpy.add.at}
    names["windows"] = numpy.lib.stride_tricks.sliding_window_view
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(program, names)
    return names["out"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_for_numpy_gives_the_same_with_usmx(name, tmp_path):
    expected = run(PROGRAMS[name], numpy, tmp_path)
    found = run(PROGRAMS[name], usmx, tmp_path)
    assert isinstance(found, usmx.ndarray)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    numpy.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-9, atol=1e-9)


def test_random_numbers_of_one_generator_repeat_with_their_seed():
    draws = {
        "rand": lambda r: r.rand(2, 3),
        "randn": lambda r: r.randn(4),
        "randint": lambda r: r.randint(0, 10, size=5),
        "random": lambda r: r.random((2, 2)),
        "normal": lambda r: r.normal(1.0, 2.0, size=3),
        "uniform": lambda r: r.uniform(-1, 1, size=3),
        "choice": lambda r: r.choice(5, size=3),
        "permutation": lambda r: r.permutation(6),
        "exponential": lambda r: r.exponential(size=3),
    }
    for name, draw in draws.items():
        usmx.random.seed(3)
        first = draw(usmx.random)
        usmx.random.seed(3)
        again = draw(usmx.random)
        assert isinstance(first, usmx.ndarray), name
        assert first.shape == draw(numpy.random).shape, name
        assert first.tolist() == again.tolist(), name
    assert isinstance(usmx.random.rand(), float)
    assert isinstance(usmx.random.randint(10), int)
    items = list(range(20))
    usmx.random.shuffle(items)
    assert sorted(items) == list(range(20))
    x = usmx.arange(20)
    usmx.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(20))


def test_a_name_of_numpy_that_is_missing_has_a_hint():
    with pytest.raises(AttributeError, match=r"no attribute 'busday_count'; numpy.busday_count"):
        usmx.busday_count  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'nothing_like_it'\n"):
        usmx.nothing_like_it  # noqa: B018
