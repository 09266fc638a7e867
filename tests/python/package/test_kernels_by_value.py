# Functions that cloudpickle sends by value, as Dask, Ray and joblib do, compile their kernels in a
# process that has no file of their text.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import textwrap

import pytest

HEAD = """
    import numpy as np
    import usmx
    from usmx.compat import cuda

    def run(kernel):
        x = usmx.asarray(np.arange(4.0, dtype="float32"))
        kernel[4](x).wait()
        return x.to_numpy().tolist()
"""

# Each defines `work`, which gives [1, 3, 5, 7].
FUNCTIONS = {
    "a kernel in a function": """
        def work():
            @usmx.kernel
            def k(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1  # of each
            return run(k)
    """,
    "with a helper in it": """
        def work():
            def helper(a):
                return 2 * a
            @usmx.kernel
            def k(item, x):
                i = item.get_id(0)
                x[i] = helper(x[i]) + 1
            return run(k)
    """,
    "with functions of the program": """
        def one(a):
            return a + 1

        @usmx.device_func
        def twice(a):
            return 2 * a

        def both(a):
            return one(twice(a))

        def work():
            @usmx.kernel
            def k(item, x):
                i = item.get_id(0)
                x[i] = both(x[i])
            return run(k)
    """,
    "with lambdas": """
        one, twice = (
            lambda a: a + 1,
            lambda a: 2 * a,
        )

        def work():
            half = lambda a: a / 2
            @usmx.kernel
            def k(item, x):
                i = item.get_id(0)
                x[i] = one(half(twice(twice(x[i]))))
            return run(k)
    """,
    "a kernel of the program": """
        def plus(a):
            return a + 1

        @usmx.kernel
        def k(item, x):
            i = item.get_id(0)
            x[i] = plus(2 * x[i])

        def work():
            return run(k)
    """,
    "a kernel of a closure": """
        def make():
            @usmx.kernel
            def k(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1
            def inner():
                return run(k)
            return inner

        work = make()
    """,
    "in a method": """
        class Task:
            def __init__(self, by):
                self.by = by

            def work(self):
                by = self.by
                @usmx.kernel
                def k(item, x):
                    i = item.get_id(0)
                    x[i] = by * x[i] + 1
                return run(k)

        work = Task(2).work
    """,
    "simulated": """
        def work():
            @usmx.kernel(simulate=True)
            def k(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1
            return run(k)
    """,
    "of numba.cuda": """
        def work():
            @cuda.jit
            def k(x):
                i = cuda.grid(1)
                x[i] = 2 * x[i] + 1
            x = usmx.asarray(np.arange(4.0, dtype="float32"))
            k[1, 4](x)
            cuda.synchronize()
            return x.to_numpy().tolist()
    """,
    "by another name": """
        from usmx import kernel as k

        def work():
            @k
            def f(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1
            return run(f)
    """,
    "by another name, further inside": """
        from usmx import kernel as k

        def work():
            def inner():
                @k(simulate=False)
                def f(item, x):
                    i = item.get_id(0)
                    x[i] = 2 * x[i] + 1
                return f
            return run(inner())
    """,
    "of the module by another name": """
        import usmx as u

        def work():
            @u.kernel
            def f(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1
            return run(f)
    """,
    "by a name of a closure": """
        def make(k):
            def work():
                @k
                def f(item, x):
                    i = item.get_id(0)
                    x[i] = 2 * x[i] + 1
                return run(f)
            return work

        work = make(usmx.kernel)
    """,
    "by the name of a default": """
        def work(k=usmx.kernel):
            @k
            def f(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1
            return run(f)
    """,
    "with arguments that are given before": """
        import functools
        simulated = functools.partial(usmx.kernel, simulate=True)

        def work():
            @simulated
            def f(item, x):
                i = item.get_id(0)
                x[i] = 2 * x[i] + 1
            return run(f)
    """,
    "of numba.cuda by another name": """
        from usmx.compat.cuda import jit as compiled

        def work():
            @compiled
            def f(x):
                i = cuda.grid(1)
                x[i] = 2 * x[i] + 1
            x = usmx.asarray(np.arange(4.0, dtype="float32"))
            f[1, 4](x)
            cuda.synchronize()
            return x.to_numpy().tolist()
    """,
    "a fused function": """
        def work():
            @usmx.fuse
            def f(x):
                return 2 * x + 1
            return f(usmx.asarray(np.arange(4.0))).to_numpy().tolist()
    """,
}

SEND = """
    import sys
    {imports}
    with open(sys.argv[1], "wb") as file:
        cloudpickle.dump(work, file)
"""

# A worker may send it on.
ARRIVE = """
import sys, pickle, cloudpickle
for _ in range(int(sys.argv[2])):
    with open(sys.argv[1], "rb") as file:
        work = pickle.load(file)
    with open(sys.argv[1], "wb") as file:
        cloudpickle.dump(work, file)
print(work())
"""


def _python(*arguments, **named):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **named,
    )
    return done.returncode, done.stdout, done.stderr


def _sent(tmp_path, function, first="cloudpickle, usmx"):
    """A pickle of `work`, and no file of the program."""
    file, pickled = tmp_path / "program.py", tmp_path / "pickled"
    before = f"import {first}\n"
    program = before + textwrap.dedent(HEAD) + textwrap.dedent(function)
    file.write_text(program + textwrap.dedent(SEND.format(imports="import cloudpickle")))
    code, _, told = _python(file, pickled)
    assert code == 0, told
    file.unlink()
    return pickled


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("what", FUNCTIONS)
def test_kernels_arrive_with_their_text(what, times, tmp_path):
    pickled = _sent(tmp_path, FUNCTIONS[what])
    assert _python("-c", ARRIVE, pickled, times, cwd=tmp_path)[:2] == (
        0,
        "[1.0, 3.0, 5.0, 7.0]\n",
    ), _python("-c", ARRIVE, pickled, 1, cwd=tmp_path)[2]


@pytest.mark.parametrize("first", ["usmx, cloudpickle", "cloudpickle, usmx"])
def test_the_order_of_imports_does_not_matter(first, tmp_path):
    pickled = _sent(tmp_path, FUNCTIONS["a kernel in a function"], first)
    assert _python("-c", ARRIVE, pickled, 1, cwd=tmp_path)[1] == "[1.0, 3.0, 5.0, 7.0]\n"


def test_errors_name_the_line_that_was_sent(tmp_path):
    wrong = FUNCTIONS["a kernel in a function"].replace("2 * x[i]", "no_such(x[i])")
    code, _, told = _python("-c", ARRIVE, _sent(tmp_path, wrong), 1, cwd=tmp_path)
    assert code == 1
    assert "x[i] = no_such(x[i]) + 1  # of each" in told
    assert "program.py" in told


def test_what_mentions_no_kernel_is_sent_as_before(tmp_path):
    program = """
        import cloudpickle

        def work():
            def inner():
                return 7
            return inner()

        without = cloudpickle.dumps(work)
        import usmx
        assert cloudpickle.dumps(work) == without

        from usmx import kernel as k
        assert cloudpickle.dumps(work) == without

        def kernels():
            @usmx.kernel
            def f(item, x):
                x[0] = 1
            return 7

        import sys
        open(sys.argv[1], "wb").write(cloudpickle.dumps(kernels))
    """
    file, pickled = tmp_path / "program.py", tmp_path / "pickled"
    file.write_text(textwrap.dedent(program))
    code, _, told = _python(file, pickled)
    assert code == 0, told
    # Where it arrives usmx need not be, as long as it is not called.
    read = "import sys, pickle; pickle.load(open(sys.argv[1], 'rb'))"
    read += "; assert not any(m.startswith('usmx._kernel') for m in sys.modules)"
    code, _, told = _python("-c", read, pickled)
    assert code == 0, told
