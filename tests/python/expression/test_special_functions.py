# Special functions of the device at points whose values were computed with 40 digits (mpmath), in
# units in the last place: of the value, or of functions that oscillate of the largest of 1 and it.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

import usmx

#: Arguments that float32 holds too, and values.
POINTS = {
    "erfinv": [
        (9.999999747378752e-06, 8.862269030879841e-06),
        (-0.30000001192092896, -0.2724627261055238),
        (0.4999000132083893, 0.47682503831932205),
        (0.5, 0.4769362762044699),
        (0.8999999761581421, 1.1630870719457722),
        (-0.9990000128746033, -2.3267563267961546),
        (0.9999998807907104, 3.7439211627767994),
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
    "normcdf": [
        (-12.0, 1.776482112077679e-33),
        (-5.0, 2.866515718791939e-07),
        (-1.0, 0.15865525393145705),
        (0.0, 0.5),
        (0.5, 0.6914624612740131),
        (3.0, 0.9986501019683699),
    ],
    "normcdfinv": [
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
    "cyl_bessel_i0": [
        (0.0, 1.0),
        (0.5, 1.0634833707413236),
        (-2.0, 2.2795853023360673),
        (7.900000095367432, 389.4063179819756),
        (8.100000381469727, 469.500774360111),
        (20.0, 43558282.559553534),
        (80.0, 2.4751784043341704e33),
    ],
    "cyl_bessel_i1": [
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
}

#: The largest error of 300 random points on the CPU device, rounded up: units in the
#: last place for float64 and float32.
ULPS = {
    "erfinv": (1, 2),
    "erfcinv": (2, 2),
    "erfcx": (2, 2),
    "normcdf": (1, 2),
    "normcdfinv": (2, 2),
    "j0": (2, 4),
    "j1": (1, 2),
    "y0": (5, 5),
    "y1": (1, 2),
    "cyl_bessel_i0": (2, 3),
    "cyl_bessel_i1": (5, 8),
    "sinpi": (1, 1),
    "cospi": (2, 1),
    "exp10": (1, 1),
}
OSCILLATING = {"j0", "j1", "y0", "y1", "sinpi", "cospi"}


def values_of(name, x):
    k = usmx.ElementwiseKernel("T x", "T z", f"z = {name}(x)", "special")
    return k(usmx.asarray(x)).to_numpy()


def ulps_of(name, dtype):
    x, wanted = np.array(POINTS[name], "f8").T
    got = values_of(name, x.astype(dtype)).astype("f8")
    size = np.maximum(np.abs(wanted), 1) if name in OSCILLATING else np.abs(wanted)
    unit = np.maximum(size, np.finfo(dtype).smallest_normal) * np.finfo(dtype).eps
    return np.abs(got - wanted) / unit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", POINTS)
def test_special_functions_are_as_exact_as_measured(name, dtype):
    ulps = ulps_of(name, dtype)
    assert ulps.max() <= ULPS[name][dtype == "float32"], dict(zip(POINTS[name], ulps, strict=True))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_functions_at_their_limits(dtype):
    inf, nan = math.inf, math.nan
    limits = {
        "erfinv": {0: 0, 1: inf, -1: -inf, 2: nan, nan: nan},
        "erfcinv": {0: inf, 1: 0, 2: -inf, 3: nan, nan: nan},
        "erfcx": {-100: inf, inf: 0, nan: nan},
        "normcdf": {-inf: 0, inf: 1, nan: nan},
        "normcdfinv": {0: -inf, 0.5: 0, 1: inf, 2: nan, nan: nan},
        "j0": {inf: 0, -inf: 0, nan: nan},
        "j1": {0: 0, inf: 0, nan: nan},
        "y0": {0: -inf, -1: nan, inf: 0, nan: nan},
        "y1": {0: -inf, -1: nan, inf: 0, nan: nan},
        "cyl_bessel_i0": {inf: inf, -inf: inf, nan: nan},
        "cyl_bessel_i1": {0: 0, inf: inf, -inf: -inf, nan: nan},
        "sinpi": {0: 0, 7: 0, inf: nan, nan: nan},
        "cospi": {0.5: 0, 1: -1, 1e9: 1, inf: nan, nan: nan},
    }
    for name, rows in limits.items():
        got = values_of(name, np.array(list(rows), dtype))
        np.testing.assert_array_equal(got, np.array(list(rows.values()), dtype), err_msg=name)


def test_bessel_functions_of_higher_order_and_pairs():
    k = usmx.ElementwiseKernel(
        "T x, int32 n", "T z, T s, T c", "z = yn(n, x); sincos(x, &s, &c)", "pairs"
    )
    x = np.array([0.5, 3.0, 20.0])
    order = {n: [each.to_numpy() for each in k(usmx.asarray(x), n)] for n in (-1, 0, 1, 2, 3)}
    for n in (1, 2):
        # Their recurrence: the sum of both neighbours is 2 n / x times the one between.
        np.testing.assert_allclose(
            order[n - 1][0] + order[n + 1][0], 2 * n / x * order[n][0], rtol=1e-12, atol=1e-14
        )
    np.testing.assert_array_equal(order[-1][0], -order[1][0])
    np.testing.assert_allclose(order[0][1:], [np.sin(x), np.cos(x)], rtol=1e-15, atol=1e-16)
