# Functions that are not kernels, each with its message and the text under the caret. The
# file is data: test_wrong_kernels.py compiles every one of them.
# SPDX-License-Identifier: Apache-2.0
import math
import os

import numpy as np

import usmx

CASES: list[tuple[object, ...]] = []
F, I, U, C = "float32", "int32", "uint8", "complex64"


def wrong(cause, at, *arguments, **more):
    """One case: the cause, the text at the caret, and the arguments: dtypes of arrays or numbers."""

    def note(function):
        CASES.append((function, cause, at, arguments, more))
        return function

    return note


TABLE = usmx.constant.array([1.0, 2.0, 3.0])
ORDINARY = np.arange(3)
NAMES = ["a", "b"]
TEXT = "text"


# --- names ----------------------------------------------------------------------------------------


@wrong("the name 'nowhere' is not defined", "nowhere", F)
def name(item, a):
    a[0] = nowhere


@wrong("the name 'item' is not defined; the first parameter of a kernel is the", "item", F)
def forgotten_item(a, b):
    b[item.get_id(0)] = 1


@wrong("the item has no elements; the first parameter of a kernel is the work-item", "a[0]", F)
def item_as_an_array(a, b):
    b[0] = a[0]


@wrong("the item has no elements that could be assigned; the first parameter", "a[0]", F)
def item_that_is_written(a, b):
    a[0] = b[0]


@wrong("an index is the item; expected a number, such as item.get_id(0)", "item", F)
def item_as_an_index(item, a):
    a[item] = 1


@wrong("'s' is read before it is assigned", "s", F)
def unassigned(item, a):
    a[0] = s
    s = 1


@wrong("'s' is read before it is assigned", "s", F)
def unassigned_sum(item, a):
    s += a[0]


@wrong("'ORDINARY' is a global or closure array", "ORDINARY", F)
def captured_array(item, a):
    a[0] = ORDINARY[0]


@wrong("'NAMES' is a global or closure list", "NAMES", F)
def captured_list(item, a):
    a[0] = len(NAMES)


@wrong("'TEXT' is text", "TEXT", F)
def captured_text(item, a):
    a[0] = TEXT


@wrong("there is no 'math.nothing'", "math.nothing", F)
def attribute_of_module(item, a):
    a[0] = math.nothing(1.0)


@wrong(
    "'a' means a 1-d array of float32 already, and this is a 1-d array of int32; use another name",
    "b", F, I,
)  # fmt: skip
def other_array(item, a, b):
    a = b


@wrong("'a' is a parameter and cannot be given another tuple", "(b, 1)", F, F)
def other_tuple(item, a, b):
    a = (b, 1)


@wrong("'t' is already a number here", "a", F)
def number_then_array(item, a):
    t = 1
    t = a


@wrong("'t' is already used for another kind of object", "1", F)
def array_then_number(item, a):
    t = a
    t = 1


@wrong("'t' means a 1-d array of float32 already, and this is a 1-d array of int32", "b", F, I)
def two_arrays(item, a, b):
    if a[0] > 0:
        t = a
    else:
        t = b
    t[0] = 1


@wrong(
    "the choice means a 1-d array of float32 already, and this is a 2-d array", "a if", F, (F, 2)
)
def choice_of_arrays(item, a, b):
    t = a if a[0] > 0 else b


@wrong("'t' means another array already; use another name", "usmx.private.array", F)
def own_arrays(item, a):
    t = a
    for k in range(3):
        t = usmx.private.array(2, "float32")


# --- types ----------------------------------------------------------------------------------------


@wrong("an index must be an int, not float32; round it down with int()", "a[0]", F)
def float_index(item, a):
    a[a[0]] = 1


@wrong("2 indices for an array of 1 dimension", "1", F)
def many_indices(item, a):
    a[0, 1] = 1


@wrong(
    "all elements of a part of an array get one number, not a 1-d array; write a loop over them",
    "a[1]", (F, 2),
)  # fmt: skip
def few_indices(item, a):
    a[0] = a[1]


@wrong("'+' of a whole array; a kernel computes with single elements", "a", F)
def whole_array(item, a):
    a[0] = a + 1


@wrong(
    "the argument of 'abs' is a row of an array of 2 dimensions; give all indices", "a[0]", (F, 2)
)
def row(item, a):
    a[0, 0] = abs(a[0])


@wrong("300 does not fit into uint8", "a[0] + 300", U)
def literal_too_large(item, a):
    a[0] = a[0] + 300


@wrong("-1 does not fit into uint8", "-1", U)
def negative_literal(item, a):
    a[0] = -1


@wrong("18446744073709551616 does not fit into 64 bits", "18446744073709551616", F)
def huge_literal(item, a):
    a[0] = 18446744073709551616


@wrong("10 ** 10000000000 does not fit into 64 bits", "10**10000000000", F)
def power_of_too_many_digits(item, a):
    a[0] = 10**10000000000


@wrong("1 << 10000000000 does not fit into 64 bits", "1 << 10000000000", F)
def shift_of_too_many_digits(item, a):
    a[0] = 1 << 10000000000


@wrong("a complex number does not fit into an element of float32; take its .real", "1j", F)
def complex_in_float(item, a):
    a[0] = 1j


@wrong("'<' is not defined for complex numbers", "a[0] < a[1]", C)
def complex_order(item, a):
    if a[0] < a[1]:
        a[0] = 0


@wrong("'//' is not defined for complex numbers", "a[0] // 2", C)
def complex_floor(item, a):
    a[0] = a[0] // 2


@wrong("'&' takes integers, not float32 and 1", "a[0] & 1", F)
def float_and(item, a):
    a[0] = a[0] & 1


@wrong("'~' takes an integer, not float32", "~a[0]", F)
def float_invert(item, a):
    a[0] = ~a[0]


@wrong("'~' takes an integer, not bool; write `not`", "~(a[0] > 0)", F)
def bool_invert(item, a):
    if ~(a[0] > 0):
        a[0] = 1


@wrong("'<<' takes integers, not float32 and 1", "a[0] << 1", F)
def float_shift(item, a):
    a[0] = a[0] << 1


@wrong("shift by -1: negative shifts are not supported", "a[0] << -1", I)
def negative_shift(item, a):
    a[0] = a[0] << -1


@wrong("an integer to the power -1; make the base a float", "a[0] ** -1", I)
def negative_power(item, a):
    a[0] = a[0] ** -1


@wrong("expected a matrix and a matrix or vector whose lengths fit", "a[0] @ a[1]", F)
def matrix_product(item, a):
    a[0] = a[0] @ a[1]


@wrong("integer division or modulo by zero", "1 // 0", F)
def divide_by_zero(item, a):
    a[0] = 1 // 0


@wrong("'or' gives one of its operands, and this one is float32", "a[0]", F)
def or_value(item, a):
    x = a[0] or 1.0
    a[0] = x


@wrong("'is' is supported only with None and enumerations; use '=='", "a[0] is 1", F)
def identity(item, a):
    if a[0] is 1:
        a[0] = 2


@wrong("'in' is supported only with tuples, not a 1-d array; write a loop", "a", F)
def membership(item, a):
    if a[0] in a:
        a[0] = 2


@wrong("'sum' of an array is not supported in kernels", "a.sum", F)
def array_method(item, a):
    a[0] = a.sum()


@wrong("'foo' of float32 is not supported in kernels", "a[0].foo", F)
def number_attribute(item, a):
    a[0] = a[0].foo


@wrong("float32 cannot be unpacked; a tuple can", "a[0]", F)
def unpack_number(item, a):
    x, y = a[0]


@wrong("2 values for 3 targets", "(1, 2)", F)
def unpack_few(item, a):
    x, y, z = (1, 2)


@wrong("index 2 of a tuple of 2", "2", F)
def tuple_index(item, a):
    t = (a[0], a[1])
    a[0] = t[2]


@wrong("an index must be an int, not float32", "a[0]", F)
def tuple_index_of_a_float(item, a):
    a[0] = (1, 2)[a[0]]


@wrong("an empty tuple has no elements", "()[i]", F)
def index_of_an_empty_tuple(item, a):
    i = item.get_id(0)
    a[0] = ()[i]


@wrong("an item of the tuple is a 1-d array; expected a number", "(a, a)", F)
def dynamic_index_of_arrays(item, a):
    i = item.get_id(0)
    a[0] = (a, a)[i]


@wrong("the stored value is a tuple of 2; expected a number", "(1, 2)", F)
def store_tuple(item, a):
    a[0] = (1, 2)


@wrong("the annotation is not a number type", "os", F)
def bad_annotation(item, a):
    x: os = 1
    a[0] = x


# --- statements -----------------------------------------------------------------------------------


@wrong("a kernel cannot return a value; write it to an array", "return a[0]", F)
def returns(item, a):
    return a[0]


@wrong("try is not supported in kernels", "try", F)
def tries(item, a):
    try:
        a[0] = 1
    except ValueError:
        pass


@wrong("with is not supported in kernels", "with", F)
def withs(item, a):
    with open("x") as f:
        a[0] = 1


@wrong("import is not supported in kernels; import outside", "import", F)
def imports(item, a):
    import math

    a[0] = math.pi


@wrong("a function inside of another takes no decorators", "usmx.device_func", F)
def inner_function(item, a):
    @usmx.device_func
    def inner(x):
        return x

    a[0] = inner(1)


@wrong("'x': a variable number of parameters is not supported", "x", F)
def lambdas(item, a):
    f = lambda *x: x[0]  # noqa: E731
    a[0] = f(1)


@wrong("the stored value is a lambda; expected a number", "lambda", F)
def stored_lambda(item, a):
    a[0] = lambda: 1


@wrong("the stored value is the function inner; expected a number", "inner", F)
def stored_function(item, a):
    def inner(x):
        return x

    a[0] = inner


@wrong(
    "a list is not supported in kernels; use a tuple of numbers or usmx.private.array", "[1, 2]", F
)
def lists(item, a):
    a[0] = [1, 2][0]


@wrong("a list is not supported in kernels; use usmx.private.array", "[x", F)
def comprehension(item, a):
    b = [x for x in range(3)]


@wrong("a dict is not supported in kernels", "{", F)
def dicts(item, a):
    b = {1: 2}


@wrong("del is not supported in kernels", "del", F)
def deletes(item, a):
    x = 1
    del x


@wrong("global is not supported in kernels; globals are read-only", "global", F)
def globals_written(item, a):
    global ORDINARY
    ORDINARY = 1


@wrong("all elements of a part of an array get one number, not a tuple", "(1, 2)", F)
def slices(item, a):
    a[1:2] = (1, 2)


@wrong("text is supported in kernels only in print and assert", "'text'", F)
def text(item, a):
    a[0] = 'text'  # fmt: skip


@wrong("float32 cannot be looped over; range(...), arrays and tuples can", "a[0]", F)
def loop_over_a_number(item, a):
    for x in a[0]:
        a[0] = x


@wrong("1-d array cannot be unpacked", "m", ("float32", 2))
def two_targets_for_a_row(item, m):
    for x, y in m:
        m[0, 0] = x + y


@wrong("is not supported in a loop over a tuple of arrays; use if", "break", F)
def break_among_arrays(item, a):
    for x in (a, a):
        break


@wrong("enumerate takes something to loop over and a start", "enumerate(a, 1, 2)", F)
def enumerate_of_three(item, a):
    for i, x in enumerate(a, 1, 2):
        a[i] = x


@wrong("the start of enumerate is float32; expected an int", "a[0]", F)
def enumerate_from_a_float(item, a):
    for i, x in enumerate(a, a[0]):
        a[i] = x


@wrong("range: the step is 0", "0", F)
def zero_step(item, a):
    for i in range(0, 10, 0):
        a[i] = 1


@wrong("range takes ints, not float32", "a[0]", F)
def float_range(item, a):
    for i in range(a[0]):
        a[i] = 1


@wrong("range takes ints, not float32", "a[0]", F)
def loop_else(item, a):
    for i in range(3):
        a[i] = 1
    else:
        for k in range(a[0]):
            a[k] = 2


@wrong("only variables, elements and fields can be assigned", "a.shape", F)
def assign_attribute(item, a):
    a.shape = 3


@wrong("constant memory is read-only; use its update() outside", "TABLE[0]", F)
def write_constant(item, a):
    TABLE[0] = a[0]


@wrong("the array is read-only", "a[0]", F, readonly=True)
def write_readonly(item, a):
    a[0] = 1


@wrong("the message of an assert must be a string literal", "a[0]", F)
def assert_message(item, a):
    assert a[0] > 0, a[0]


@wrong("its number is item.get_group().get_group_id(0)", "0", F)
def number_of_group(item, a):
    a[item.get_group(0)] = 1
