"""A power has the same bits whether its exponent is a constant, a number or an element of an array:
in operators of arrays, `usmx.power`, fused functions, texts, kernels in Python and the simulator.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_one_name import BFLOAT16, dtype_of, name_of, numbers, to_numpy
from test_row_laws import same_bits
from written_module import module_of

import usmx

TYPES = [*"fdeFD", BFLOAT16]
#: Whole ones at and beyond the end of what is multiplied, and others.
EXPONENTS = (0, 1, 2, 3, 4, 5, 7, 11, 16, 17, -1, -2, -3, -16, -17, 2.0, -1.0, 0.5, 1.5, -0.5)
#: Of complex numbers NumPy's operator has another formula for -1 than its power.
WITHOUT_INVERSES = tuple(e for e in EXPONENTS if e != -1)
SIMULATED = 25
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -3, 0.1)


@functools.cache
def bases(char: str) -> np.ndarray:
    """No zeros nor infinities, of which NumPy's operators and its `power` differ."""
    rng = np.random.default_rng(17)
    part = {"F": "f", "D": "d", BFLOAT16: "f"}.get(char, char)
    made = numbers(part, 500, rng)
    made = made[np.isfinite(made) & (made != 0)]
    return (made + 1j * rng.permutation(made)).astype(char) if char in "FD" else made


def array(char: str, values: np.ndarray) -> usmx.ndarray:
    return usmx.asarray(values).astype(dtype_of(char))


def exponents(char: str) -> tuple[float, ...]:
    return WITHOUT_INVERSES if char in "FD" else EXPONENTS


def with_all(compute: Callable[[usmx.ndarray, Any], Any]) -> Callable[[str, Path], Any]:
    """A row of results for each exponent."""

    def all_of(char: str, _: Path) -> np.ndarray:
        x = array(char, bases(char))
        return np.stack([to_numpy(compute(x, e)) for e in exponents(char)])

    return all_of


def in_place(x: usmx.ndarray, exponent: Any) -> usmx.ndarray:
    made = x.copy()
    made **= exponent
    return made


def of_few(x: usmx.ndarray, exponent: Any) -> usmx.ndarray:
    return usmx.concat([x[:7] ** exponent, x[7:] ** exponent])


def by_text(char: str, _: Path) -> np.ndarray:
    outputs = ", ".join(f"T o{k}" for k in range(len(exponents(char))))
    lines = "; ".join(f"o{k} = pow(x, T({e}))" for k, e in enumerate(exponents(char)))
    made = usmx.ElementwiseKernel("T x", outputs, lines, "powers")(array(char, bases(char)))
    return np.stack([to_numpy(one) for one in made])


def kernel(char: str, folder: Path, line: str, x: usmx.ndarray) -> np.ndarray:
    """`line` takes the exponent of row k, ``{e}`` where it is written or ``e[k, i]``."""
    lines = "".join(
        f"    out[{k}, i] = {line.format(e=repr(e), k=k)}\n" for k, e in enumerate(exponents(char))
    )
    text = "import usmx\n\n\n@usmx.kernel\ndef powers(item, x, e, out):\n"
    text += f"    i = item.get_id(0)\n{lines}"
    function = module_of(text, folder / "powers.py").powers
    out = usmx.zeros((len(exponents(char)), x.size), x.dtype, usm_type="shared")
    each = np.broadcast_to(np.array(exponents(char))[:, None], out.shape)
    elements = usmx.asarray(np.ascontiguousarray(each), usm_type="shared").astype(x.dtype)
    function[x.size](x, elements, out).wait()
    return to_numpy(out)


def in_kernel(line: str) -> Callable[[str, Path], np.ndarray]:
    return lambda char, folder: kernel(char, folder, line, array(char, bases(char)))


def simulated(line: str) -> Callable[[str, Path], np.ndarray]:
    def some(char: str, folder: Path) -> np.ndarray:
        with usmx.simulate():
            return kernel(char, folder, line, array(char, bases(char)[:SIMULATED]))

    return some


WAYS: dict[str, Callable[[str, Path], np.ndarray]] = {
    "operator": with_all(lambda x, e: x**e),
    "in place": with_all(in_place),
    "of few": with_all(of_few),
    "elements": with_all(lambda x, e: usmx.power(x, usmx.full_like(x, e))),
    "fuse": with_all(lambda x, e: usmx.fuse(lambda a: a**e)(x)),
    "text": by_text,
    "kernel": in_kernel("x[i] ** {e}"),
    "kernel, elements": in_kernel("x[i] ** e[{k}, i]"),
    "simulator": simulated("x[i] ** {e}"),
    "simulator, elements": simulated("x[i] ** e[{k}, i]"),
}


@functools.cache
def of_power(char: str) -> np.ndarray:
    return with_all(usmx.power)(char, Path())


@pytest.mark.parametrize("char", TYPES)
@pytest.mark.parametrize("way", WAYS)
def test_each_way_has_the_bits_of_power(way: str, char: str, tmp_path: Path) -> None:
    got = WAYS[way](char, tmp_path)
    wanted = of_power(char)[:, : got.shape[1]]
    wrong = ~same_bits(got.ravel(), wanted.ravel()).reshape(got.shape)
    rows = zip(exponents(char), wrong, strict=True)
    at = [f"{e!r}: {np.count_nonzero(w)}" for e, w in rows if w.any()]
    assert not at, f"{name_of(char)}: {', '.join(at)} differ"


@pytest.mark.parametrize("char", "fde")
@pytest.mark.parametrize("exponent", [e for e in EXPONENTS if e != 0.5 and abs(e) <= 16])
def test_products_are_as_good_as_numpys(exponent: float, char: str) -> None:
    values = np.concatenate([bases(char), np.array(SPECIAL, char)])
    got = to_numpy(usmx.power(array(char, values), exponent))
    wide = np.longdouble if char == "d" else np.double
    with np.errstate(all="ignore"):
        exact = values.astype(wide) ** wide(exponent)
        near = exact.astype(char)
        ulp = np.spacing(np.abs(near)).astype(wide)
        fine = (np.abs(got.astype(wide) - exact) <= ulp) | (got == near)
    fine |= np.isnan(got) & np.isnan(near)
    assert fine.all(), (values[~fine][:5], got[~fine][:5], near[~fine][:5])
    zeros = (got == 0) & ~np.isnan(near)
    assert (np.signbit(got[zeros]) == np.signbit(near[zeros])).all()


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float32", "complex64"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 2.0, 3.0, 0.5, -1.0, True, np.float32(2)])
def test_fused_powers_have_the_type_of_arrays(exponent: Any, dtype: str) -> None:
    x = usmx.asarray(np.array([1, 0, 1], dtype))
    assert usmx.fuse(lambda a: a**exponent)(x).dtype == (x**exponent).dtype
