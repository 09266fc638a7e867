"""print and assert: Python's arguments as a format of the device's printf."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import json

from ..source.diagnostics import KernelError
from ..types.values import Number, PythonObject, Tuple, Value, describe
from .walk import Walk


def quoted(text: str) -> str:
    """A C++ literal."""
    return json.dumps(text.encode(errors="replace").decode(), ensure_ascii=False)


class Printing:
    """What a kernel says."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def on_print(self, node: ast.Call) -> Value:
        """``print("x", i, f"{y:.2f}")``: one line of text, printed by the device."""
        end, separator = "\n", " "
        for keyword in node.keywords:
            text = keyword.value
            if keyword.arg not in ("end", "sep"):
                raise self.walk.error(
                    keyword.value, f"print: '{keyword.arg}=' is not supported in kernels"
                )
            if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
                raise self.walk.error(text, f"'{keyword.arg}' must be a string literal")
            if keyword.arg == "end":
                end = text.value
            else:
                separator = text.value
        formats: list[str] = []
        values: list[str] = []
        for argument in node.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                formats.append(argument.value.replace("%", "%%"))
            elif isinstance(argument, ast.JoinedStr):
                formats.append(self.joined(argument, values))
            else:
                formats.append(self.formatted(argument, self.walk.value(argument), "", values))
        message = separator.replace("%", "%%").join(formats) + end.replace("%", "%%")
        self.walk.line(f"USMX_PRINT({', '.join([quoted(message), *values])});")
        return PythonObject(None)

    def on_breakpoint(self, node: ast.Call) -> Value:
        """``breakpoint()``: nothing in C++; a launch on a device is refused with what is kept."""
        if node.args or node.keywords:
            raise self.walk.error(node, "breakpoint() takes no arguments in kernels")
        module = self.walk.module
        module.stops = module.stops or self.walk.error(
            node, "breakpoint() stops in the simulator only: launch it with usmx.simulate()"
        )
        return PythonObject(None)

    def joined(self, node: ast.JoinedStr, values: list[str]) -> str:
        """An f-string."""
        text = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value).replace("%", "%%")
            elif isinstance(part, ast.FormattedValue):
                form = ""
                if isinstance(part.format_spec, ast.JoinedStr):
                    form = "".join(
                        str(p.value) if isinstance(p, ast.Constant) else "\0"
                        for p in part.format_spec.values
                    )
                text += self.formatted(part.value, self.walk.value(part.value), form, values)
        return text

    def formatted(self, node: ast.expr, value: Value, form: str, values: list[str]) -> str:
        """One value: its conversion, with the C++ added to `values`."""
        if isinstance(value, Tuple):
            parts = [self.formatted(node, item, form, values) for item in value.items]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if not isinstance(value, Number):
            raise self.walk.error(
                node, f"print takes numbers and string literals, not {describe(value)}"
            )
        kind = value.type.kind
        if kind == "c":
            part = "float" if value.type.size == 8 else "double"
            number = f"usmx::complex<{part}>({value.code})"
            values += [f"double({number}.re)", f"double({number}.im)"]
            return "(%g%+gj)"
        if kind == "f":
            values.append(f"double({value.code})")
            return "%" + self.checked_form(node, form, "feg") if form else "%g"
        if kind == "b" and not form:
            values.append(f'({value.code}) ? "True" : "False"')
            return "%s"
        values.append(f"{'uint64_t' if kind == 'u' else 'int64_t'}({value.code})")
        form = self.checked_form(node, form, "dx") if form else "d"
        letter = "u" if kind == "u" and form[-1] == "d" else form[-1]
        return f"%{form[:-1]}l{letter}"

    def checked_form(self, node: ast.expr, form: str, letters: str) -> str:
        """A format that printf shares with Python."""
        head, letter = (form[:-1], form[-1]) if form[-1].isalpha() else (form, letters[-1])
        if letters == "dx" and not form[-1].isalpha():
            letter = "d"
        if letter not in letters or head.strip("0123456789.+"):
            raise self.form_error(node, form)
        return head + letter

    def form_error(self, node: ast.expr, form: str) -> KernelError:
        """A format that a device does not have."""
        return self.walk.error(node, f"format '{form}' is not supported in kernels")
