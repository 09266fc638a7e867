"""NumPy's other names of what arrays have and do: ``array``, ``shape(x)``, ``iscomplex``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import log10, prod
from typing import TYPE_CHECKING, Any

from .. import _usmx
from .._usmx import ndarray
from ._common import as_array, kind_of, place_of, to_axes

if TYPE_CHECKING:
    from ..typing import ArrayLike, DTypeLike

__all__ = [
    "array",
    "array2string",
    "array_repr",
    "array_str",
    "asanyarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "bitwise_not",
    "copyto",
    "fix",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "fromstring",
    "genfromtxt",
    "geomspace",
    "iscomplex",
    "isfortran",
    "isneginf",
    "isposinf",
    "isrealobj",
    "loadtxt",
    "mod",
    "ndenumerate",
    "ndim",
    "require",
    "row_stack",
    "savetxt",
    "shape",
    "size",
    "sort_complex",
    "true_divide",
    "vectorize",
]

mod: _usmx.Operation = _usmx.Operation("remainder")
true_divide: _usmx.Operation = _usmx.Operation("divide")
bitwise_not: _usmx.Operation = _usmx.Operation("invert")


def array(
    object: Any,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    ndmin: int = 0,
    **place: Any,
) -> ndarray:
    """A new array of anything that `asarray` takes.

    Parameters
    ----------
    object : object
        An array of any library, a number, or nested sequences of numbers.
    dtype : dtype, optional
        The element type.
    copy : bool, optional
        True copies always, None if needed, False never.
    order : {'K', 'C', 'F', 'A'}
        The order of the elements in memory.
    ndmin : int
        The least number of dimensions; lengths of 1 are added in front.
    **place : optional
        ``usm_type=``, ``device=`` and ``queue=``, as for `asarray`.

    Returns
    -------
    ndarray
        In memory of its own, if it is copied.

    Raises
    ------
    ValueError
        ``copy=False``, and a copy is needed.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.array([1, 2], dtype="float32"))
    [1., 2.]
    """
    made = _usmx.asarray(object, dtype=dtype, copy=copy, order=order, **place)
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asanyarray(a: Any, dtype: DTypeLike = None, order: Any = None, **keywords: Any) -> ndarray:
    """The same as `asarray`: usmx has no subclasses.

    Parameters
    ----------
    a : object
        What `asarray` takes.
    dtype : dtype, optional
        The element type; by default that of the elements.
    order : {'C', 'F', 'A', 'K'}, optional
        The order of the elements of a copy.
    **keywords : optional
        The others of `asarray`: ``copy``, ``usm_type``, ``device`` and ``queue``.

    Returns
    -------
    ndarray
        `a` itself, if it is an array that fits.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.arange(3)
    >>> usmx.asanyarray(x) is x
    True
    """
    return _usmx.asarray(a, dtype=dtype, order=order, **keywords)


def ascontiguousarray(a: Any, dtype: DTypeLike = None, **place: Any) -> ndarray:
    """An array in C order with at least one dimension, copied only if needed.

    Parameters
    ----------
    a : object
        What `asarray` takes.
    dtype : dtype, optional
        The element type; by default that of the elements.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        `a` itself, if it fits already.

    Examples
    --------
    >>> import usmx
    >>> usmx.ascontiguousarray(usmx.ones((2, 3)).T).flags.c_contiguous
    True
    """
    return array(a, dtype, copy=None, order="C", ndmin=1, **place)


def asfortranarray(a: Any, dtype: DTypeLike = None, **place: Any) -> ndarray:
    """An array in Fortran order with at least one dimension, copied only if needed.

    Parameters
    ----------
    a : object
        What `asarray` takes.
    dtype : dtype, optional
        The element type; by default that of the elements.
    **place : optional
        ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        `a` itself, if it fits already.

    Examples
    --------
    >>> import usmx
    >>> usmx.asfortranarray(usmx.ones((2, 3))).flags.f_contiguous
    True
    """
    return array(a, dtype, copy=None, order="F", ndmin=1, **place)


def ndim(a: ArrayLike) -> int:
    """How many dimensions an array or a nested sequence has.

    Parameters
    ----------
    a : array, number or nested sequence
        Only its shape counts.

    Returns
    -------
    int
        0 of a number.

    Examples
    --------
    >>> import usmx
    >>> usmx.ndim(usmx.ones((2, 3)))
    2
    """
    return as_array(a).ndim


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The lengths of an array or a nested sequence.

    Parameters
    ----------
    a : array, number or nested sequence
        Only its shape counts.

    Returns
    -------
    tuple of int
        Empty for a number.

    Examples
    --------
    >>> import usmx
    >>> usmx.shape(usmx.ones((2, 3)))
    (2, 3)
    """
    return as_array(a).shape


def size(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> int:
    """How many elements there are, or how many along an axis or several.

    Parameters
    ----------
    a : array, number or nested sequence
        Only its shape counts.
    axis : int or tuple of int, optional
        None counts all elements.

    Returns
    -------
    int
        1 of a number.

    Raises
    ------
    IndexError, ValueError
        `a` has not such an axis: NumPy's AxisError, which is both.

    Examples
    --------
    >>> import usmx
    >>> usmx.size(usmx.ones((2, 3)))
    6
    """
    x = as_array(a)
    return x.size if axis is None else prod(x.shape[k] for k in to_axes(axis, x.ndim, "axis"))


def copyto(dst: ndarray, src: ArrayLike, casting: str = "same_kind", where: Any = True) -> None:
    """Write values into an array, where a condition is true.

    Parameters
    ----------
    dst : ndarray
        What is written to.
    src : array or number
        Broadcast to the shape of `dst`.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        What may be cast to the type of `dst`.
    where : array of bools
        Broadcast to the shape of `dst`; other elements are kept.

    Raises
    ------
    TypeError
        `src` is not cast by the rule.
    ValueError
        A shape does not broadcast.

    Examples
    --------
    >>> import usmx
    >>> x = usmx.zeros(3)
    >>> usmx.copyto(x, 2.0, where=usmx.asarray([True, False, True]))
    >>> print(x)
    [2., 0., 2.]
    """
    from importlib import import_module

    import_module(".numpy_protocols", __package__)._copyto(dst, src, casting, where)


def iscomplex(x: ArrayLike) -> ndarray:
    """Whether the imaginary part is not 0, for each element.

    Parameters
    ----------
    x : array or number
        Of any type of numbers.

    Returns
    -------
    ndarray
        Of bools.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.iscomplex(usmx.asarray([1 + 0j, 1j])))
    [False,  True]
    """
    given = as_array(x)
    if given.dtype.kind != "c":
        return _usmx.zeros_like(given, "bool")
    made: ndarray = given.imag != 0
    return made


def isrealobj(x: Any) -> bool:
    """Whether the type of the elements is not complex.

    Parameters
    ----------
    x : array
        Only its type counts.

    Returns
    -------
    bool
        True for bools, integers and floats.

    Examples
    --------
    >>> import usmx
    >>> usmx.isrealobj(usmx.ones(2))
    True
    """
    return as_array(x).dtype.kind != "c"


def fix(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Numbers rounded towards zero: the same as `trunc`.

    Parameters
    ----------
    x : array or number
        Real numbers.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of the shape and type of `x`.

    Raises
    ------
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fix(usmx.asarray([1.7, -1.7])))
    [ 1., -1.]
    """
    made: ndarray = _usmx.Operation("trunc")(as_array(x), out=out)
    return made


def isneginf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Whether an element is negative infinity.

    Parameters
    ----------
    x : array or number
        Real numbers.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of bools.

    Raises
    ------
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.isneginf(usmx.asarray([-usmx.inf, usmx.inf])))
    [ True, False]
    """
    return _is_infinity(x, float("-inf"), out)


def isposinf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Whether an element is positive infinity.

    Parameters
    ----------
    x : array or number
        Real numbers.
    out : ndarray, optional
        The result is written into this array.

    Returns
    -------
    ndarray
        Of bools.

    Raises
    ------
    TypeError
        Complex numbers.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.isposinf(usmx.asarray([-usmx.inf, usmx.inf])))
    [False,  True]
    """
    return _is_infinity(x, float("inf"), out)


def _is_infinity(x: ArrayLike, which: float, out: ndarray | None) -> ndarray:
    given = as_array(x)
    if given.dtype.kind == "c":
        raise TypeError(f"x: is of {given.dtype}; complex numbers have no sign")
    made: ndarray = _usmx.Operation("equal")(given, which, out=out)
    return made


def row_stack(tup: Any, *, dtype: DTypeLike = None, casting: str = "same_kind") -> ndarray:
    """The same as `vstack`.

    Parameters
    ----------
    tup : sequence of arrays
        Equal in shape but for axis 0; vectors are rows.
    dtype : dtype, optional
        The element type; None is that in which the types meet.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        What may be cast to that type.

    Returns
    -------
    ndarray
        Of at least two dimensions.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.row_stack([usmx.zeros(2), usmx.ones(2)]))
    [[0., 0.],
     [1., 1.]]
    """
    from .manipulation import vstack

    return vstack(tup, dtype=dtype, casting=casting)


def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
    dtype: DTypeLike = None, axis: int = 0, **place: Any,
) -> ndarray:  # fmt: skip
    """Numbers of which each is the same multiple of the one before.

    Parameters
    ----------
    start, stop : number or array
        The first and, with `endpoint`, the last one; both of one sign and not 0.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is among them.
    dtype : dtype, optional
        The element type.
    axis : int
        Where the axis of the numbers is put among those of arrays.
    **place : optional
        ``usm_type=``, ``device=`` and ``queue=``, as for `arange`.

    Returns
    -------
    ndarray
        `num` numbers; of arrays of their shape with an axis more.

    Raises
    ------
    ValueError
        0, real numbers of different signs, or a negative `num`.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.geomspace(1, 100, 3))
    [  1.,  10., 100.]
    """
    from .creation import logspace

    if not (isinstance(start, int | float) and isinstance(stop, int | float)):
        # A few numbers on the host: the powers of each pair of ends.
        ours = [x for x in (start, stop) if isinstance(x, ndarray)]
        if ours:
            place = {"usm_type": kind_of(*ours), "queue": ours[0].queue} | place
        ends = [x.to_numpy() if isinstance(x, ndarray) else x for x in (start, stop)]
        return _from_host("geomspace", *ends, num, endpoint, dtype, axis, **place)
    if start == 0 or stop == 0:
        raise ValueError("start, stop: 0 is not allowed")
    if (start < 0) != (stop < 0):
        raise ValueError(f"start, stop: {start} and {stop} differ in sign")
    sign = -1 if start < 0 else 1
    made = logspace(log10(abs(start)), log10(abs(stop)), num, endpoint, **place) * sign
    if made.size:
        made[:1] = start
    if endpoint and made.size > 1:
        made[-1:] = stop
    return made if dtype is None else made.astype(dtype)


# --- what the host does


def _from_host(name: str, *args: Any, **keywords: Any) -> ndarray:
    """An array that NumPy makes on the host, in USM."""
    import numpy as np

    place = {k: keywords.pop(k) for k in ("usm_type", "device", "queue") if k in keywords}
    made = getattr(np, name)(*args, **keywords)
    return _usmx.asarray(made, **place)


def frombuffer(buffer: Any, *args: Any, **keywords: Any) -> ndarray:
    """The bytes of a buffer as elements, copied into USM; arguments as NumPy's.

    Parameters
    ----------
    buffer : bytes-like object
        What has Python's buffer protocol.
    *args, **keywords : optional
        NumPy's: ``dtype`` (float64 by default), ``count`` of elements and ``offset`` in bytes; and
        ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        Of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.frombuffer(b"\\x01\\x02", dtype="uint8"))
    [1, 2]
    """
    return _from_host("frombuffer", buffer, *args, **keywords)


def fromfile(file: Any, *args: Any, **keywords: Any) -> ndarray:
    """The elements of a file without a description; arguments as NumPy's.

    Parameters
    ----------
    file : path or file
        Nothing but the elements, or text with ``sep``.
    *args, **keywords : optional
        NumPy's: ``dtype`` (float64 by default), ``count`` of elements, ``sep``, and ``offset`` in
        bytes; and ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        Of one dimension.

    Examples
    --------
    >>> import usmx
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> _ = open(path, "wb").write(b"\\x01\\x02")
    >>> print(usmx.fromfile(path, dtype="uint8"))
    [1, 2]
    """
    return _from_host("fromfile", file, *args, **keywords)


def fromiter(iter: Any, dtype: DTypeLike, count: int = -1, **keywords: Any) -> ndarray:
    """The elements that an iterable gives; arguments as NumPy's.

    Parameters
    ----------
    iter : iterable
        Of numbers.
    dtype : dtype
        The element type.
    count : int
        How many are taken; -1 is all.
    **keywords : optional
        ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        Of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fromiter(range(3), dtype="int64"))
    [0, 1, 2]
    """
    return _from_host("fromiter", iter, dtype, count, **keywords)


def fromstring(string: str, *args: Any, **keywords: Any) -> ndarray:
    """The numbers in a text; arguments as NumPy's.

    Parameters
    ----------
    string : str
        Numbers in text.
    *args, **keywords : optional
        NumPy's: ``dtype`` (float64 by default), ``count``, and ``sep`` between the numbers; and
        ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        Of one dimension.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fromstring("1 2", dtype="float64", sep=" "))
    [1., 2.]
    """
    return _from_host("fromstring", string, *args, **keywords)


def genfromtxt(fname: Any, *args: Any, **keywords: Any) -> ndarray:
    """The numbers of a file of text, of which some may be missing; arguments as NumPy's.

    Parameters
    ----------
    fname : path, file or sequence of str
        Lines of text.
    *args, **keywords : optional
        Those of NumPy's function, such as ``delimiter``, ``missing_values`` and ``filling_values``;
        and ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        A row for each line; NaN where a number is missing.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.genfromtxt(["1,2", "3,"], delimiter=","))
    [[ 1.,  2.],
     [ 3., nan]]
    """
    return _from_host("genfromtxt", fname, *args, **keywords)


def loadtxt(fname: Any, *args: Any, **keywords: Any) -> ndarray:
    """The numbers of a file of text; arguments as NumPy's.

    Parameters
    ----------
    fname : path, file or sequence of str
        Lines of text.
    *args, **keywords : optional
        Those of NumPy's function, such as ``dtype``, ``delimiter`` and ``skiprows``; and
        ``usm_type``, ``device`` and ``queue``, as for `asarray`.

    Returns
    -------
    ndarray
        A row for each line; with ``unpack=True`` transposed.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.loadtxt(["1 2", "3 4"]))
    [[1., 2.],
     [3., 4.]]
    """
    unpack = keywords.pop("unpack", False)
    made = _from_host("loadtxt", fname, *args, **keywords)
    return made.T if unpack else made


def fromfunction(
    function: Any, shape: Any, *, dtype: DTypeLike = float, **keywords: Any
) -> ndarray:
    """What a function gives for the indices of all elements, which it takes as arrays.

    Parameters
    ----------
    function : callable
        Takes as many arrays as there are dimensions.
    shape : int or tuple of int
        Lengths.
    dtype : dtype, optional
        The type of the indices.
    **keywords : optional
        For the function.

    Returns
    -------
    ndarray
        What the function gave.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.fromfunction(lambda i, j: i + 10 * j, (2, 2)))
    [[ 0., 10.],
     [ 1., 11.]]
    """
    from .grids import indices

    made: ndarray = function(*indices(shape, dtype), **keywords)
    return made


def savetxt(fname: Any, X: ArrayLike, *args: Any, **keywords: Any) -> None:
    """Write an array of one or two dimensions as text; arguments as NumPy's.

    Parameters
    ----------
    fname : path or file
        A path that ends in ``.gz`` is compressed.
    X : array
        One or two dimensions.
    *args, **keywords : optional
        Those of NumPy's function, such as ``fmt``, ``delimiter`` and ``header``.

    Examples
    --------
    >>> import usmx
    >>> import io
    >>> file = io.StringIO()
    >>> usmx.savetxt(file, usmx.asarray([[1, 2]]), fmt="%d")
    >>> file.getvalue()
    '1 2\\n'
    """
    import numpy as np

    np.savetxt(fname, as_array(X).to_numpy(), *args, **keywords)


def array2string(a: ArrayLike, *args: Any, **keywords: Any) -> str:
    """The elements as text; arguments as NumPy's, whose print options hold.

    Parameters
    ----------
    a : array
        Any shape; it is copied to the host.
    *args, **keywords : optional
        Those of NumPy's function, such as ``precision`` and ``separator``.

    Returns
    -------
    str

    Examples
    --------
    >>> import usmx
    >>> usmx.array2string(usmx.arange(3), separator=", ")
    '[0, 1, 2]'
    """
    import numpy as np

    return np.array2string(as_array(a).to_numpy(), *args, **keywords)


def array_repr(arr: ArrayLike, *args: Any, **keywords: Any) -> str:
    """An array as NumPy's `repr` writes it, whose print options hold.

    Parameters
    ----------
    arr : array
        Any shape; it is copied to the host.
    *args, **keywords : optional
        Those of NumPy's function, such as ``precision``.

    Returns
    -------
    str

    Examples
    --------
    >>> import usmx
    >>> usmx.array_repr(usmx.arange(3))
    'array([0, 1, 2])'
    """
    import numpy as np

    return np.array_repr(as_array(arr).to_numpy(), *args, **keywords)


def array_str(a: ArrayLike, *args: Any, **keywords: Any) -> str:
    """The elements as NumPy's `str` writes them, whose print options hold.

    Parameters
    ----------
    a : array
        Any shape; it is copied to the host.
    *args, **keywords : optional
        Those of NumPy's function, such as ``precision``.

    Returns
    -------
    str

    Examples
    --------
    >>> import usmx
    >>> usmx.array_str(usmx.arange(3))
    '[0 1 2]'
    """
    import numpy as np

    return np.array_str(as_array(a).to_numpy(), *args, **keywords)


class ndenumerate:
    """Pairs of an index and an element, which Python gets one by one.

    Parameters
    ----------
    arr : array
        Any shape; it is copied to the host.

    Examples
    --------
    >>> import usmx
    >>> [(index, value.item()) for index, value in usmx.ndenumerate(usmx.asarray([[5, 6]]))]
    [((0, 0), 5), ((0, 1), 6)]
    """

    def __init__(self, arr: ArrayLike) -> None:
        import numpy as np

        self._pairs = np.ndenumerate(as_array(arr).to_numpy())

    def __iter__(self) -> ndenumerate:
        return self

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        return next(self._pairs)


class vectorize:
    """A function of numbers, called by Python for each element of arrays.

    It runs on the host; the results are copied to where the first array is. `usmx.fuse` and
    `usmx.kernel` compute on the device.

    Parameters
    ----------
    pyfunc : callable
        Of numbers.
    *args, **keywords : optional
        As for `numpy.vectorize`.

    Examples
    --------
    >>> import usmx
    >>> larger = usmx.vectorize(lambda a, b: a if a > b else b)
    >>> print(larger(usmx.asarray([1, 5]), usmx.asarray([3, 2])))
    [3, 5]
    """

    def __init__(self, pyfunc: Any, *args: Any, **keywords: Any) -> None:
        import numpy as np

        self.pyfunc = pyfunc
        self._function = np.vectorize(pyfunc, *args, **keywords)
        self.__doc__ = self._function.__doc__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        place = place_of((*args, *keywords.values()))

        def seen(value: Any) -> Any:
            return value.to_numpy() if isinstance(value, ndarray) else value

        made = self._function(*map(seen, args), **{k: seen(v) for k, v in keywords.items()})

        def back(value: Any) -> ndarray:
            return _usmx.asarray(value, **place)

        return tuple(map(back, made)) if isinstance(made, tuple) else back(made)


def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: Any = None) -> ndarray:
    """An array whose elements are all finite.

    Parameters
    ----------
    a : object
        What `asarray` takes.
    dtype : dtype, optional
        The element type; by default that of the elements.
    order : {'C', 'F', 'A', 'K'}, optional
        The order of the elements of a copy.

    Returns
    -------
    ndarray
        `a` itself, if it is an array that fits. The host waits for the check.

    Raises
    ------
    ValueError
        If one is infinite or NaN.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.asarray_chkfinite([1.0, 2.0]))
    [1., 2.]
    """
    made = asanyarray(a, dtype, order)
    if made.dtype.kind in "fc" and not _usmx.Operation("isfinite")(made).all():
        raise ValueError("a: holds infinities or NaN; expected finite numbers")
    return made


def isfortran(a: ArrayLike) -> bool:
    """Whether an array is in Fortran order and not in C order, too.

    Parameters
    ----------
    a : array
        Any shape.

    Returns
    -------
    bool
        False for vectors, which are in both orders.

    Examples
    --------
    >>> import usmx
    >>> usmx.isfortran(usmx.ones((2, 3)).T)
    True
    """
    flags = as_array(a).flags
    return bool(flags.f_contiguous and not flags.c_contiguous)


def require(a: ArrayLike, dtype: DTypeLike = None, requirements: Any = None) -> ndarray:
    """An array that is as is asked for, copied only if it is not.

    Parameters
    ----------
    a : array
        What `asarray` takes.
    dtype : dtype, optional
        The element type.
    requirements : str or sequence of str, optional
        ``'C'`` or ``'F'`` for the order of the elements, ``'W'`` for memory that may be written;
        ``'A'``, ``'E'`` and ``'O'`` hold for each array here, but a view is copied for ``'O'``.

    Returns
    -------
    ndarray
        `a` itself, if it is as is asked for.

    Raises
    ------
    ValueError
        A requirement that there is none, or both orders.

    Examples
    --------
    >>> import usmx
    >>> usmx.require(usmx.ones((2, 3)).T, requirements="C").flags.c_contiguous
    True
    """
    names = {
        "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "FORTRAN": "F",
        "WRITEABLE": "W", "ALIGNED": "A", "OWNDATA": "O", "ENSUREARRAY": "E",
    }  # fmt: skip
    wanted = set()
    for one in requirements or ():
        letter = names.get(str(one).upper(), str(one).upper())
        if letter not in ("C", "F", "W", "A", "O", "E"):
            raise ValueError(f"requirements: {one!r}; expected 'C', 'F', 'W', 'A', 'O' or 'E'")
        wanted.add(letter)
    if {"C", "F"} <= wanted:
        raise ValueError("requirements: names two orders; expected 'C' or 'F'")
    order: Any = next(iter(wanted & {"C", "F"}), "A")
    made = array(a, dtype, copy=None, order=order)
    if ("W" in wanted and not made.flags.writable) or ("O" in wanted and made.base is not None):
        made = made.copy(order)
    return made


def sort_complex(a: ArrayLike) -> ndarray:
    """The elements sorted along the last axis, as complex numbers.

    Parameters
    ----------
    a : array
        Of any type of numbers.

    Returns
    -------
    ndarray
        Complex: of float32 and of integers of at most 16 bits complex64, otherwise complex128.

    Examples
    --------
    >>> import usmx
    >>> print(usmx.sort_complex(usmx.asarray([2 + 1j, 1 + 2j])))
    [1.+2.j, 2.+1.j]
    """
    from .sorting import sort

    x = as_array(a)
    if x.dtype.kind != "c":
        small = x.dtype.itemsize <= 2 if x.dtype.kind in "iu" else x.dtype.name == "float32"
        x = x.astype("complex64" if small else "complex128")
    return sort(x)
