"""Functions of CUDA that need statements, written in the kernel language: each is compiled where it
is called, and run by the simulator.

All items of a sub-group must call those of sub-groups, as with every function of a group.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

from ..types.scalars import BY_NAME
from . import functions
from .forms import Form
from .functions import Namespace, item_functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

float32: Any = BY_NAME["float32"]
float64: Any = BY_NAME["float64"]
int32: Any = BY_NAME["int32"]
int64: Any = BY_NAME["int64"]
uint32: Any = BY_NAME["uint32"]
uint64: Any = BY_NAME["uint64"]
get_group: Any = item_functions["get_group"]
get_sub_group: Any = item_functions["get_sub_group"]
popcount: Any = vars(functions)["popcount"]
fma: Any = vars(functions)["fma"]
trunc: Any = math.trunc


# --- all items of a group -------------------------------------------------------------------------


def syncthreads_count(predicate: Any) -> Any:
    """A barrier; gives how many items have a true predicate."""
    return get_group().reduce(1 if predicate else 0)


def syncthreads_and(predicate: Any) -> Any:
    """A barrier; gives 1 if the predicates of all items are true, else 0."""
    return 1 if get_group().all(predicate) else 0


def syncthreads_or(predicate: Any) -> Any:
    """A barrier; gives 1 if the predicate of any item is true, else 0."""
    return 1 if get_group().any(predicate) else 0


# --- sub-groups, which CUDA calls warps -----------------------------------------------------------


def ballot(predicate: Any) -> Any:
    """A bit for each item of the sub-group: whether its predicate is true."""
    bit = uint32(uint64(1) << uint64(get_sub_group().get_local_id()))
    return get_sub_group().reduce(bit if predicate else uint32(0))


def ballot_sync(mask: Any, predicate: Any) -> Any:
    """The same of the items that the mask names."""
    return uint32(uint64(ballot(predicate)) & uint64(mask))


# Items of one sub-group may have several masks. So each looks at its own part of a ballot: what a
# sub-group computes as a whole is for one mask alone.


def all_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicates of all items that the mask names are true."""
    return ballot_sync(mask, predicate == 0) == uint32(0)


def any_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicate of any item that the mask names is true."""
    return ballot_sync(mask, predicate != 0) != uint32(0)


def eq_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicates of all items that the mask names are the same."""
    # Without a branch on the predicate: the device's compiler would put the two questions inside of
    # it, and ask each of some items only.
    every = all_sync(mask, predicate)
    some = any_sync(mask, predicate)
    return every or not some


def word_of(value: Any) -> Any:
    """The bits of a number, which say whether two are the same, as CUDA asks it."""
    if value.dtype == float32:
        return float32(value).view(uint32)
    if value.dtype == float64:
        return float64(value).view(uint64)
    return value


def match_any_sync(mask: Any, value: Any) -> Any:
    """A bit for each item that the mask names and that has the same value as this one."""
    word = word_of(value)
    found = uint64(0)
    for k in range(get_sub_group().get_local_range()):
        if get_sub_group().shuffle(word, k) == word:
            found |= uint64(1) << uint64(k)
    return uint32(found & uint64(mask))


def match_all_sync(mask: Any, value: Any) -> Any:
    """The mask and True if all items that it names have one value; else 0 and False."""
    same = match_any_sync(mask, value)
    whole = ballot_sync(mask, True)
    every = same == whole
    return (whole if every else uint32(0)), every


def activemask() -> Any:
    """A bit for each item of the sub-group."""
    return ballot(True)


def lanemask_lt() -> Any:
    """A bit for each item of the sub-group before this one."""
    return uint32((uint64(1) << uint64(get_sub_group().get_local_id())) - uint64(1))


def names(mask: Any, k: Any) -> Any:
    """Whether a mask names an item."""
    return ((uint64(mask) >> uint64(k)) & uint64(1)) != uint64(0)


def reduce_add_sync(mask: Any, value: Any) -> Any:
    """The sum of the values of the items that the mask names."""
    total = value - value
    for k in range(get_sub_group().get_local_range()):
        other = get_sub_group().shuffle(value, k)
        if names(mask, k):
            total += other
    return total


def reduce_min_sync(mask: Any, value: Any) -> Any:
    """The smallest of the values of the items that the mask names, all of which call it."""
    least = get_sub_group().shuffle(value, ffs(mask) - 1)
    for k in range(get_sub_group().get_local_range()):
        other = get_sub_group().shuffle(value, k)
        if names(mask, k):
            least = min(least, other)
    return least


def reduce_max_sync(mask: Any, value: Any) -> Any:
    """The largest of the values of the items that the mask names, all of which call it."""
    most = get_sub_group().shuffle(value, ffs(mask) - 1)
    for k in range(get_sub_group().get_local_range()):
        other = get_sub_group().shuffle(value, k)
        if names(mask, k):
            most = max(most, other)
    return most


# Shuffles inside of segments of some items, a power of two of them; of all items if `width` is 0.


def last_of(width: Any) -> Any:
    """The number of the last item of a segment in it."""
    return (int64(width) if width > 0 else int64(get_sub_group().get_max_local_range())) - 1


def there(lane: Any) -> Any:
    """An item of the sub-group; this one if there is none."""
    here = int64(get_sub_group().get_local_id())
    return lane if lane < get_sub_group().get_local_range() else here


def shfl_sync(mask: Any, value: Any, src_lane: Any, width: Any) -> Any:
    """The value of an item of the segment; numbers go on after its last one."""
    last = last_of(width)
    here = int64(get_sub_group().get_local_id())
    return get_sub_group().shuffle(value, there((here & ~last) | (int64(src_lane) & last)))


def shfl_up_sync(mask: Any, value: Any, delta: Any, width: Any) -> Any:
    """The value of an item so many before this one, or its own."""
    here = int64(get_sub_group().get_local_id())
    by = int64(delta)
    is_inside = by >= 0 and by <= (here & last_of(width))
    return get_sub_group().shuffle(value, here - by if is_inside else here)


def shfl_down_sync(mask: Any, value: Any, delta: Any, width: Any) -> Any:
    """The value of an item so many behind this one, or its own."""
    here = int64(get_sub_group().get_local_id())
    by, last = int64(delta), last_of(width)
    is_inside = by >= 0 and by <= last - (here & last)
    return get_sub_group().shuffle(value, there(here + by) if is_inside else here)


def shfl_xor_sync(mask: Any, value: Any, lane_mask: Any, width: Any) -> Any:
    """The value of an item whose number differs by bits; its own if that is in a later segment."""
    here = int64(get_sub_group().get_local_id())
    other = here ^ int64(lane_mask)
    is_seen = other >= 0 and other <= (here | last_of(width))
    return get_sub_group().shuffle(value, there(other) if is_seen else here)


def stored(array: Any, i: Any, value: Any) -> None:
    """Set an element."""
    array[i] = value


# --- bits -----------------------------------------------------------------------------------------


def brev(x: Any) -> Any:
    """The bits of an integer in the opposite order; of other integers than those of 64 bits 32."""
    y = uint64(x)
    y = ((y >> uint64(1)) & uint64(0x5555555555555555)) | (
        (y & uint64(0x5555555555555555)) << uint64(1)
    )
    y = ((y >> uint64(2)) & uint64(0x3333333333333333)) | (
        (y & uint64(0x3333333333333333)) << uint64(2)
    )
    y = ((y >> uint64(4)) & uint64(0x0F0F0F0F0F0F0F0F)) | (
        (y & uint64(0x0F0F0F0F0F0F0F0F)) << uint64(4)
    )
    y = ((y >> uint64(8)) & uint64(0x00FF00FF00FF00FF)) | (
        (y & uint64(0x00FF00FF00FF00FF)) << uint64(8)
    )
    y = ((y >> uint64(16)) & uint64(0x0000FFFF0000FFFF)) | (
        (y & uint64(0x0000FFFF0000FFFF)) << uint64(16)
    )
    y = (y >> uint64(32)) | (y << uint64(32))
    half = y >> uint64(32)
    return y if x.dtype == uint64 else y if x.dtype == int64 else half


def ffs(x: Any) -> Any:
    """One more than the number of the lowest bit that is set; 0 if none is."""
    y = int64(x)
    return 0 if y == 0 else int(popcount((y & -y) - 1)) + 1


def rounded(x: Any) -> Any:
    """The nearest whole number; of two the one farther from 0."""
    whole = trunc(x)
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def ilogb(x: Any) -> Any:
    """The exponent; the smallest int32 of 0 and NaN, the largest of infinities."""
    if x == 0 or math.isnan(x):
        return int32(-2147483648)
    return int32(2147483647) if math.isinf(x) else int32(math.frexp(x)[1] - 1)


def logb(x: Any) -> Any:
    """The exponent as a float; minus infinity of 0."""
    if x == 0:
        return x.dtype(-math.inf)
    return x.dtype(math.frexp(x)[1] - 1) if math.isfinite(x) else x * x


def mul64hi(x: Any, y: Any) -> Any:
    """The upper half of a product of int64."""
    high = int64(umul64hi(x, y))
    return high - (int64(y) if int64(x) < 0 else 0) - (int64(x) if int64(y) < 0 else 0)


def umul64hi(x: Any, y: Any) -> Any:
    """The upper half of a product of uint64, of products of halves."""
    low = uint64(0xFFFFFFFF)
    half = uint64(32)
    x0, x1 = uint64(x) & low, uint64(x) >> half
    y0, y1 = uint64(y) & low, uint64(y) >> half
    cross = x1 * y0 + ((x0 * y0) >> half)
    other = x0 * y1 + (cross & low)
    return x1 * y1 + (cross >> half) + (other >> half)


def byte_perm(x: Any, y: Any, selector: Any) -> Any:
    """Four bytes of the eight of two numbers, by a number of four bits for each."""
    both = (uint64(uint32(y)) << uint64(32)) | uint64(uint32(x))
    found = uint64(0)
    for k in range(4):
        chosen = (uint64(uint32(selector)) >> uint64(4 * k)) & uint64(7)
        found |= ((both >> (chosen * uint64(8))) & uint64(255)) << uint64(8 * k)
    return int32(uint32(found))


def remquo(x: Any, y: Any) -> Any:
    """``math.remainder``, and the three lowest bits of its quotient with their sign."""
    rest = math.remainder(x, y)
    quotient = int32(0)
    if math.isfinite(x) and y != 0 and not math.isnan(y):
        if math.isinf(y):
            return rest, quotient
        within = math.fmod(x, y * 8) if math.isfinite(y * 8) else x
        whole = rounded((within - math.remainder(within, y)) / y)
        quotient = int32(int(abs(whole)) % 8)
        quotient = int32(-quotient) if whole < 0 else quotient
    return rest, quotient


# --- rounding in a direction ----------------------------------------------------------------------
#
# A result that is rounded to the nearest, and the sign of what it lacks, say which neighbour it is.


def directed(near: Any, lacks: Any, to: Any) -> Any:
    """The number next to an exact one, which is ``near + lacks``: below it if `to` is -1, above it
    if it is 1, towards zero if it is 0."""
    below = to < 0 or (to == 0 and (near > 0 or (near == 0 and lacks > 0)))
    if below and lacks < 0:
        return math.nextafter(near, near - near - math.inf if not math.isinf(near) else -math.inf)
    above = to > 0 or (to == 0 and (near < 0 or (near == 0 and lacks < 0)))
    if above and lacks > 0:
        return math.nextafter(near, near - near + math.inf if not math.isinf(near) else math.inf)
    return near


def sum_toward(a: Any, b: Any, to: Any) -> Any:
    """``a + b``."""
    near = a + b
    if math.isinf(near) and math.isfinite(a) and math.isfinite(b):
        return directed(near, -near, to)
    if not math.isfinite(near):
        return near
    if near == 0 and to < 0 and (a != 0 or math.copysign(1.0, a) < 0 or math.copysign(1.0, b) < 0):
        return -abs(near)  # x - x is -0 when rounded down
    part = near - a
    return directed(near, (a - (near - part)) + (b - part), to)


def product_toward(a: Any, b: Any, to: Any) -> Any:
    """``a * b``."""
    near = a * b
    if not (math.isfinite(a) and math.isfinite(b)):
        return near
    if math.isinf(near):
        return directed(near, -near, to)
    return directed(near, product_lacks(a, b, near), to)


def product_lacks(a: Any, b: Any, near: Any) -> Any:
    """``a * b - near``, or its sign: a part of it may be too small a number otherwise."""
    if near == 0:
        return (
            a.dtype(0.0)
            if a == 0 or b == 0
            else a.dtype(math.copysign(1.0, a) * math.copysign(1.0, b))
        )
    small, large = (a, b) if abs(a) < abs(b) else (b, a)
    by = a.dtype(2.0) ** (200 if a.dtype == float64 else 60)
    if abs(near) > 1 / by:
        by = a.dtype(1.0)
    return fma(small * by, large, -(near * by))


def quotient_toward(a: Any, b: Any, to: Any) -> Any:
    """``a / b``."""
    near = a / b
    if not (math.isfinite(a) and math.isfinite(b)) or b == 0 or a == 0:
        return near
    sign = math.copysign(1.0, b)
    if math.isinf(near):
        return directed(near, -near, to)
    by = a.dtype(2.0) ** (200 if a.dtype == float64 else 60)
    if abs(a) > 1 / by and abs(near) > 1 / by:
        by = a.dtype(1.0)
    elif abs(a) > 1:
        # A small quotient by a large divisor: half of the factor for each.
        return directed(near, a.dtype(sign) * fma(-(near * by), b / by, a), to)
    return directed(near, a.dtype(sign) * fma(-(near * by), b, a * by), to)


def root_toward(a: Any, to: Any) -> Any:
    """``sqrt(a)``."""
    near = math.sqrt(a)
    if not math.isfinite(a) or a <= 0:
        return near
    by = a.dtype(2.0) ** (100 if a.dtype == float64 else 30)
    if a > 1 / by:
        by = a.dtype(1.0)
    return directed(near, fma(-(near * by), near * by, a * by * by), to)


def fma_toward(a: Any, b: Any, c: Any, to: Any) -> Any:
    """``a * b + c``."""
    near = fma(a, b, c)
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return near
    if math.isinf(near):
        return directed(near, -near, to)
    product = a * b
    if math.isinf(product):
        return near
    total = product + c
    part = total - product
    rest = (total - near) + ((product - (total - part)) + (c - part))
    lacks = product_lacks(a, b, product)
    if rest != 0:
        lacks = rest + fma(a, b, -product)
    return directed(near, lacks, to)


def float_toward(x: Any, to: Any) -> Any:
    """A float64 as a float32."""
    near = float32(x)
    if math.isinf(near) and math.isfinite(x):
        return directed(near, -near, to)
    if not math.isfinite(near):
        return near
    return directed(near, float32(math.copysign(1.0, x - near) if x != near else 0.0), to)


def whole_toward(x: Any, near: Any, to: Any) -> Any:
    """An integer as a float: `near` is the nearest one."""
    lacks = 0.0
    if x >= 0 and near >= 9223372036854775808.0:
        # Of uint64 the nearest float may be 2**64.
        whole = uint64(x)
        if near >= 18446744073709551616.0 or uint64(near) > whole:
            lacks = -1.0
        elif uint64(near) < whole:
            lacks = 1.0
    else:
        whole_near = int64(near)
        lacks = 1.0 if int64(x) > whole_near else -1.0 if int64(x) < whole_near else 0.0
    return directed(near, near.dtype(lacks), to)


# --- random numbers -------------------------------------------------------------------------------
#
# xoroshiro128+ of D. Blackman and S. Vigna: a state is two numbers of 64 bits.


def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """The next 64 bits of a generator."""
    first = uint64(states[index]["s0"])
    second = uint64(states[index]["s1"])
    mixed = first ^ second
    turned = (first << uint64(55)) | (first >> uint64(9))
    states[index]["s0"] = turned ^ mixed ^ (mixed << uint64(14))
    states[index]["s1"] = (mixed << uint64(36)) | (mixed >> uint64(28))
    return first + second


def xoroshiro128p_jump(states: Any, index: Any) -> None:
    """Go on by 2**64 numbers."""
    first = uint64(0)
    second = uint64(0)
    for k in range(128):
        steps = uint64(0xD86B048B86AA9922) if k >= 64 else uint64(0xBEAC0467EBA5FACB)
        if ((steps >> uint64(k % 64)) & uint64(1)) != uint64(0):
            first = first ^ uint64(states[index]["s0"])
            second = second ^ uint64(states[index]["s1"])
        xoroshiro128p_next(states, index)
    states[index]["s0"] = first
    states[index]["s1"] = second


def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """A float64 from 0 to 1, without 1."""
    return float64(xoroshiro128p_next(states, index) >> uint64(11)) * float64(2.0**-53)


def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """The same as a float32, which may round to 1."""
    return float32(xoroshiro128p_uniform_float64(states, index))


def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """A normal number of mean 0 and deviation 1, by the transform of Box and Muller."""
    length = xoroshiro128p_uniform_float32(states, index)
    turn = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float32(-2.0) * math.log(length)) * math.cos(float32(2 * math.pi) * turn)


def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """The same as a float64."""
    length = float64(xoroshiro128p_uniform_float32(states, index))
    turn = float64(xoroshiro128p_uniform_float32(states, index))
    return math.sqrt(float64(-2.0) * math.log(length)) * math.cos(float64(2 * math.pi) * turn)


#: All groups of a launch, which are one: a launch of several is refused.
grid_group: Namespace = Namespace(
    "cuda.cg.this_grid()",
    "All items of a launch.",
    {
        "sync": Form(
            "cuda.cg.this_grid().sync", "A barrier of all items.", "{usmx.barrier}()", "", gives=""
        )
    },
)

#: What texts of forms name, as ``{cuda.name}``.
NAMES: dict[str, Any] = {
    name: value
    for name, value in globals().items()
    if getattr(value, "__module__", "") == __name__ or name in ("grid_group",)
}
