"""A text that nests or chains much is compiled, or refused with the limit; no stack overflows."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import usmx

PRELUDE = """
import threading, usmx
x = usmx.arange(3)
def run(text):
    try:
        print(usmx.ElementwiseKernel("T x", "T z", text)(x).tolist())
    except usmx.BuildError as error:
        print("BuildError", error)
"""


def test_deep_texts_are_compiled(run_python: Callable[..., Any]) -> None:
    code = PRELUDE + "for text in '(' * 1900 + 'x' + ')' * 1900, '- ' * 3000 + 'x':\n"
    code += "    run('z = ' + text)\n"
    assert run_python(code).stdout == "[0, 1, 2]\n" * 2


def test_the_stack_of_the_thread_does_not_matter(run_python: Callable[..., Any]) -> None:
    code = PRELUDE + "threading.stack_size(256 << 10)\n"
    code += "for text in '- ' * 300 + 'x', 'x' + '+1-1' * 300, '(' * 300 + 'x' + ')' * 300:\n"
    code += "    thread = threading.Thread(target=run, args=('z = ' + text,))\n"
    code += "    thread.start(); thread.join()\n"
    assert run_python(code).stdout == "[0, 1, 2]\n" * 3


@pytest.mark.parametrize("sign", ["-", "~", "x + "])
def test_a_text_that_is_too_deep_is_refused_with_the_limit(sign: str) -> None:
    kernel = usmx.ElementwiseKernel("T x", "T z", f"z = {(sign + ' ') * 70_000} x")
    with pytest.raises(usmx.BuildError, match="more than 65536 names, numbers and signs"):
        kernel(usmx.arange(3))


@pytest.mark.parametrize("text", ["#include __FILE__", "#define SELF __FILE__\n#  include SELF"])
def test_a_text_that_includes_itself_is_refused(text: str) -> None:
    kernel = usmx.ElementwiseKernel("T x", "T z", "z = x", preamble=text)
    with pytest.raises(usmx.BuildError, match="the text includes itself"):
        kernel(usmx.arange(3))


def test_a_text_may_say_where_it_stands() -> None:
    kernel = usmx.ElementwiseKernel("T x", "T z", "z = x + sizeof(__FILE__) / 99")
    assert kernel(usmx.arange(3)).tolist() == [0, 1, 2]


def test_another_file_may_be_included_by_a_macro_next_to_it() -> None:
    preamble = """\
    // #include what is told here
    #define PLACE __FILE__
    #define HEADER <cstdint>
    #include HEADER
    """
    kernel = usmx.ElementwiseKernel("T x", "T z", "z = x + sizeof(PLACE) / 99", preamble=preamble)
    assert kernel(usmx.arange(3)).tolist() == [0, 1, 2]
