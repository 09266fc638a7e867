# As wrong_kernels.py: wrong calls, wrong memory, wrong functions.
# SPDX-License-Identifier: Apache-2.0
import collections
import math
import os

import numpy as np
from numba import cuda
from wrong_kernels import TABLE, C, F, I, U, wrong

import usmx


def plain(x):
    return x


@usmx.device_func
def again(x):
    return again(x - 1) if x > 0 else x


@usmx.device_func
def sometimes(x):
    if x > 0:
        return x


@usmx.device_func
def fill(a, x):
    a[0] = x


@usmx.device_func
def one_or_two(x):
    if x > 0:
        return x
    return x, x


@usmx.device_func
def misuse(a):
    return a.nothing


Point = collections.namedtuple("Point", "x y")


def point_or_tuple(x):
    if x > 1:
        return Point(1, 2)
    return 1, 2


@usmx.device_func
def half_of_it(a):
    t = usmx.private.array(65200, np.uint8)
    a[0] = t[0]


# --- calls ----------------------------------------------------------------------------------------


@wrong("'plain' takes 1 argument, got 0; x is missing", "plain()", F)
def plain_function(item, a):
    a[0] = plain()


@wrong("'plain' has no parameter 'y'", "2", F)
def unknown_keyword(item, a):
    a[0] = plain(1, y=2)


@wrong("'plain' got 'x' twice; give it once", "2", F)
def twice(item, a):
    a[0] = plain(1, x=2)


@wrong("function 'os.path.join' is not supported in kernels", "os.path.join(a[0])", F)
def function_of_the_standard_library(item, a):
    a[0] = os.path.join(a[0])


@wrong("function 'os.getpid' is not supported in kernels", "os.getpid()", F)
def unknown_function(item, a):
    a[0] = os.getpid()


@wrong("function 'sorted' is not supported in kernels", "sorted(a)", F)
def builtin_function(item, a):
    b = sorted(a)


@wrong("'np.zeros' is not supported in kernels; pass an array, or make a small", "np.zeros(3)", F)
def array_of_numpy(item, a):
    t = np.zeros(3)
    a[0] = t[0]


@wrong("small one with usmx.private.array(shape, dtype)", "usmx.empty(3)", F)
def array_of_usmx(item, a):
    t = usmx.empty(3)
    a[0] = t[0]


@wrong("'np.sum' is not supported in kernels; a kernel computes with single", "np.sum(a)", F)
def sum_of_numpy(item, a):
    a[0] = np.sum(a)


@wrong("'sum' of an array is not supported in kernels; a kernel computes with", "a.sum", F)
def sum_as_a_method(item, a):
    a[0] = a.sum()


@wrong("'grid' is of Numba; write from usmx.compat import cuda", "cuda.grid", F)
def grid_of_numba(item, a):
    a[cuda.grid(1)] = 1


@wrong("'threadIdx' is of Numba; write from usmx.compat import cuda", "cuda.threadIdx", F)
def thread_of_numba(item, a):
    a[cuda.threadIdx.x] = 1


@wrong("'math.sin' takes 1 argument, got 2", "math.sin(a[0], 1)", F)
def too_many_arguments(item, a):
    a[0] = math.sin(a[0], 1)


@wrong("math.fmod is not defined for complex64", "math.fmod(a[0], a[0])", C)
def intrinsic_of_complex(item, a):
    a[0] = math.fmod(a[0], a[0])


@wrong("the argument of 'math.sin' is a 1-d array; expected a number", "a", F)
def intrinsic_of_array(item, a):
    a[0] = math.sin(a)


@wrong("'min' of an array; loop over its elements", "min(a)", F)
def min_of_array(item, a):
    a[0] = min(a)


@wrong("'min' is not defined for complex numbers", "min(a[0], a[1])", C)
def min_of_complex(item, a):
    a[0] = min(a[0], a[1])


@wrong("'max' takes no keyword arguments in kernels", "0", F)
def max_keyword(item, a):
    a[0] = max(a[0], default=0)


@wrong("range(...) is supported only in `for ... in range(...)`", "range(3)", F)
def range_value(item, a):
    r = range(3)


@wrong("'again' calls itself; recursion is not supported", "again(x - 1)", F)
def recursion(item, a):
    a[0] = again(a[0])


@wrong("it may end without returning a value", "@usmx.device_func", F)
def no_return(item, a):
    a[0] = sometimes(a[0])


@wrong("returns 2 values here and 1 elsewhere", "return x, x", F)
def uneven_return(item, a):
    a[0] = one_or_two(a[0])


@wrong("'nothing' of an array is not supported in kernels", "a.nothing", F)
def error_inside(item, a):
    a[0] = misuse(a)


@wrong("the array is read-only", "a[0]", F, readonly=True)
def callee_writes(item, a):
    fill(a, 1.0)


@wrong("the array is read-only", "a[0]", F)
def callee_writes_constant(item, a):
    fill(TABLE, 1.0)


@wrong("a Point has no 'z'; it has x, y", "Point(1, 2).z", F)
def field_of_a_namedtuple(item, a):
    a[0] = Point(1, 2).z


@wrong("'pow' takes two numbers in kernels; multiply in a loop", "pow(a[0], 2, 3)", I)
def power_modulo(item, a):
    a[0] = pow(a[0], 2, 3)


@wrong("'sum' of a 2-d array; loop over its rows", "a", (F, 2))
def sum_of_rows(item, a):
    a[0, 0] = sum(a)


@wrong("'sum' takes an array or a tuple, not float32", "a[0]", F)
def sum_of_a_number(item, a):
    a[0] = sum(a[0])


@wrong("'Point' needs a value for 'y'", "Point(x=1)", F)
def field_without_a_value(item, a):
    a[0] = Point(x=1).x


@wrong("'Point' has no parameter 'z'; it has x, y", "3", F)
def field_that_is_no_field(item, a):
    a[0] = Point(1, 2, z=3).x


@wrong("returns a tuple of 2 here and a Point of another form elsewhere", "return 1, 2", F)
def tuple_or_namedtuple(item, a):
    a[0] = point_or_tuple(a[0])[0]


@wrong("a complex number cannot be converted to a Python int; take its .real", "int(a[0])", C)
def int_of_complex(item, a):
    a[0] = int(a[0])


# --- items, memory, atomics -----------------------------------------------------------------------


@wrong("dimension 1 is out of range; the launch has rank 1", "1", F, rank=1)
def dimension(item, a):
    a[0] = item.get_id(1)


@wrong("must be known when compiling", "int(a[0])", F)
def dynamic_dimension(item, a):
    a[0] = item.get_id(int(a[0]))


@wrong("the item has no 'get_nothing'", "item.get_nothing()", F)
def item_method(item, a):
    a[0] = item.get_nothing()


@wrong("the group has no 'get_global_id'", "item.get_group().get_global_id(0)", F)
def group_method(item, a):
    a[0] = item.get_group().get_global_id(0)


@wrong("a length is float32", "a[0]", F)
def float_length(item, a):
    t = usmx.local.array(a[0], np.float32)


@wrong("must be known when compiling", "int(a[0])", F)
def dynamic_length(item, a):
    t = usmx.private.array(int(a[0]), np.float32)


@wrong("length 0 is not positive", "0", F)
def zero_length(item, a):
    t = usmx.private.array(0, np.float32)


@wrong("dtype 'os' is not supported in kernels", "os", F)
def bad_dtype(item, a):
    t = usmx.local.array(4, os)


@wrong("'usmx.local.array' takes a shape and a dtype", "usmx.local.array(4)", F)
def no_dtype(item, a):
    t = usmx.local.array(4)


@wrong("80000 bytes of private memory; an item has at most 65536", "usmx.private.array", F)
def large_private(item, a):
    t = usmx.private.array((100, 100), np.float64)


@wrong("65600 bytes of private memory; an item has at most 65536", "half_of_it(a)", F)
def large_private_in_function(item, a):
    t = usmx.private.array(100, np.float32)
    half_of_it(a)


@wrong("400000 bytes of local memory; a group has at most 262144", "usmx.local.array", F)
def large_local(item, a):
    t = usmx.local.array(100000, np.float32)


@wrong("index 4 is out of bounds for a length of 4", "4", F)
def local_out_of_bounds(item, a):
    t = usmx.private.array(4, np.float32)
    a[0] = t[4]


@wrong("atomic and is not supported for float32", "usmx.atomic.and_(a, 0, 1)", F)
def float_atomic_and(item, a):
    usmx.atomic.and_(a, 0, 1)


@wrong("atomic add is not supported for uint8", "usmx.atomic.add(a, 0, 1)", U)
def narrow_atomic(item, a):
    usmx.atomic.add(a, 0, 1)


@wrong("atomic inc is not supported for float32", "usmx.atomic.inc(a, 0, 9)", F)
def float_counter(item, a):
    usmx.atomic.inc(a, 0, 9)


@wrong("private memory belongs to one work-item and needs no atomic operations", "t", F)
def private_atomic(item, a):
    t = usmx.private.array(4, np.int32)
    usmx.atomic.add(t, 0, 1)


@wrong("the AtomicRef has no 'fetch_nothing'", "r.fetch_nothing(1)", F)
def atomic_method(item, a):
    r = usmx.AtomicRef(a, 0)
    r.fetch_nothing(1)


@wrong("the operation must be 'sum', min or max", "'product'", F)
def group_operation(item, a):
    a[0] = item.get_group().reduce(a[0], 'product')  # fmt: skip


@wrong("'reduce' takes int32, int64, uint32, uint64, float32 and float64, not uint8", "a[0]", U)
def narrow_reduce(item, a):
    a[0] = item.get_group().reduce(a[0])


@wrong("'shuffle' is a method of sub-groups, not of groups", "item.get_group().shuffle(a[0], 1)", F)
def group_shuffle(item, a):
    a[0] = item.get_group().shuffle(a[0], 1)


@wrong("print: 'file=' is not supported in kernels", "1", F)
def print_file(item, a):
    print(a[0], file=1)


@wrong("print takes numbers and string literals, not a 1-d array", "a", F)
def print_array(item, a):
    print(a)


@wrong("format 's' is not supported in kernels", "a[0]", F)
def print_format(item, a):
    print(f"{a[0]:s}")


# --- the function itself --------------------------------------------------------------------------


@wrong("*rest: a variable number of parameters is not supported", "rest", F)
def star(item, *rest):
    pass


@wrong("a kernel's parameters have no defaults", "1", F)
def default(item, a=1):
    pass


@wrong("a kernel has no keyword-only parameters; functions that it calls may", "a", F)
def by_keyword(item, *, a):
    pass


@wrong("takes 1 argument by place, got 2", "inner(a[0], 2)", F)
def by_place_and_keyword(item, a):
    def inner(x, *, by):
        return x * by

    a[0] = inner(a[0], 2)


@wrong("'inner' takes 2 arguments, got 1; by is missing", "inner(a[0])", F)
def without_a_keyword(item, a):
    def inner(x, *, by):
        return x * by

    a[0] = inner(a[0])


@wrong("2 values for 4 targets", "t", F)
def too_few_for_a_star(item, a):
    t = (1, 2)
    x, *rest, y, z = t
    a[0] = x + y + z


@wrong("it has no parameters; the first one must be the work-item", "", F)
def nothing():
    pass
