"""Short programs of the everyday kind, each for NumPy; `import usmx as np` runs them."""

# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 (lines of programs)

RUN = {
    "moving_average": r"""
x = np.array([3.0, 5, 2, 8, 9, 4, 7])
w = np.convolve(x, np.ones(3) / 3, mode="valid")
print(np.round(w, 3))
print(w.max(), w.argmax())
""",
    "grades": r"""
g = np.array([[80, 90, 70], [60, 75, 88], [95, 100, 92]])
names = ["a", "b", "c"]
for n, m, s in zip(names, g.mean(axis=1), g.std(axis=1)):
    print(f"{n}: {m:.2f} +- {s:.2f}")
print(g[g.mean(axis=1) > 80])
print(np.argsort(-g.sum(axis=1)))
""",
    "bank": r"""
r = 0.05 / 12
months = np.arange(1, 13)
balance = 1000 * (1 + r) ** months
for m, b in zip(months, balance):
    print("%2d %8.2f" % (m, b))
print(np.diff(balance).round(2))
""",
    "sieve": r"""
n = 100
is_prime = np.ones(n + 1, dtype=bool)
is_prime[:2] = False
for k in range(2, int(n ** 0.5) + 1):
    if is_prime[k]:
        is_prime[k * k :: k] = False
print(np.flatnonzero(is_prime))
print(is_prime.sum())
""",
    "knn": r"""
pts = np.array([[0, 0], [1, 1], [5, 5], [6, 5]], dtype=float)
labels = np.array([0, 0, 1, 1])
q = np.array([5.5, 4.5])
d = np.linalg.norm(pts - q, axis=1)
nearest = np.argsort(d, kind="stable")[:3]
print(nearest, np.bincount(labels[nearest]).argmax())
""",
    "markov": r"""
P = np.array([[0.9, 0.1], [0.5, 0.5]])
p = np.array([1.0, 0.0])
for _ in range(50):
    p = p @ P
print(p)
w, v = np.linalg.eig(P.T)
s = v[:, np.argmax(w)].real
print(s / s.sum())
""",
    "regression": r"""
rng = np.random.default_rng(0)
x = np.linspace(0, 10, 50)
y = 2.5 * x + 1 + 0.0 * rng.normal(size=50)
A = np.vstack([x, np.ones_like(x)]).T
m, c = np.linalg.lstsq(A, y, rcond=None)[0]
print(f"{m:.3f} {c:.3f}")
print(np.polyfit(x, y, 1).round(3))
print(np.corrcoef(x, y)[0, 1].round(6))
""",
    "image": r"""
img = np.zeros((8, 8), dtype=np.uint8)
img[2:6, 2:6] = 255
print(np.pad(img, 1, mode="edge").shape, img[::-1, ::2].shape)
inv = 255 - img
print(inv.dtype, np.clip(img.astype(int) + 100, 0, 255).max())
rgb = np.stack([img, inv, img], axis=-1)
print(rgb.shape, rgb.mean(axis=(0, 1)))
print(np.rot90(img).sum(), np.count_nonzero(img))
""",
    "text_table": r"""
import io
f = io.StringIO("# a b\n1 2\n3 4\n5 6\n")
t = np.loadtxt(f)
print(t, t.shape)
out = io.StringIO()
np.savetxt(out, t * 2, fmt="%.1f", delimiter=",")
print(out.getvalue())
""",
    "dice": r"""
rng = np.random.default_rng(42)
rolls = rng.integers(1, 7, size=(10000, 2)).sum(axis=1)
v, c = np.unique(rolls, return_counts=True)
print(v)
print(bool(c[5] == c.max()), c.sum())
""",
    "game": r"""
b = np.zeros((6, 6), int)
b[1, 2] = b[2, 3] = b[3, 1] = b[3, 2] = b[3, 3] = 1
for _ in range(4):
    n = sum(np.roll(np.roll(b, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    b = ((n == 3) | ((b == 1) & (n == 2))).astype(int)
for row in b:
    print("".join(".#"[v] for v in row))
""",
    "fft": r"""
t = np.arange(128) / 128
s = np.sin(2 * np.pi * 10 * t) + 0.5 * np.sin(2 * np.pi * 30 * t)
f = np.abs(np.fft.rfft(s))
freq = np.fft.rfftfreq(128, 1 / 128)
print(freq[f > 10])
print(np.allclose(np.fft.irfft(np.fft.rfft(s)), s))
""",
    "complex": r"""
z = np.exp(1j * np.linspace(0, 2 * np.pi, 5))
print(np.round(z, 3))
print(np.angle(z[1], deg=True), np.abs(z).sum(), z.real[0], z.imag.max())
z.imag[0] = 3
print(z[0].real, z[0].imag, np.conj(z[1]).imag.round(3))
""",
    "broadcast": r"""
a = np.arange(3)[:, None] + np.arange(4)[None, :] * 10
print(a)
a[a > 20] = 0
a[1] += 5
a[:, -1] *= 2
print(a.T)
print(a.cumsum(0), a.min(), a.tolist())
x, y = np.meshgrid(np.arange(3), np.arange(2))
print(x * y)
i, j = np.mgrid[0:2, 0:3]
print(i + j)
print(np.ogrid[0:3].shape)
""",
    "solve": r"""
A = np.array([[3.0, 2, -1], [2, -2, 4], [-1, 0.5, -1]])
b = np.array([1.0, -2, 0])
x = np.linalg.solve(A, b)
print(x.round(6), np.allclose(A @ x, b))
print(np.linalg.det(A).round(6), np.linalg.inv(A).round(3), np.linalg.matrix_rank(A))
""",
    "financial": r"""
p = np.array([100, 102, 101, 105, 107.0])
r = p[1:] / p[:-1] - 1
print((r * 100).round(3), np.prod(1 + r) - 1)
print(np.maximum.accumulate(p) - p)
print(np.log(p[1:] / p[:-1]).sum())
""",
    "piecewise": r"""
income = np.array([5000, 20000, 80000.0])
tax = np.piecewise(income, [income < 10000, (income >= 10000) & (income < 50000), income >= 50000], [0, lambda x: 0.2 * (x - 10000), lambda x: 8000 + 0.4 * (x - 50000)])
print(tax)
print(np.select([income < 10000, income < 50000], [0, 1], 2))
print(np.digitize(income, [10000, 50000]))
""",
    "matrix_print": r"""
np.set_printoptions(precision=2, suppress=True)
a = np.array([[1 / 3, 1e-9], [1000.5, 2]])
print(a)
print(repr(a))
print(str(a[0]))
print(f"{a[0, 0]:.4f}", format(a[1, 1], ".1f"))
print(np.array2string(a, precision=1))
with np.printoptions(precision=4): print(a)
""",
    "iteration": r"""
a = np.arange(6).reshape(2, 3)
for i, row in enumerate(a):
    for j, v in enumerate(row):
        print(i, j, int(v), end="; ")
for idx, v in np.ndenumerate(a): print(idx, v, end=" ")
print(max(a.flat), sum(a.ravel()), list(np.ndindex(2, 2)), sorted(a[1], reverse=True), len(a), 3 in a)
""",
    "vectorize": r"""
def step(x, lo=0):
    return x if x > lo else lo
f = np.vectorize(step)
print(f(np.array([-1, 2, -3])))
print(np.apply_along_axis(lambda r: r.sum() - r[0], 1, np.arange(6).reshape(2, 3)))
print(np.fromiter((k * k for k in range(5)), dtype=int))
print(np.frompyfunc(step, 1, 1)(3))
""",
    "state": r"""
np.random.seed(1)
a = np.random.rand(3, 2)
b = np.random.randn(4)
c = np.random.randint(0, 10, 5)
d = np.random.choice([1, 2, 3], 4)
print(a.shape, b.shape, c.min() >= 0, set(d.tolist()) <= {1, 2, 3})
x = np.arange(5)
np.random.shuffle(x)
print(sorted(x.tolist()))
print(np.random.permutation(4).sum(), np.random.uniform(1, 2) < 2, np.random.normal(0, 1, size=3).shape)
""",
    "save": r"""
import os, tempfile
d = tempfile.mkdtemp()
a = np.arange(10.0)
np.save(os.path.join(d, "a.npy"), a)
np.savez(os.path.join(d, "b.npz"), x=a, y=a * 2)
print(np.load(os.path.join(d, "a.npy")).sum())
with np.load(os.path.join(d, "b.npz")) as z: print(z.files, z["y"][-1])
a.tofile(os.path.join(d, "c.bin"))
print(np.fromfile(os.path.join(d, "c.bin")).size, np.genfromtxt(["1,2", "3,"], delimiter=","))
""",
    "bits": r"""
x = np.array([1, 2, 255], dtype=np.uint8)
print(x << 1, x & 3, ~x, x ^ 1, np.unpackbits(x[:1]), np.binary_repr(5), x.view(np.int8), x.nbytes, x.itemsize)
print(np.iinfo(np.int16).max, np.finfo(np.float32).eps, np.uint8(200) + np.uint8(20), np.int64(7) // 2, np.float32(1) / 3)
""",
    "set_ops": r"""
a = np.array([1, 3, 5, 3])
b = np.array([3, 4, 5])
print(np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b), np.isin(a, b), np.unique(a, return_inverse=True))
print(np.where(a > 2), np.nonzero(a == 3)[0], np.argwhere(a == 3).tolist(), np.searchsorted(np.sort(a), 4), np.allclose(a, a), np.array_equal(a, b), np.partition(a, 1)[0])
""",
    "integrate": r"""
x = np.linspace(0, np.pi, 1001)
print(np.trapezoid(np.sin(x), x).round(5), np.gradient(x ** 2, x)[500].round(5), np.interp(1.5, [1, 2], [10, 20]), np.polyval([1, 0, -1], 3), np.sort(np.roots([1, -3, 2]).real), np.cumsum(x)[-1].round(3))
""",
    "rotate": r"""
t = np.deg2rad(90)
R = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
v = np.array([1, 0])
print((R @ v).round(6), np.cross([1, 0, 0], [0, 1, 0]), np.dot(v, v), np.outer(v, v), np.einsum("ij,j->i", R, v).round(6), np.kron(np.eye(2), [1, 2]), np.trace(R).round(6), np.hypot(3, 4), np.linalg.norm(v))
""",
    "hist": r"""
data = np.array([1.0, 2, 2, 3, 3, 3, 4, 9])
h, e = np.histogram(data, bins=4)
for n, lo, hi in zip(h, e[:-1], e[1:]): print(f"{lo:5.1f}-{hi:5.1f} {'#' * n}")
print(np.median(data), np.percentile(data, [25, 75]), np.quantile(data, 0.9), np.var(data, ddof=1).round(4), np.ptp(data), np.average(data, weights=np.arange(8)).round(4), np.mean(data).dtype)
""",
    "queue": r"""
a = np.empty((0, 2))
for k in range(3): a = np.append(a, [[k, k * k]], axis=0)
a = np.insert(a, 1, 9, axis=0)
a = np.delete(a, 0, axis=0)
print(a, a.shape, np.vstack([a, a[:1]]).shape, np.hstack([a, a]).shape, np.concatenate((a, a)).shape, np.tile(a[0], 2), np.repeat([1, 2], 2), np.split(np.arange(6), 3), np.array_split(np.arange(5), 2), np.r_[1:4, 0], np.c_[[1, 2], [3, 4]])
""",
    "errors": r"""
with np.errstate(divide="ignore", invalid="ignore"):
    print(np.array([1.0, 0]) / 0)
try: np.ones(3) + np.ones(4)
except ValueError as e: print("shape")
try: np.ones(3)[5]
except IndexError as e: print(e)
try: np.ones((2, 3)) @ np.ones(2)
except ValueError as e: print("matmul")
try: np.array([1, 2]).reshape(3)
except ValueError as e: print(e)
try: np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError as e: print("singular")
np.seterr(all="ignore")
np.testing.assert_allclose([1], [1])
print(np.__version__ is not None, np.e, np.newaxis, isinstance(np.ones(1), np.ndarray), isinstance(np.float64(1), np.floating), np.issubdtype(np.int32, np.integer))
""",
}

#: What usmx has not -> a part of the line that says so.
REFUSED = {
    "dates": (
        r"""
days = np.arange("2026-01", "2026-02", dtype="datetime64[D]")
print(days.size, days[0], np.is_busday(days).sum())
""",
        "dtype: 'datetime64",
    ),
    "records": (
        r"""
people = np.array([("ann", 30, 1.7), ("bob", 25, 1.8)], dtype=[("name", "U10"), ("age", "i4"), ("height", "f8")])
print(people["age"].mean())
print(np.sort(people, order="age")["name"])
""",
        "dtype[0]: '<U10' (str) is not a supported type",
    ),
    "strings": (
        r"""
w = np.array(["pear", "apple", "fig"])
print(np.sort(w), np.char.upper(w), len(w))
""",
        "text is not supported",
    ),
    "tictac": (
        r"""
b = np.full((3, 3), " ")
b[0] = "X"
print(b)
print((b == "X").all(axis=1).any())
""",
        "text is not supported",
    ),
    "objects": (
        r"""
a = np.array([1, "a", None], dtype=object)
print(a)
""",
        "dtype: <class 'object'>",
    ),
    "masked": (
        r"""
a = np.array([1.0, np.nan, 3.0, np.inf])
print(np.nanmean(a[np.isfinite(a)]), np.isnan(a).any(), np.nan_to_num(a, posinf=0))
m = np.ma.masked_invalid(a)
print(m.mean())
""",
        "functions of numpy.ma take x.to_numpy()",
    ),
    "polynomials": (
        r"""
p = np.poly1d([1, 2, 3])
print(p(2))
""",
        "numpy.poly1d takes x.to_numpy()",
    ),
}
