# Kernels that stand in no file work wherever their text can be found; where it cannot, the error
# says what to write.
# SPDX-License-Identifier: Apache-2.0
import linecache
import os
import pty
import subprocess
import sys
import textwrap
import types

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

import usmx
from usmx._kernel.source import texts

PROGRAM = """
import usmx

FACTOR = 3

@usmx.device_func
def scaled(x):
    # a comment
    return x * FACTOR

@usmx.kernel
def scale(item, x):
    i = item.get_id(0)

    x[i] = scaled(x[i])

x = usmx.arange(4, dtype="int32", usm_type="shared")
scale[4](x).wait()
print(x.to_numpy().tolist())
"""
RESULT = "[0, 3, 6, 9]"


def run(*arguments, **how):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **how,
    )


@pytest.mark.parametrize("form", [["-c", PROGRAM], ["-Bc", PROGRAM], ["-Bc" + PROGRAM, "-c", "x"]])
def test_a_program_of_the_command_line_has_kernels(form):
    done = run(*form)
    assert done.stdout.strip() == RESULT, done.stderr


def test_a_program_that_standard_input_reads_from_a_file_has_kernels(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    for arguments in ([], ["-"]):
        with path.open() as file:
            done = run(*arguments, stdin=file)
        assert done.stdout.strip() == RESULT, done.stderr


def test_a_program_from_a_pipe_says_what_to_write():
    done = run("-", input=PROGRAM)
    if sys.version_info < (3, 13):
        assert "its source text cannot be found" in done.stderr
        assert 'pass the text: usmx.kernel("""def ...""")' in done.stderr
    text = PROGRAM.replace("@usmx.kernel\n", 'scale = usmx.kernel("""\n').replace(
        "scaled(x[i])\n", 'scaled(x[i])\n""")\n'
    )
    text = text.replace("@usmx.device_func\n", 'scaled = usmx.device_func("""\n').replace(
        "x * FACTOR\n", 'x * FACTOR\n""")\n'
    )
    done = run("-", input=text)
    assert done.stdout.strip() == RESULT, done.stderr


def test_kernels_are_typed_at_the_prompt():
    typed = textwrap.dedent("""
        import usmx
        @usmx.kernel
        def f(item, x):
            x[item.get_id(0)] += 1

        @usmx.kernel
        def f(item, x):
            i = item.get_id(0)
            x[i] += i

        if True:
            @usmx.kernel
            def g(item, x):
                x[item.get_id(0)] *= 2

        x = usmx.ones(4, dtype="int32", usm_type="shared")
        _ = f[4](x), g[4](x).wait()
        print("got", x.to_numpy().tolist())
        exit()
    """).lstrip()
    shell, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "HOME": "/nonexistent", "PYTHON_BASIC_REPL": "1"}
    with subprocess.Popen(
        [sys.executable, "-q"], stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        os.write(shell, typed.encode())
        said = b""
        try:
            while chunk := os.read(shell, 4096):
                said += chunk
        except OSError:  # the other end is closed
            pass
        process.wait(timeout=60)
    os.close(shell)
    assert "got [2, 4, 6, 8]" in said.decode(), said.decode()


def test_kernels_are_typed_in_ipython():
    typed = textwrap.dedent("""
        import usmx
        @usmx.kernel
        def f(item, x):
            x[item.get_id(0)] += 3

        x = usmx.zeros(3, "i4", usm_type="shared")
        _ = f[3](x).wait()
        print("got", x.to_numpy().tolist())
        exit()
    """).lstrip()
    done = run("-m", "IPython", "--simple-prompt", "--no-banner", input=typed)
    assert "got [3, 3, 3]" in done.stdout, done.stderr


def test_kernels_stand_in_cells_of_a_notebook():
    define = """
        @usmx.kernel
        def add(item, x, n):
            x[item.get_id(0)] += {} * n
        add[3](x, 2).wait()
        print(x.to_numpy().tolist())
    """
    wrong = """
        @usmx.kernel
        def wrong(item, x):
            x[0] = missing
        try:
            wrong[3](x)
        except usmx.KernelError as error:
            print(error)
    """
    cells = [
        "import usmx\nx = usmx.zeros(3, 'i4', usm_type='shared')",
        # The cell that is run again, as authors do: the second text counts.
        textwrap.dedent(define.format(1)),
        textwrap.dedent(define.format(10)),
        textwrap.dedent(wrong).lstrip(),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, timeout=120, km=KernelManager(transport="ipc")).execute()
    said = ["".join(o["text"] for o in cell.outputs) for cell in notebook.cells]
    assert said[1:3] == ["[2, 2, 2]\n", "[22, 22, 22]\n"]
    assert said[3].startswith("wrong, cell In[4]:3: the name 'missing' is not defined\n")


def test_exec_of_a_variable_has_kernels():
    text = PROGRAM.replace("print(x.to_numpy().tolist())", "")
    names = {"__name__": "executed"}
    exec(text, names)
    assert names["x"].to_numpy().tolist() == [0, 3, 6, 9]


def test_exec_of_a_text_with_future_features_has_kernels():
    source = "def f(item, x: 'not a type'):\n    x[item.get_id(0)] += 2\n"
    names = {}
    exec("from __future__ import annotations\n" + source, names)
    whole = "from __future__ import annotations\n" + source
    k = usmx.kernel(names["f"])
    x = usmx.zeros(3, "i4", usm_type="shared")
    k[3](x).wait()
    assert x.to_numpy().tolist() == [2, 2, 2]
    assert whole


def test_texts_that_linecache_knows_are_read_there():
    text = "def f(item, x):\n    x[item.get_id(0)] = 5\n"
    name = "<registered by a test>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    x = usmx.zeros(2, "i4", usm_type="shared")
    usmx.kernel(names["f"])[2](x).wait()
    assert x.to_numpy().tolist() == [5, 5]


def test_another_text_with_a_function_of_that_name_is_not_taken(monkeypatch):
    # Where usmx.compat.cuda was imported, what exec compiles is kept.
    monkeypatch.setattr(texts, "_compiled", None)

    def parts():
        return ["def f(item, x):\n", "    x[0] = 1\n"]

    other = "def f(item, x):\n    x[0] = 2\n"
    names = {}
    exec("".join(parts()), names)
    with pytest.raises(usmx.KernelError, match="its source text cannot be found"):
        usmx.kernel(names["f"])[1](usmx.zeros(1, "i4"))
    assert other


def test_a_text_is_a_kernel():
    k = usmx.kernel("""
        def add(item, x, n):
            x[item.get_id(0)] += n
        """)
    x = usmx.zeros(3, "i4", usm_type="shared")
    k[3](x, 4).wait()
    assert x.to_numpy().tolist() == [4, 4, 4]
    assert k.__name__ == "add"
    with pytest.raises(usmx.KernelError, match="unknown_name"):
        usmx.kernel("def f(item, x): x[0] = unknown_name")[1](x)
    for wrong in ("x = 1", "def f(item): pass\ndef g(item): pass", ""):
        with pytest.raises(ValueError, match="must define exactly one function"):
            usmx.kernel(wrong)
    with pytest.raises(SyntaxError):
        usmx.kernel("def f(")


def test_messages_name_the_cell_of_a_notebook(monkeypatch):
    def ipython(number):
        compiler = types.SimpleNamespace(format_code_name=lambda _: number)
        shell = types.SimpleNamespace(compile=compiler)
        return types.SimpleNamespace(get_ipython=lambda: shell)

    name = "/tmp/ipykernel_12345/67890.py"
    text = "def f(item, x):\n    x[0] = missing\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    monkeypatch.setitem(sys.modules, "IPython", ipython(("Cell", "In[3]")))
    with pytest.raises(usmx.KernelError, match=r"^f, cell In\[3\]:2: ") as caught:
        usmx.kernel(names["f"])[1](usmx.zeros(1, "i4"))
    assert "ipykernel" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "IPython", ipython(None))
    assert texts.shown(name) == "a notebook's cell"
    assert texts.shown("<ipython-input-7-0a1b2c>") == "cell In[7]"
    assert texts.shown("folder/file.py") == "folder/file.py"
