# Operands of several axes are visited by rows: the same values as NumPy, in all layouts, for rows
# of any length, in the forms of CPU devices and of GPUs.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from backend_row import ROW

import usmx
from usmx import _usmx

SHAPES = [(2, 2), (5, 3), (900, 2), (333, 7), (3, 127), (3, 129), (70, 65), (40, 300), (3, 4100)]
DEEP = [(3, 5, 2), (4, 3, 130), (2, 3, 4, 33), (2, 3, 4, 5, 6)]


@pytest.fixture(params=["", "cuda"], autouse=True)
def forms(request):
    _usmx._Testing.use_forms_of(request.param)
    yield request.param
    _usmx._Testing.use_forms_of("")


def numbers(shape, dtype="int64", seed=0):
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


def views(shape, dtype="int64"):
    """Arrays of that shape in several layouts: ours and NumPy's."""
    wide = tuple(n + 2 for n in shape)
    inner = (slice(1, -1),) * len(shape)
    for seed, (around, take) in enumerate(
        [
            (shape, lambda a: a),
            (wide, lambda a: a[inner]),
            (wide, lambda a: a[inner][..., ::-1]),
            (wide, lambda a: a[inner][::-1]),
            ((*shape[:-1], 2 * shape[-1]), lambda a: a[..., ::2]),
            (shape[::-1], lambda a: a.T),
            ((*shape[:-1], 1), lambda a: a),
            (shape[-1:], lambda a: a),
            ((shape[0], *[1] * (len(shape) - 1)), lambda a: a),
        ]
    ):
        n = numbers(around, dtype, seed)
        yield take(usmx.asarray(n)), take(n)


@pytest.mark.parametrize("shape", SHAPES + DEEP)
def test_pairs_of_layouts(shape):
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = 10 * x + y", "add")
    for a, x in views(shape):
        for b, y in views(shape):
            np.testing.assert_array_equal(add(a, b).to_numpy(), 10 * x + y)


@pytest.mark.parametrize("shape", SHAPES + DEEP)
def test_outputs_in_all_layouts(shape):
    double = usmx.ElementwiseKernel("T x", "T z", "z = 2 * x", "doubled")
    x = numbers(shape)
    for out, _ in [*views(shape)][:6]:
        double(usmx.asarray(x), out)
        np.testing.assert_array_equal(out.to_numpy(), 2 * x)


def test_nothing_around_an_output_is_written():
    for shape in SHAPES:
        around = usmx.zeros(tuple(n + 2 for n in shape), "int32")
        double = usmx.ElementwiseKernel("T x", "T z", "z = 2 * x + 1", "doubled_1")
        double(usmx.asarray(numbers(shape, "int32")), around[1:-1, 1:-1])
        wanted = np.zeros(around.shape, "int32")
        wanted[1:-1, 1:-1] = 2 * numbers(shape, "int32") + 1
        np.testing.assert_array_equal(around.to_numpy(), wanted)


@pytest.mark.parametrize("shape", SHAPES + DEEP)
def test_an_expression_knows_its_place(shape):
    place = usmx.ElementwiseKernel("T x", "int64 z", "z = 1000 * x + i + n", "place")
    index = usmx.ElementwiseKernel(
        "T x", "int64 z", "auto k = _ind.get(); z = 100 * k[0] + k[1]", "index"
    )
    at = np.indices(shape)
    for a, x in views(shape):
        if x.shape != shape:
            continue
        wanted = 1000 * x + np.arange(x.size).reshape(shape) + x.size
        np.testing.assert_array_equal(place(a).to_numpy(), wanted)
        np.testing.assert_array_equal(index(a).to_numpy(), 100 * at[0] + at[1])


@pytest.mark.parametrize("end", ["return", "continue"])
def test_an_expression_that_ends_early_ends_one_element(end):
    some = usmx.ElementwiseKernel("T x", "T z", f"z = 1; if (x > 4) {end}; z = x", f"some_{end}")
    for a, x in views((300, 5)):
        if x.shape == (300, 5):
            np.testing.assert_array_equal(some(a).to_numpy(), np.where(x > 4, 1, x))


def test_what_comes_after_the_expression_may_return():
    some = usmx.ElementwiseKernel(
        "T x", "T z", "z = x", "after", after_loop="if (x > 4) return; z = -x"
    )
    a = usmx.asarray(numbers((302, 7)))[1:-1, 1:-1]
    x = a.to_numpy()
    np.testing.assert_array_equal(some(a).to_numpy(), np.where(x > 4, x, -x))


@pytest.mark.parametrize("shape", SHAPES + DEEP)
@pytest.mark.parametrize(
    ("dtype", "to"),
    [
        ("float32", "float32"),
        ("int8", "int8"),
        ("complex128", "complex128"),
        ("int32", "float64"),
        ("complex64", "complex128"),
        ("float32", "complex64"),
        ("complex64", "bool"),
        ("bool", "int16"),
    ],
)
def test_copies(shape, dtype, to):
    for a, x in views(shape, dtype):
        for out, _ in [*views(shape, to)][:6]:
            out[...] = a
            wanted = np.broadcast_to(x, shape).astype(to)
            np.testing.assert_array_equal(out.to_numpy(), wanted)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 5), (5, 1), (0, 3), (7,), (300,)])
def test_copies_with_few_axes(shape):
    x = numbers(shape, "int32")
    a = usmx.asarray(x)
    np.testing.assert_array_equal(a.astype("float64").to_numpy(), x.astype("float64"))
    out = usmx.zeros((*shape, 2), "int64")
    out[..., 1] = a
    np.testing.assert_array_equal(out.to_numpy()[..., 1], x)
    np.testing.assert_array_equal(out.to_numpy()[..., 0], 0)


def test_groups_visit_rows(forms, texts):
    add = usmx.ElementwiseKernel("T x, T y", "T z", "z = x + y", f"rows_{forms}")
    for length in (5, 200):
        a, b = usmx.ones((300, length), "float32"), usmx.ones(length, "float32")
        np.testing.assert_array_equal(add(a, b).to_numpy(), 2)
    by_rows = ["each_row(" in text for text in texts() if f"rows_{forms}" in text]
    # On a GPU rows of five would leave most items of a group idle.
    assert by_rows == ([True] if forms == "" and ROW.groups_are_loops else [False, True])


PLACES = """
USMX_KERNEL(%d) place(int64_t* y, int64_t* group) {
  usmx::nd_item<%d> item;
  y[item.get_global_linear_id()] += int64_t(item.get_global_linear_id());
  if (item.get_global_linear_id() == 0) {
    for (int k = 0; k < %d; ++k) group[k] = int64_t(item.get_local_range(k));
  }
}
"""


@pytest.mark.parametrize(
    ("shape", "group"),
    [((10_000, 3), (50, 3)), ((9973, 3), None), ((1000, 8, 8), (5, 8, 8)), ((3, 8193), None)],
)
def test_launches_of_several_dimensions_run_in_groups_of_rows_on_processors(forms, shape, group):
    rank = len(shape)
    kernel = usmx.RawKernel(PLACES % (rank, rank, rank), "place")
    y, found = usmx.zeros(shape, "int64"), usmx.zeros(rank, "int64")
    kernel[shape, None](y, found).wait()
    np.testing.assert_array_equal(y.to_numpy().ravel(), np.arange(y.size))
    if group and not forms and usmx.Device().is_cpu:
        assert tuple(found.to_numpy()) == group
