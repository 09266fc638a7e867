"""A call that does not fit is told in one line: the function, the argument, the nearest name."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import usmx
import usmx.memory
import usmx.random
import usmx.special
from usmx import _usmx

X = usmx.ones(3)

#: A call -> what it is told.
CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (
        lambda u: u.zeros(3, dtyp="f4"),
        "usmx.zeros: got an unexpected argument 'dtyp'; did you mean 'dtype'?",
    ),
    (
        lambda u: u.empty(3, dtyp="f4"),
        "usmx.empty: got an unexpected argument 'dtyp'; did you mean 'dtype'?",
    ),
    (lambda u: u.full(3), "usmx.full: missing the argument 'fill_value'"),
    (lambda u: u.full(), "usmx.full: missing the arguments 'shape' and 'fill_value'"),
    (
        lambda u: u.zeros(3, "f4", "C", None),
        "usmx.zeros: takes 1 to 3 arguments by place, got 4; by name: 'usm_type', 'device', "
        "'queue'",
    ),
    (lambda u: u.zeros(3, shape=3), "usmx.zeros: got the argument 'shape' by place and by name"),
    (
        lambda u: u.Queue(devic="cpu"),
        "usmx.Queue: got an unexpected argument 'devic'; did you mean 'device'?",
    ),
    (
        lambda u: u.Queue(in_order="yes"),
        "usmx.Queue: in_order: got 'yes' (str); expected bool or None",
    ),
    (
        lambda u: u.memory.MemoryUSMShared(8, aligment=64),
        "usmx.memory.MemoryUSMShared: got an unexpected argument 'aligment'; did you mean "
        "'alignment'?",
    ),
    (lambda u: u.RawKernel("x"), "usmx.RawKernel: missing the argument 'name'"),
    (
        lambda u: X.reshape(3, ordr="C"),
        "usmx.ndarray.reshape: got an unexpected argument 'ordr'; did you mean 'order'?",
    ),
    (
        lambda u: X.copy("C", "shared"),
        "usmx.ndarray.copy: takes at most 1 argument by place, got 2; by name: 'usm_type', "
        "'device', 'queue'",
    ),
    # Functions of the table of operations.
    (lambda u: u.sqrt(), "usmx.sqrt: missing the argument 'x'"),
    (lambda u: u.add(1), "usmx.add: missing the argument 'x2'"),
    (
        lambda u: u.sqrt(X, ot=X),
        "usmx.sqrt: got an unexpected argument 'ot'; did you mean 'out'?",
    ),
    (
        lambda u: u.add(X, X, dtpye="f4"),
        "usmx.add: got an unexpected argument 'dtpye'; did you mean 'dtype'?",
    ),
    (
        lambda u: u.sqrt(X, None, out=X),
        "usmx.sqrt: got the argument 'out' by place and by name",
    ),
    (lambda u: u.where(X, 1), "usmx.where: missing the argument 'x2'"),
    (
        lambda u: u.where(X, 1, 2, where=X),
        "usmx.where: got an unexpected argument 'where'; it takes 'out' and 'dtype'",
    ),
    (
        lambda u: u.special.erf(X, dtyp="f4"),
        "usmx.special.erf: got an unexpected argument 'dtyp'; did you mean 'dtype'?",
    ),
    (
        lambda u: u.angle(X, degs=True),
        "usmx.angle: got an unexpected argument 'degs'; did you mean 'deg'?",
    ),
    # Functions written in Python that read their keywords, or share a wrapper.
    (
        lambda u: u.random.default_rng(1).normal(siz=3),
        "usmx.random.Generator.normal: got an unexpected argument 'siz'; did you mean 'size'?",
    ),
    (
        lambda u: u.stack([X, X], axes=0),
        "usmx.stack: got an unexpected argument 'axes'; did you mean 'axis'?",
    ),
    (lambda u: u.dot(X), "usmx.dot: missing the argument 'b'"),
    (
        lambda u: u.matmul(X, X, ou=X),
        "usmx.matmul: got an unexpected argument 'ou'; did you mean 'out'?",
    ),
    (
        lambda u: u.fuse(shifted)(X, bye=1),
        "shifted: got an unexpected argument 'bye'; did you mean 'by'?",
    ),
]


def shifted(x: Any, *, by: Any = 1) -> Any:
    return x + by


@pytest.mark.parametrize(("call", "line"), [pytest.param(*row, id=row[1]) for row in CALLS])
def test_a_wrong_call_names_function_argument_and_nearest_name(
    call: Callable[[Any], Any], line: str
) -> None:
    with pytest.raises(TypeError) as caught:
        call(usmx)
    assert str(caught.value) == line


def bound() -> Iterator[Any]:
    """All functions and methods of the compiled module."""
    seen: set[int] = set()

    def inside(place: Any) -> Iterator[Any]:
        for value in list(vars(place).values()):
            if type(value).__name__ in ("nb_func", "nb_method"):
                yield value
            elif isinstance(value, type) and id(value) not in seen:
                seen.add(id(value))
                if value.__module__.startswith("usmx"):
                    yield from inside(value)

    yield from inside(_usmx)


def test_no_function_of_the_module_answers_with_a_list_of_overloads() -> None:
    count = 0
    for function in bound():
        names = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD) and one.name != "self"
        ]
        kinds = {one.kind for one in inspect.signature(function).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD in kinds:
            continue
        for wrong in ("nonsense", *(f"{name}_" for name in names)):
            try:
                answer = function(**{wrong: 1})
            except TypeError as error:
                line = str(error)
            else:
                assert answer is NotImplemented, function.__qualname__  # of an operator
                continue
            assert f": got an unexpected argument {wrong!r}; " in line
            assert line.startswith("usmx."), line
            assert "\n" not in line
            assert wrong == "nonsense" or f"did you mean {wrong[:-1]!r}?" in line
            count += 1
    assert count > 500


def test_a_wrong_self_of_a_compiled_method_is_one_line() -> None:
    with pytest.raises(TypeError) as caught:
        usmx.Queue.wait(7)  # type: ignore[arg-type]
    assert str(caught.value) == "usmx.Queue.wait: self: got 7 (int); expected usmx.Queue"


def test_errors_from_inside_of_a_function_are_its_own() -> None:
    with pytest.raises(TypeError, match=r"^shape: 'abc' \(str\); expected"):
        usmx.zeros("abc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="axis"):
        usmx.stack([X, X], axis="a")  # type: ignore[arg-type]


def test_a_message_that_is_no_text_of_utf_8_passes() -> None:
    class Refusing:
        def __index__(self) -> int:
            raise TypeError("\ud800")

    with pytest.raises(TypeError, match="\ud800"):
        usmx.zeros(Refusing())
    with pytest.raises(TypeError, match=r"unexpected argument '\\ud800'"):
        usmx.zeros(3, **{"\ud800": 3})  # type: ignore[arg-type]


def test_right_calls_do_not_import_what_explains_wrong_ones(run_python: Any) -> None:
    run_python(
        """
        import sys
        import usmx
        usmx.stack([usmx.zeros(3, dtype="f4"), usmx.ones(3)]).copy()
        assert "usmx._wrong_calls" not in sys.modules
        try:
            usmx.zeros(dtyp=3)
        except TypeError as error:
            assert "did you mean 'dtype'?" in str(error), error
        assert "usmx._wrong_calls" in sys.modules
        """
    )
