"""What NumPy's universal functions are in C++: one row each, by the kind of their operands.

To add one, add a row. Types are NumPy's business: ``ufunc.resolve_dtypes`` says what the operands
are cast to and what comes out. The text sees them already cast.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

# Kinds of numbers as NumPy's dtype.kind has them; T is the type of the first operand.
ANY = "biufc"
REAL = "biuf"

#: Name of the ufunc -> (kinds, C++ text), the first row whose kinds fit.
ROWS: dict[str, tuple[tuple[str, str], ...]] = {
    "add": (("b", "{0} || {1}"), ("i", "wrap<{T}>({0}) + wrap<{T}>({1})"), (ANY, "{0} + {1}")),
    "subtract": (("i", "wrap<{T}>({0}) - wrap<{T}>({1})"), (ANY, "{0} - {1}")),
    "multiply": (
        ("b", "{0} && {1}"),
        ("iu", "wrap<{T}>({0}) * wrap<{T}>({1})"),
        (ANY, "{0} * {1}"),
    ),
    "divide": (("fc", "{0} / {1}"),),
    "floor_divide": ((REAL, "floor_divide({0}, {1})"),),
    "remainder": ((REAL, "modulo({0}, {1})"),),
    "fmod": (("iu", "truncated_remainder({0}, {1})"), ("f", "fmod({0}, {1})")),
    "power": (("iu", "integer_power({0}, {1})"), ("fc", "pow({0}, {1})")),
    "float_power": (("fc", "pow({0}, {1})"),),
    "negative": (("i", "wrap<{T}>(0) - wrap<{T}>({0})"), ("ufc", "-{0}")),
    "positive": ((ANY, "{0}"),),
    "absolute": (
        ("b", "{0}"),
        ("u", "{0}"),
        ("i", "distance({0})"),
        ("c", "abs({0})"),
        ("f", "fabs({0})"),
    ),
    "fabs": (("f", "fabs({0})"),),
    "sign": (("iuf", "sign({0})"),),
    "square": (("iu", "wrap<{T}>({0}) * wrap<{T}>({0})"), ("fc", "{0} * {0}")),
    "reciprocal": (("iu", "inverse({0})"), ("f", "{T}(1) / {0}"), ("c", "reciprocal({0})")),
    "conjugate": (("c", "conj({0})"), (ANY, "{0}")),
    # A NaN on either side is the result, or, of fmin and fmax, the other side.
    "maximum": (("b", "{0} || {1}"), ("iu", "{0} < {1} ? {1} : {0}"), ("f", "larger({0}, {1})")),
    "minimum": (("b", "{0} && {1}"), ("iu", "{1} < {0} ? {1} : {0}"), ("f", "smaller({0}, {1})")),
    "fmax": (("b", "{0} || {1}"), ("iu", "{0} < {1} ? {1} : {0}"), ("f", "fmax({0}, {1})")),
    "fmin": (("b", "{0} && {1}"), ("iu", "{1} < {0} ? {1} : {0}"), ("f", "fmin({0}, {1})")),
    "heaviside": (
        ("f", "{0} != {0} ? {0} : {0} == {T}(0) ? {1} : {0} < {T}(0) ? {T}(0) : {T}(1)"),
    ),
    "equal": ((ANY, "{0} == {1}"),),
    "not_equal": ((ANY, "{0} != {1}"),),
    "less": ((REAL, "{0} < {1}"),),
    "less_equal": ((REAL, "{0} <= {1}"),),
    "greater": ((REAL, "{0} > {1}"),),
    "greater_equal": ((REAL, "{0} >= {1}"),),
    "logical_and": ((ANY, "truth({0}) && truth({1})"),),
    "logical_or": ((ANY, "truth({0}) || truth({1})"),),
    "logical_xor": ((ANY, "truth({0}) != truth({1})"),),
    "logical_not": ((ANY, "!truth({0})"),),
    "bitwise_and": (("b", "{0} && {1}"), ("iu", "{0} & {1}")),
    "bitwise_or": (("b", "{0} || {1}"), ("iu", "{0} | {1}")),
    "bitwise_xor": (("b", "{0} != {1}"), ("iu", "{0} ^ {1}")),
    "invert": (("b", "!{0}"), ("iu", "~{0}")),
    "left_shift": (("iu", "shift_left({0}, {1})"),),
    "right_shift": (("iu", "shift_right({0}, {1})"),),
    "floor": (("biu", "{0}"), ("f", "floor({0})")),
    "ceil": (("biu", "{0}"), ("f", "ceil({0})")),
    "trunc": (("biu", "{0}"), ("f", "trunc({0})")),
    "rint": (("f", "rint({0})"), ("c", "{T}(rint({0}.re), rint({0}.im))")),
    "isnan": (("biu", "false"), ("f", "{0} != {0}"), ("c", "{0} != {0}")),
    "isinf": (("biu", "false"), ("f", "isinf({0})"), ("c", "isinf({0}.re) || isinf({0}.im)")),
    "isfinite": (
        ("biu", "true"),
        ("f", "isfinite({0})"),
        ("c", "isfinite({0}.re) && isfinite({0}.im)"),
    ),
    "signbit": (("f", "copysign({T}(1), {0}) < {T}(0)"),),
    "copysign": (("f", "copysign({0}, {1})"),),
    "nextafter": (("f", "nextafter({0}, {1})"),),
    "deg2rad": (("f", "in_radians({0})"),),
    "radians": (("f", "in_radians({0})"),),
    "rad2deg": (("f", "in_degrees({0})"),),
    "degrees": (("f", "in_degrees({0})"),),
    "arctan2": (("f", "atan2({0}, {1})"),),
    "hypot": (("f", "hypot({0}, {1})"),),
    "sqrt": (("fc", "sqrt({0})"),),
    "exp": (("fc", "exp({0})"),),
    "log": (("fc", "log({0})"),),
    "sin": (("fc", "sin({0})"),),
    "cos": (("fc", "cos({0})"),),
    "sinh": (("fc", "sinh({0})"),),
    "cosh": (("fc", "cosh({0})"),),
    **{
        numpy: (("f", f"{device}({{0}})"),)
        for numpy, device in {
            "tan": "tan",
            "arcsin": "asin",
            "arccos": "acos",
            "arctan": "atan",
            "tanh": "tanh",
            "arcsinh": "asinh",
            "arccosh": "acosh",
            "arctanh": "atanh",
            "exp2": "exp2",
            "expm1": "expm1",
            "log2": "log2",
            "log10": "log10",
            "log1p": "log1p",
            "cbrt": "cbrt",
        }.items()
    },
}

#: C++ that the rows use and the prelude does not have.
PREAMBLE = """
namespace {
// Integers wrap around as NumPy's do; signed ones of C++ must not overflow.
template <int Bytes>
struct unsigned_of {
  using type = uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = uint64_t;
};
template <class T>
auto wrap(T x) {
  return typename unsigned_of<sizeof(T)>::type(x);
}
template <class T>
T larger(T a, T b) {
  return a >= b || a != a ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a <= b || a != a ? a : b;
}
template <class T>
T truncated_remainder(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (T(-1) < T(0)) {
    if (b == T(-1)) return T(0);
  }
  return T(a % b);
}
// The smallest number of a signed type has no opposite, and stays what it is.
template <class T>
T distance(T x) {
  return T(x < 0 ? wrap<T>(0) - wrap<T>(x) : wrap<T>(x));
}
template <class T>
T inverse(T x) {
  return x == 0 ? expression::convert<T>(__builtin_inff()) : T(T(1) / x);
}
// In the order in which NumPy rounds; half is computed in float.
template <class T>
T in_radians(T x) {
  return x * (T(pi) / T(180));
}
template <class T>
T in_degrees(T x) {
  return x * (T(180) / T(pi));
}
inline half in_radians(half x) { return half(in_radians(float(x))); }
inline half in_degrees(half x) { return half(in_degrees(float(x))); }
template <class T>
bool truth(T x) {
  return x != T(0);
}
}  // namespace
"""


def text_of(name: str, kind: str) -> str | None:
    """The C++ text for operands of a kind, None if there is none."""
    for kinds, text in ROWS.get(name, ()):
        if kind in kinds:
            return text
    return None
