"""The table of operations on numbers: one row each, and everything that is known of it.

From the rows come the functions that Python kernels call, what fused functions may do, the
operators of values in them, the simulator's arithmetic, the tests of every type and of special
values, and the tables of the documentation. To add an operation, add a row, then `make tables`.
What a row calls in C++ stands in ``kernels/prelude/``, for every type that the row takes: an
operand of a wrong type can crash a device's compiler, so nothing outside of this table is called.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

#: Kinds of numbers as NumPy has them: bool, signed and unsigned integers, floats, complex numbers.
ANY = "biufc"
REAL = "biuf"


#: Special methods -> what Python writes.
_OPERATORS = {
    "add": "a + b", "sub": "a - b", "mul": "a * b", "truediv": "a / b", "floordiv": "a // b",
    "mod": "a % b", "pow": "a ** b", "and": "a & b", "or": "a | b", "xor": "a ^ b",
    "lshift": "a << b", "rshift": "a >> b", "eq": "a == b", "ne": "a != b", "lt": "a < b",
    "le": "a <= b", "gt": "a > b", "ge": "a >= b", "neg": "-a", "pos": "+a",
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes
    ----------
    name : str
        NumPy's name where NumPy has it, else ours.
    doc : str
        What it gives: part of a sentence, of ``a``, ``b``, ``c``.
    arity : int
        How many operands it takes.
    python : str
        What it is in Python, names separated by blanks: ``"math.sin numpy.sin"``. Kernels call it
        by these; the first one is that of messages. Those of ``usmx`` are made from the rows.
    function : str
        What kernels call in ``namespace usmx`` of the prelude; empty if they do not call it.
    takes : str
        Kinds that ``function`` is defined for. Integers become floats, and floats complex numbers,
        where only those are taken. A row of ``fc`` is also ``cmath``'s, whose results are complex.
    result : str
        ``same``, ``bool``, ``int`` (a Python int) or ``real`` (the part of a complex number).
    numpy : str
        The same in NumPy, as an expression of ``a``, ``b``, ``c``: what the simulator computes and
        what tests compare with. By default NumPy's function of that name.
    fused : tuple of (str, str), optional
        What it is in fused functions: kinds and C++ text, of which the first whose kinds fit
        counts. ``{0}``, ``{1}`` are the operands, cast to what NumPy says; ``T`` is the type of the
        first one. By default ``function``, for rows that have NumPy's name.
    mixed : str
        The text for operands of two types, which only comparisons of integers have.
    method : str
        Python's special method, ``"add"`` for ``+``.
    inline : str
        What kernels compile in place of a call of NumPy's function, an expression of ``a``, ``b``.
        By default the operator of ``method``.
    refused : str
        Kinds of which arrays refuse it, although they could be cast: NumPy subtracts no bools.
    wide : str
        Kinds of which it gives float64 or complex128, regardless of their size.
    chooses : bool
        The first operand is a bool, and has no part in the type of the others.
    standard : str
        Its name in the Array API standard, if that is another one.
    space : str
        The namespace of arrays' functions that has it, ``"special"`` for ``usmx.special``; `usmx`
        itself by default.
    ulps, complex_ulps : int
        Units in the last place that ``function`` may be off: those of the OpenCL C specification
        ("Relative error as ULPs"), which SYCL refers to. 0 is exact.
    oscillates : bool
        The bounds are units in the last place of the larger one of 1 and the value.
    any_zero : bool
        Of two zeros either may be the result.
    rounded_once : bool
        What NumPy computes in several steps is rounded once.
    host : str, optional
        Kinds of which the host's processor computes few elements itself, by the same text: those
        with the bits of kernels. By default the kinds that are exact.
    cost : str
        Of an element there: ``low``, a nanosecond or less; ``some``; ``high``.
    domain : tuple of float
        Where tests evaluate it: real numbers between these.
    example : str
        Lists of operands, and what they give, rounded to four digits if it is not exact:
        ``"[1, 5], [3, 2] -> [4, 7]"``. The help of the function shows it.
    """

    name: str
    doc: str
    arity: int = 1
    python: str = ""
    function: str = ""
    takes: str = ""
    result: str = "same"
    numpy: str = ""
    fused: tuple[tuple[str, str], ...] | None = None
    mixed: str = ""
    method: str = ""
    inline: str = ""
    refused: str = ""
    wide: str = ""
    chooses: bool = False
    standard: str = ""
    space: str = ""
    ulps: int = 0
    complex_ulps: int = 0
    oscillates: bool = False
    any_zero: bool = False
    rounded_once: bool = False
    host: str | None = None
    cost: str = "low"
    domain: tuple[float, float] = (0.05, 0.95)
    example: str = ""

    @property
    def expression(self) -> str:
        """See ``numpy``."""
        return self.numpy or f"np.{self.name}({', '.join('abc'[: self.arity])})"

    @property
    def inlined(self) -> str:
        """See ``inline``."""
        return self.inline or _OPERATORS.get(self.method, "")

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """See ``fused``; empty if it cannot be fused."""
        if self.fused is not None:
            return self.fused
        if not self.space and f"numpy.{self.name}" not in self.python.split():
            return ()
        operands = ", ".join(f"{{{k}}}" for k in range(self.arity))
        return ((self.takes, f"{self.function}({operands})"),)

    @property
    def on_host(self) -> str:
        """See ``host``."""
        taken = "".join(kinds for kinds, _ in self.texts)
        if self.host is None and self.ulps:
            return ""
        exact = self.host or ("biuf" if self.complex_ulps else ANY)
        return "".join(kind for kind in ANY if kind in exact and kind in taken)

    def differs_from_numpy(self, kind: str) -> bool:
        """Whether the bits may be others than those of ``expression``, for operands of a kind."""
        return self.rounded_once or bool(self.complex_ulps if kind == "c" else self.ulps)

    def text(self, kind: str) -> str | None:
        """The C++ text of fused functions for operands of a kind, None if there is none."""
        return next((text for kinds, text in self.texts if kind in kinds), None)


def _math(
    name: str,
    doc: str,
    ulps: int,
    numpy: str = "",
    complex_ulps: int = -1,
    in_arrays: int = -1,
    host: str | None = None,
    cost: str = "low",
    example: str = "",
) -> Operation:
    """A function of one float that `math` and NumPy have; of complex numbers if that is bounded.

    With a bound of `in_arrays` only arrays and fused functions take complex numbers.
    """
    fused: tuple[tuple[str, str], ...] | None = None
    if in_arrays >= 0:
        fused = (("fc", f"{name}({{0}})"),)
    numpy = numpy or name
    python = f"math.{name} numpy.{numpy}"
    if name.startswith("a") and numpy != name:
        python += f" numpy.{name}"
    return Operation(
        numpy,
        doc,
        standard=name if name != numpy else "",
        python=python,
        function=name,
        takes="f" if complex_ulps < 0 else "fc",
        fused=fused,
        ulps=ulps,
        complex_ulps=max(complex_ulps, in_arrays, 0),
        host=host,
        cost=cost,
        domain=(1.05, 9.0) if name == "acosh" else (0.05, 0.95),
        example=example,
    )


def _special(
    name: str,
    doc: str,
    function: str,
    ulps: int,
    domain: tuple[float, float],
    python: str = "",
    arity: int = 1,
    oscillates: bool = False,
    example: str = "",
) -> Operation:
    """A function of SciPy's name, which `math` may have as `python`.

    The bounds are those of measured errors, rounded up.
    """
    operands = ", ".join("ab"[:arity])
    return Operation(
        name,
        doc,
        arity,
        python=f"{python} usmx.special.{name} scipy.special.{name}".strip(),
        function=function,
        takes="f",
        numpy=f"each({python or f'special.{name}'}, {operands})",
        space="special",
        ulps=ulps,
        oscillates=oscillates,
        any_zero=True,
        domain=domain,
        example=example,
    )


_SIGNED = (-9.0, 9.0)
# Beyond the largest exponent the exponential of a complex number is the square of that of a half.
_EXPONENTIAL = 2 * 3 + 4 + 2
# Those of tan, sinh and sqrt, two products and a quotient; of hypot, log1p, atan2 and two roots.
_TANGENT = 5 + 4 + 4 + 3
_INVERSE = 4 + 2 + 6 + 4
_LOGICAL = "truth({0}) %s truth({1})"
# As NumPy's: by the real parts, of equal ones by the imaginary parts, and false if one is NaN.
_LEXICOGRAPHIC = (
    "({0}.re %s {1}.re && {0}.im == {0}.im && {1}.im == {1}.im) || "
    "({0}.re == {1}.re && {0}.im %s {1}.im)"
)

OPERATIONS: tuple[Operation, ...] = (
    # --- operators ------------------------------------------------------------------------------
    Operation("add", "a + b; `or` of bools", 2, method="add",
              fused=(("b", "{0} || {1}"), ("i", "wrap<{T}>({0}) + wrap<{T}>({1})"),
                     (ANY, "{0} + {1}")),
              example="[1, 5], [3, 2] -> [4, 7]"),
    Operation("subtract", "a - b", 2, method="sub", refused="b",
              fused=(("i", "wrap<{T}>({0}) - wrap<{T}>({1})"), (ANY, "{0} - {1}")),
              example="[1, 5], [3, 2] -> [-2, 3]"),
    Operation("multiply", "a * b; `and` of bools", 2, method="mul",
              fused=(("b", "{0} && {1}"), ("iu", "wrap<{T}>({0}) * wrap<{T}>({1})"),
                     (ANY, "{0} * {1}")),
              example="[1, 5], [3, 2] -> [3, 10]"),
    Operation("divide", "a / b", 2, method="truediv", wide="biu", fused=(("fc", "{0} / {1}"),),
              example="[3, 1], [2, 4] -> [1.5, 0.25]"),
    Operation("floor_divide", "a / b rounded down", 2, method="floordiv",
              fused=(("iuf", "floor_divide({0}, {1})"),),
              cost="some", example="[7, -7], [2, 2] -> [3, -4]"),
    Operation("remainder", "a % b, of the sign of b", 2, method="mod",
              fused=(("iuf", "modulo({0}, {1})"),),
              cost="some", example="[7, -7], [3, 3] -> [1, 2]"),
    Operation("power", "a to the power b", 2, standard="pow", python="math.pow", function="pow",
              takes="f", numpy="power(a, b)", ulps=16, method="pow",
              fused=(("iu", "integer_power({0}, {1})"), ("fc", "pow({0}, {1})")),
              host="iu", cost="high", example="[1, 5], [3, 2] -> [1, 25]"),
    Operation("float_power", "a to the power b, as float64 or complex128", 2, ulps=16, wide=ANY,
              fused=(("fc", "pow({0}, {1})"),),
              example="[2, 3], [2, 3] -> [4.0, 27.0]"),
    Operation("negative", "-a", method="neg", refused="b",
              fused=(("i", "wrap<{T}>(0) - wrap<{T}>({0})"), ("ufc", "-{0}")),
              example="[1, -2] -> [-1, 2]"),
    Operation("positive", "a", method="pos", refused="b", fused=((ANY, "{0}"),),
              example="[1, -2] -> [1, -2]"),
    Operation("absolute", "the absolute value", standard="abs",
              python="builtins.abs numpy.abs numpy.absolute",
              function="magnitude", takes="iufc", numpy="np.abs(a)", result="real",
              method="abs", complex_ulps=4, domain=(-4.0, 4.0),
              fused=(("b", "{0}"), ("iufc", "magnitude({0})")),
              example="[-1.5, 2.5] -> [1.5, 2.5]"),
    Operation("equal", "a == b", 2, result="bool", method="eq", mixed="equal({0}, {1})",
              fused=((ANY, "{0} == {1}"),),
              example="[1, 5], [3, 2] -> [False, False]"),
    Operation("not_equal", "a != b", 2, result="bool", method="ne", mixed="!equal({0}, {1})",
              fused=((ANY, "{0} != {1}"),),
              example="[1, 5], [3, 2] -> [True, True]"),
    Operation("less", "a < b", 2, result="bool", method="lt", mixed="less({0}, {1})",
              fused=((REAL, "{0} < {1}"),
                     ("c", _LEXICOGRAPHIC % ("<", "<"))),
              example="[1, 5], [3, 2] -> [True, False]"),
    Operation("less_equal", "a <= b", 2, result="bool", method="le",
              mixed="less_equal({0}, {1})", fused=((REAL, "{0} <= {1}"),
                     ("c", _LEXICOGRAPHIC % ("<", "<="))),
              example="[1, 5], [3, 2] -> [True, False]"),
    Operation("greater", "a > b", 2, result="bool", method="gt", mixed="less({1}, {0})",
              fused=((REAL, "{0} > {1}"),
                     ("c", _LEXICOGRAPHIC % (">", ">"))),
              example="[1, 5], [3, 2] -> [False, True]"),
    Operation("greater_equal", "a >= b", 2, result="bool", method="ge",
              mixed="less_equal({1}, {0})", fused=((REAL, "{0} >= {1}"),
                     ("c", _LEXICOGRAPHIC % (">", ">="))),
              example="[1, 5], [3, 2] -> [False, True]"),
    Operation("bitwise_and", "a & b", 2, method="and",
              fused=(("b", "{0} && {1}"), ("iu", "{0} & {1}")),
              example="[5, 12], [6, 10] -> [4, 8]"),
    Operation("bitwise_or", "a | b", 2, method="or",
              fused=(("b", "{0} || {1}"), ("iu", "{0} | {1}")),
              example="[5, 12], [6, 10] -> [7, 14]"),
    Operation("bitwise_xor", "a ^ b", 2, method="xor",
              fused=(("b", "{0} != {1}"), ("iu", "{0} ^ {1}")),
              example="[5, 12], [6, 10] -> [3, 6]"),
    Operation("invert", "~a; `not` of bools", standard="bitwise_invert", method="invert",
              fused=(("b", "!{0}"), ("iu", "~{0}")),
              example="[0, 5] -> [-1, -6]"),
    Operation("left_shift", "a << b", 2, standard="bitwise_left_shift", method="lshift",
              fused=(("iu", "shift_left({0}, {1})"),),
              example="[1, 3], [4, 2] -> [16, 12]"),
    Operation("right_shift", "a >> b", 2, standard="bitwise_right_shift", method="rshift",
              fused=(("iu", "shift_right({0}, {1})"),),
              example="[16, 12], [4, 2] -> [1, 3]"),
    # --- logic ----------------------------------------------------------------------------------
    Operation("logical_and", "whether both are not 0", 2, result="bool",
              inline="(a != 0) & (b != 0)",
              fused=((ANY, _LOGICAL % "&&"),),
              example="[0, 1, 2], [1, 0, 3] -> [False, False, True]"),
    Operation("logical_or", "whether one is not 0", 2, result="bool",
              inline="(a != 0) | (b != 0)",
              fused=((ANY, _LOGICAL % "||"),),
              example="[0, 1, 2], [1, 0, 3] -> [True, True, True]"),
    Operation("logical_xor", "whether exactly one is not 0", 2, result="bool",
              inline="(a != 0) != (b != 0)",
              fused=((ANY, _LOGICAL % "!="),),
              example="[0, 1, 2], [1, 0, 3] -> [True, True, False]"),
    Operation("logical_not", "whether it is 0", result="bool", inline="a == 0",
              fused=((ANY, "!truth({0})"),),
              example="[0, 1, 2] -> [True, False, False]"),
    Operation("isnan", "whether it is NaN", python="math.isnan numpy.isnan", function="isnan",
              takes="f", result="bool",
              fused=(("biu", "false"), ("fc", "{0} != {0}")),
              example="[1.0, float('nan')] -> [False, True]"),
    Operation("isinf", "whether it is infinite", python="math.isinf numpy.isinf",
              function="isinf", takes="f", result="bool",
              fused=(("biu", "false"), ("f", "isinf({0})"),
                     ("c", "isinf({0}.re) || isinf({0}.im)")),
              example="[1.0, float('inf')] -> [False, True]"),
    Operation("isfinite", "whether it is neither infinite nor NaN",
              python="math.isfinite numpy.isfinite", function="isfinite", takes="f",
              result="bool",
              fused=(("biu", "true"), ("f", "isfinite({0})"),
                     ("c", "isfinite({0}.re) && isfinite({0}.im)")),
              example="[1.0, float('inf')] -> [True, False]"),
    Operation("signbit", "whether the sign is negative, of zeros too", result="bool",
              fused=(("f", "copysign({T}(1), {0}) < {T}(0)"),),
              example="[1.0, -0.0] -> [False, True]"),
    # --- exponentials, logarithms, powers -------------------------------------------------------
    _math("exp", "e to the power a", 3, complex_ulps=_EXPONENTIAL,
          host="f", example="[0.0, 1.0] -> [1.0, 2.7183]"),
    _math("exp2", "2 to the power a", 3, in_arrays=_EXPONENTIAL,
          example="[2.0, 3.0] -> [4.0, 8.0]"),
    _math("expm1", "exp(a) - 1, also near 0", 3, in_arrays=_EXPONENTIAL,
          example="[0.25, 0.5] -> [0.284, 0.6487]"),
    _math("log", "the natural logarithm", 3, complex_ulps=3 + 4,
          host="f", cost="some", example="[1.0, 10.0] -> [0.0, 2.3026]"),
    _math("log2", "the logarithm to base 2", 3, in_arrays=9, example="[8.0, 16.0] -> [3.0, 4.0]"),
    _math("log10", "the logarithm to base 10", 3, in_arrays=9,
          example="[10.0, 1000.0] -> [1.0, 3.0]"),
    _math("log1p", "log(1 + a), also near 0", 2, in_arrays=7,
          example="[0.25, 0.5] -> [0.2231, 0.4055]"),
    # Of complex numbers half of the error of hypot, a sum, a division and two roots.
    _math("sqrt", "the square root", 0, complex_ulps=4, example="[4.0, 9.0] -> [2.0, 3.0]"),
    _math("cbrt", "the cube root", 2, example="[8.0, 27.0] -> [2.0, 3.0]"),
    Operation("rsqrt", "1 / sqrt(a)", python="usmx.rsqrt", function="rsqrt", takes="f",
              numpy="same(1 / np.sqrt(a), a)", ulps=2),
    Operation("square", "a * a", inline="a * a",
              fused=(("iu", "wrap<{T}>({0}) * wrap<{T}>({0})"), ("fc", "{0} * {0}")),
              example="[3, -4] -> [9, 16]"),
    Operation("reciprocal", "1 / a",
              fused=(("iu", "inverse({0})"), ("f", "{T}(1) / {0}"), ("c", "reciprocal({0})")),
              example="[2.0, 4.0] -> [0.5, 0.25]"),
    # --- trigonometry ---------------------------------------------------------------------------
    _math("sin", "the sine of an angle in radians", 4, complex_ulps=_EXPONENTIAL,
          host="f", cost="some", example="[0.25, 0.5] -> [0.2474, 0.4794]"),
    _math("cos", "the cosine of an angle in radians", 4, complex_ulps=_EXPONENTIAL,
          host="f", cost="some", example="[0.25, 0.5] -> [0.9689, 0.8776]"),
    _math("tan", "the tangent of an angle in radians", 5, in_arrays=_TANGENT,
          example="[0.25, 0.5] -> [0.2553, 0.5463]"),
    _math("asin", "the inverse of the sine", 4, "arcsin", in_arrays=_INVERSE,
          example="[0.25, 0.5] -> [0.2527, 0.5236]"),
    _math("acos", "the inverse of the cosine", 4, "arccos", in_arrays=_INVERSE,
          example="[0.25, 0.5] -> [1.3181, 1.0472]"),
    _math("atan", "the inverse of the tangent", 5, "arctan", in_arrays=_INVERSE,
          example="[0.25, 0.5] -> [0.245, 0.4636]"),
    _math("sinh", "the hyperbolic sine", 4, complex_ulps=_EXPONENTIAL,
          example="[0.25, 0.5] -> [0.2526, 0.5211]"),
    _math("cosh", "the hyperbolic cosine", 4, complex_ulps=_EXPONENTIAL,
          example="[0.25, 0.5] -> [1.0314, 1.1276]"),
    _math("tanh", "the hyperbolic tangent", 5, in_arrays=_TANGENT,
          host="f", cost="some", example="[0.25, 0.5] -> [0.2449, 0.4621]"),
    _math("asinh", "the inverse of the hyperbolic sine", 4, "arcsinh", in_arrays=_INVERSE,
          example="[0.25, 0.5] -> [0.2475, 0.4812]"),
    _math("acosh", "the inverse of the hyperbolic cosine", 4, "arccosh", in_arrays=_INVERSE,
          example="[1.0, 2.0] -> [0.0, 1.317]"),
    _math("atanh", "the inverse of the hyperbolic tangent", 5, "arctanh", in_arrays=_INVERSE,
          example="[0.25, 0.5] -> [0.2554, 0.5493]"),
    Operation("arctan2", "the angle of the point (b, a)", 2, standard="atan2",
              python="math.atan2 numpy.arctan2 numpy.atan2", function="atan2", takes="f", ulps=6,
              host="f", cost="high", example="[1.0, 1.0], [1.0, 0.0] -> [0.7854, 1.5708]"),
    Operation("hypot", "sqrt(a * a + b * b), which does not overflow on the way", 2,
              python="math.hypot numpy.hypot", function="hypot", takes="f", ulps=4,
              host="f", cost="some", example="[3.0, 5.0], [4.0, 12.0] -> [5.0, 13.0]"),
    Operation("radians", "degrees as radians", python="math.radians numpy.radians numpy.deg2rad",
              function="radians", takes="f", ulps=2,
              host="f", example="[90.0, 180.0] -> [1.5708, 3.1416]"),
    Operation("deg2rad", "degrees as radians", fused=(("f", "radians({0})"),),
              example="[90.0, 180.0] -> [1.5708, 3.1416]"),
    Operation("degrees", "radians as degrees", python="math.degrees numpy.degrees numpy.rad2deg",
              function="degrees", takes="f", ulps=2,
              host="f", example="[1.0, 3.0] -> [57.2958, 171.8873]"),
    Operation("rad2deg", "radians as degrees", fused=(("f", "degrees({0})"),),
              example="[1.0, 3.0] -> [57.2958, 171.8873]"),
    # --- special functions ----------------------------------------------------------------------
    _special("erf", "the error function", "erf", 16, (-2.0, 2.0), "math.erf",
             example="[0.25, 0.5] -> [0.2763, 0.5205]"),
    _special("erfc", "1 - erf(a), also for large a", "erfc", 16, (-2.0, 2.0), "math.erfc",
             example="[0.25, 0.5] -> [0.7237, 0.4795]"),
    _special("erfinv", "the inverse of erf", "erfinv", 4, (-0.95, 0.95),
             example="[0.25, 0.5] -> [0.2253, 0.4769]"),
    _special("erfcinv", "the inverse of erfc", "erfcinv", 4, (0.05, 1.95),
             example="[0.25, 0.5] -> [0.8134, 0.4769]"),
    _special("erfcx", "exp(a * a) * erfc(a), which does not overflow on the way", "erfcx", 4,
             (-2.0, 9.0),
             example="[1.0, 5.0] -> [0.4276, 0.1107]"),
    _special("gamma", "the gamma function", "tgamma", 16, (0.5, 4.0), "math.gamma",
             example="[4.0, 0.5] -> [6.0, 1.7725]"),
    # The specification leaves its error to the implementation.
    _special("gammaln", "the logarithm of the gamma function's absolute value", "lgamma", 16,
             (0.5, 4.0), "math.lgamma",
             example="[4.0, 0.5] -> [1.7918, 0.5724]"),
    _special("ndtr", "the probability that a normal number is at most a", "normcdf", 4, _SIGNED,
             example="[0.0, 1.0] -> [0.5, 0.8413]"),
    _special("ndtri", "the inverse of ndtr", "normcdfinv", 4, (0.05, 0.95),
             example="[0.25, 0.75] -> [-0.6745, 0.6745]"),
    _special("j0", "the Bessel function of the first kind of order 0", "j0", 4, _SIGNED,
             oscillates=True,
             example="[0.0, 1.0] -> [1.0, 0.7652]"),
    _special("j1", "the Bessel function of the first kind of order 1", "j1", 4, _SIGNED,
             oscillates=True,
             example="[0.0, 1.0] -> [0.0, 0.4401]"),
    _special("y0", "the Bessel function of the second kind of order 0", "y0", 8, (0.05, 9.0),
             oscillates=True,
             example="[1.0, 2.0] -> [0.0883, 0.5104]"),
    _special("y1", "the Bessel function of the second kind of order 1", "y1", 4, (0.05, 9.0),
             oscillates=True,
             example="[1.0, 2.0] -> [-0.7812, -0.107]"),
    _special("jn", "the Bessel function of the first kind of whole order a, at b", "bessel_j", 4,
             _SIGNED, arity=2, oscillates=True,
             example="[0.0, 1.0], [2.0, 3.0] -> [0.2239, 0.3391]"),
    _special("yn", "the Bessel function of the second kind of whole order a, at b", "bessel_y", 8,
             (0.05, 9.0), arity=2, oscillates=True,
             example="[0.0, 1.0], [2.0, 3.0] -> [0.5104, 0.3247]"),
    _special("i0", "the modified Bessel function of order 0", "cyl_bessel_i0", 8, _SIGNED,
             example="[0.0, 1.0] -> [1.0, 1.2661]"),
    _special("i1", "the modified Bessel function of order 1", "cyl_bessel_i1", 8, _SIGNED,
             example="[0.0, 1.0] -> [0.0, 0.5652]"),
    _special("sinpi", "sin(pi * a)", "sinpi", 4, _SIGNED, oscillates=True,
             example="[0.5, 0.25] -> [1.0, 0.7071]"),
    _special("cospi", "cos(pi * a)", "cospi", 4, _SIGNED, oscillates=True,
             example="[1.0, 0.25] -> [-1.0, 0.7071]"),
    _special("exp10", "10 to the power a", "exp10", 16, (-4.0, 4.0),
             example="[1.0, 2.0] -> [10.0, 100.0]"),
    _special("expit", "1 / (1 + exp(-a)), the logistic function", "expit", 6, _SIGNED,
             example="[0.0, 1.0] -> [0.5, 0.7311]"),
    _special("logit", "log(a / (1 - a)), the inverse of expit", "logit", 8, (0.05, 0.95),
             example="[0.25, 0.5] -> [-1.0986, 0.0]"),
    # --- rounding: Python's functions give ints, NumPy's keep the type --------------------------
    Operation("floor_int", "the largest int that is not larger", python="math.floor",
              function="floor_int", takes="iuf", numpy="whole(np.floor(a))", result="int",
              domain=_SIGNED),
    Operation("ceil_int", "the smallest int that is not smaller", python="math.ceil",
              function="ceil_int", takes="iuf", numpy="whole(np.ceil(a))", result="int",
              domain=_SIGNED),
    Operation("trunc_int", "the int without the fraction", python="math.trunc",
              function="trunc_int", takes="iuf", numpy="whole(np.trunc(a))", result="int",
              domain=_SIGNED),
    Operation("round_int", "the nearest int, of two the even one", python="builtins.round",
              function="round_int", takes="iuf", numpy="whole(np.rint(a))", result="int",
              domain=_SIGNED),
    Operation("floor", "the largest whole number that is not larger", python="numpy.floor",
              function="floor", takes="f", domain=_SIGNED,
              fused=(("biu", "{0}"), ("f", "floor({0})")),
              example="[1.5, -1.5] -> [1.0, -2.0]"),
    Operation("ceil", "the smallest whole number that is not smaller", python="numpy.ceil",
              function="ceil", takes="f", domain=_SIGNED,
              fused=(("biu", "{0}"), ("f", "ceil({0})")),
              example="[1.5, -1.5] -> [2.0, -1.0]"),
    Operation("trunc", "the number without its fraction", python="numpy.trunc",
              function="trunc", takes="f", domain=_SIGNED,
              fused=(("biu", "{0}"), ("f", "trunc({0})")),
              example="[1.5, -1.5] -> [1.0, -1.0]"),
    Operation("rint", "the nearest whole number, of two the even one",
              python="numpy.rint numpy.round", function="rint", takes="f", domain=_SIGNED,
              fused=(("f", "rint({0})"), ("c", "{T}(rint({0}.re), rint({0}.im))")),
              example="[0.5, 1.5] -> [0.0, 2.0]"),
    # --- signs, limits, neighbours --------------------------------------------------------------
    Operation("fabs", "the absolute value of a float", python="math.fabs numpy.fabs",
              function="fabs", takes="f", domain=(-4.0, 4.0),
              example="[1.5, -1.5] -> [1.5, 1.5]"),
    Operation("sign", "-1, 0 or 1; of a complex number a / |a|", python="numpy.sign",
              function="sign", takes="iuf", refused="b", complex_ulps=6, domain=_SIGNED,
              fused=(("iufc", "sign({0})"),),
              example="[3, 0, -2] -> [1, 0, -1]"),
    Operation("copysign", "a with the sign of b", 2, python="math.copysign numpy.copysign",
              function="copysign", takes="f", domain=(-4.0, 4.0),
              example="[1.0, 2.0], [-3.0, 4.0] -> [-1.0, 2.0]"),
    Operation("nextafter", "the next number after a towards b", 2,
              python="math.nextafter numpy.nextafter", function="nextafter", takes="f",
              cost="high", example="[1.0, 2.0], [2.0, 2.0] -> [1.0000000000000002, 2.0]"),
    Operation("fmod", "the remainder of a / b, of the sign of a", 2,
              python="math.fmod numpy.fmod", function="fmod", takes="f",
              fused=(("iu", "truncated_remainder({0}, {1})"), ("f", "fmod({0}, {1})")),
              cost="some", example="[7, -7], [3, 3] -> [1, -1]"),
    Operation("minimum", "the smaller one; NaN if one is", 2, python="numpy.minimum",
              function="minimum", takes="iuf", any_zero=True,
              fused=(("b", "{0} && {1}"), ("iuf", "minimum({0}, {1})"),
                     ("c", "smaller({0}, {1})")),
              example="[1, 5], [3, 2] -> [1, 2]"),
    Operation("maximum", "the larger one; NaN if one is", 2, python="numpy.maximum",
              function="maximum", takes="iuf", any_zero=True,
              fused=(("b", "{0} || {1}"), ("iuf", "maximum({0}, {1})"),
                     ("c", "larger({0}, {1})")),
              example="[1, 5], [3, 2] -> [3, 5]"),
    Operation("fmin", "the smaller one; if one is NaN, the other", 2, python="numpy.fmin",
              function="fmin", takes="iuf", any_zero=True,
              fused=(("b", "{0} && {1}"), ("iuf", "fmin({0}, {1})"),
                     ("c", "smaller_number({0}, {1})")),
              example="[1, 5], [3, 2] -> [1, 2]"),
    Operation("fmax", "the larger one; if one is NaN, the other", 2, python="numpy.fmax",
              function="fmax", takes="iuf", any_zero=True,
              fused=(("b", "{0} || {1}"), ("iuf", "fmax({0}, {1})"),
                     ("c", "larger_number({0}, {1})")),
              example="[1, 5], [3, 2] -> [3, 5]"),
    Operation("clamp", "a between b and c", 3, python="usmx.clamp numpy.clip", function="clamp",
              takes="iuf", numpy="np.clip(a, b, c)"),
    Operation("heaviside", "0 below 0, 1 above, b at 0", 2,
              fused=(("f", "{0} != {0} ? {0} : {0} == {T}(0) ? {1} : "
                           "{0} < {T}(0) ? {T}(0) : {T}(1)"),),
              example="[-1.0, 0.0, 2.0], [0.5, 0.5, 0.5] -> [0.0, 0.5, 1.0]"),
    Operation("fma", "a * b + c, rounded once", 3, python="usmx.fma", function="fma", takes="f",
              numpy="same(a * b + c, a)", rounded_once=True),
    # Where the logarithm is near 0 the larger operand and the rest cancel each other.
    Operation("logaddexp", "log(exp(a) + exp(b)), which does not overflow on the way", 2, ulps=8,
              oscillates=True,
              fused=(("f", "log_of_sum({0}, {1})"),),
              example="[0.0, 1.0], [0.0, 2.0] -> [0.6931, 2.3133]"),
    Operation("logaddexp2", "the logarithm to base 2 of 2**a + 2**b", 2, ulps=8, oscillates=True,
              fused=(("f", "binary_log_of_sum({0}, {1})"),),
              example="[0.0, 1.0], [0.0, 2.0] -> [1.0, 2.585]"),
    Operation("where", "b where a is true, c elsewhere", 3, chooses=True,
              fused=((ANY, "{0} ? {1} : {2}"),),
              example="[True, False], [1, 2], [3, 4] -> [1, 4]"),
    # --- bits -----------------------------------------------------------------------------------
    Operation("popcount", "how many bits of an integer are ones",
              python="usmx.popcount numpy.bitwise_count", function="popcount", takes="iu",
              numpy="popcount(a)"),
    Operation("clz", "how many zeros stand before the highest one of an integer",
              python="usmx.clz", function="clz", takes="iu", numpy="clz(a)"),
    # --- integers -------------------------------------------------------------------------------
    Operation("gcd", "the greatest common divisor", 2, python="math.gcd numpy.gcd",
              function="gcd", takes="iu", refused="b",
              cost="high", example="[12, 9], [18, 6] -> [6, 3]"),
    Operation("lcm", "the least common multiple", 2, python="math.lcm numpy.lcm",
              function="lcm", takes="iu", refused="b",
              cost="high", example="[4, 6], [6, 8] -> [12, 24]"),
    # --- complex numbers ------------------------------------------------------------------------
    Operation("conjugate", "the complex conjugate", standard="conj",
              python="numpy.conj numpy.conjugate",
              function="conj", takes="c", numpy="np.conj(a)",
              fused=(("c", "conj({0})"), (ANY, "{0}")),
              example="[1 + 2j, 3 - 1j] -> [(1-2j), (3+1j)]"),
    Operation("angle", "the angle of a complex number", python="cmath.phase numpy.angle",
              function="arg", takes="c", result="real", complex_ulps=6,
              fused=(("f", "atan2({T}(0), {0})"), ("c", "arg({0})")),
              example="[1j, -1.0] -> [1.5708, 3.1416]"),
    Operation("real", "the real part", result="real",
              fused=(("c", "{0}.re"), (REAL, "{0}")),
              example="[1 + 2j, 3 - 1j] -> [1.0, 3.0]"),
    Operation("imag", "the imaginary part", result="real",
              fused=(("c", "{0}.im"), (REAL, "{T}(0)")),
              example="[1 + 2j, 3 - 1j] -> [2.0, -1.0]"),
)  # fmt: skip

BY_NAME: dict[str, Operation] = {row.name: row for row in OPERATIONS}


def names_of_usmx() -> list[tuple[str, str]]:
    """The functions that usmx itself has for kernels, and what they give."""
    return [
        (path.removeprefix("usmx."), row.doc)
        for row in OPERATIONS
        for path in row.python.split()
        if path.startswith("usmx.") and path.count(".") == 1
    ]
