"""Where the text of a function is that stands in no file: ``python -c``, standard input, the
prompt, ``exec``. What is found counts only if compiling it gives the very same code."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType
    from typing import Any

# Other modules are imported where they are needed: each definition of a kernel calls `remember`,
# which needs none of them for a function in a file.
#: Code of functions that stand in no file -> the lines that it was found in, and its first one.
_found: dict[CodeType, tuple[list[str], int]] = {}
_given = 0
#: What was compiled under a name that is none of a file since `watch` was called: the last texts.
_compiled: dict[bytes | str, None] | None = None
_MOST_TEXTS = 1024
#: The first item of the constant with a text; its file, the number of its first line and it follow.
_MARK = "usmx: text of this function"
_OF_FUNCTION = 1  # CO_OPTIMIZED: not of a class


def remember(python: Callable[..., Any]) -> None:
    """Look for the text of a function that was just defined, while it can still be seen."""
    code: CodeType = python.__code__
    if not code.co_filename.startswith("<") or code in _found:
        return
    import linecache

    if linecache.getlines(code.co_filename):
        return  # a notebook, a doctest, the prompt of newer Pythons
    for text in _candidates(code):
        if _has(text, code):
            _found[code] = (text.splitlines(keepends=True), code.co_firstlineno)
            return


def watch() -> None:
    """Keep the texts that ``exec`` and ``compile`` are given from now on.

    A function that ``exec`` made is often decorated where its text is gone. Python tells what it
    compiles to hooks, which cannot be removed; so this is for programs that need it.
    """
    global _compiled  # noqa: PLW0603 - one hook for the process
    if _compiled is None:
        _compiled = {}
        sys.addaudithook(_seen)


def _seen(event: str, given: tuple[Any, ...]) -> None:
    if event == "compile" and _compiled is not None:
        text, name = given
        if isinstance(name, str) and name.startswith("<") and isinstance(text, bytes | str):
            _compiled.pop(text, None)
            _compiled[text] = None
            if len(_compiled) > _MOST_TEXTS:
                del _compiled[next(iter(_compiled))]


def of(python: Callable[..., Any]) -> tuple[list[str], int]:
    """The lines of a function and the number of its first one.

    Raises
    ------
    OSError
        They cannot be found.
    """
    return of_code(python.__code__)


def of_code(code: CodeType) -> tuple[list[str], int]:
    """The same of the code of a function."""
    import inspect

    held = _found.get(code)
    if held is not None:
        lines, first = held
        return inspect.getblock(lines[first - 1 :]), first
    return carried(code) or inspect.getsourcelines(code)


def _statement(code: CodeType) -> tuple[list[str], int]:
    """The lines of the statement of a module that a lambda stands in, and its first one's number.

    Raises
    ------
    OSError
        They cannot be found.
    """
    import ast
    import inspect

    held = _found.get(code)
    lines = held[0] if held is not None else inspect.findsource(code)[0]
    for one in ast.parse("".join(lines)).body:
        if one.lineno <= code.co_firstlineno <= (one.end_lineno or one.lineno):
            return list(lines[one.lineno - 1 : one.end_lineno]), one.lineno
    raise OSError


def whole(python: Callable[..., Any]) -> list[str]:
    """All lines of the text that a function stands in.

    Raises
    ------
    OSError
        They cannot be found.
    """
    import inspect

    held = _found.get(python.__code__)
    if held is not None:
        return list(held[0])
    arrived = carried(python.__code__)
    if arrived is not None:
        lines, first = arrived
        return ["\n"] * (first - 1) + lines
    return list(inspect.findsource(python)[0])


def carried(code: CodeType) -> tuple[list[str], int] | None:
    """The lines that code brought along from another process, and the number of the first one."""
    found = _constant(code)
    return None if found is None else (found[3].splitlines(keepends=True), found[2])


def filename(code: CodeType) -> str:
    """The file that code was written in; cloudpickle leaves that out of what it sends."""
    found = _constant(code)
    return code.co_filename if found is None else found[1]


def _constant(code: CodeType) -> tuple[str, str, int, str] | None:
    for constant in reversed(code.co_consts):
        if type(constant) is tuple and len(constant) == 4 and constant[0] == _MARK:
            return constant
    return None


def carrying(code: CodeType) -> CodeType:
    """The same code with its text, and that of functions in it, in a constant that nothing loads.

    It goes wherever the code goes, to a third process too, and asks for nothing where it arrives.
    """
    constants = tuple(carrying(c) if isinstance(c, type(code)) else c for c in code.co_consts)
    if code.co_flags & _OF_FUNCTION and carried(code) is None:
        try:
            is_lambda = code.co_name == "<lambda>"
            lines, first = _statement(code) if is_lambda else of_code(code)
            constants += ((_MARK, code.co_filename, first, "".join(lines)),)
        except (OSError, TypeError, SyntaxError):
            pass  # it is nowhere
    return code.replace(co_consts=constants)


def function_of(given: Callable[..., Any] | str) -> Callable[..., Any]:
    """The function that a decorator was given, or that the text defines which it was given.

    Raises
    ------
    ValueError
        The text is something else than one function.
    """
    if not isinstance(given, str):
        return given
    return defined_in(given, sys._getframe(2).f_globals)


def defined_in(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function that a text defines, with the globals `names`."""
    import ast
    import linecache
    import textwrap
    from types import FunctionType

    global _given  # noqa: PLW0603 - each text has a name of its own
    _given += 1
    text = textwrap.dedent(text).strip("\n") + "\n"
    name = f"<kernel text {_given}>"
    tree = ast.parse(text, name)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise ValueError("the text of a kernel must define exactly one function, 'def ...'")
    made: dict[str, Any] = {}
    exec(compile(tree, name, "exec", dont_inherit=True), names, made)
    function = made[tree.body[0].name]
    if not isinstance(function, FunctionType):
        raise ValueError("decorators are not supported in the text of a kernel")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return function


def shown(filename: str) -> str:
    """The name of a file as people know it: of a notebook's cell its number."""
    import re

    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    number = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(filename)
    if number:
        return " ".join(number).replace("Cell", "cell")
    old = re.fullmatch(r"<ipython-input-(\d+)-\w+>", filename)
    if old:
        return f"cell In[{old[1]}]"
    if re.search(r"[/\\]ipykernel_\d+[/\\]\d+\.py$", filename):
        return "a notebook's cell"
    return filename


def _candidates(code: CodeType) -> Iterator[str]:
    """Texts that the function may stand in."""
    if code.co_filename == "<string>":
        for word in sys.orig_argv[1:]:
            yield word
            if word.startswith("-") and "c" in word:
                yield word.partition("c")[2]
    if code.co_filename == "<stdin>":
        yield from _standard_input()
        yield from _history(code)
    # What exec() was given is often a variable of its caller.
    frame = sys._getframe(1)
    while frame is not None:
        values = [*frame.f_locals.values(), *frame.f_code.co_consts]
        yield from (v for v in values if type(v) is str and f"def {code.co_name}" in v)
        frame = frame.f_back  # type: ignore[assignment]
    for text in reversed([*(_compiled or ())]):  # looking at one compiles it again
        plain = text.decode(errors="replace") if isinstance(text, bytes) else text
        if f"def {code.co_name}" in plain:
            yield plain


def _standard_input() -> Iterator[str]:
    """A program that was read from a file, ``python < program.py``, which is still there."""
    import os
    import stat

    try:
        about = os.fstat(0)
        if stat.S_ISREG(about.st_mode) and about.st_size < 1 << 24:
            yield os.pread(0, about.st_size, 0).decode()
    except (OSError, UnicodeError):
        pass


def _history(code: CodeType) -> Iterator[str]:
    """Statements that were typed at the prompt: as many lines as the function has, the last first.

    Lines are counted from the beginning of a statement; empty ones are not kept.
    """
    readline = sys.modules.get("readline")
    if readline is None:
        return
    size = readline.get_current_history_length()
    lines = [readline.get_history_item(k + 1) or "" for k in range(size)]
    count = max((end or 0) for _, end, _, _ in code.co_positions())
    head = code.co_firstlineno - 1
    for start in range(size - count, -1, -1):
        chunk: Sequence[str] = lines[start : start + count]
        if chunk[head].lstrip().startswith(("@", f"def {code.co_name}")):
            yield "\n".join(chunk) + "\n"


def _has(text: str, code: CodeType) -> bool:
    """Whether compiling the text gives this code among others."""
    import __future__

    import warnings

    features = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]
    flags = sum({flag for flag in features if code.co_flags & flag})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile(text, code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    inner = [whole]
    for one in inner:
        if one == code:
            return True
        inner += [c for c in one.co_consts if isinstance(c, type(code))]
    return False
