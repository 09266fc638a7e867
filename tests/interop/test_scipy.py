# SciPy computes on arrays of usmx through the Array API standard, with NumPy's results: in device
# memory where its formulas call the namespace, in shared memory also where its compiled code reads
# the elements on the host.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy import (
    cluster,
    differentiate,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)
from scipy.optimize import elementwise

import usmx

choose = np.random.default_rng(0)
TABLE = choose.normal(size=(40, 4))
POSITIVE = abs(TABLE) + 0.1
ROW, OTHER = choose.normal(size=(2, 64))
PART = choose.uniform(0.1, 0.9, 50)
SIZES = choose.uniform(1, 5, 50)
SECTIONS = signal.butter(4, 0.3, output="sos")
FILTER = signal.butter(3, 0.3)
GRID = np.arange(8.0)
IMAGE = POSITIVE

# Name -> function and arrays.
ON_DEVICE = {
    **{
        f"special.{name}": (getattr(special, name), (PART,))
        for name in (
            "erf",
            "erfc",
            "expit",
            "gamma",
            "gammaln",
            "i0",
            "i1",
            "logit",
            "ndtr",
            "ndtri",
        )
    },
    **{f"special.{n}": (getattr(special, n), (SIZES, SIZES + 1)) for n in ("rel_entr", "xlogy")},
    **{
        f"special.{name}": (lambda x, name=name: getattr(special, name)(x, axis=1), (TABLE,))
        for name in ("logsumexp", "log_softmax", "softmax")
    },
    **{
        f"stats.{name}": (getattr(stats, name), (POSITIVE,))
        for name in (
            "circmean",
            "circstd",
            "circvar",
            "describe",
            "gmean",
            "gstd",
            "gzscore",
            "hmean",
            "iqr",
            "kstat",
            "kstatvar",
            "kurtosis",
            "kurtosistest",
            "mode",
            "moment",
            "rankdata",
            "sem",
            "skew",
            "skewtest",
            "tmax",
            "tmean",
            "tmin",
            "tsem",
            "tstd",
            "tvar",
            "variation",
            "zscore",
        )
    },
    "stats.pmean": (lambda x: stats.pmean(x, 2), (POSITIVE,)),
    "stats.trim_mean": (lambda x: stats.trim_mean(x, 0.1), (TABLE,)),
    "stats.quantile": (lambda x: stats.quantile(x, 0.3, axis=0), (TABLE,)),
    "stats.zmap": (stats.zmap, (TABLE, TABLE)),
    "stats.boxcox_llf": (lambda x: stats.boxcox_llf(1, x), (POSITIVE,)),
    "stats.differential_entropy": (stats.differential_entropy, (ROW,)),
    "stats.sigmaclip": (lambda x: stats.sigmaclip(x).lower, (ROW,)),
    "stats.false_discovery_control": (stats.false_discovery_control, (PART,)),
    "stats.mannwhitneyu": (lambda x, y: tuple(stats.mannwhitneyu(x, y)), (ROW, OTHER)),
    "stats.wilcoxon": (lambda x, y: tuple(stats.wilcoxon(x, y)), (ROW, OTHER)),
    "stats.chatterjeexi": (lambda x, y: stats.chatterjeexi(x, y).statistic, (ROW, OTHER)),
    "stats.directional_stats": (lambda x: stats.directional_stats(x).mean_direction, (TABLE,)),
    **{
        f"fft.{name}": (getattr(fft, name), (TABLE,))
        for name in ("fft", "fft2", "fftn", "fftshift", "hfft", "ifft", "rfft")
    },
    "fft.irfft": (fft.irfft, (fft.rfft(ROW),)),
    "fft.fht": (lambda x: fft.fht(x, 0.1, 1.0), (ROW,)),
    "signal.fftconvolve": (signal.fftconvolve, (ROW, OTHER[:7])),
    "signal.oaconvolve": (signal.oaconvolve, (ROW, OTHER[:7])),
    "signal.hilbert": (signal.hilbert, (ROW,)),
    "signal.hilbert2": (signal.hilbert2, (TABLE,)),
    "signal.freqz": (signal.freqz, FILTER),
    "signal.resample": (lambda x: signal.resample(x, 32), (ROW,)),
    "cluster.vq.whiten": (cluster.vq.whiten, (TABLE,)),
    "spatial.transform.Rotation": (
        lambda q, v: spatial.transform.Rotation.from_quat(q).apply(v),
        (TABLE[:3], TABLE[:3, :3]),
    ),
    "integrate.trapezoid": (integrate.trapezoid, (ROW,)),
    "integrate.cumulative_trapezoid": (integrate.cumulative_trapezoid, (ROW,)),
    "integrate.cumulative_simpson": (lambda x: integrate.cumulative_simpson(x, dx=1.0), (ROW,)),
    "integrate.cubature": (
        lambda a: integrate.cubature(lambda x: x[:, 0] ** 2, a, a + 1).estimate,
        (np.zeros(1),),
    ),
    "integrate.tanhsinh": (
        lambda a: integrate.tanhsinh(lambda x: x**2, a, a + 1).integral,
        (PART,),
    ),
    "differentiate.derivative": (
        lambda x: differentiate.derivative(lambda y: y**3, x).df,
        (PART,),
    ),
    "differentiate.jacobian": (lambda x: differentiate.jacobian(lambda y: y**2, x).df, (PART[:3],)),
    "optimize.elementwise.find_root": (
        lambda a: elementwise.find_root(lambda x: x**3 - 0.3, (a * 0, a * 0 + 1)).x,
        (PART,),
    ),
    "optimize.rosen": (optimize.rosen, (ROW,)),
    "optimize.rosen_der": (optimize.rosen_der, (ROW,)),
    "optimize.rosen_hess": (optimize.rosen_hess, (ROW,)),
    "interpolate.RBFInterpolator": (
        lambda x, y: interpolate.RBFInterpolator(x, y)(x),
        (TABLE, TABLE[:, 0]),
    ),
    "linalg.block_diag": (lambda a: linalg.block_diag(a, a), (TABLE,)),
}
IN_SHARED_MEMORY = {
    **{
        f"special.{name}": (getattr(special, name), (PART,))
        for name in ("digamma", "entr", "exp1", "i0e", "i1e", "log_ndtr", "sinc")
    },
    **{
        f"special.{name}": (getattr(special, name), (SIZES, SIZES + 1))
        for name in ("chdtr", "chdtrc", "gammainc", "gammaincc", "stdtrit", "xlog1py", "zeta")
    },
    **{
        f"special.{name}": (getattr(special, name), (SIZES, SIZES, PART))
        for name in ("betainc", "betaincc")
    },
    "stats.entropy": (stats.entropy, (POSITIVE,)),
    "stats.f_oneway": (lambda x, y: tuple(stats.f_oneway(x, y)), (ROW, OTHER)),
    "fft.dct": (fft.dct, (TABLE,)),
    **{
        f"signal.{name}": (getattr(signal, name), (ROW, OTHER[:7]))
        for name in ("convolve", "correlate")
    },
    **{
        f"signal.{name}": (getattr(signal, name), (TABLE, TABLE[:3, :2]))
        for name in ("convolve2d", "correlate2d")
    },
    "signal.detrend": (signal.detrend, (ROW,)),
    "signal.medfilt": (lambda x: signal.medfilt(x, 3), (ROW,)),
    "signal.sosfilt": (signal.sosfilt, (SECTIONS, ROW)),
    "signal.sosfiltfilt": (signal.sosfiltfilt, (SECTIONS, ROW)),
    "signal.lfilter": (signal.lfilter, (*FILTER, ROW)),
    "signal.filtfilt": (signal.filtfilt, (*FILTER, ROW)),
    "signal.upfirdn": (lambda h, x: signal.upfirdn(h, x, 2, 1), (FILTER[0], ROW)),
    "cluster.vq.vq": (cluster.vq.vq, (TABLE, TABLE[:3])),
    "cluster.vq.kmeans2": (
        lambda x, y: cluster.vq.kmeans2(x, y, minit="matrix"),
        (TABLE, TABLE[:3]),
    ),
    "spatial.distance.pdist": (spatial.distance.pdist, (TABLE,)),
    "interpolate.PchipInterpolator": (
        lambda x, y: interpolate.PchipInterpolator(x, y)(x),
        (GRID, np.sin(GRID)),
    ),
    "interpolate.RegularGridInterpolator": (
        lambda x, y: interpolate.RegularGridInterpolator((x,), y)(x[:, None]),
        (GRID, np.sin(GRID)),
    ),
    **{
        f"ndimage.{name}": (lambda x, name=name, a=a: getattr(ndimage, name)(x, *a), (IMAGE,))
        for name, a in {
            "center_of_mass": (),
            "gaussian_filter": (1.0,),
            "gaussian_laplace": (1.0,),
            "grey_dilation": (3,),
            "laplace": (),
            "median_filter": (3,),
            "rotate": (30,),
            "shift": (1.0,),
            "sobel": (),
            "sum_labels": (),
            "uniform_filter": (3,),
            "zoom": (2,),
        }.items()
    },
}


def flat(result):
    if isinstance(result, (tuple, list)):
        return [part for one in result for part in flat(one)]
    return [result]


def compare(case, usm_type):
    function, arrays = case
    wanted = flat(function(*arrays))
    got = flat(function(*(usmx.asarray(x, usm_type=usm_type) for x in arrays)))
    for ours, numpys in zip(got, wanted, strict=True):
        if isinstance(numpys, int):
            assert ours == numpys
            continue
        assert isinstance(ours, usmx.ndarray)
        assert ours.dtype == np.asarray(numpys).dtype
        np.testing.assert_allclose(ours.to_numpy(), numpys, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ON_DEVICE)
def test_functions_compute_in_device_memory(name):
    compare(ON_DEVICE[name], "device")


@pytest.mark.parametrize("name", [*ON_DEVICE, *IN_SHARED_MEMORY])
def test_functions_compute_in_shared_memory(name):
    compare((ON_DEVICE | IN_SHARED_MEMORY)[name], "shared")
