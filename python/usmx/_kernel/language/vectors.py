"""Short vectors and small matrices: values of a few numbers that kernels compute with as one.

They are tuples with a class of their own, so that they are passed, returned and assigned as tuples
are; what is added here is their arithmetic outside of kernels, with NumPy's numbers.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copyreg
import functools
import math
import operator

from ..types import scalars
from ..types.operators import FOLD
from ..types.scalars import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Self

    import numpy as np

#: Names of the components, also those of the fields of a vector in an array.
COMPONENTS = "xyzw"
#: The field of an array's elements that are matrices.
MATRIX = "m"
MOST = len(COMPONENTS)
#: Methods that kernels have too -> how many operands they take.
METHODS = {"dot": 1, "cross": 1, "length": 0, "normalize": 0, "transpose": 0}


class VectorType(type):
    """The class of the classes that `vec` and `mat` make."""

    _shape: tuple[int, ...]
    _element: Scalar
    _fields: tuple[str, ...]

    @property
    def shape(cls) -> tuple[int, ...]:
        """Its lengths."""
        return cls._shape

    @property
    def dtype(cls) -> np.dtype[Any]:
        """A structured type of NumPy of the same numbers, which arrays of it have."""
        import numpy as np

        element = np.dtype(cls._element.name)
        if len(cls._shape) == 2:
            return np.dtype([(MATRIX, element, cls._shape)])
        return np.dtype([(name, element) for name in cls._fields])

    def __repr__(cls) -> str:
        what = "vec" if len(cls._shape) == 1 else "mat"
        lengths = ", ".join(map(str, cls._shape))
        return f"usmx.{what}({lengths}, {cls._element.name!r})"


class Vector(tuple[object, ...], metaclass=VectorType):
    """A vector or a matrix, which is a tuple of its rows.

    ``+ - * / // % **`` work with numbers and, component by component, with vectors of the same
    length; types are promoted as NumPy's. Of matrices ``+`` and ``-`` do, and ``@`` is the product
    with matrices and vectors.
    """

    __slots__ = ()
    _shape = ()
    _element = scalars.FLOAT
    _fields = ()
    #: So that NumPy's scalars leave operators to this class.
    __array_ufunc__ = None
    _field_defaults: dict[str, object] = {}  # noqa: RUF012 - never changed

    def __new__(cls, *values: Any) -> Self:
        """Of numbers, of one number for all components, of rows, or of a sequence of them."""
        import numpy as np

        make: Any = np.dtype(cls._element.name).type
        with np.errstate(all="ignore"):
            return cls._of([make(x) for x in arranged(cls, values)])

    @classmethod
    def _of(cls, numbers: Sequence[Any]) -> Self:
        """Of all its numbers, which are of its type."""
        if len(cls._shape) == 1:
            return cls._make(numbers)
        rows, columns = cls._shape
        row = row_of(cls)
        return cls._make(row._make(numbers[k * columns : (k + 1) * columns]) for k in range(rows))

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Self:
        """Of its items as they are, as a namedtuple's `_make`."""
        return tuple.__new__(cls, items)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __getattr__(self, name: str) -> Any:
        if len(self._shape) == 1 and name in self._fields:
            return tuple.__getitem__(self, self._fields.index(name))
        raise AttributeError(f"{type(self)!r} has no '{name}'")

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, tuple):
            return tuple.__getitem__(self, index)
        found: Any = self
        for one in index:
            found = found[one]
        return found

    def __repr__(self) -> str:
        return f"{type(self)!r}{_shown(tuple(self))}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vector) or other._shape != self._shape:
            return NotImplemented
        return all(a == b for a, b in zip(flat(self), flat(other), strict=True))

    def __ne__(self, other: object) -> bool:
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    __hash__ = tuple.__hash__

    def _ordered(self, other: object) -> bool:
        raise TypeError("vectors have no order; compare their components or their lengths")

    __lt__ = __le__ = __gt__ = __ge__ = _ordered

    def __neg__(self) -> Any:
        import numpy as np

        with np.errstate(all="ignore"):
            return self._of([-x for x in flat(self)])

    def __pos__(self) -> Any:
        return self

    def __matmul__(self, other: Any) -> Any:
        return product(self, other, _plain)

    def dot(self, other: Any) -> Any:
        """The sum of the products of the components."""
        return dot(self, other, _plain)

    def cross(self, other: Any) -> Any:
        """The cross product of two vectors of length 3."""
        return cross(self, other, _plain)

    def length(self) -> Any:
        """The square root of ``v.dot(v)``."""
        import numpy as np

        return np.sqrt(dot(self, self, _plain))

    def normalize(self) -> Any:
        """The vector divided by its length; NaN if that is 0."""
        require(type(self), "normalize", 1)
        return _plain("/", self, self.length())

    def transpose(self) -> Any:
        """A matrix with rows and columns exchanged."""
        require(type(self), "transpose", 2)
        return like(self, list(zip(*self, strict=True)))


def _operator(sign: str, swapped: bool) -> Callable[[Any, Any], Any]:
    if swapped:
        return lambda self, other: _plain(sign, other, self)
    return lambda self, other: _plain(sign, self, other)


#: Signs that work component by component -> names of Python's special methods.
SIGNS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
for _sign, _name in SIGNS.items():
    setattr(Vector, f"__{_name}__", _operator(_sign, False))
    setattr(Vector, f"__r{_name}__", _operator(_sign, True))


def _plain(sign: str, a: Any, b: Any) -> Any:
    """``a sign b`` of vectors and numbers outside of kernels."""
    import numpy as np

    if not isinstance(a, Vector) and not isinstance(b, Vector):
        with np.errstate(all="ignore"):
            return FOLD[sign](a, b)
    return by_component(sign, a, b, _plain)


# --- what kernels, the simulator and Python have in common ----------------------------------------
#
# `operate(sign, a, b)` computes with two numbers of the caller.


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return repr(value.item())


def flat(value: Any) -> list[Any]:
    """All numbers of a vector or a matrix, row by row."""
    return [x for item in value for x in (item if isinstance(item, tuple) else (item,))]


def like(value: Any, rows: Any) -> Any:
    """A matrix of these rows, of the element type of another."""
    made = mat(len(rows), len(rows[0]), type(value)._element)
    return made._of([x for row in rows for x in row])


def require(kind: Any, method: str, rank: int) -> None:
    """Refuse a method of vectors on matrices, and the other way round."""
    if len(kind._shape) != rank:
        raise TypeError(f"'{method}' is one of {'vectors' if rank == 1 else 'matrices'}")


def check_operator(sign: str, a: Any, b: Any) -> tuple[int, ...]:
    """The shape of ``a sign b`` for two of them, or for one and None, which is a number.

    Raises
    ------
    TypeError
        It is not defined for them.
    """
    given = [kind for kind in (a, b) if kind is not None]
    shape: tuple[int, ...] = given[0]._shape
    if len(given) == 2 and given[1]._shape != shape:
        raise TypeError(f"'{sign}' of {a!r} and {b!r}; expected the same lengths")
    if len(shape) == 2:
        if len(given) == 2 and sign not in "+-":
            hint = "; '@' is the product of matrices" if sign == "*" else ""
            raise TypeError(f"'{sign}' is not defined for two matrices{hint}")
        if len(given) == 1 and (sign not in ("*", "/") or (sign == "/" and a is None)):
            raise TypeError(f"'{sign}' is not defined for a matrix and a number")
    return shape


def by_component(sign: str, a: Any, b: Any, operate: Any) -> Any:
    """``a sign b`` of values of `Vector`, of which one may be a number."""
    import numpy as np

    kinds = [type(x) if isinstance(x, Vector) else None for x in (a, b)]
    for x in (a, b):
        if isinstance(x, tuple) and not isinstance(x, Vector):
            raise TypeError(f"'{sign}' of a vector and a tuple; make a vector of the tuple")
    shape = check_operator(sign, *kinds)
    count = math.prod(shape)
    sides = [flat(x) if isinstance(x, Vector) else [x] * count for x in (a, b)]
    numbers = [operate(sign, p, q) for p, q in zip(*sides, strict=True)]
    found = scalars.named(np.asarray(numbers[0]).dtype)
    assert found is not None
    make: Any = np.dtype(found.name).type
    return _class_of(shape, found)._of([make(x) for x in numbers])


def dot(a: Any, b: Any, operate: Any) -> Any:
    """The sum of products, from the first to the last."""
    check_products("dot", a, b, operate)
    return sum_of_products(list(a), list(b), operate)


def check_products(name: str, a: Any, b: Any, _: Any = None) -> None:
    """Refuse other things than two vectors of one length."""
    if not all(isinstance(x, Vector) and len(x._shape) == 1 for x in (a, b)):
        raise TypeError(f"'{name}' takes two vectors")
    check_lengths(name, type(a), type(b))


def check_lengths(name: str, a: Any, b: Any) -> None:
    """Refuse vectors of other lengths than the method is for."""
    if len(a._shape) != 1 or len(b._shape) != 1:
        raise TypeError(f"'{name}' takes two vectors")
    if a._shape != b._shape or (name == "cross" and a._shape != (3,)):
        wanted = "two vectors of length 3" if name == "cross" else "the same lengths"
        raise TypeError(f"'{name}' of {a!r} and {b!r}; expected {wanted}")


def sum_of_products(a: Sequence[Any], b: Sequence[Any], operate: Any) -> Any:
    """From the first to the last."""
    total = operate("*", a[0], b[0])
    for p, q in zip(a[1:], b[1:], strict=True):
        total = operate("+", total, operate("*", p, q))
    return total


def cross_items(a: Sequence[Any], b: Sequence[Any], operate: Any) -> list[Any]:
    """The components of the cross product."""
    return [
        operate("-", operate("*", a[i], b[j]), operate("*", a[j], b[i]))
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]


def cross(a: Any, b: Any, operate: Any) -> Any:
    """The cross product."""
    check_products("cross", a, b)
    return made_of((3,), cross_items(a, b, operate))


def check_product(a: Any, b: Any) -> None:
    """Refuse what `@` is not defined for; None stands for other values than vectors."""
    known = a is not None and b is not None
    if not known or 2 not in (len(a._shape), len(b._shape)) or a._shape[-1] != b._shape[0]:
        shown = " and ".join("another value" if x is None else repr(x) for x in (a, b))
        raise TypeError(
            f"'@' of {shown}; expected a matrix and a matrix or vector whose lengths fit"
        )


def product_items(a: Any, b: Any, shapes: Any, operate: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape and the numbers of ``a @ b``; on the left a vector is a row."""
    left, right = shapes
    rows = [list(a)] if len(left) == 1 else [list(row) for row in a]
    columns = [list(b)] if len(right) == 1 else [list(c) for c in zip(*b, strict=True)]
    numbers = [sum_of_products(row, column, operate) for row in rows for column in columns]
    return (*left[:-1], *right[1:]), numbers


def product(a: Any, b: Any, operate: Any) -> Any:
    """``a @ b``."""
    kinds = [type(x) if isinstance(x, Vector) else None for x in (a, b)]
    check_product(*kinds)
    shape, numbers = product_items(a, b, (a._shape, b._shape), operate)
    return made_of(shape, numbers)


def made_of(shape: tuple[int, ...], numbers: list[Any]) -> Any:
    """A value of numbers of NumPy, of their type."""
    import numpy as np

    found = scalars.named(np.asarray(numbers[0]).dtype)
    assert found is not None
    return _class_of(shape, found)._of(numbers)


def row_of(kind: Any) -> Any:
    """The class of the rows of a matrix."""
    return _class_of(kind._shape[1:], kind._element)


def arranged(kind: Any, values: Sequence[Any]) -> list[Any]:
    """The numbers that an instance is made of, as many as it has.

    Raises
    ------
    TypeError
        Too many or too few.
    """
    count = math.prod(kind._shape)
    if not values:
        return [0] * count
    if len(values) == 1 and hasattr(values[0], "__len__"):
        values = list(values[0])
    elif len(values) == 1 and len(kind._shape) == 1:
        return [values[0]] * count
    numbers: list[Any] = []
    for value in values:
        numbers += list(value) if hasattr(value, "__len__") else [value]
    # A vector is made of numbers and shorter vectors, a matrix of numbers or rows.
    parts = len(kind._shape) == 1 or len(values) == kind._shape[0]
    if len(numbers) != count or (len(values) != count and not parts):
        wanted = f"{count} numbers"
        if len(kind._shape) == 2:
            wanted += f" or {kind._shape[0]} rows of {kind._shape[1]}"
        raise TypeError(f"{kind!r} takes {wanted}, got {len(numbers)} numbers")
    return numbers


# --- classes --------------------------------------------------------------------------------------


def _class_of(shape: tuple[int, ...], element: Any) -> Any:
    if not isinstance(element, Scalar):
        element = scalars.BY_NAME[element]
    return _made(shape, scalars.STRONG_OF.get(element.name, element))


@functools.cache
def _made(shape: tuple[int, ...], element: Scalar) -> Any:
    if len(shape) == 1:
        name, fields = f"vec{shape[0]}", tuple(COMPONENTS[: shape[0]])
    else:
        name, fields = f"mat{shape[0]}x{shape[1]}", tuple(f"row{k}" for k in range(shape[0]))
    about = {"__slots__": (), "_shape": shape, "_element": element, "_fields": fields}
    about |= {"__module__": __name__, "__doc__": Vector.__doc__}
    return VectorType(f"{name}_{element.name}", (Vector,), about)


def _reduced(kind: Any) -> tuple[Any, ...]:
    return _class_of, (kind._shape, kind._element.name)


copyreg.pickle(VectorType, _reduced)


def _checked(shape: tuple[Any, ...], dtype: object) -> Any:
    lengths = tuple(operator.index(n) for n in shape)
    if not all(2 <= n <= MOST for n in lengths):
        raise ValueError(f"lengths: {lengths}; expected 2 to {MOST}")
    element = scalars.named(dtype)
    element = None if element is None else scalars.STRONG_OF.get(element.name, element)
    if element is None or element.kind not in "iuf":
        raise TypeError(f"dtype: {dtype!r}; expected the type of an integer or of a float")
    return _made(lengths, element)


def vec(length: int, dtype: Any) -> Any:
    """The class of vectors of 2 to 4 numbers.

    Parameters
    ----------
    length : int
        How many numbers: ``x``, ``y``, ``z``, ``w``.
    dtype : dtype-like
        Their type, an integer or a float.

    Returns
    -------
    type
        ``vec(3, usmx.float32)(x, y, z)`` is a vector, in kernels and outside; a tuple that cannot
        be changed. It has ``dot``, ``cross``, ``length`` and ``normalize``, and is a dtype for
        arrays: ``usmx.empty(n, dtype=vec(3, usmx.float32))``.

    Raises
    ------
    ValueError
        Another length.
    TypeError
        Another type.

    Examples
    --------
    >>> import usmx
    >>> float3 = usmx.vec(3, "float32")
    >>> float(float3(1, 2, 3).y)
    2.0
    """
    return _checked((length,), dtype)


def mat(rows: int, columns: int, dtype: Any) -> Any:
    """The class of matrices of 2 to 4 rows and columns.

    Parameters
    ----------
    rows, columns : int
        Their numbers.
    dtype : dtype-like
        Type of the numbers, an integer or a float.

    Returns
    -------
    type
        Called with all numbers, row by row, or with the rows. ``m[i, j]`` is a number, ``m[i]`` a
        row, ``m @ v`` and ``m @ n`` are products; it has ``transpose``. A dtype for arrays, as
        `vec`.

    Raises
    ------
    ValueError
        Other lengths.
    TypeError
        Another type.

    Examples
    --------
    >>> import usmx
    >>> mat22, vec2 = usmx.mat(2, 2, "float32"), usmx.vec(2, "float32")
    >>> turned = mat22(0, -1, 1, 0) @ vec2(1, 0)
    >>> float(turned.x), float(turned.y)
    (0.0, 1.0)
    """
    return _checked((rows, columns), dtype)
