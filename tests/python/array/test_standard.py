# What other libraries ask of a namespace of the Array API standard: names, signatures, types, and
# what it says about itself.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
from depths import some

import usmx
from usmx import _usmx

# The signatures of edition 2025.12; elementwise functions with one and with two operands follow.
SIGNATURES = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
isin(x1, x2, /, *, invert=False)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
clip(x, /, min=None, max=None)
"""
OF_ONE = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag
isfinite isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal round
sign signbit sin sinh square sqrt tan tanh trunc
"""
OF_TWO = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and
logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
"""
LINES = {line.split("(")[0]: line for line in SIGNATURES.split("\n") if line}
LINES |= {name: f"{name}(x, /)" for name in OF_ONE.split()}
LINES |= {name: f"{name}(x1, x2, /)" for name in OF_TWO.split()}
THERE = [name for name in LINES if hasattr(usmx, name)]


def signature_of(line: str) -> inspect.Signature:
    scope: dict[str, object] = {}
    exec(f"def {line}: ...", scope)
    return inspect.signature(scope[line.split("(", maxsplit=1)[0]])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", THERE)
def test_each_call_that_the_standard_allows_is_accepted(name: str) -> None:
    ours_is = getattr(usmx, name)
    wanted = signature_of(LINES[name]).parameters
    if isinstance(ours_is, usmx._usmx.Operation):
        assert ours_is.nin == len(wanted)
        return
    ours = inspect.signature(ours_is).parameters
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    places = [p for p in ours.values() if p.kind in by_place]
    for place, parameter in enumerate(wanted.values()):
        if parameter.kind == parameter.VAR_POSITIONAL:
            assert any(p.kind == parameter.kind for p in ours.values())
            continue
        if parameter.kind in by_place:
            assert place < len(places)
            same = places[place]
        if parameter.kind in by_name:
            same = ours[parameter.name]
            assert same.kind in by_name
            # `clip` has both NumPy's names of limits, by place too, and those of the standard.
            assert (
                parameter.kind == parameter.KEYWORD_ONLY or places[place] is same or name == "clip"
            )
        if parameter.default is not parameter.empty:
            assert same.default == parameter.default
    # Those by place have NumPy's names.
    named = {p.name for p in places[: sum(p.kind in by_place for p in wanted.values())]}
    for name_of_ours, parameter in ours.items():
        if name_of_ours not in {*wanted, *named} and parameter.kind in by_name:
            assert parameter.default is not parameter.empty


def test_the_functions_of_these_topics_are_all_there() -> None:
    topics = ("arange", "count_nonzero"), ("nonzero", "vecdot")
    names = list(LINES)
    for first, last in topics:
        for name in names[names.index(first) : names.index(last) + 1]:
            assert name in THERE


def test_constants() -> None:
    assert (usmx.e, usmx.pi, usmx.inf) == (np.e, np.pi, np.inf)
    assert np.isnan(usmx.nan)
    assert usmx.newaxis is None
    assert usmx.__array_api_version__ == "2025.12"
    assert usmx.zeros(2, dtype=usmx.bool).dtype == bool


def test_the_namespace_says_what_it_can() -> None:
    info = usmx.zeros(1).__array_namespace__().__array_namespace_info__()
    capabilities = info.capabilities()
    assert capabilities["boolean indexing"] is True
    assert capabilities["data-dependent shapes"] is True
    assert usmx.zeros((1,) * capabilities["max dimensions"]).ndim == 64
    assert info.default_device() == usmx.zeros(1).device
    assert info.default_device() in info.devices()
    for device in (None, info.default_device()):
        defaults = info.default_dtypes(device=device)
        assert defaults["real floating"] == usmx.zeros(1).dtype
        assert defaults["integral"] == usmx.arange(1).dtype
        assert defaults["indexing"] == usmx.nonzero(usmx.ones(1))[0].dtype
        assert defaults["complex floating"] == usmx.linspace(0, 1j, 2).dtype
        for name, dtype in info.dtypes(device=device).items():
            assert usmx.ones(1, dtype=dtype).dtype == np.dtype(name)
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert set(info.dtypes(kind=("bool", "complex floating"))) >= {"bool", "complex64"}
    with pytest.raises(ValueError, match="kind: 'text'; expected one of bool"):
        info.dtypes(kind="text")


TYPES = "?bBhHiIqQefdFD"


def test_types_meet_as_in_numpy() -> None:
    weak = [1, 1.5, 1j, True]
    for one, other in itertools.product(TYPES, [*TYPES, *weak]):
        wanted = np.result_type(np.dtype(one), np.dtype(other) if other in [*TYPES] else other)
        second = other if not isinstance(other, str) else usmx.zeros((), other)
        assert usmx.result_type(usmx.zeros(1, one), second) == wanted
        if isinstance(other, str):
            assert usmx.can_cast(one, other) == np.can_cast(one, other)
            assert usmx.can_cast(usmx.zeros(1, one), other) == np.can_cast(one, other)
    assert usmx.result_type(usmx.float32, usmx.int8) == np.float32
    with pytest.raises(ValueError, match="arrays_and_dtypes: is empty"):
        usmx.result_type()
    with pytest.raises(TypeError, match="to: 'nothing' is not an element type"):
        usmx.can_cast("f4", "nothing")


def test_types_are_of_kinds() -> None:
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating",
             "complex floating", "numeric"]  # fmt: skip
    for char, kind in itertools.product(TYPES, kinds):
        assert usmx.isdtype(char, kind) == np.isdtype(np.dtype(char), kind)
    assert usmx.isdtype(usmx.float32, (usmx.float64, "real floating"))
    assert not usmx.isdtype(usmx.float32, usmx.float64)
    with pytest.raises(ValueError, match="kind: 'float'; expected one of bool"):
        usmx.isdtype(usmx.float32, "float")


def test_limits_of_types() -> None:
    for char in some("efdFD", 2):
        for given in (np.dtype(char), usmx.zeros(1, char)):
            ours, wanted = usmx.finfo(given), np.finfo(char)
            for field in ("bits", "eps", "max", "min", "smallest_normal", "dtype"):
                assert getattr(ours, field) == getattr(wanted, field)
            assert type(ours.eps) is float
    for char in some("bBhHiIqQ", 3):
        ours, wanted = usmx.iinfo(usmx.zeros(1, char)), np.iinfo(char)
        assert (ours.bits, ours.min, ours.max) == (wanted.bits, wanted.min, wanted.max)
        assert ours.dtype == np.dtype(char)
    assert usmx.iinfo(usmx.int8).max == 127
    with pytest.raises(TypeError, match="dtype: int8; expected floating-point"):
        usmx.finfo("int8")
    with pytest.raises(TypeError, match="int_type: float32; expected integers"):
        usmx.iinfo(usmx.float32)


def test_conversions() -> None:
    x = usmx.asarray([1.7, -2.2])
    assert usmx.astype(x, "int8").to_numpy().tolist() == [1, -2]
    assert usmx.astype(x, x.dtype, copy=False) is x
    assert usmx.astype(x, x.dtype) is not x
    assert usmx.astype(x, "f", device=x.device).dtype == "f"
    assert usmx.promote_types("int8", "uint8") == np.int16


def test_names_that_numpy_has_are_found_by_its_functions() -> None:
    x = usmx.arange(4)
    assert np.astype(x, "f").dtype == "f"
    assert np.result_type(x.dtype, 1.0) == usmx.result_type(x, 1.0)
    assert isinstance(np.count_nonzero(x), usmx.ndarray)
    assert _usmx.ndarray is usmx.ndarray


def test_several_results_are_a_tuple() -> None:
    x, y = usmx.arange(3), usmx.arange(2)
    for several in (
        usmx.meshgrid(x, y),
        usmx.meshgrid(x, sparse=True, copy=False),
        usmx.broadcast_arrays(x, x[:1]),
        usmx.unstack(x),
        usmx.nonzero(x),
        usmx.__array_namespace_info__().devices(),
    ):
        assert type(several) is tuple


def test_types_that_the_standard_does_not_have_are_not_listed_as_its_own() -> None:
    wanted = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
              "float32", "float64", "complex64", "complex128"}  # fmt: skip
    assert set(usmx.__array_namespace_info__().dtypes()) <= wanted


def test_arrays_move_to_the_queue_given_as_stream() -> None:
    x = usmx.arange(3)
    queue = usmx.Queue(x.device)
    moved = x.to_device(x.device, stream=queue)
    assert moved.queue == queue
    assert moved.tolist() == [0, 1, 2]
    assert x.to_device(x.device, stream=None).device == x.device
    with pytest.raises(ValueError, match="device filter 'text of no device'"):
        x.to_device(x.device, stream="text of no device")
