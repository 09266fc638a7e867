"""A variable that Python may find without a value is refused when a kernel is compiled, with the
lines that assign it; what has a value on every path is not."""

# SPDX-License-Identifier: Apache-2.0
import pytest

import usmx

HEAD = "def k(item, a):\n    i = item.get_id(0)\n"

REFUSED = {
    "if": "if i > 1:\n    t = 1\na[i] = t",
    "if, else that ends": "if i > 1:\n    pass\nelse:\n    t = 1\na[i] = t",
    "elif": "if i > 2:\n    t = 1\nelif i > 1:\n    t = 2\na[i] = t",
    "loop that may be empty": "for j in range(i):\n    t = j\na[i] = t",
    "loop over an array": "for v in a:\n    t = v\na[i] = t",
    "while": "while i < 3:\n    t = i\n    i += 1\na[i - 1] = t",
    "break before": "for j in range(4):\n    if j == i:\n        break\n    t = j\na[i] = t",
    "continue before": "for j in range(4):\n    if j == i:\n        continue\n    t = j\na[i] = t",
    "else of a loop": "for j in range(i):\n    if j:\n        break\nelse:\n    t = 1\na[i] = t",
    "augmented": "if i > 1:\n    t = 1\nt += 1\na[i] = t",
    "constant": "if i > 1:\n    t = 4\na[i] = t",
    "tuple": "if i > 1:\n    t = (i, 2)\na[i] = t[1]",
    "array": "if i > 1:\n    t = a[1:]\na[i] = t[0]",
    "function": "if i > 1:\n    def t(v):\n        return v\na[i] = t(1)",
    "named in and": "if i > 1 and (t := i) > 0:\n    pass\na[i] = t",
    "named in a choice": "x = (t := i) if i > 1 else i\na[i] = t",
}
ACCEPTED = {
    "both branches": ("if i > 1:\n    t = 1\nelse:\n    t = 2\na[i] = t", [2, 2, 1, 1]),
    "a branch returns": ("if i > 1:\n    return\nelse:\n    t = 5\na[i] = t", [5, 5, 2, 3]),
    "a loop that runs": ("for j in range(4):\n    t = j\na[i] = t + j", [6, 6, 6, 6]),
    # Without a round it is 0, and an error in the simulator.
    "the variable of a loop": ("for j in range(i):\n    pass\na[i] = j", [0, 0, 1, 2]),
    "a tuple": ("for v in (1, 2):\n    t = v\na[i] = t", [2, 2, 2, 2]),
    "forever": ("while True:\n    t = i\n    if t == i:\n        break\na[i] = t", [0, 1, 2, 3]),
    "both ways out": (
        "for j in range(i):\n    if j == 1:\n        t = 9\n        break\n"
        "else:\n    t = 7\na[i] = t",
        [7, 7, 9, 9],
    ),
    "continue before": (
        "for j in range(4):\n    t = j\n    if j == i:\n        continue\na[i] = t", [3, 3, 3, 3],
    ),
    "and": ("if i > 1 and (t := i * 2) > 0:\n    a[i] = t", [0, 1, 4, 6]),
    "or": ("if i > 1 or (t := i * 2) < 0:\n    a[i] = 0\nelse:\n    a[i] = t", [0, 2, 0, 0]),
    "not": ("if not (i > 1 or (t := i * 2) < 0):\n    a[i] = t\nelse:\n    a[i] = 5", [0, 2, 5, 5]),
    "known when compiling": ("if a.ndim == 1:\n    t = 1\na[i] = t", [1, 1, 1, 1]),
    "not read": ("if i > 1:\n    t = 1\na[i] = 3", [3, 3, 3, 3]),
}  # fmt: skip


def kernel_of(body):
    return usmx.kernel(HEAD + "".join(f"    {line}\n" for line in body.split("\n")))


@pytest.mark.parametrize("name", REFUSED)
def test_a_variable_without_a_value_on_a_path_is_refused(name):
    body = REFUSED[name]
    with pytest.raises(usmx.KernelError, match="has no value on some paths to here") as refused:
        kernel_of(body).source(usmx.arange(4.0))
    assert "'t'" in str(refused.value)


def test_the_error_names_the_lines_that_assign():
    with pytest.raises(usmx.KernelError, match=r":7: 't' .* assigned on lines 4, 6; assign it"):
        kernel_of(REFUSED["elif"]).source(usmx.arange(4.0))


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_variable_with_a_value_on_all_paths_is_compiled(name):
    body, wanted = ACCEPTED[name]
    a = usmx.arange(4.0)
    kernel_of(body)[4](a).wait()
    assert a.tolist() == wanted


def test_the_variable_of_a_loop_without_a_round_is_an_error_in_the_simulator():
    with usmx.simulate(), pytest.raises(UnboundLocalError, match="'j'"):
        kernel_of(ACCEPTED["the variable of a loop"][0])[4](usmx.arange(4.0))


def test_a_device_function_is_checked_too():
    @usmx.device_func
    def f(v):
        if v > 1:
            t = 1
        return t

    @usmx.kernel
    def k(item, a):
        a[item.get_id(0)] = f(item.get_id(0))

    with pytest.raises(usmx.KernelError, match="'t' has no value on some paths"):
        k.source(usmx.arange(4.0))


def test_the_simulator_refuses_the_same():
    with (
        usmx.simulate(),
        pytest.raises(usmx.KernelError, match="'t' has no value on some paths"),
    ):
        kernel_of(REFUSED["if"])[4](usmx.arange(4.0))


@usmx.kernel
def until_nine(item, x, out):
    n = 0
    while (v := x[n]) != 9:
        n += 1
    out[0] = v + n


@usmx.kernel
def until_nine_or_left(item, x, out):
    n = 0
    while (v := x[n]) != 9:
        n += 1
        if n == 3:
            break
    out[0] = v + n


@usmx.kernel
def by_both_outcomes(item, x, out):
    n = 0
    while not ((v := x[n]) == 9 and (w := v + 1) > 0):
        n += 1
    out[0] = v + w


@pytest.mark.parametrize(
    ("kernel", "expected"), [(until_nine, 11), (until_nine_or_left, 11), (by_both_outcomes, 19)]
)
def test_the_condition_of_a_loop_is_computed_at_least_once(kernel, expected):
    x, out = usmx.asarray([5.0, 3.0, 9.0, 1.0]), usmx.zeros(1)
    kernel[1](x, out).wait()
    assert out.item() == expected
    with usmx.simulate():
        kernel[1](x, out)
    assert out.item() == expected


@usmx.kernel
def by_one_outcome(item, x, out):
    n = 0
    while x[n] != 9 and (w := n) < 3:
        n += 1
    out[0] = w


@usmx.kernel
def end_of_a_chain(item, x, out):
    n = 0
    while x[n] < 9 < (w := x[n + 1]):
        n += 1
    out[0] = w


@usmx.kernel
def a_part_of_a_number(item, x, out):
    if (x[0] > 7 and bool(w := x[1])) == (x[0] > 100):
        out[0] = w


@pytest.mark.parametrize("kernel", [by_one_outcome, end_of_a_chain, a_part_of_a_number])
def test_a_part_that_may_not_be_computed_gives_no_value(kernel):
    with pytest.raises(usmx.KernelError, match="'w' has no value on some paths"):
        kernel[1](usmx.asarray([5.0, 3.0, 9.0, 1.0]), usmx.zeros(1))
