"""Special functions of arrays, with the names that SciPy gives them.

Written by `make stubs` from `_operations`; do not edit.
"""
# SPDX-License-Identifier: Apache-2.0

from ._namespace.elementwise import cbrt, exp2, expm1, log1p
from ._usmx import Operation

cospi: Operation = Operation("cospi")
"""Gives cos(pi * a)."""
erf: Operation = Operation("erf")
"""Gives the error function."""
erfc: Operation = Operation("erfc")
"""Gives 1 - erf(a), also for large a."""
erfcinv: Operation = Operation("erfcinv")
"""Gives the inverse of erfc."""
erfcx: Operation = Operation("erfcx")
"""Gives exp(a * a) * erfc(a), which does not overflow on the way."""
erfinv: Operation = Operation("erfinv")
"""Gives the inverse of erf."""
exp10: Operation = Operation("exp10")
"""Gives 10 to the power a."""
expit: Operation = Operation("expit")
"""Gives 1 / (1 + exp(-a)), the logistic function."""
gamma: Operation = Operation("gamma")
"""Gives the gamma function."""
gammaln: Operation = Operation("gammaln")
"""Gives the logarithm of the gamma function's absolute value."""
i0: Operation = Operation("i0")
"""Gives the modified Bessel function of order 0."""
i1: Operation = Operation("i1")
"""Gives the modified Bessel function of order 1."""
j0: Operation = Operation("j0")
"""Gives the Bessel function of the first kind of order 0."""
j1: Operation = Operation("j1")
"""Gives the Bessel function of the first kind of order 1."""
jn: Operation = Operation("jn")
"""Gives the Bessel function of the first kind of whole order a, at b."""
logit: Operation = Operation("logit")
"""Gives log(a / (1 - a)), the inverse of expit."""
ndtr: Operation = Operation("ndtr")
"""Gives the probability that a normal number is at most a."""
ndtri: Operation = Operation("ndtri")
"""Gives the inverse of ndtr."""
sinpi: Operation = Operation("sinpi")
"""Gives sin(pi * a)."""
y0: Operation = Operation("y0")
"""Gives the Bessel function of the second kind of order 0."""
y1: Operation = Operation("y1")
"""Gives the Bessel function of the second kind of order 1."""
yn: Operation = Operation("yn")
"""Gives the Bessel function of the second kind of whole order a, at b."""

__all__ = [
    "cbrt",
    "cospi",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp2",
    "exp10",
    "expit",
    "expm1",
    "gamma",
    "gammaln",
    "i0",
    "i1",
    "j0",
    "j1",
    "jn",
    "log1p",
    "logit",
    "ndtr",
    "ndtri",
    "sinpi",
    "y0",
    "y1",
    "yn",
]
