# Rules of NumPy that random calls and small programs found broken, one by one.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import usmx


def outcome(call):
    """What a call gives, in a form that can be compared."""
    try:
        made = call()
    except Exception as error:
        bases = (TypeError, ValueError, IndexError, OverflowError)
        return next(base for base in bases if isinstance(error, base))
    parts = made if isinstance(made, tuple) else (made,)
    return [(x.dtype.name, x.shape, x.tolist()) for x in parts]


def same(call, *arrays, kind="shared"):
    """Compare what NumPy and usmx give for the same arrays, and what is in these afterwards."""
    theirs = [np.array(a) for a in arrays]
    ours = [usmx.asarray(a, usm_type=kind) for a in arrays]
    wanted, got = outcome(lambda: call(np, *theirs)), outcome(lambda: call(usmx, *ours))
    assert got == wanted
    for a, b in zip(ours, theirs, strict=True):
        assert a.to_numpy().tolist() == b.tolist()


NUMBERS = np.array([3, 1, 2, 5])
METHODS = {
    "reduce": lambda xp, x: xp.add.reduce(x),
    "reduce along an axis": lambda xp, x: xp.multiply.reduce(x.reshape(2, 2), axis=1),
    "maximum.reduce": lambda xp, x: xp.maximum.reduce(x),
    "logical_or.reduce": lambda xp, x: xp.logical_or.reduce(x),
    "gcd.reduce": lambda xp, x: xp.gcd.reduce(x),
    "accumulate": lambda xp, x: xp.subtract.accumulate(x),
    "reduceat": lambda xp, x: xp.add.reduceat(x, [0, 2]),
    "outer": lambda xp, x: xp.subtract.outer(x, x[:2]),
    "of a list": lambda xp, x: xp.asarray(xp.add.reduce([1, 2, 3])),
}


@pytest.mark.parametrize("method", METHODS)
def test_operations_have_the_methods_of_ufuncs(method, kind):
    same(METHODS[method], NUMBERS, kind=kind)


def test_results_of_methods_are_arrays_where_the_operand_is():
    made = usmx.gcd.reduce(usmx.asarray(NUMBERS, usm_type="host"))
    assert isinstance(made, usmx.ndarray)
    assert made.usm_type == "host"


def test_at_adds_repeated_places(kind):
    def call(xp, x):
        xp.add.at(x, np.array([1, 1, 3]), 10)
        return x

    same(call, NUMBERS, kind=kind)


def test_operations_say_what_ufuncs_say_of_themselves():
    for name in ("add", "multiply", "maximum", "sin", "logical_and"):
        ours, theirs = getattr(usmx, name), getattr(np, name)
        about = [(f.nin, f.nout, f.nargs, f.identity) for f in (ours, theirs)]
        assert about[0] == about[1]
    with pytest.raises(TypeError, match=r"where\.reduce: NumPy has no ufunc of this name"):
        usmx.where.reduce(NUMBERS)


@pytest.mark.parametrize("number", [-1, 300, 70_000, 2**70, 0])
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "bool", "float32"])
def test_numbers_beyond_a_type_are_true(name, dtype, number, kind):
    if number == 2**70:
        number = 2**40
    same(lambda xp, x: getattr(xp, name)(x, number), NUMBERS.astype(dtype), kind=kind)
    same(lambda xp, x: getattr(xp, name)(number, x), NUMBERS.astype(dtype), kind=kind)


def in_place(operation):
    def call(xp, x):
        x = x[...]
        x.flags.writeable = False
        exec(f"x {operation}", {"x": x})

    return call


@pytest.mark.parametrize("operation", ["+= 1.5", "/= 2", "**= 2.5", "&= -1", "+= 1"])
def test_read_only_arrays_are_refused_before_types_are_looked_at(operation):
    x = np.arange(3, dtype="uint8")
    same(in_place(operation), x)
    with pytest.raises(ValueError, match="output array is read-only"):
        in_place(operation)(usmx, usmx.asarray(x))


@pytest.mark.parametrize("order", "KACF")
@pytest.mark.parametrize("dtype", ["float64", "bool", "int8"])
def test_the_order_of_results_is_the_one_asked_for(order, dtype):
    x = np.ones((3, 4, 2), dtype)
    for axes in ((0, 1, 2), (2, 1, 0), (2, 0, 1)):
        wanted = np.sinh(x.transpose(axes), order=order)
        made = usmx.sinh(usmx.asarray(x).transpose(axes), order=order)
        assert [s * wanted.itemsize for s in made.strides] == list(wanted.strides)


def test_operands_in_another_type_give_results_in_the_order_of_numpys():
    x = np.arange(5, dtype="int8")
    wide = np.broadcast_to(x, (4, 5))
    ours = usmx.broadcast_to(usmx.asarray(x), (4, 5))
    assert usmx.modf(ours)[0].strides == (5, 1)
    assert [s // 2 for s in np.modf(wide)[0].strides] == [5, 1]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64"])
def test_conjugates_of_real_arrays_are_the_arrays(dtype):
    x = usmx.ones(3, dtype)
    assert x.conj() is x
    assert x.conjugate() is x
    z = usmx.asarray([1 + 2j])
    assert z.conj().tolist() == [1 - 2j]
    assert z.conj() is not z


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_partitions_of_no_elements_have_every_place(shape):
    same(lambda xp, x: xp.partition(x, 5, axis=-1 if x.shape[-1] == 0 else 0), np.zeros(shape))
    same(lambda xp, x: xp.argpartition(x, 0, axis=None), np.zeros(shape))


def test_bools_are_not_rounded_to_decimals():
    same(lambda xp, x: xp.round(x), np.array([True, False]))
    same(lambda xp, x: xp.round(x, 1), np.array([True, False]))
    same(lambda xp, x: xp.round(x, -1), np.array([True, False]))


def test_a_type_names_that_of_all_results():
    same(lambda xp, x: xp.frexp(x, dtype="float64"), np.array([8.0]))
    same(lambda xp, x: xp.modf(x, dtype="float64"), np.array([1.5], "float32"))
    same(lambda xp, x: xp.modf(x, signature="d->dd"), np.array([1.5], "float32"))
    same(lambda xp, x: xp.frexp(x, signature="d->di"), np.array([1.5], "float32"))


def test_lists_are_operands_of_products(kind):
    same(lambda xp, x: x @ [1, 2, 3, 4], NUMBERS, kind=kind)
    same(lambda xp, x: [1, 2, 3, 4] @ x, NUMBERS, kind=kind)
    same(lambda xp, x: x.reshape(2, 2) @ ((1, 2), (3, 4)), NUMBERS, kind=kind)


def test_condition_numbers_of_zero_matrices_are_infinite(kind):
    same(lambda xp, x: xp.linalg.cond(x), np.zeros((2, 2)), kind=kind)
    same(lambda xp, x: xp.linalg.cond(x, -2), np.zeros((2, 2)), kind=kind)
    same(lambda xp, x: xp.linalg.cond(x), np.eye(2), kind=kind)


def test_vectors_have_no_norms_of_matrices():
    for norm in ("fro", "nuc", "none"):
        same(lambda xp, x, norm=norm: xp.linalg.norm(x, norm), NUMBERS)


def test_numbers_are_cast_as_elements_are_by_the_unsafe_rule():
    for number in (-1.0, -1.5, 300.0):
        same(lambda xp, x, n=number: xp.remainder(x, n, dtype="uint64", casting="unsafe"), NUMBERS)
        same(lambda xp, x, n=number: xp.add(x, n, dtype="uint8", casting="unsafe"), NUMBERS)


def test_condition_numbers_of_singular_matrices_are_infinite_by_any_norm(kind):
    singular = [[1.0, 2.0], [2.0, 4.0]]
    for p in (1, -1, np.inf, "fro"):
        same(lambda xp, x, p=p: xp.linalg.cond(x, p), np.array(singular), kind=kind)
    both = np.array([singular, [[1.0, 0.0], [0.0, 1.0]]])
    same(lambda xp, x: xp.linalg.cond(x, 1), both, kind=kind)
    same(lambda xp, x: xp.linalg.cond(x, 1), both.astype("complex64"), kind=kind)


def test_ranks_of_less_than_two_dimensions(kind):
    for x in (np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.array(3.0), np.array([])):
        same(lambda xp, x: xp.asarray(xp.linalg.matrix_rank(x)), x, kind=kind)


def test_ranges_step_by_the_difference_of_their_first_two_elements():
    for given in ((1, 3, 0.5), (0.5, 3.5, 1), (-0.5, 3.9, 0.7), (5.5, 0.2, -1.5), (3, 1, 0.5)):
        for dtype in ("int8", "int32", "uint16", "int64"):
            same(lambda xp, g=given, d=dtype: xp.arange(*g, dtype=d))
    for given in ((2,), (1,), (0,), (1, 3), (3,)):
        same(lambda xp, g=given: xp.arange(*g, dtype="bool"))
    with pytest.raises(ZeroDivisionError, match="step: 0"):
        usmx.arange(0, 5, 0)


def test_numbers_are_close_in_the_type_of_the_array(kind):
    below_one = float(1 - np.finfo("f8").eps)
    for number in (below_one, 1, 1.0, 1 + 1e-9j, np.inf, -np.inf, np.nan):
        for values in (np.array([below_one, 1, np.inf], "f4"), np.array([1, 2, 255], "u1"),
                       np.array([True, False]), np.array([1, 1 + 1e-9j], "F")):  # fmt: skip
            for more in ({}, {"rtol": 0, "atol": 0}, {"equal_nan": True}):
                same(lambda xp, x, n=number, m=more: xp.isclose(x, n, **m), values, kind=kind)


def test_squares_of_bools_are_small_integers() -> None:
    theirs = np.array([True, False])
    ours = usmx.asarray(theirs)
    for exponent in (2, 2.0, True, 3):
        found, want = ours**exponent, theirs**exponent
        assert found.dtype == want.dtype
        assert found.tolist() == want.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.swapaxes(0, 7),
        lambda x: x.permute(0, 7),
        lambda x: x.squeeze(7),
        lambda x: x.sum(axis=7),
        lambda x: usmx.swapaxes(x, 0, 7),
        lambda x: usmx.size(x, 7),
        lambda x: usmx.flip(x, axis=-3),
    ],
)
def test_an_axis_that_is_not_there_is_the_error_of_numpy(call):
    with pytest.raises(np.exceptions.AxisError, match=r"^axis\w*: -?[37]"):
        call(usmx.ones((2, 3)))


def test_a_size_along_several_axes():
    assert usmx.size(usmx.ones((2, 3, 4)), (0, -1)) == 8
    assert usmx.size(usmx.ones((2, 3, 4)), 1) == 3


@pytest.mark.parametrize("condition", [0.5, 0.0, -0.0, float("nan"), 1e-300, 0.5j, 0j, 3, 0, True])
def test_a_number_of_python_is_a_condition(condition, kind):
    """A fraction is true, as every number but 0."""
    same(lambda xp, x: xp.where(condition, x, 2 * x), np.ones(3, "f"), kind=kind)
    same(lambda xp, x: xp.logical_and(x, condition), np.array([0, 2], "i4"), kind=kind)
    many = usmx.ones(70_000, "f", usm_type=kind)
    assert usmx.where(condition, many, 2 * many).sum().item() == (1 if condition else 2) * 70_000


@pytest.mark.parametrize("order", ["K", "A", "C", "F"])
def test_a_repeated_row_is_flattened_in_the_order_of_numpy(order):
    rows = np.broadcast_to(np.arange(3), (2, 3))
    ours = usmx.broadcast_to(usmx.arange(3), (2, 3))
    for theirs, mine in ((rows, ours), (rows.T, ours.T), (rows[:, ::-1], ours[:, ::-1])):
        assert mine.ravel(order).tolist() == theirs.ravel(order).tolist()
        assert mine.flatten(order).tolist() == theirs.flatten(order).tolist()
