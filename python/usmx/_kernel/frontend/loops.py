"""`for`: over ranges, arrays, tuples, and `enumerate`, `zip` and `reversed` of them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..types import operators, scalars
from ..types import values as v
from ..types.values import ArrayValue, Number, PythonObject, Tuple, Value
from .assignments import Assignments
from .elements import Elements, listed
from .names import Names
from .signs import stored_in
from .walk import Walk, array_of, in_order, is_of_launch

#: The place of an item among all, along one dimension, and how many there are.
_GLOBAL_ID = re.compile(r"int64_t\((usmx::nd_item<\d>::)get_global_id(\(\d\))\)")
_GLOBAL_RANGE = re.compile(r"int64_t\((usmx::nd_item<\d>::)get_global_range(\(\d\))\)")


@dataclass(frozen=True)
class Sequence:
    """What a loop goes through: how many there are, and which one a number stands for."""

    length: Number
    at: Callable[[Number], Value]


class Loops:
    """Loops over something."""

    def __init__(
        self, walk: Walk, names: Names, elements: Elements, assignments: Assignments
    ) -> None:
        self.walk = walk
        self.names = names
        self.elements = elements
        self.assignments = assignments

    def on_for(self, node: ast.For) -> None:
        """``for i in range(...)``, ``for x in a``."""
        call = node.iter
        if isinstance(call, ast.Tuple | ast.Name) and self._unroll(node):
            self.walk.body(node.orelse)
            return
        with self.walk.loop(node):
            if not isinstance(call, ast.Call) or self._called(call) is not range:
                self._through(node, self._sequence(node.iter, stored_in([node])))
            elif isinstance(node.target, ast.Name):
                self._loop(node, node.target, self._bounds(call))
            else:
                raise self.walk.error(node.target, "range gives numbers, which one name takes")

    def _called(self, node: ast.Call) -> object:
        """The function of a call, None if it is none of Python's."""
        called = self.walk.value(node.func)
        return called.value if isinstance(called, PythonObject) else None

    # --- through a sequence -----------------------------------------------------------------------

    def _now(self, number: Number) -> Number:
        """A number as it is before the first round: its names may change in the rounds."""
        return number if number.const is not None else self.walk.temporary(number)

    def _array_now(self, value: ArrayValue, stored: set[str]) -> ArrayValue:
        """An array as it is before the first round; `stored` are the names that rounds change."""
        walk = self.walk
        indices = tuple(
            one if one.isdecimal() else walk.store_once("int64_t", one) for one in value.indices
        )
        spelled = {walk.spell(one) for name in stored for one in (name, array_of(name))}
        changes = spelled & set(re.findall(r"\w+", value.code))
        code = walk.store_once("auto", value.code) if changes else value.code
        return replace(value, code=code, indices=indices)

    def _sequence(self, node: ast.expr, stored: set[str]) -> Sequence:
        """What an expression goes through, which is found once, before the first round."""
        walk = self.walk
        if isinstance(node, ast.Call):
            called = self._called(node)
            if called is range:
                start, stop, step = (self._now(one) for one in self._bounds(node))
                length = self._now(
                    Number(
                        scalars.INT,
                        f"int64_t(usmx::range_length({start.code}, {stop.code}, {step.code}))",
                    )
                )
                return Sequence(
                    length,
                    lambda k: Number(
                        scalars.INT,
                        f"{start.at(v.SUM)} + {k.at(v.SUM + 1)} * {step.at(v.UNARY)}",
                        v.SUM,
                        least=_least(walk, start, stop, step),
                        asks=start.asks | stop.asks | step.asks,
                    ),
                )
            if called is enumerate:
                return self._numbered(node, stored)
            if called is zip:
                return self._zipped([self._sequence(one, stored) for one in self._some(node)])
            if called is reversed:
                [one] = in_order(walk, node, 1)
                of = self._sequence(one, stored)
                last = walk.temporary(Number(scalars.INT, f"{of.length.at(v.SUM)} - 1", v.SUM))
                return Sequence(
                    of.length,
                    lambda k: of.at(
                        Number(scalars.INT, f"{last.code} - {k.at(v.SUM + 1)}", v.SUM, least=0)
                    ),
                )
        value = walk.value(node)
        if isinstance(value, ArrayValue) and len(value.indices) < value.ndim:
            array = self._array_now(value, stored)
            return Sequence(
                self.elements.length(array, len(array.indices)),
                lambda k: self.elements.element(
                    replace(array, indices=(*array.indices, k.code)),
                ),
            )
        if isinstance(value, Tuple):
            return self._listed(node, value)
        raise walk.error(
            node,
            f"{v.describe(value)} cannot be looped over; range(...), arrays and tuples can, and "
            "enumerate, zip and reversed of them",
        )

    def _some(self, node: ast.Call) -> list[ast.expr]:
        """The arguments of zip. The simulator checks lengths that are said to be equal."""
        for keyword in node.keywords:
            if keyword.arg != "strict":
                raise self.walk.error(keyword.value, f"zip has no parameter '{keyword.arg}'")
        if not node.args:
            raise self.walk.error(node, "zip takes one argument or more, got none")
        return node.args

    def _numbered(self, node: ast.Call, stored: set[str]) -> Sequence:
        """``enumerate(a, start)``."""
        given = {k.arg: k.value for k in node.keywords}
        if len(node.args) == 2 and not given:
            given = {"start": node.args[1]}
        if not 1 <= len(node.args) <= 2 or given.keys() - {"start"}:
            raise self.walk.error(node, "enumerate takes something to loop over and a start")
        of = self._sequence(node.args[0], stored)
        start = v.constant(0)
        if "start" in given:
            start = self.walk.scalar(given["start"], "the start of enumerate")
            if start.type.kind not in "biu":
                raise self.walk.error(
                    given["start"],
                    f"the start of enumerate is {v.describe(start)}; expected an int",
                )
            start = operators.checked(start, scalars.INT)
            if start.const is None:
                start = self.walk.temporary(start)

        def at(k: Number) -> Value:
            number = k
            if start.const != 0:
                number = Number(
                    scalars.INT, f"{start.at(v.SUM)} + {k.at(v.SUM + 1)}", v.SUM,
                    least=v.least_of(start), asks=start.asks,
                )  # fmt: skip
            return Tuple((number, of.at(k)))

        return Sequence(of.length, at)

    def _zipped(self, all_of: list[Sequence]) -> Sequence:
        """As long as the shortest."""
        length = all_of[0].length
        for other in all_of[1:]:
            if length.const is not None and other.length.const is not None:
                length = min(length, other.length, key=lambda n: int((n.const or 0).real))
            else:
                length = operators.call("min", scalars.INT, length, other.length)
        return Sequence(length, lambda k: Tuple(tuple(one.at(k) for one in all_of)))

    def _listed(self, node: ast.expr, value: Tuple) -> Sequence:
        """A tuple of numbers, as a table of this function."""
        if not value.items:
            return Sequence(v.constant(0), lambda _: v.constant(0))
        t, name = listed(self.walk, node, value, "the tuple that is looped over")
        return Sequence(v.constant(len(value.items)), lambda k: Number(t, f"{name}[{k.code}]"))

    def _through(self, node: ast.For, sequence: Sequence) -> None:
        """A loop that counts, and gives each value to the target."""
        walk = self.walk
        walk.temporaries += 1
        counter = walk.spell(f"at.{walk.temporaries}")
        end = walk.spell(f"end.{walk.temporaries}")
        length = sequence.length.code
        walk.line(
            f"for (int64_t {counter} = 0, {end} = {length}; {counter} < {end}; ++{counter}) {{"
        )
        walk.runs[-1] = sequence.length.const is not None and sequence.length.const.real > 0
        with walk.indented():
            value = sequence.at(Number(scalars.INT, counter, least=0))
            target = node.target
            private = isinstance(target, ast.Name) and target.id in walk.private_loops
            if private and isinstance(value, Number):
                assert isinstance(target, ast.Name)
                number = value
                t = self.names.assign_scalar(target.id, number, target)
                walk.result.notes[target] = t
                code = operators.checked(number, t).code
                walk.line(f"const {t.cpp} {walk.spell(target.id)} = {code};")
            else:
                self.assignments.assign(target, value, node.iter)
            walk.body(node.body)
        walk.line("}")

    def _unroll(self, node: ast.For) -> bool:
        """Once for each item of a tuple that has others than numbers, such as arrays."""
        value = self.walk.value(node.iter)
        if not isinstance(value, Tuple) or all(isinstance(i, Number) for i in value.items):
            return False
        kinds = {(i.element, i.ndim) if isinstance(i, ArrayValue) else type(i) for i in value.items}
        if len(kinds) > 1:
            raise self.walk.error(
                node.iter, "the items of a tuple that is looped over must be of one type"
            )
        for part in node.body:
            for inner in ast.walk(part):
                if isinstance(inner, ast.Break | ast.Continue):
                    raise self.walk.error(
                        inner, "is not supported in a loop over a tuple of arrays; use if"
                    )
        names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        for item in value.items:
            for name in names:
                self.walk.scope.statics.pop(name, None)
            self.assignments.assign(node.target, item, node.iter)
            self.walk.line("{")
            with self.walk.indented():
                self.walk.body(node.body)
            self.walk.line("}")
        return True

    # --- ranges -----------------------------------------------------------------------------------

    def _bounds(self, call: ast.Call) -> tuple[Number, Number, Number]:
        """Start, stop and step."""
        others = [k for k in call.keywords if k.arg != "unroll"]  # of cupyx.jit, a hint
        if others or not 1 <= len(call.args) <= 3:
            raise self.walk.error(call, f"range takes 1 to 3 numbers, got {len(call.args)}")
        bounds = []
        for one in call.args:
            value = v.counted(self.walk.value(one))
            number = self.walk.number(one, value, "a bound of range")
            if number.type.kind not in "biu":
                raise self.walk.error(one, f"range takes ints, not {v.describe(number)}")
            try:
                bounds.append(operators.checked(number, scalars.INT))
            except TypeError as error:
                raise self.walk.error(one, str(error)) from None
        start, stop, step = (
            (v.constant(0), bounds[0], v.constant(1))
            if len(bounds) == 1
            else (bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else v.constant(1))
        )
        if step.const == 0:
            raise self.walk.error(call.args[2], "range: the step is 0; expected another number")
        return start, stop, step

    def _loop(self, node: ast.For, target: ast.Name, bounds: tuple[Number, Number, Number]) -> None:
        """The loop itself; bounds are computed once, as Python does."""
        start, stop, step = bounds
        name = target.id
        signs, spelled = self.walk.signs, self.walk.spell(name)
        asks = start.asks | stop.asks | step.asks
        first = Number(scalars.INT, "", least=_least(self.walk, start, stop, step), asks=asks)
        t = self.names.assign_scalar(name, first, target)
        self.walk.result.notes[target] = t
        private = name in self.walk.private_loops
        counter = self.walk.spell(name) if private else self.walk.spell(name + ".at")
        head = f"int64_t {counter} = {start.code}"
        number = None if step.const is None else int(step.const.real)
        if number is not None and (abs(number) == 1 or _stays_inside(stop, number)):
            if stop.const is None:
                limit = self.walk.spell(name + ".end")
                head += f", {limit} = {stop.code}"
            else:
                limit = stop.code
            test = f"{counter} {'<' if number > 0 else '>'} {limit}"
            move = {1: f"++{counter}", -1: f"--{counter}"}.get(number, f"{counter} += {number}")
        else:
            # A step may lead beyond the last int, so that rounds are counted.
            by = step.code
            rounds = self.walk.spell(name + ".rounds")
            if number is None:
                by = self.walk.spell(name + ".step")
                head += f", {by} = {step.code}"
            head += f", {rounds} = int64_t(usmx::range_length({counter}, {stop.code}, {by}))"
            test = f"{rounds} != 0"
            move = f"--{rounds}, {counter} += {by}"
        known = [b.const for b in bounds]
        if all(isinstance(b, int) for b in known):
            self.walk.runs[-1] = len(range(*known)) > 0  # type: ignore[arg-type]
        with self.walk.apart() as lines, self.walk.indented():
            if not private:
                value = v.convert(Number(scalars.INT, counter), t)
                self.walk.line(f"{self.walk.spell(name)} = {value.code};")
            if (v.least_of(step) or 0) > 0 and not self._changes(stop, node):
                signs.holds(Number(scalars.INT, spelled), "<", stop)
            self.walk.body(node.body)
        if any("usmx::atomic_" in line for line in lines) and self._is_over_grid(node, bounds):
            self._over_grid(
                name, counter, bounds, lines, together=self._goes_together(node, stop, lines)
            )
            return
        self.walk.line(f"for ({head}; {test}; {move}) {{")
        self.walk.result.lines += lines
        self.walk.line("}")

    def _changes(self, number: Number, node: ast.For) -> bool:
        """Whether the rounds of a loop may change what a number was computed from."""
        changed = {self.walk.spell(name) for name in stored_in(node.body)}
        return bool(changed & set(re.findall(r"\w+", number.code)))

    def _is_over_grid(self, node: ast.For, bounds: tuple[Number, Number, Number]) -> bool:
        """Whether each item goes from its own place in steps of the whole grid, without break."""
        start, _, step = (self.walk.scope.once.get(b.code, b.code) for b in bounds)
        first, all_of = _GLOBAL_ID.fullmatch(start), _GLOBAL_RANGE.fullmatch(step)
        return (
            first is not None
            and all_of is not None
            and first.groups() == all_of.groups()
            and not any(isinstance(n, ast.Break) for part in node.body for n in ast.walk(part))
        )

    def _goes_together(self, node: ast.For, stop: Number, lines: list[str]) -> bool:
        """Whether all items of a group come to the loop, and have as many whole rounds.

        A processor takes the items of a group one vector after the other up to the next barrier,
        each vector through all of the loop. Its steps are as long as the grid, so that each round
        reads another page of the memory; a barrier in each round lets neighbours read it together.
        """
        walk = self.walk
        tree = walk.function.tree
        is_outside = isinstance(tree, ast.FunctionDef) and node in tree.body
        leaves = any(isinstance(n, ast.Return | ast.Raise | ast.Assert) for n in ast.walk(tree))
        skips = any(isinstance(n, ast.Continue) for part in node.body for n in ast.walk(part))
        return (
            walk.is_kernel
            and walk.module.grouped
            and not walk.module.partial
            and is_outside
            and not (leaves or skips)
            and (stop.const is not None or is_of_launch(stop))
            and not any("barrier" in line for line in lines)
        )

    def _over_grid(
        self,
        name: str,
        counter: str,
        bounds: tuple[Number, Number, Number],
        lines: list[str],
        *,
        together: bool,
    ) -> None:
        """The rounds that all items have, and the last one, which some have.

        Vectors add to memory lane after lane. In the first loop no lane is asked before whether it
        still takes part.
        """
        walk = self.walk
        end, by, whole, rounds, last = (
            walk.spell(f"{name}.{part}") for part in ("end", "step", "whole", "rounds", "last")
        )
        start, stop, step = (b.code for b in bounds)
        walk.line("{")
        with walk.indented():
            walk.line(f"int64_t {counter} = {start};")
            walk.line(f"const int64_t {end} = {stop}, {by} = {step};")
            walk.line(f"const int64_t {whole} = {end} > 0 ? {end} / {by} : 0;")
            head = f"int64_t {rounds} = {whole}; {rounds} != 0; --{rounds}, {counter} += {by}"
            again = f"bool {last} = {start} < {end} - {whole} * {by}; {last}; {last} = false"
            for each in (head, again):
                walk.line(f"for ({each}) {{")
                walk.result.lines += ["  " + line for line in lines]
                if together and each is head:
                    walk.result.lines += ["#ifdef USMX_HOST_CORES"]
                    walk.line("  usmx::group_barrier();  // neighbours in memory go on together")
                    walk.result.lines += ["#endif"]
                walk.line("}")
        walk.line("}")


def _least(walk: Walk, start: Number, stop: Number, step: Number) -> int | None:
    """The least number of a range."""
    by = walk.signs.least(step)
    if by is not None and by >= 0:
        return walk.signs.least(start)
    last = walk.signs.least(stop)
    return last + 1 if last is not None and step.const is not None else None


def _stays_inside(stop: Number, step: int) -> bool:
    """Whether the counter of a loop stays among 64-bit ints behind its last round."""
    return stop.const is not None and -(2**63) <= int(stop.const.real) + step < 2**63
