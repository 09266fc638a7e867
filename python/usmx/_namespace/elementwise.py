"""The functions of arrays that compute each element by itself.

Written by `make stubs` from `_operations`; do not edit.
"""
# SPDX-License-Identifier: Apache-2.0

from .._usmx import Operation

absolute: Operation = Operation("absolute")
"""Gives the absolute value."""
abs: Operation = absolute
"""Gives the absolute value."""
add: Operation = Operation("add")
"""Gives a + b; `or` of bools."""
angle: Operation = Operation("angle")
"""Gives the angle of a complex number."""
arccos: Operation = Operation("arccos")
"""Gives the inverse of the cosine."""
acos: Operation = arccos
"""Gives the inverse of the cosine."""
arccosh: Operation = Operation("arccosh")
"""Gives the inverse of the hyperbolic cosine."""
acosh: Operation = arccosh
"""Gives the inverse of the hyperbolic cosine."""
arcsin: Operation = Operation("arcsin")
"""Gives the inverse of the sine."""
asin: Operation = arcsin
"""Gives the inverse of the sine."""
arcsinh: Operation = Operation("arcsinh")
"""Gives the inverse of the hyperbolic sine."""
asinh: Operation = arcsinh
"""Gives the inverse of the hyperbolic sine."""
arctan: Operation = Operation("arctan")
"""Gives the inverse of the tangent."""
atan: Operation = arctan
"""Gives the inverse of the tangent."""
arctan2: Operation = Operation("arctan2")
"""Gives the angle of the point (b, a)."""
atan2: Operation = arctan2
"""Gives the angle of the point (b, a)."""
arctanh: Operation = Operation("arctanh")
"""Gives the inverse of the hyperbolic tangent."""
atanh: Operation = arctanh
"""Gives the inverse of the hyperbolic tangent."""
bitwise_and: Operation = Operation("bitwise_and")
"""Gives a & b."""
bitwise_or: Operation = Operation("bitwise_or")
"""Gives a | b."""
bitwise_xor: Operation = Operation("bitwise_xor")
"""Gives a ^ b."""
cbrt: Operation = Operation("cbrt")
"""Gives the cube root."""
ceil: Operation = Operation("ceil")
"""Gives the smallest whole number that is not smaller."""
conjugate: Operation = Operation("conjugate")
"""Gives the complex conjugate."""
conj: Operation = conjugate
"""Gives the complex conjugate."""
copysign: Operation = Operation("copysign")
"""Gives a with the sign of b."""
cos: Operation = Operation("cos")
"""Gives the cosine of an angle in radians."""
cosh: Operation = Operation("cosh")
"""Gives the hyperbolic cosine."""
deg2rad: Operation = Operation("deg2rad")
"""Gives degrees as radians."""
degrees: Operation = Operation("degrees")
"""Gives radians as degrees."""
divide: Operation = Operation("divide")
"""Gives a / b."""
equal: Operation = Operation("equal")
"""Gives a == b."""
exp: Operation = Operation("exp")
"""Gives e to the power a."""
exp2: Operation = Operation("exp2")
"""Gives 2 to the power a."""
expm1: Operation = Operation("expm1")
"""Gives exp(a) - 1, also near 0."""
fabs: Operation = Operation("fabs")
"""Gives the absolute value of a float."""
float_power: Operation = Operation("float_power")
"""Gives a to the power b, as float64 or complex128."""
floor: Operation = Operation("floor")
"""Gives the largest whole number that is not larger."""
floor_divide: Operation = Operation("floor_divide")
"""Gives a / b rounded down."""
fmax: Operation = Operation("fmax")
"""Gives the larger one; if one is NaN, the other."""
fmin: Operation = Operation("fmin")
"""Gives the smaller one; if one is NaN, the other."""
fmod: Operation = Operation("fmod")
"""Gives the remainder of a / b, of the sign of a."""
gcd: Operation = Operation("gcd")
"""Gives the greatest common divisor."""
greater: Operation = Operation("greater")
"""Gives a > b."""
greater_equal: Operation = Operation("greater_equal")
"""Gives a >= b."""
heaviside: Operation = Operation("heaviside")
"""Gives 0 below 0, 1 above, b at 0."""
hypot: Operation = Operation("hypot")
"""Gives sqrt(a * a + b * b), which does not overflow on the way."""
imag: Operation = Operation("imag")
"""Gives the imaginary part."""
invert: Operation = Operation("invert")
"""Gives ~a; `not` of bools."""
bitwise_invert: Operation = invert
"""Gives ~a; `not` of bools."""
isfinite: Operation = Operation("isfinite")
"""Gives whether it is neither infinite nor NaN."""
isinf: Operation = Operation("isinf")
"""Gives whether it is infinite."""
isnan: Operation = Operation("isnan")
"""Gives whether it is NaN."""
lcm: Operation = Operation("lcm")
"""Gives the least common multiple."""
left_shift: Operation = Operation("left_shift")
"""Gives a << b."""
bitwise_left_shift: Operation = left_shift
"""Gives a << b."""
less: Operation = Operation("less")
"""Gives a < b."""
less_equal: Operation = Operation("less_equal")
"""Gives a <= b."""
log: Operation = Operation("log")
"""Gives the natural logarithm."""
log10: Operation = Operation("log10")
"""Gives the logarithm to base 10."""
log1p: Operation = Operation("log1p")
"""Gives log(1 + a), also near 0."""
log2: Operation = Operation("log2")
"""Gives the logarithm to base 2."""
logaddexp: Operation = Operation("logaddexp")
"""Gives log(exp(a) + exp(b)), which does not overflow on the way."""
logaddexp2: Operation = Operation("logaddexp2")
"""Gives the logarithm to base 2 of 2**a + 2**b."""
logical_and: Operation = Operation("logical_and")
"""Gives whether both are not 0."""
logical_not: Operation = Operation("logical_not")
"""Gives whether it is 0."""
logical_or: Operation = Operation("logical_or")
"""Gives whether one is not 0."""
logical_xor: Operation = Operation("logical_xor")
"""Gives whether exactly one is not 0."""
maximum: Operation = Operation("maximum")
"""Gives the larger one; NaN if one is."""
minimum: Operation = Operation("minimum")
"""Gives the smaller one; NaN if one is."""
multiply: Operation = Operation("multiply")
"""Gives a * b; `and` of bools."""
negative: Operation = Operation("negative")
"""Gives -a."""
nextafter: Operation = Operation("nextafter")
"""Gives the next number after a towards b."""
not_equal: Operation = Operation("not_equal")
"""Gives a != b."""
positive: Operation = Operation("positive")
"""Gives a."""
power: Operation = Operation("power")
"""Gives a to the power b."""
pow: Operation = power
"""Gives a to the power b."""
rad2deg: Operation = Operation("rad2deg")
"""Gives radians as degrees."""
radians: Operation = Operation("radians")
"""Gives degrees as radians."""
real: Operation = Operation("real")
"""Gives the real part."""
reciprocal: Operation = Operation("reciprocal")
"""Gives 1 / a."""
remainder: Operation = Operation("remainder")
"""Gives a % b, of the sign of b."""
right_shift: Operation = Operation("right_shift")
"""Gives a >> b."""
bitwise_right_shift: Operation = right_shift
"""Gives a >> b."""
rint: Operation = Operation("rint")
"""Gives the nearest whole number, of two the even one."""
sign: Operation = Operation("sign")
"""Gives -1, 0 or 1; of a complex number a / |a|."""
signbit: Operation = Operation("signbit")
"""Gives whether the sign is negative, of zeros too."""
sin: Operation = Operation("sin")
"""Gives the sine of an angle in radians."""
sinh: Operation = Operation("sinh")
"""Gives the hyperbolic sine."""
sqrt: Operation = Operation("sqrt")
"""Gives the square root."""
square: Operation = Operation("square")
"""Gives a * a."""
subtract: Operation = Operation("subtract")
"""Gives a - b."""
tan: Operation = Operation("tan")
"""Gives the tangent of an angle in radians."""
tanh: Operation = Operation("tanh")
"""Gives the hyperbolic tangent."""
trunc: Operation = Operation("trunc")
"""Gives the number without its fraction."""
where: Operation = Operation("where")
"""Gives b where a is true, c elsewhere."""

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "imag",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "where",
]
