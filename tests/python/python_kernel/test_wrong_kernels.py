# Wrong kernels are refused before anything is compiled: with the function, the line, the cause and
# a caret, and without an effect on other kernels.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
import wrong_calls
import wrong_kernels

import usmx
from usmx._kernel.source import texts


def argument(what, readonly=False):
    dtype, ndim = what if isinstance(what, tuple) else (what, 1)
    a = usmx.zeros((4,) * ndim, dtype=dtype, usm_type="shared")
    return usmx.broadcast_to(a, a.shape) if readonly else a


def message_of(function, arguments, readonly=False, rank=None):
    kernel = usmx.kernel(function)
    with pytest.raises(usmx.KernelError) as caught:
        kernel.source(*(argument(a, readonly) for a in arguments), rank=rank)
    return caught.value


@pytest.mark.parametrize(
    ("function", "cause", "at", "arguments", "more"),
    wrong_kernels.CASES,
    ids=[case[0].__name__ for case in wrong_kernels.CASES],
)
def test_a_wrong_kernel_is_refused_with_place_and_cause(function, cause, at, arguments, more):
    error = message_of(function, arguments, **more)
    assert cause in error.cause
    lines = str(error).splitlines()
    file = wrong_calls.__file__ if "wrong_calls" in error.filename else wrong_kernels.__file__
    assert lines[0] == f"{error.function}, {error.filename}:{error.lineno}: {error.cause}"
    with open(file, encoding="utf-8") as text:
        source_line = text.read().splitlines()[error.lineno - 1]
    if at:
        assert lines[1].strip() == source_line.strip()
        assert source_line[error.column :].startswith(at)
        assert lines[2] == " " * (4 + error.column - _indent(source_line)) + "^"


def _indent(line):
    return len(line) - len(line.lstrip())


def test_there_are_enough_wrong_kernels():
    assert len(wrong_kernels.CASES) >= 60
    assert len({case[0].__name__ for case in wrong_kernels.CASES}) == len(wrong_kernels.CASES)


def test_the_traceback_is_the_line_of_the_launch():
    @usmx.kernel
    def wrong(item, a):
        a[item.get_id(0)] = math.sin(nothing)  # noqa: F821

    with pytest.raises(usmx.KernelError, match="nothing") as caught:
        wrong[4](argument("float32"))
    assert len(caught.traceback) == 1
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_script_shows_lines_of_the_user_alone(run_python):
    lines = (
        "import usmx\n@usmx.kernel\ndef wrong(item, a):\n    a[0] = nothing\n"
        "def launch():\n    wrong[3](usmx.zeros(3))\n"
    )
    done = run_python(
        lines + "import traceback\n"
        "try:\n    launch()\nexcept Exception:\n    print(traceback.format_exc())\n"
    )
    assert "usmx.KernelError: wrong, " in done.stdout
    assert done.stdout.count('  File "') == 2, done.stdout


def test_a_notebook_shows_lines_of_the_user_alone(run_python):
    cell = (
        "import usmx\n@usmx.kernel\ndef wrong(item, a):\n    a[0] = nothing\n"
        "def launch():\n    wrong[3](usmx.zeros(3))\nusmx.profile(launch)\n"
    )
    done = run_python(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        f"shell.run_cell({cell!r})\n"
        "shell.run_cell('with usmx.simulate(): launch()')\n"
    )
    for shown in done.stdout.split("KernelError   ")[1:]:
        assert "usmx/_kernel" not in shown, shown
        assert "wrong[3](usmx.zeros(3))" in shown
        assert "the name 'nothing' is not defined\n    a[0] = nothing\n           ^" in shown
    assert done.stdout.count("KernelError: wrong, cell In[") == 2


def test_a_lambda_is_refused_where_it_stands():
    out = usmx.zeros(1, usm_type="shared")
    f = lambda item, x: x[0]  # noqa: E731
    with pytest.raises(usmx.KernelError, match="a lambda cannot be a kernel") as caught:
        usmx.kernel(f)[1](out)
    assert caught.value.lineno == f.__code__.co_firstlineno
    said, line, caret = str(caught.value).splitlines()
    assert f":{caught.value.lineno}: a lambda" in said
    assert line.strip().startswith("f = lambda item")
    assert line[caret.index("^") :].startswith("lambda item")


def test_errors_of_kernels_are_named_as_programs_name_them():
    assert (usmx.KernelError.__module__, usmx.KernelError.__name__) == ("usmx", "KernelError")


def test_a_wrong_kernel_spoils_no_other(queue):
    @usmx.kernel
    def wrong(item, a):
        a[0] = nothing  # noqa: F821

    @usmx.kernel
    def right(item, a):
        a[item.get_id(0)] = 1

    a = argument("float32")
    with pytest.raises(usmx.KernelError, match="nothing"):
        wrong[4](a)
    right[4](a).wait()
    np.testing.assert_array_equal(a.to_numpy(), 1)


@pytest.mark.parametrize("what", [print, 3, b"text", np.sin])
@pytest.mark.parametrize("decorator", ["kernel", "device_func"])
def test_only_python_functions_become_kernels(decorator, what):
    with pytest.raises(TypeError, match="expected a Python function"):
        getattr(usmx, decorator)(what)


def test_a_lambda_is_no_kernel():
    k = usmx.kernel(lambda item, a: None)
    with pytest.raises(usmx.KernelError, match="cannot be a kernel; write it with def"):
        k[4](argument("float32"))


def test_a_function_without_text_is_no_kernel(monkeypatch):
    # Where usmx.compat.cuda was imported, what exec compiles is kept.
    monkeypatch.setattr(texts, "_compiled", None)
    names = {}
    exec("\n".join(["def f(item, a):", "    a[0] = 1"]), names)
    with pytest.raises(usmx.KernelError, match="its source text cannot be found"):
        usmx.kernel(names["f"])[4](argument("float32"))


def test_a_kernel_without_a_range_says_how_to_launch_it():
    @usmx.kernel
    def f(item, a):
        a[0] = 1

    with pytest.raises(TypeError, match=r"f\[global_range\]\(\.\.\.\)"):
        f(argument("float32"))


def test_a_launch_that_forgets_the_item_says_so():
    @usmx.kernel
    def f(x, y):
        i = usmx.get_id(0)
        y[i] = x[i]

    @usmx.kernel
    def g(it, x):
        x[it.get_id(0)] = 1

    a = argument("float32")
    with pytest.raises(TypeError) as caught:
        f[4](a, a)
    assert str(caught.value) == (
        "kernel 'f' takes 1 argument (y), got 2; "
        "its first parameter, 'x', is the work-item: write def f(item, x, y)"
    )
    for given in ((a, a), ()):
        with pytest.raises(TypeError, match=rf"takes 1 argument \(x\), got {len(given)}$"):
            g[4](*given)
