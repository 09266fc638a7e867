"""One set of laws for copies, fills, elementwise kernels, reductions and scans: what NumPy gives.

The operations are the rows of operations.py, the layouts, types and kinds those of layouts.py.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gate import Gate
from layouts import DTYPES, KINDS, LAYOUTS, LONG_LAYOUTS, PLACES, Layout, numbers
from operations import OPERATIONS, Operation

import usmx

SMALL, LONG = 360, 5040
CONTIGUOUS = {"contiguous": LAYOUTS["contiguous"]}


def rows_of(law: str) -> list[str]:
    return [name for name, row in OPERATIONS.items() if law not in row.exempt]


def place(side: str, host: np.ndarray, layout: Layout) -> tuple[Any, Any]:
    """A copy of the elements on a side, and the part of it that has the layout."""
    if side == "numpy":
        block = host.copy()
        return block, layout.of(block)
    block = usmx.asarray(host, usm_type=side, copy=True)
    strides = {} if layout.strides is None else {"strides": layout.strides}
    return block, usmx.ndarray(layout.shape, host.dtype, block, offset=layout.offset, **strides)


def place_output(side: str, where: str, shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    around, part = PLACES[where]
    host = np.full(around(shape), 1, dtype)
    block = host if side == "numpy" else usmx.asarray(host, usm_type=side, copy=True)
    return block, part(block, shape)


def host_of(block: Any) -> np.ndarray:
    return block if isinstance(block, np.ndarray) else block.to_numpy()


def write(row: Operation, out: Any, inputs: list[Any], keywords: dict[str, Any]) -> None:
    """Into a given output, which a kernel returns; waits for what is asynchronous."""
    result = row.into(out, *inputs, **keywords)
    if isinstance(result, usmx.Event):
        result.wait()
    else:
        assert result is None or result is out


def assert_same(got: np.ndarray, right: Any, *call: Any) -> None:
    """Equal in shape, type and every element; NumPy's own comparison only words the failure."""
    right = np.asarray(right)
    if (got.shape, got.dtype) != (right.shape, right.dtype) or got.tobytes() != right.tobytes():
        np.testing.assert_array_equal(got, right, str(call), strict=True)


def compute(row: Operation, inputs: list[Any], right: np.ndarray, keywords: Any, side: str) -> Any:
    """The result in memory that the operation allocates, or if it cannot, in contiguous memory."""
    if row.new is not None:
        return row.new(*inputs, **keywords)
    out = usmx.empty(right.shape, right.dtype, usm_type=side)
    write(row, out, inputs, keywords)
    return out


def operands(
    row: Operation, side: str, layout: Layout, dtype: Any, size: int = SMALL
) -> tuple[list[np.ndarray], list[Any], list[Any], list[np.ndarray]]:
    """The inputs as NumPy sees them, as usmx does, and the blocks that they lie in."""
    types = [dtype, row.second_type or dtype][: row.inputs]
    blocks_there = [numbers(size, type_, seed) for seed, type_ in enumerate(types)]
    placed = [place(side, block, layout) for block in blocks_there]
    theirs = [layout.of(block) for block in blocks_there]
    return theirs, [part for _, part in placed], [block for block, _ in placed], blocks_there


def check_values(row: Operation, kind: str, layouts: dict[str, Layout], dtype: str, n: int) -> None:
    for name, layout in layouts.items():
        theirs, ours, blocks, blocks_there = operands(row, kind, layout, dtype, n)
        for keywords in row.arguments(len(layout.shape)):
            right = np.asarray(row.numpy(*theirs, **keywords))
            got = compute(row, ours, right, keywords, kind)
            assert_same(got.to_numpy(), right, name, keywords)
            assert got.usm_type == (row.kind or kind)
            if row.numpys_order and right.size:
                # A step along an axis of length one leads nowhere.
                long = [k for k, n in enumerate(right.shape) if n > 1]
                steps = [right.strides[k] // right.itemsize for k in long]
                assert [got.strides[k] for k in long] == steps, name
        for block, there in zip(blocks, blocks_there, strict=True):
            assert_same(block.to_numpy(), there, name, "an operand was changed")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name, row in OPERATIONS.items() for dtype in row.types]
)
def test_result_is_numpys_and_operands_are_unchanged(name: str, dtype: str, kind: str) -> None:
    row = OPERATIONS[name]
    every = row.every_type_in_every_layout or dtype in row.few_types
    check_values(row, kind, LAYOUTS if every else CONTIGUOUS, dtype, SMALL)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_result_of_long_axes_is_numpys(name: str, kind: str) -> None:
    check_values(OPERATIONS[name], kind, LONG_LAYOUTS, "i4", LONG)


def check_outputs(row: Operation, side: str, layout: Layout, dtype: str, to: str | None) -> None:
    """Outputs on each side and in each place; the elements around them are unchanged."""
    theirs, ours, *_ = operands(row, side, layout, dtype)
    # Operands of different layouts: the others are contiguous.
    ours[1:] = [place(side, np.ascontiguousarray(x), Layout(x.shape))[1] for x in theirs[1:]]
    for keywords in row.arguments(len(layout.shape)):
        right = np.asarray(row.numpy(*theirs, **keywords))
        for other, where in itertools.product(row.sides, PLACES):
            block, out = place_output(other, where, right.shape, to or right.dtype)
            write(row, out, ours, keywords)
            around, part = PLACES[where]
            expected = np.full(around(right.shape), 1, to or right.dtype)
            part(expected, right.shape)[...] = right
            assert_same(host_of(block), expected, layout, other, where, dtype, keywords)


SIDES_OF_ROWS = [(name, side) for name in rows_of("into") for side in OPERATIONS[name].sides]


@pytest.mark.parametrize(("name", "side"), SIDES_OF_ROWS)
def test_given_output_of_any_layout_and_kind_is_written(name: str, side: str) -> None:
    row = OPERATIONS[name]
    # The host casts its own memory: there is nothing to compile.
    types = DTYPES if side == "numpy" else row.few_types
    for (layout_name, layout), dtype in itertools.product(LAYOUTS.items(), types):
        if dtype in row.few_types or layout_name in CONTIGUOUS:
            check_outputs(row, side, layout, dtype, None)


@pytest.mark.parametrize(
    ("name", "side"), [pair for pair in SIDES_OF_ROWS if "cast" not in OPERATIONS[pair[0]].exempt]
)
def test_given_output_of_a_wider_type_is_cast(name: str, side: str) -> None:
    for layout in CONTIGUOUS.values():
        check_outputs(OPERATIONS[name], side, layout, "i", "d")


# Parts of one array of LINE elements that share memory, and the output's part for a shape; the
# square is the first SIDE * SIDE elements. Steps and shifts within one work-group and beyond.
LINE, SIDE = 200_000, 300


def on_line(source: slice, target: slice) -> tuple[Any, Any]:
    def output(a: Any, shape: tuple[int, ...]) -> Any:
        return a[target][: int(np.prod(shape, dtype=int))].reshape(shape)

    return lambda a: a[source], output


def square(a: Any) -> Any:
    return a[: SIDE * SIDE].reshape(SIDE, SIDE)


def in_square(source: Any, target: Any, *index: Any) -> tuple[Any, Any]:
    """The output of two dimensions is part of the target; one of fewer is at an index."""

    def output(a: Any, shape: tuple[int, ...]) -> Any:
        if len(shape) == 2:
            return target(a)[: shape[0], : shape[1]]
        return square(a)[index] if shape else square(a)[7, 7, ...]

    return source, output


OVERLAPS = {
    "the same": on_line(slice(None), slice(None)),
    **{f"{n} ahead": on_line(slice(None, -n), slice(n, None)) for n in (1, 17, 5000)},
    **{f"{n} behind": on_line(slice(n, None), slice(None, -n)) for n in (1, 17, 5000)},
    "reversed": on_line(slice(None, None, -1), slice(None)),
    "every other": on_line(slice(None, None, 2), slice(0, LINE // 2)),
    "a square, or a row of it": in_square(square, square, 7),
    "a square, transposed, or a row of it": in_square(square, lambda a: square(a).T, 7),
    "a transposed square, or a column of it": in_square(
        lambda a: square(a).T, lambda a: square(a).T, slice(None), 7
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("name", rows_of("overlap"))
def test_output_may_overlap_the_input(name: str, overlap: str, kind: str) -> None:
    row, (source, target) = OPERATIONS[name], OVERLAPS[overlap]
    expected = numbers(LINE, "q")
    ours = usmx.asarray(expected, usm_type=kind, copy=True)
    for keywords in row.arguments(source(expected).ndim):
        x = source(expected)
        right = np.asarray(row.numpy(*[x.copy()] * row.inputs, **keywords))
        target(expected, right.shape)[...] = right
        write(row, target(ours, right.shape), [source(ours)] * row.inputs, keywords)
        assert_same(ours.to_numpy(), expected, keywords)


def lock(part: Any) -> None:
    part.flags.writeable = False


@pytest.mark.parametrize(
    ("name", "side"),
    [(name, side) for name in rows_of("read-only") for side in OPERATIONS[name].sides],
)
def test_read_only_output_is_refused_by_its_name(name: str, side: str) -> None:
    row = OPERATIONS[name]
    there, ours, *_ = operands(row, "device", LAYOUTS["strided"], "f")
    for keywords in row.arguments(1):
        right = np.asarray(row.numpy(*there, **keywords))
        block, out = place_output(side, "contiguous", right.shape, right.dtype)
        lock(out)
        with pytest.raises(ValueError, match=f"^{row.output}.*read-only"):
            row.into(out, *ours, **keywords)
        assert_same(host_of(block), np.full(right.shape, 1, right.dtype))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", rows_of("empty"))
def test_result_without_elements_submits_nothing(name: str, kind: str) -> None:
    row = OPERATIONS[name]
    for layout in (layout for layout in LAYOUTS.values() if layout.empty):
        there, ours, *_ = operands(row, kind, layout, "f")
        for keywords in row.arguments(len(layout.shape)):
            right = np.asarray(row.numpy(*there, **keywords))
            if right.size:
                continue  # a reduction of nothing along an axis gives the identity
            with usmx.trace() as trace:
                got = compute(row, ours, right, keywords, kind)
            done = trace.summary()
            assert (done.kernels, done.copies, done.fills) == (0, 0, 0), trace
            assert_same(got.to_numpy(), right)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", rows_of("order"))
def test_operation_comes_after_pending_commands_of_other_queues(
    name: str, kind: str, in_order: bool
) -> None:
    """Commands that write its inputs and its output are pending; a third reads its result."""
    row = OPERATIONS[name]
    busy = usmx.Queue(usmx.Device(), in_order=True)
    queue = usmx.Queue(usmx.Device(), in_order=in_order)
    there = [numbers(LINE, "i", seed) for seed in range(row.inputs)]
    ours = [usmx.zeros(LINE, "i4", usm_type=kind, queue=queue) for _ in there]
    for keywords in row.arguments(1):
        right = np.asarray(row.numpy(*there, **keywords))
        out = usmx.empty(right.shape, right.dtype, usm_type=kind, queue=queue)
        seen = usmx.empty(right.shape, right.dtype, usm_type=kind, queue=queue)
        write(row, out, ours, keywords)  # compiled before the gate is closed
        with Gate(busy):
            for x, values in zip(ours, there, strict=True):
                usmx.copy_async(x, values, queue=busy)
            blank = np.zeros(right.shape, right.dtype)
            usmx.copy_async(out, blank, queue=busy)
            row.into(out, *ours, **keywords)
            copied = usmx.copy_async(seen, out)
            assert not copied.is_done
        assert_same(out.to_numpy(), right)
        assert_same(seen.to_numpy(), right)
