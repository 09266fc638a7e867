"""When values are computed: views, writes to what they are made of, programs that mix both."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from depths import some
from together import compute_together

import usmx


def ramp(shape, usm_type="device"):
    """Small enough for exact sums and products of float32, in device memory: nothing is computed on
    the host."""
    count = int(np.prod(shape))
    host = (np.arange(count) % 7 - 3).astype(np.float32).reshape(shape)
    return usmx.asarray(host, usm_type=usm_type), host


def kernels(expression):
    return len(usmx.explain(expression).kernels)


def test_what_is_made_of_a_value_keeps_its_elements_when_those_change_later():
    x, host = ramp(1000)
    y = x + 1
    made = y * 2
    y.to_numpy()  # computes y, not what is made of it
    y[0] = 100
    np.testing.assert_array_equal(made.to_numpy(), (host + 1) * 2)
    assert y[0] == 100


def test_what_is_made_of_a_view_keeps_its_elements_when_the_base_changes():
    x, host = ramp(1000)
    y = x + 1
    view = y[10:20]
    made = view * 2
    y += 100
    np.testing.assert_array_equal(made.to_numpy(), (host + 1)[10:20] * 2)
    np.testing.assert_array_equal(view.to_numpy(), (host + 101)[10:20])


def test_a_view_of_a_value_shares_its_memory():
    x, host = ramp((30, 40))
    y = x * 2
    view = y.T[3]
    view[:] = 7
    expected = host * 2
    expected.T[3] = 7
    np.testing.assert_array_equal(y.to_numpy(), expected)
    y[5, 3] = 9
    assert view[5] == 9


def test_two_views_of_a_value_that_has_no_name_share_memory():
    x, host = ramp(100)
    first = (x + 1)[:50]
    second = first[10:]
    second[0] = 50
    assert first[10] == 50
    np.testing.assert_array_equal(first[:10].to_numpy(), host[:10] + 1)


@pytest.mark.parametrize(
    "part",
    [
        lambda x: (x * 2 + 1)[5:900:7],
        lambda x: (x * 2 + 1)[::-1] + 1,
        lambda x: (x * 2 + 1)[5] * 3,
        lambda x: (x.reshape(10, 100) * 2 + 1)[:, 3],
        lambda x: (x.reshape(10, 100) + x[:100])[2:5, ::3] - 1,
        lambda x: (x.reshape(10, 100) * 2).T + 1,
        lambda x: (x.reshape(10, 100) * 2).T[3:, 1][:, None] * 2,
        lambda x: ((x + 1)[1:] * 2)[1:] + (x * 3)[2:],
        lambda x: (x.reshape(10, 10, 10) + 1).transpose(2, 0, 1)[4] * 2,
    ],
)
def test_a_view_of_a_value_without_a_name_is_a_part_of_one_kernel(part):
    x, host = ramp(1000)
    made = part(x)
    assert kernels(made) == 1
    np.testing.assert_array_equal(made.to_numpy(), part(host))


def test_only_the_elements_in_a_view_are_computed():
    x, _ = ramp(100_000)
    made = (x + 1)[:10] * 2
    plan = usmx.explain(made)
    assert [k.shape for k in plan.kernels] == [(10,)]
    assert plan.kernels[0].bytes_read == 40


def test_a_view_of_a_value_with_a_name_computes_it_once():
    x, host = ramp(1000)
    y = x + 1
    made = y[1:] - y[:-1]
    assert kernels(made) == 2
    np.testing.assert_array_equal(made.to_numpy(), np.diff(host))


def test_views_of_values_refuse_what_views_of_arrays_refuse():
    x, _ = ramp((10, 10))
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 1 with size 10"):
        (x + 1)[0, 10]
    with pytest.raises(IndexError, match="too many indices for array: array is 2-dimensional"):
        (x + 1)[0, 0, 0]
    with pytest.raises(IndexError, match="only records have fields"):
        (x + 1)["a"]


def test_what_is_made_of_a_view_of_a_view_keeps_its_elements_when_the_base_changes():
    x, host = ramp((6, 50))
    base = x * 2
    view = base[..., ::2]
    x[...] = 0  # computes base, not the view
    made = view[..., ::2] * 3
    base[...] = 100
    np.testing.assert_array_equal(made.to_numpy(), host[:, ::4] * 6)


class Program:
    """Random statements on arrays of ours and of NumPy's at once, with the same views."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = [ramp((6, 50)), ramp((6, 50))]
        self.text = []

    def say(self, text):
        self.text.append(text)

    def pick(self, shape=None):
        fitting = [
            k for k, (_, host) in enumerate(self.values) if shape is None or host.shape == shape
        ]
        return self.random.choice(fitting)

    def make(self):
        left = self.pick()
        right = self.pick(self.values[left][1].shape)
        (a, x), (b, y) = self.values[left], self.values[right]
        if self.random.random() < 0.5:
            self.say(f"v{len(self.values)} = v{left} + v{right} * 2")
            self.values.append((a + b * 2, np.asarray(x + y * 2)))
        else:
            self.say(f"v{len(self.values)} = v{left} - v{right}")
            self.values.append((a - b, np.asarray(x - y)))

    def see(self):
        which = self.pick()
        a, x = self.values[which]
        key, text = self.random.choice(
            [
                ((slice(None, None, -1),), "[::-1]"),
                ((slice(1, None),), "[1:]"),
                ((Ellipsis, slice(None, None, 2)), "[..., ::2]"),
                ((0, Ellipsis), "[0, ...]"),
                ("T", ".T"),
            ]
        )
        if x.ndim == 0 or (text in ("[1:]", "[0, ...]") and x.shape[0] < 2):
            return
        # Of a value with a name, or of one that only the view keeps.
        if self.random.random() < 0.4:
            a, x = a + 1, np.asarray(x + 1)
            text = f" + 1{text}"
        self.say(f"v{len(self.values)} = v{which}{text}")
        self.values.append((a.T, x.T) if key == "T" else (a[key], x[key]))

    def reduce(self):
        which = self.pick()
        a, x = self.values[which]
        if x.size == 0:
            return
        axis = self.random.choice([None, *range(x.ndim)])
        keep = self.random.random() < 0.3
        for name in self.random.sample(["max", "min"], self.random.choice([1, 2])):
            self.say(f"v{len(self.values)} = v{which}.{name}(axis={axis}, keepdims={keep})")
            made = getattr(usmx, name)(a, axis=axis, keepdims=keep)
            self.values.append((made, np.array(getattr(x, name)(axis=axis, keepdims=keep))))

    def change(self):
        which = self.pick()
        a, x = self.values[which]
        other = self.pick(x.shape)
        b, y = self.values[other]
        how = self.random.randrange(4)
        if how == 3:
            if x.ndim == 0:
                return
            self.say(f"v{which} += v{which}[::-1]")
            a += a[::-1]
            x += x[::-1].copy()
        elif how == 0:
            self.say(f"v{which}[...] = 5")
            a[...] = 5
            x[...] = 5
        elif how == 1:
            self.say(f"v{which} += 3")
            a += 3
            x += 3
        else:
            self.say(f"v{which}[...] = v{other} - 1")
            a[...] = b - 1
            x[...] = y - 1

    def look(self):
        which = self.pick()
        self.say(f"look at v{which}")
        a, x = self.values[which]
        np.testing.assert_array_equal(a.to_numpy(), x, err_msg="; ".join(self.text))

    def forget(self):
        if len(self.values) > 2:
            which = self.random.randrange(len(self.values))
            self.say(f"forget v{which}, the last takes its place")
            self.values[which] = self.values[-1]
            self.values.pop()

    def run(self, statements):
        steps = [self.make] * 4 + [self.see] * 3 + [self.reduce, self.change] * 2
        steps += [self.look, self.forget]
        for _ in range(statements):
            self.random.choice(steps)()
        for which in range(len(self.values)):
            a, x = self.values[which]
            np.testing.assert_array_equal(a.to_numpy(), x, err_msg="; ".join(self.text))


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_give_what_numpy_gives(seed):
    Program(seed).run(12)


def test_what_is_used_several_times_counts_once():
    n = np.linspace(0.5, 1.5, 1000)
    x, wanted = usmx.asarray(n), n + 1
    value = x + 1
    for _ in range(20):
        value, wanted = value * value / value, wanted * wanted / wanted
    plan = usmx.explain(value)
    assert [k.operations for k in plan.kernels] == [41]
    np.testing.assert_array_equal(value.to_numpy(), wanted)


def test_longer_expressions_are_cut():
    x = usmx.ones(1000, "float64")
    value = x
    for _ in range(200):
        value = value + x
    assert sum(k.operations for k in usmx.explain(value).kernels) <= 64
    np.testing.assert_array_equal(value.to_numpy(), 201)


def launches(call):
    """The kernels that a call launches, the copies, and the allocations."""
    with usmx.trace() as trace:
        call()
    kinds = [str(event).split(" ")[0] for event in trace.events]
    return kinds.count("kernel"), kinds.count("copy"), kinds.count("allocate")


def test_an_expression_is_computed_where_it_is_assigned_to():
    x, host = ramp((30, 40))
    out = usmx.zeros((32, 40), dtype="float32", usm_type="device")

    def assign():
        out[1:-1] = x[:, ::-1] * 2 + 1

    assign()
    assert launches(assign) == (1, 0, 0)
    expected = np.zeros((32, 40), np.float32)
    expected[1:-1] = host[:, ::-1] * 2 + 1
    np.testing.assert_array_equal(out.to_numpy(), expected)


def test_operands_without_a_name_are_not_kept():
    x, host = ramp(1000)
    out = usmx.zeros(1000, dtype="float32", usm_type="device")

    def in_place():
        nonlocal out
        out += x * 2

    def given():
        usmx.add(x * 3, x, out=out)

    for call, expected in ((in_place, host * 2), (given, host * 4)):
        call()
        assert launches(call) == (1, 0, 0)
        out[:] = 0
        call()
        np.testing.assert_array_equal(out.to_numpy(), expected)


def test_operands_with_a_name_are_computed_once():
    x, host = ramp(1000)
    out = usmx.zeros(1000, dtype="float32", usm_type="device")
    twice = x * 2
    usmx.add(twice, x, out=out)
    x[:] = 0
    assert launches(twice.to_numpy)[0] == 0
    np.testing.assert_array_equal(twice.to_numpy(), host * 2)
    more = twice + 1
    out[:] = more
    twice[:] = 0
    np.testing.assert_array_equal(more.to_numpy(), host * 2 + 1)
    np.testing.assert_array_equal(out.to_numpy(), host * 2 + 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.__setitem__(slice(None), x * 2 + 1),
        lambda x: x.__setitem__(slice(1, None), x[:-1] * 2),
        lambda x: x.__setitem__(slice(None), x[::-1] + x),
        lambda x: x.__setitem__(slice(None, None, -1), x + 1),
        lambda x: x[1:].__iadd__(x[:-1] * 2),
        lambda x: x.__setitem__(slice(None), (x - 1) / (x - x.mean() + 20)),
        lambda x: x.__setitem__(slice(None), np.float32(2) * x.sum(keepdims=True) * (x > 0)),
        lambda x: x.__setitem__(slice(2), x[5:][:2] + 1),
    ],
)
def test_assignments_read_all_before_they_write(change):
    x, host = ramp(700)
    change(x)
    change(host)
    np.testing.assert_allclose(x.to_numpy(), host, rtol=1e-6)


def test_values_that_passed_are_right_if_somebody_looks_again():
    x, host = ramp(100)
    out = usmx.zeros(100, dtype="float32", usm_type="device")
    passed = (slice(None), x * 2)  # the value has one reference, of the tuple
    out.__setitem__(*passed)
    x[:] = 0
    np.testing.assert_array_equal(passed[1].to_numpy(), host * 2)
    over = (slice(None), out + 1)
    out.__setitem__(*over)
    out[:] = 0
    np.testing.assert_array_equal(over[1].to_numpy(), host * 2 + 1)


def test_errors_of_an_assigned_expression_leave_it_as_it_was():
    x, host = ramp(100)
    out = usmx.zeros(50, dtype="float32", usm_type="device")
    with pytest.raises(ValueError, match="shape"):
        out[:] = x * 2
    frozen = usmx.zeros(100, dtype="float32", usm_type="device")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        frozen[:] = x * 2
    np.testing.assert_array_equal((x * 2).to_numpy(), host * 2)


def test_copies_that_the_host_cannot_see_do_not_wait():
    x, host = ramp(1 << 18)
    out = usmx.zeros(1 << 19, dtype="float32", usm_type="device")
    with usmx.trace() as trace:
        out[: 1 << 18] = x
        joined = usmx.concat((x, x))
        turned = usmx.roll(x, 3)
    assert [str(e) for e in trace.events if str(e).startswith("wait")] == []
    np.testing.assert_array_equal(out[: 1 << 18].to_numpy(), host)
    np.testing.assert_array_equal(joined.to_numpy(), np.concatenate((host, host)))
    np.testing.assert_array_equal(turned.to_numpy(), np.roll(host, 3))


@pytest.mark.parametrize(("to", "of"), [("shared", "device"), ("device", "shared")])
def test_copies_that_the_host_can_see_wait(to, of):
    # The host may read the one and write the other at once.
    x, host = ramp(1 << 18, of)
    out = usmx.zeros(1 << 18, dtype="float32", usm_type=to)
    out[:] = x
    if to == "shared":
        np.testing.assert_array_equal(np.asarray(out), host)
    else:
        np.asarray(x)[:] = 0
        np.testing.assert_array_equal(out.to_numpy(), host)


def doubled(x, times):
    """Two ways lead from each value to the one before: more than 10^18 to the first one."""
    for _ in range(times):
        x = x + x
    return x


@pytest.mark.timeout(100)
@pytest.mark.parametrize(
    "look",
    [
        lambda y, x, out: y.to_numpy(),
        lambda y, x, out: usmx.explain(y),
        lambda y, x, out: x.__setitem__(slice(None), 0),
        lambda y, x, out: out.__setitem__(slice(None), y + 1),
        lambda y, x, out: usmx.add(y, 1, out=out),
        lambda y, x, out: (float(y.sum()), float(y.max())),
        lambda y, x, out: (y / y.sum(keepdims=True)).to_numpy(),
        lambda y, x, out: y[5:50].to_numpy(),
        lambda y, x, out: y.reshape(10, 10).T.sum(axis=0).to_numpy(),
    ],
)
def test_values_that_are_used_twice_are_gone_through_once(look):
    x = usmx.ones(100, dtype="float64", usm_type="device")
    out = usmx.empty(100, dtype="float64", usm_type="device")
    y = doubled(x, 60)
    look(doubled(x * 1, 60), x, out)
    np.testing.assert_array_equal(y.to_numpy(), np.full(100, 2.0**60))


COUNTED = [
    lambda a: a[::3],
    lambda a: (a * 2)[5:100:2] + 1,
    lambda a: a.reshape(100, 100).T + 1,
    lambda a: a[:100, None] * a[None, :50],
    lambda a: (a * a + 1).sum(),
    lambda a: (a * 2).sum() + (a * 2).max(),
    lambda a: (a + 1) / (a + 1).sum(axis=-1, keepdims=True),
    lambda a: (a + 1) * a[::-1],
    lambda a: a[a % 3 == 0],
    lambda a: a.astype("f4") * 1.5,
    lambda a: a.cumsum(),
    lambda a: (a.__setitem__(slice(0, 3), 7), a * 2)[1],
]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("function", COUNTED)
def test_numbers_that_count_up_are_those_of_numpy_in_every_use(function, named):
    kept = [usmx.arange(10_000)] if named else []
    got = function(kept[0] if named else usmx.arange(10_000))
    np.testing.assert_allclose(got.to_numpy(), function(np.arange(10_000)), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_a_row_of_numbers_that_count_up_is_divided_by_its_sum(dtype):
    def shares(xp, a):
        return a / xp.sum(a, axis=-1, keepdims=True)

    # Such a row is computed by one kernel, if it does not count.
    assert kernels(shares(usmx, usmx.ones(5000, dtype) + 1)) == 1
    row = usmx.arange(5000, dtype=dtype) + usmx.ones(5000, dtype)
    np.testing.assert_allclose(
        shares(usmx, row).to_numpy(), shares(np, np.arange(1, 5001)), rtol=1e-6
    )


@pytest.mark.parametrize(
    "numbers", [(10_000,), (5, 100_000, 7), (30_000, 5, -7), (0.0, 1e4, 0.37), (1e4, 0.0, -0.37)]
)
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "float32", "float64", "complex64"])
def test_arange_has_the_bits_of_numpy(numbers, dtype):
    x = usmx.arange(*numbers, dtype=dtype)
    assert kernels(x) == 1
    with np.errstate(all="ignore"):
        # Steps of integers are whole ones; NumPy's sums of float32 are less exact than these.
        expected = (
            np.arange(*numbers, dtype=dtype)
            if np.issubdtype(dtype, np.integer)
            else np.arange(*numbers).astype(dtype)
        )
        np.testing.assert_array_equal(x.to_numpy(), expected)
    assert x.dtype == dtype


def test_what_is_made_of_arange_needs_no_memory_for_it():
    x = usmx.arange(100_000, usm_type="shared") * 0.5 + 1
    (kernel,) = usmx.explain(x).kernels
    assert kernel.bytes_read == 0
    assert kernel.bytes_written == 800_000
    with usmx.trace() as t:
        np.testing.assert_array_equal(x.to_numpy(), np.arange(100_000) * 0.5 + 1)
    assert t.summary().kernels == 1
    assert x.usm_type == "shared"
    out = usmx.zeros(200_000)
    out[::2] = usmx.arange(100_000) * 2.0
    out[1::2] = usmx.arange(0, -100_000, -1)
    np.testing.assert_array_equal(out.to_numpy()[::2], np.arange(100_000) * 2.0)
    np.testing.assert_array_equal(out.to_numpy()[1::2], -np.arange(100_000))
    ones = usmx.ones(1) * usmx.arange(10_000)
    assert ones.shape == (10_000,)
    np.testing.assert_array_equal(ones.to_numpy(), np.arange(10_000))
    (kernel,) = usmx.explain(usmx.linspace(0, 1, 100_000)).kernels
    assert kernel.bytes_read == 0
    assert usmx.linspace(0, 1, 100_000)[-1] == 1
    with usmx.eager():
        assert not kernels(usmx.arange(10_000))


def test_sums_with_arange_need_no_memory_for_it():
    x, host = ramp(100_000)
    n = np.arange(100_000)
    total = (x * usmx.arange(100_000)).sum()
    (kernel,) = usmx.explain(total).kernels
    assert kernel.bytes_read == host.nbytes
    np.testing.assert_allclose(total.to_numpy(), (host * n).sum())
    a = usmx.arange(100_000)
    both = (x * a).sum() + (x + a).max()  # one kernel, and one for the sum of both
    assert kernels(both) == 2
    np.testing.assert_allclose(both.to_numpy(), (host * n).sum() + (host + n).max())
    alone = (usmx.arange(100_000) * 2).sum()
    assert kernels(alone) == 2  # nothing shows how many there are
    assert alone.to_numpy() == 2 * n.sum()
    mean = (x - usmx.arange(100_000)).mean(axis=0, keepdims=True)
    np.testing.assert_allclose(mean.to_numpy(), (host - n).mean(axis=0, keepdims=True))
    each = usmx.sum(x * usmx.arange(100_000), axis=())
    np.testing.assert_array_equal(each.to_numpy(), host * n)
    view = x[::2]
    np.testing.assert_allclose(
        (view * usmx.arange(50_000)).sum().to_numpy(), (host[::2] * n[:50_000]).sum()
    )


CASTS = "?bhiqBHIQefdFD"


@pytest.mark.parametrize("char", CASTS)
def test_casts_are_part_of_the_kernel_with_the_bits_of_a_copy(char):
    points = np.array([0, 1, 2, 3, 100, 127, 200], "f8")
    finite = np.resize(points if np.dtype(char).kind in "bu" else [*points, -1, -3, -100], 5000)
    if np.dtype(char).kind in "fc":
        finite = finite + 0.25
    made = []
    for to in some([to for to in CASTS if to != char], 3):
        host = finite.copy()
        if np.dtype(char).kind in "fc":
            host[:3] = [np.inf, -np.inf, np.nan] if np.dtype(to).kind in "fc" else 0
        host = host.astype(char)
        x = usmx.asarray(host, usm_type="device")
        y = x.astype(to)
        (kernel,) = usmx.explain(y).kernels
        assert kernel.operations == 1
        whole = usmx.where(x == x, x, x).astype(to)  # noqa: PLR0124
        assert kernels(whole) == 1
        copied = usmx.empty(5000, to)
        copied[...] = x  # by a copy that converts
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.append((to, (y, whole, copied), host.astype(to)))
    compute_together(one for _, (y, whole, _), _ in made for one in (y, whole))
    for to, results, wanted in made:
        for got in results:
            assert got.dtype == np.dtype(to)
            np.testing.assert_array_equal(got.to_numpy(), wanted, to)


def test_a_cast_to_the_type_that_it_has_is_a_copy_and_part_of_the_kernel():
    x = usmx.zeros(5000, "f4")
    y = x + 1
    z = y.astype("f4")
    assert kernels((y.astype("f4") * 2).sum()) == 1
    assert kernels(z) == 1
    y[0] = 5
    assert z.tolist() == [1.0] * 5000
    assert y.astype("f4", copy=False) is y
    z[1] = 7
    assert y[:2].tolist() == [5.0, 1.0]


def test_a_cast_keeps_the_order_that_is_asked_for():
    x = usmx.asarray(np.arange(6000.0).reshape(60, 100), usm_type="device")
    for made, order in (
        (x.T.astype("f4"), "F"),
        (x.astype("f4", order="F"), "F"),
        (x.T.astype("f4", order="C"), "C"),
        ((x + 1).astype("f4"), "C"),
    ):
        assert made.flags[f"{order}_CONTIGUOUS"]
        assert made.dtype == "f4"
    np.testing.assert_array_equal(x.T.astype("i4").to_numpy(), x.to_numpy().T.astype("i4"))
