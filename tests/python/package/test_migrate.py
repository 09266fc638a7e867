# What `usmx migrate` says of programs for other packages, and the programs that it writes.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import textwrap

import lab
import numpy as np
import pytest

from usmx import cli, migrate

CUDA = """
from numba import cuda, float32
import numpy as np
from numba.cuda.random import create_xoroshiro128p_states


@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + float32(1)


@cuda.jit(link=["more.ptx"])
def linked(x):
    x[0] = 1


@cuda.jit
def raises(x):
    if x[0] > 1:
        raise ValueError


@cuda.jit
def tries(x):
    try:
        x[0] = 1
    finally:
        x[1] = 2


y = cuda.device_array(4, dtype=np.float32)
add[1, 4](cuda.to_device(np.arange(4, dtype=np.float32)), y)
result = y.copy_to_host()
text = cuda.compile_ptx
"""

CUPY = """
import cupy as cp
import cupyx
from cupy import linalg

x = cp.arange(6).reshape(2, 3)
result = cp.asnumpy(cp.sqrt(x) + linalg.norm(x.astype(float)))
half = cp.RawKernel('''
extern "C" __global__ void half(float* x) { x[threadIdx.x] /= 2; }
''', "half")
wrong = lambda: cp.RawKernel("__global__ void f() { asm(''); }", "f")
missing = lambda: cp.no_such_function(x)
"""

DPCTL = """
import dpctl
import dpctl.tensor as dpt
import dpnp
import numba_dpex as dpex

queue = dpctl.SyclQueue()
x = dpt.ones(3, sycl_queue=queue)
result = dpnp.sum(x + dpnp.ones(3, sycl_queue=queue))
host = lambda: dpnp.asnumpy(x)
"""


def found(text):
    findings, changed = migrate.read(textwrap.dedent(text))
    return {(f.kind, f.name): (f.status, f.advice) for f in findings}, changed


def test_a_program_for_numba_cuda():
    rows, changed = found(CUDA)
    assert rows["import", "numba.cuda"] == ("changed", "from usmx.compat import cuda")
    assert rows["kernel", "add"][0] == "unchanged"
    assert rows["kernel", "linked"][0] == "missing"
    assert rows["kernel", "raises"] == ("unchanged", "")
    assert rows["kernel", "tries"] == ("missing", "line 27: try: test the condition")
    assert rows["call", "numba.cuda.to_device"][0] == "unchanged"
    assert rows["call", "numba.cuda.compile_ptx"][0] == "missing"
    assert "from usmx.compat.cuda.random import create_xoroshiro128p_states" in changed
    assert changed.count("\n") >= CUDA.count("\n")


def test_a_program_for_cupy():
    rows, changed = found(CUPY)
    assert rows["import", "cupy"] == ("changed", "import usmx.compat.cupy as cp")
    assert rows["import", "cupyx"] == ("changed", "import usmx.compat.cupyx as cupyx")
    assert rows["call", "cupy.sqrt"][0] == "unchanged"
    assert rows["call", "cupy.no_such_function"][0] == "missing"
    findings, _ = migrate.read(CUPY)
    texts = [(f.status, f.advice) for f in findings if f.name == "text of CUDA"]
    assert texts[0] == ("unchanged", "")
    assert texts[1][0] == "missing"
    assert "line 1: 'asm'" in texts[1][1]
    names = {}
    exec(compile(changed, "changed.py", "exec"), names)
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_allclose(names["result"], np.sqrt(x) + np.linalg.norm(x))


def test_a_program_for_dpctl_and_dpnp():
    rows, changed = found(DPCTL)
    to = "usmx.compat.dpctl.tensor"
    assert rows["import", "dpctl.tensor"] == ("changed", f"import {to} as dpt")
    assert rows["import", "numba_dpex"][1] == "import usmx.compat.numba_dpex as dpex"
    assert rows["call", "dpctl.SyclQueue"] == ("unchanged", "")
    assert rows["call", "dpnp.ones(sycl_queue=)"] == ("changed", "queue=")
    assert "dpnp.ones(3, queue=queue)" in changed
    assert rows["call", "dpnp.asnumpy"][0] == "changed"
    names = {}
    exec(compile(changed, "changed.py", "exec"), names)
    assert float(names["result"]) == 6


def test_a_module_that_is_imported_by_its_whole_name_is_found_in_its_package():
    rows, changed = found("""
        import dpctl.utils
        import dpctl.memory
        import cupyx.scipy

        queue = dpctl.SyclQueue()
        block = dpctl.memory.MemoryUSMShared(4, queue=queue)
        queue.memcpy(block, b"four", 4)
        facts = dpctl.utils.intel_device_info(queue.sycl_device)
        dpctl.LocalAccessor
    """)
    advice = "import usmx.compat.dpctl.utils, usmx.compat.dpctl as dpctl"
    assert rows["import", "dpctl.utils"] == ("changed", advice)
    assert rows["import", "dpctl.memory"] == ("changed", "import usmx.compat.dpctl as dpctl")
    assert "usmx.LocalMemory" in rows["call", "dpctl.LocalAccessor"][1]
    names = {}
    exec(compile(changed.replace("dpctl.LocalAccessor", ""), "changed.py", "exec"), names)
    assert names["block"].tobytes() == b"four"
    assert names["cupyx"].scipy.__name__ == "usmx.compat.cupyx.scipy"


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ("float32, vectorize", "from usmx.compat.cuda import float32, vectorize"),
        ("float32, njit", "from numba import float32, njit"),
        ("types, int64 as whole", "from numba import types, int64 as whole"),
    ],
)
def test_types_come_from_where_the_kernels_come_from(others, line):
    _, changed = found(f"""
        from numba import cuda, {others}

        add = vectorize(["float32(float32)"], target="cuda")
    """)
    assert line in changed
    assert "from usmx.compat import cuda" in changed


def test_types_of_functions_for_the_processor_stay_numbas():
    _, changed = found("""
        from numba import cuda, float32, vectorize

        add = vectorize([float32(float32)])
    """)
    assert "from numba import float32, vectorize" in changed


def exercises(of):
    return (lab.ROOT / "examples" / of / "exercises.py").read_text(encoding="utf-8")


DPEX = """
import dpnp
import numba_dpex as dpex


@dpex.kernel
def add(a, b, c):
    i = dpex.get_global_id(0)
    c[i] = a[i] + b[i]


a, b, c = dpnp.arange(8.0), dpnp.ones(8), dpnp.zeros(8)
add[dpex.Range(8)](a, b, c)
print("equals NumPy", c.sum() == 36)
"""
PROGRAMS = {
    "numba.cuda": (exercises("numba_cuda"), 14),
    "cupy": (exercises("cupy"), 14),
    "dpctl": (DPCTL + 'print("equals NumPy", float(result) == 6)', 1),
    "numba_dpex": (DPEX, 1),
}


@pytest.mark.parametrize("of", PROGRAMS)
def test_a_program_runs_after_its_diff_was_applied(of, tmp_path, capsys, run_python, monkeypatch):
    text, equal = PROGRAMS[of]
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(text.replace("host = lambda", "# host = lambda"), encoding="utf-8")
    assert cli.main(["migrate", "--diff", "program.py"]) == 0
    diff = capsys.readouterr().out
    subprocess.run(["git", "apply", "-p0"], input=diff, text=True, check=True, cwd=tmp_path)
    changed = program.read_text(encoding="utf-8")
    for module in ("numba", "cupy", "dpctl", "dpnp", "numba_dpex"):
        assert f"\nfrom {module}" not in changed
        assert f"\nimport {module}" not in changed
    shown = run_python(f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')")
    assert shown.stdout.count("equals NumPy") == equal
    assert "False" not in shown.stdout


def test_a_program_of_usmx_stays_as_it_is():
    text = "import usmx\nimport numpy as np\n\nx = usmx.ones(3)\n"
    assert migrate.read(text) == ([], text)


def test_the_command(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(CUDA)
    assert cli.main(["migrate", str(program)]) == 1
    printed = capsys.readouterr().out
    assert f"{program}:2: changed   import numba.cuda    from usmx.compat import cuda" in printed
    assert "3 missing" in printed
    program.write_text("import cupy as cp\nx = cp.ones(3)\n")
    assert cli.main(["migrate", "--diff", str(program)]) == 0
    assert "-import cupy as cp\n+import usmx.compat.cupy as cp" in capsys.readouterr().out
    program.write_text("def (")
    assert cli.main(["migrate", str(program), str(tmp_path / "none.py")]) == 2
    with pytest.raises(SystemExit):
        cli.main(["migrate"])
