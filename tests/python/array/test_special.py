# Special functions of arrays, in kernels, in the simulator and in fused functions, next to values
# that were computed with 60 digits (mpmath): in units in the last place of the value, or, of
# functions that oscillate, of the larger one of 1 and it.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

import usmx
from usmx._kernel.simulator import arithmetic
from usmx._operations import BY_NAME, OPERATIONS

#: Operands, which float32 holds too, and the value.
POINTS: dict[str, list[tuple[float, ...]]] = {
    "erf": [
        (-3.0, -0.9999779095030014),
        (-0.5, -0.5204998778130465),
        (9.999999747378752e-06, 1.1283791385526445e-05),
        (0.30000001192092896, 0.32862677175271543),
        (1.0, 0.8427007929497149),
        (2.5, 0.999593047982555),
    ],
    "erfc": [
        (-2.0, 1.9953222650189528),
        (-0.30000001192092896, 1.3286267717527154),
        (0.30000001192092896, 0.6713732282472846),
        (1.0, 0.15729920705028513),
        (3.0, 2.209049699858544e-05),
        (6.0, 2.1519736712498913e-17),
        (9.0, 4.13703174651381e-37),
    ],
    "erfinv": [
        (9.999999747378752e-06, 8.862269030879841e-06),
        (-0.30000001192092896, -0.2724627261055238),
        (0.4999000132083893, 0.47682503831932205),
        (0.5, 0.4769362762044699),
        (0.8999999761581421, 1.1630870719457722),
        (-0.9990000128746033, -2.3267563267961546),
    ],
    "erfcinv": [
        (1.0000000031710769e-30, 8.14861622297672),
        (1.000000013351432e-10, 4.57282496596228),
        (0.009999999776482582, 1.8213863731836466),
        (0.25, 0.8134198475976185),
        (0.699999988079071, 0.2724627261055238),
        (1.25, -0.2253120550121781),
        (1.75, -0.8134198475976185),
    ],
    "erfcx": [
        (-5.0, 144009798674.66104),
        (-1.0, 5.008980080762283),
        (0.0, 1.0),
        (0.5, 0.6156903441929259),
        (3.0, 0.17900115118138996),
        (7.5, 0.07457369306287669),
        (8.5, 0.06592512249998035),
        (24.0, 0.02348754606368264),
        (30.0, 0.01879588886141675),
    ],
    "gamma": [
        (-2.5, -0.9453087204829419),
        (-0.30000001192092896, -4.3268509998205005),
        (0.10000000149011612, 9.513507550899174),
        (0.5, 1.772453850905516),
        (1.5, 0.886226925452758),
        (3.0, 2.0),
        (7.25, 1155.3810139199898),
        (20.0, 1.21645100408832e17),
    ],
    "gammaln": [
        (0.10000000149011612, 2.252712636201601),
        (0.5, 0.5723649429247001),
        (3.5, 1.2009736023470743),
        (20.0, 39.339884187199495),
        (1000.0, 5905.220423209181),
    ],
    "ndtr": [
        (-12.0, 1.776482112077679e-33),
        (-5.0, 2.866515718791939e-07),
        (-1.0, 0.15865525393145705),
        (0.0, 0.5),
        (0.5, 0.6914624612740131),
        (3.0, 0.9986501019683699),
    ],
    "ndtri": [
        (9.999999682655225e-21, -9.262340093185976),
        (0.0010000000474974513, -3.090232292061434),
        (0.10000000149011612, -1.2815515570538296),
        (0.30000001192092896, -0.5244004784222137),
        (0.75, 0.6744897501960817),
    ],
    "j0": [
        (0.0, 1.0),
        (0.5, 0.9384698072408129),
        (-2.0, 0.22389077914123567),
        (5.0, -0.1775967713143383),
        (7.900000095367432, 0.19436182393870113),
        (8.100000381469727, 0.1475173595895019),
        (20.0, 0.16702466434058316),
        (100.0, 0.019985850304223122),
    ],
    "j1": [
        (0.5, 0.2422684576748739),
        (-2.0, -0.5767248077568734),
        (5.0, -0.32757913759146523),
        (7.900000095367432, 0.21917941581164427),
        (8.100000381469727, 0.24760781159392228),
        (20.0, 0.06683312417585005),
        (-100.0, 0.07714535201411216),
    ],
    "jn": [
        (0.0, 2.5, -0.048383776468198),
        (1.0, 2.5, 0.49709410246427405),
        (2.0, 0.0010000000474974513, 1.2500000145769478e-07),
        (2.0, 2.5, 0.44605905843961724),
        (3.0, 20.0, -0.09890139456044968),
        (5.0, 5.0, 0.26114054612017007),
        (5.0, 4.900000095367432, 0.24801684295442122),
        (8.0, -3.0, 0.0004934417762088348),
        (-3.0, 2.5, -0.21660039103911352),
        (-4.0, 7.0, 0.1577981446613679),
        (12.0, 40.0, -0.12697799611784807),
        (20.0, 3.0, 1.2275946737992987e-15),
        (30.0, 28.0, 0.06768538171468189),
    ],
    "y0": [
        (0.0010000000474974513, -4.471416581137993),
        (0.5, -0.44451873350670656),
        (2.0, 0.5103756726497451),
        (5.0, -0.30851762524903376),
        (7.900000095367432, 0.20652096547464707),
        (8.100000381469727, 0.2380913794944511),
        (20.0, 0.06264059680938383),
        (100.0, -0.07724431336508315),
    ],
    "y1": [
        (0.0010000000474974513, -636.6221369934228),
        (0.5, -1.471472392670243),
        (2.5, 0.1459181379667858),
        (5.0, 0.14786314339122683),
        (7.900000095367432, -0.18172105539149475),
        (8.100000381469727, -0.13314869885720826),
        (20.0, -0.1655116143625213),
        (100.0, -0.020372312002759792),
    ],
    "yn": [
        (0.0, 2.5, 0.4980703596152319),
        (1.0, 2.5, 0.1459181379667858),
        (2.0, 0.5, -5.441370837174266),
        (2.0, 2.5, -0.38133584924180325),
        (3.0, 20.0, 0.1496732627133941),
        (5.0, 5.0, -0.4536948224911019),
        (-3.0, 2.5, 0.756055496753671),
        (-4.0, 7.0, 0.2903099835045422),
        (12.0, 40.0, -0.02362655484363334),
        (20.0, 10.0, -1597.483848269626),
    ],
    "i0": [
        (0.0, 1.0),
        (0.5, 1.0634833707413236),
        (-2.0, 2.2795853023360673),
        (7.900000095367432, 389.4063179819756),
        (8.100000381469727, 469.500774360111),
        (20.0, 43558282.559553534),
        (80.0, 2.4751784043341704e33),
    ],
    "i1": [
        (0.5, 0.2578943053908963),
        (-2.0, -1.590636854637329),
        (7.900000095367432, 363.85397682880506),
        (8.100000381469727, 439.4844673131296),
        (-20.0, -42454973.38512777),
        (80.0, 2.459659579567541e33),
    ],
    "sinpi": [
        (0.10000000149011612, 0.30901699882716427),
        (0.25, 0.7071067811865476),
        (-0.6000000238418579, -0.9510564931493437),
        (1.2999999523162842, -0.8090169063230551),
        (100.75, 0.7071067811865476),
        (-7.099999904632568, 0.3090167094330538),
    ],
    "cospi": [
        (0.10000000149011612, 0.9510565148485406),
        (0.25, 0.7071067811865476),
        (-0.6000000238418579, -0.3090170656104165),
        (1.2999999523162842, -0.5877853734854867),
        (100.75, -0.7071067811865476),
        (-7.099999904632568, -0.9510566088783399),
    ],
    "exp10": [
        (-30.0, 1e-30),
        (-0.5, 0.31622776601683794),
        (0.0, 1.0),
        (2.0, 100.0),
        (30.5, 3.1622776601683795e30),
    ],
    "expit": [
        (-80.0, 1.8048513878454153e-35),
        (-5.0, 0.0066928509242848554),
        (-0.10000000149011612, 0.47502081214946074),
        (0.0, 0.5),
        (0.5, 0.6224593312018546),
        (3.0, 0.9525741268224333),
        (20.0, 0.9999999979388464),
    ],
    "logit": [
        (9.999999682655225e-21, -46.051701891615394),
        (0.009999999776482582, -4.595119872712107),
        (0.23999999463558197, -1.1526795393485723),
        (0.30000001192092896, -0.8472978036208759),
        (0.49900001287460327, -0.003999953834727055),
        (0.5, 0.0),
        (0.6000000238418579, 0.40546520744924),
        (0.7599999904632568, 1.1526794576536101),
        (0.9900000095367432, 4.595120813442435),
    ],
}

#: The largest error of 300 random points on the CPU device, rounded up: units in the last place of
#: float64 and float32.
ULPS = {
    "erf": (1, 2), "erfc": (1, 1), "erfinv": (1, 2), "erfcinv": (2, 2), "erfcx": (2, 2),
    "gamma": (1, 1), "gammaln": (1, 1), "ndtr": (1, 2), "ndtri": (2, 2), "j0": (2, 4),
    "j1": (1, 2), "jn": (2, 2), "y0": (5, 5), "y1": (1, 2), "yn": (4, 4), "i0": (2, 3),
    "i1": (5, 8), "sinpi": (1, 1), "cospi": (2, 1), "exp10": (1, 1), "expit": (1, 1),
    "logit": (1, 1),
}  # fmt: skip
ROWS = [row for row in OPERATIONS if row.space == "special"]


def points(name: str, dtype: str) -> tuple[list[np.ndarray], np.ndarray]:
    *operands, wanted = np.array(POINTS[name], "f8").T
    if dtype == "float16":
        fits = (abs(wanted) < 6e4) & (abs(wanted) > 1e-4)
        operands = [x[fits].astype("f2").astype("f8") for x in operands]
        wanted = arithmetic.evaluate(BY_NAME[name], *operands)
        operands, wanted = [x[np.isfinite(wanted)] for x in operands], wanted[np.isfinite(wanted)]
    return [x.astype(dtype) for x in operands], wanted


def ulps_off(name: str, got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    about = np.finfo(got.dtype)
    size = np.maximum(np.abs(wanted), 1) if BY_NAME[name].oscillates else np.abs(wanted)
    return np.abs(got.astype("f8") - wanted) / (np.maximum(size, about.tiny) * about.eps)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_arrays_are_as_exact_as_measured(dtype: str) -> None:
    assert sorted(POINTS) == sorted(ULPS) == sorted(row.name for row in ROWS)
    bad = []
    for name in POINTS:
        operands, wanted = points(name, dtype)
        made = getattr(usmx.special, name)(*map(usmx.asarray, operands))
        assert made.dtype == np.dtype(dtype)
        bound = 1 if dtype == "float16" else ULPS[name][dtype == "float32"]
        off = ulps_off(name, made.to_numpy(), wanted)
        given = zip(*operands, strict=True)
        bad += [f"{name}{p}: {o}" for p, o in zip(given, off, strict=True) if o > bound]
    assert not bad, "\n".join(bad)


def test_the_simulator_has_the_same_values() -> None:
    for name in POINTS:
        operands, wanted = points(name, "float64")
        off = ulps_off(name, arithmetic.evaluate(BY_NAME[name], *operands), wanted)
        assert off.max() <= (5 if name in ("gamma", "gammaln") else 2), (name, off)


@usmx.kernel
def of_kernel(item, x, out):
    i = item.get_id(0)
    out[0, i] = usmx.special.erfinv(x[i])
    out[1, i] = usmx.special.gammaln(x[i]) + math.lgamma(x[i])
    out[2, i] = usmx.special.jn(2, x[i])
    out[3, i] = usmx.special.ndtri(x[i])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_kernels_and_fused_functions_give_what_arrays_give(dtype: str) -> None:
    special = usmx.special
    x = usmx.asarray(np.linspace(0.05, 0.95, 19).astype(dtype), usm_type="shared")
    out = usmx.zeros((4, 19), dtype, usm_type="shared")
    of_kernel[19](x, out).wait()
    arrays = [special.erfinv(x), special.gammaln(x) * 2, special.jn(2, x), special.ndtri(x)]
    fused = usmx.fuse(
        lambda x: (
            special.erfinv(x),
            special.gammaln(x) + special.gammaln(x),
            special.jn(2, x),
            special.ndtri(x),
        )
    )(x)
    for ours, kernel, one in zip(arrays, out.to_numpy(), fused, strict=True):
        assert ours.dtype == one.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(ours.to_numpy(), kernel)
        np.testing.assert_array_equal(ours.to_numpy(), one.to_numpy())


def test_functions_of_usmx_can_be_fused() -> None:
    x = usmx.asarray(np.arange(1, 6, dtype="f4"))

    def f(x, n):
        return usmx.where(x > n, usmx.sqrt(x), usmx.add(x, 1, dtype="float64"))

    made = usmx.fuse(f)(x, 3)
    assert made.dtype == f(x, 3).dtype
    assert made.tolist() == f(x, 3).tolist()


def test_chains_are_one_kernel_and_integers_become_floats() -> None:
    x = usmx.asarray(np.arange(1, 9, dtype="i4"))
    made = usmx.special.expit(usmx.special.logit(x / 10)) * 10
    assert len(usmx.explain(made).kernels) == 1
    np.testing.assert_allclose(made.to_numpy(), np.arange(1, 9), rtol=1e-14)
    assert usmx.special.erf(x).dtype == np.dtype("f8")
    with pytest.raises(TypeError, match="erf"):
        usmx.special.erf(x * 1j)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_limits(dtype: str) -> None:
    inf, nan = math.inf, math.nan
    limits: dict[str, dict[float, float]] = {
        "erf": {0: 0, inf: 1, -inf: -1, nan: nan},
        "erfinv": {0: 0, 1: inf, -1: -inf, 2: nan, nan: nan},
        "gamma": {1: 1, inf: inf, nan: nan},
        "gammaln": {1: 0, inf: inf, nan: nan},
        "ndtri": {0: -inf, 0.5: 0, 1: inf, 2: nan, nan: nan},
        "y0": {0: -inf, -1: nan, inf: 0, nan: nan},
        "expit": {-inf: 0, 0: 0.5, inf: 1, -1e4: 0, nan: nan},
        "logit": {0: -inf, 0.5: 0, 1: inf, -1: nan, 2: nan, inf: nan, nan: nan},
        "sinpi": {0: 0, 7: 0, inf: nan, float(np.finfo(dtype).max): 0},
        "cospi": {0: 1, 7: -1, inf: nan, float(np.finfo(dtype).max): 1},
        "exp10": {-inf: 0, 0: 1, inf: inf, nan: nan},
    }
    for name, rows in limits.items():
        got = getattr(usmx.special, name)(usmx.asarray(np.array(list(rows), dtype))).to_numpy()
        np.testing.assert_array_equal(got, np.array(list(rows.values()), dtype), err_msg=name)
    order = usmx.asarray(np.array([2, 3, -3, 0.5, nan, inf, 2, 3], dtype))
    at = usmx.asarray(np.array([0, inf, -inf, 1, 1, 1, nan, 1e-300], dtype))
    got = usmx.special.jn(order, at).to_numpy()
    np.testing.assert_array_equal(got, np.array([0, 0, 0, nan, nan, nan, nan, 0], dtype) + 0)
