# Lambdas of a module, which kernels call. The places of their texts are what the tests are about.
# ruff: noqa: E731, PLC3002
# SPDX-License-Identifier: Apache-2.0
import math

SCALE = 3
double = lambda v: v * 2
pair = (lambda v: v + 1), (lambda v: v - 1)
spread = lambda v, by=2: (
    v * by
    + SCALE
)  # fmt: skip
nested = lambda v: (lambda w: w * 10)(v) + 1
roots = {"root": lambda v: math.sqrt(v) * 1, "name": "ä", "half": lambda v: v / 2}
half = roots["half"]


def made(k):
    return lambda v: v * k + 1
