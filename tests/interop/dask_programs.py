"""Programs of array operations on chunks of Dask, with NumPy's results on NumPy's chunks.

`x` makes chunks of 5 x 5 elements; A, C, P (positive), V, N (integers), S (symmetric, positive
definite) and T (three axes) are NumPy's arrays.
"""
# SPDX-License-Identifier: Apache-2.0

import dask.array as da
import numpy as np

rng = np.random.default_rng(0)
A, C = rng.normal(size=(12, 10)), rng.normal(size=(12, 10))
P = np.abs(A) + 0.5
V = rng.normal(size=24)
N = rng.integers(0, 9, size=(12, 10))
S = A.T @ A + np.eye(10)
T = rng.normal(size=(4, 6, 8))

PROGRAMS = {
    # elements
    "operators": "(2 - x(A)) / x(P) + x(C) ** 2",
    "comparisons": "(x(A) > 0) & (x(C) < 1)",
    "integers": "(x(N) // 3) * 2 + x(N) % 4 - (x(N) << 1)",
    "bits": "~x(N) ^ (x(N) | 5) & x(N)",
    "ufuncs": "da.sqrt(x(P)) + da.arctan2(x(A), x(P))",
    "exponentials": "da.exp(x(A)) + da.log(x(P)) + da.log1p(x(P)) + da.expm1(x(A))",
    "angles": "da.sin(x(A)) + da.cos(x(A)) * da.tan(x(A)) + da.arcsin(x(A) / 9)",
    "hyperbolic": "da.sinh(x(A)) + da.cosh(x(A)) - da.tanh(x(A)) + da.arcsinh(x(A))",
    "rounded": "da.floor(x(A)) + da.ceil(x(A)) + da.trunc(x(A)) + da.rint(x(A))",
    "signs": "da.sign(x(A)) * da.fabs(x(C)) + da.copysign(x(P), x(A)) - da.absolute(x(A))",
    "extremes": "da.maximum(x(A), x(C)) + da.minimum(x(A), 0) - da.fmax(x(A), x(C))",
    "finite": "da.isfinite(x(A)) & ~da.isnan(x(A)) & ~da.isinf(x(A))",
    "logical": "da.logical_and(x(A) > 0, x(C) > 0) | da.logical_xor(x(A) > 1, x(C) > 1)",
    "complex": "abs(x(A) + 1j * x(C)) + (x(A) + 1j * x(C)).real + da.angle(x(A) + 1j * x(C))",
    "conjugates": "(da.conj(x(A) + 1j * x(C)) * (x(A) - 1j)).imag",
    "two results": "da.modf(x(A))[0] + da.frexp(x(A))[0]",
    "divmod": "da.divmod(x(N), 4)[0] + da.divmod(x(N), 4)[1]",
    "with NumPy": "C + x(A) - C",
    "where": "da.where(x(A) > 0, x(A), 0).clip(-1, 1)",
    "select": "da.select([x(A) > 1, x(A) < 0], [x(A) * 2, x(C)], default=0.5)",
    "piecewise": "da.piecewise(x(A), [x(A) < 0, x(A) >= 0], [-1.0, 1.0])",
    "types": "x(A).astype('float32').astype('int16') + x(N).astype('uint8')",
    "nan to num": "da.nan_to_num(da.where(x(A) > 1, np.nan, x(A)))",
    "isclose": "da.isclose(x(A), x(A) + 1e-9)",
    "allclose": "da.allclose(x(A), x(A) + 1e-12) + x(A)[:1, :1] * 0",
    "fix and square": "da.fix(x(A)) + da.square(x(C)) + da.reciprocal(x(P)) + da.cbrt(x(A))",
    "map_blocks": "x(A).map_blocks(lambda b: b * 2 + 1)",
    "from a function": "da.apply_along_axis(lambda v: v * 2, 1, x(A).rechunk((4, 10)))",
    "apply over axes": "da.apply_over_axes(da.sum, x(T), [0, 2])",
    # reductions
    "sums": "x(A).sum(axis=1, keepdims=True) + x(A).sum()",
    "products of elements": "x(P).prod(axis=0) + x(P).prod()",
    "moments": "x(A).mean() + x(A).std(axis=0) + x(A).var()",
    "third moment": "da.moment(x(A), 3, axis=0)" if hasattr(da, "moment") else "x(A).moment(3)",
    "bounds": "x(A).max(axis=1) - x(A).min()",
    "places": "x(A).argmax(axis=1) + x(A).argmin()",
    "spread": "da.ptp(x(A), axis=0)",
    "scans": "x(A).cumsum(axis=0) + x(P).cumprod(axis=0)",
    "with nan": "da.nanmean(da.where(x(A) > 0, x(A), np.nan), axis=0) + da.nansum(x(A))",
    "bounds with nan": "da.nanmax(da.where(x(A) > 0, x(A), np.nan)) - da.nanmin(x(A), axis=0)",
    "spread with nan": "da.nanstd(x(A), axis=0) + da.nanvar(x(A), axis=0)",
    "places with nan": "da.nanargmax(x(A), axis=1) + da.nanargmin(x(A), axis=1)",
    "scans with nan": "da.nancumsum(x(A), axis=0) + da.nancumprod(x(P), axis=0)",
    "products with nan": "da.nanprod(x(P), axis=1)",
    "any, all": "(x(A) > 1).any(axis=0) | (x(A) > -9).all()",
    "average": "da.average(x(A), axis=0, weights=x(P))",
    "median": "da.median(x(A), axis=0)",
    "median with nan": "da.nanmedian(x(A), axis=1)",
    "percentile": "da.percentile(x(V), [10, 50, 90])",
    "quantile": "da.quantile(x(A), 0.25, axis=0)",
    "largest": "da.topk(x(V), 3) + da.argtopk(x(V), 3)",
    "count": "da.count_nonzero(x(N), axis=0)",
    "differences": "da.diff(x(A), n=2, axis=1)",
    "differences of one axis": "da.ediff1d(x(V))",
    "gradient": "da.gradient(x(A), axis=0)",
    "norm": "da.linalg.norm(x(A)) + da.linalg.norm(x(A), axis=1)",
    "trace": "da.trace(x(S)) + da.diagonal(x(S))",
    # products
    "products": "x(A).T @ x(C) + da.tensordot(x(A).T, x(C), axes=1)",
    "dot": "da.dot(x(A), x(C).T) + da.vdot(x(V), x(V))",
    "outer": "da.outer(x(V), x(V))",
    "matrix and vector": "x(A) @ x(V[:10])",
    "stacked products": "da.matmul(x(T), x(T).transpose(0, 2, 1))",
    "einsum": "da.einsum('ij,ik->jk', x(A), x(C))",
    "svd": "da.linalg.svd(x(A).rechunk((12, 10)))[1]",
    "qr": "abs(da.linalg.qr(x(A).rechunk((6, 10)))[1])",
    "covariance": "da.cov(x(A)) + da.corrcoef(x(A))",
    "solve": "da.linalg.solve(x(S), x(V[:10]))",
    "cholesky": "da.linalg.cholesky(x(S))",
    "inverse": "da.linalg.inv(x(S))",
    # shapes
    "joined": "da.stack([da.concatenate([x(A), x(C)]), da.vstack([x(C), x(A)])])",
    "blocks": "da.block([[x(A), x(C)], [x(C), x(A)]])",
    "side by side": "da.hstack([x(A), x(C)]) + da.dstack([x(A), x(C)]).sum()",
    "shapes": "da.flip(da.roll(x(A), 2, axis=0), 1).ravel()[::-1].reshape(120, 1)[:, 0]",
    "axes": "da.moveaxis(x(T), 0, 2) + da.swapaxes(x(T), 0, 1).sum() + da.rollaxis(x(T), 0, 3)",
    "new axes": "x(A)[:, None, :] + da.expand_dims(x(V[:10]), (0, 1)) + da.squeeze(x(A)[:1, :1])",
    "turned": "da.rot90(x(A)) + da.fliplr(x(A)).T[::-1] + da.flipud(x(A)).T",
    "broadcast": "da.broadcast_to(x(V[:10]), (12, 10)) + da.broadcast_arrays(x(A), x(C))[0]",
    "pad": "da.pad(x(A), 2, mode='reflect')",
    "pad with numbers": "da.pad(x(A), ((1, 2), (0, 3)), constant_values=7)",
    "tile": "da.tile(x(A), (2, 2))",
    "repeat": "da.repeat(x(A), 3, axis=1)",
    "triangles": "da.tril(x(A)) + da.triu(x(A), 1)",
    "diagonal": "da.diag(x(V))",
    "rechunk": "x(A).rechunk((3, 10)).astype('float32').round(1)",
    "insert": "da.insert(x(A), 3, 7.0, axis=0)",
    "delete": "da.delete(x(A), [1, 4], axis=1)",
    "append": "da.append(x(A), x(C), axis=0)",
    "overlap": "x(A).map_overlap(lambda b: b * 2, depth=1, boundary='reflect')",
    "windows": "da.lib.stride_tricks.sliding_window_view(x(V), 4).sum(axis=-1)",
    "coarsen": "da.coarsen(np.mean, x(A)[:, :8].rechunk((4, 4)), {0: 2, 1: 2})",
    "shuffle": "da.shuffle(x(A), [[0, 3, 5], [11, 1], [2, 4]], axis=0)",
    # elements by place
    "indices": "x(A)[[0, 3, 5]][:, 2:9:2]",
    "points": "x(A).vindex[[0, 3, 5], [1, 2, 3]]",
    "blocks by number": "x(A).blocks[0, 1]",
    "mask": "x(V)[x(V) > 0].sum()",
    "compress": "da.compress([True, False, True], x(A), axis=0)",
    "extract": "da.extract(x(V) > 0, x(V)).sum()",
    "take": "da.take(x(A), [0, 5, 2], axis=1)",
    "choose": "da.choose(x(N) % 2, [x(A), x(C)])",
    "search": "da.searchsorted(da.from_array(np.sort(V), chunks=24).map_blocks(asx), x(V))"
    if hasattr(da, "searchsorted")
    else "x(V)",
    "nonzero": "da.nonzero(x(N) > 4)[0]",
    "argwhere": "da.argwhere(x(N) > 4)",
    "flatnonzero": "da.flatnonzero(x(N) > 4)",
    "unravel": "da.unravel_index(x(N), (3, 4))[0]",
    # counts and sets
    "histogram": "da.histogram(x(V), bins=5, range=(-2, 2))[0]",
    "histogram of two": "da.histogram2d(x(V), x(V), bins=4, range=((-2, 2), (-2, 2)))[0]",
    "bincount": "da.bincount(x(N).ravel(), minlength=9)",
    "digitize": "da.digitize(x(V), np.array([-1.0, 0.0, 1.0]))",
    "isin": "da.isin(x(N), [1, 3, 5])",
    "unique": "da.unique(x(N))",
    "union": "da.union1d(x(N[0]), x(N[1]))",
    # transforms and creation
    "fft": "abs(da.fft.fft(x(A).rechunk((3, 10))))",
    "real fft": "da.fft.irfft(da.fft.rfft(x(A).rechunk((3, 10))))",
    "fft of two axes": "abs(da.fft.fftshift(da.fft.fft2(x(A).rechunk((12, 10)))))",
    "like": "da.ones_like(x(A)) + da.full_like(x(A), 3) + da.zeros_like(x(A))",
    "meshgrid": "da.meshgrid(x(V), x(V[:10]))[0]",
    "grids": "da.indices((3, 4), chunks=2).sum() + x(A)",
}

#: Functions of Dask that call NumPy's or SciPy's functions of the host by name -> the place.
ON_THE_HOST = {
    "solve": "dask/array/linalg.py: scipy.linalg",
    "cholesky": "dask/array/linalg.py: scipy.linalg",
    "inverse": "dask/array/linalg.py: scipy.linalg",
    "histogram of two": "dask/array/routines.py: histogramdd",
    "nonzero": "dask/array/slicing.py: isnonzero",
    "argwhere": "dask/array/routines.py: argwhere",
    "flatnonzero": "dask/array/routines.py: argwhere",
    "unique": "dask/array/routines.py: _unique_internal",
    "union": "dask/array/routines.py: _unique_internal",
}
