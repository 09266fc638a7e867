"""Mistakes that the compiler has to reject, each with the correct line that it has to accept."""
# SPDX-License-Identifier: Apache-2.0

import importlib.metadata
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import nanobind
import pytest

import usmx

BINDINGS = Path(__file__).resolve().parents[2] / "python" / "bindings"

# The least that a case needs: SYCL's headers cost seconds.
HEADERS = {
    "NB_MODULE": "#include <usmx/copy.hpp>\n#include <usmx/nanobind.hpp>\n",
    "usmx::array|usmx::memory_resource|usmx::usm_resource": "#include <usmx/copy.hpp>\n",
    "": "#include <string>\n#include <usmx/view.hpp>\n",
}
OF_SIGNATURES = '#include "support/signature.hpp"\nusing namespace usmx::python;\n'

# The signatures of the module itself, which no user writes: the same.
SIGNATURES = {
    "a signature says what the function returns": (
        '"f(x: int) -> int"_sig, [](int x) { return x; }',
        '"f(x: int)"_sig, [](int x) { return x; }',
        r"not of the form `name\(parameters\) -> type`",
    ),
    "a bracket of a signature ends": (
        '"f(x: list[int]) -> None"_sig, [](nb::handle) {}',
        '"f(x: list[int) -> None"_sig, [](nb::handle) {}',
        "a bracket or a quote has no end",
    ),
    "a parameter has a name of Python": (
        '"f(x1: int) -> None"_sig, [](int) {}',
        '"f(1x: int) -> None"_sig, [](int) {}',
        "a parameter has no name, or not one of Python",
    ),
    "two parameters have two names": (
        '"f(x: int, y: int) -> None"_sig, [](int, int) {}',
        '"f(x: int, x: int) -> None"_sig, [](int, int) {}',
        "two parameters have one name",
    ),
    "a name follows the star": (
        '"f(x: int, *, y: int) -> None"_sig, [](int, int) {}',
        '"f(x: int, y: int, *) -> None"_sig, [](int, int) {}',
        "at a place where Python has none",
    ),
    "a default is followed by defaults": (
        '"f(x: int, *, y: int = 1, z: int) -> None"_sig, [](int, int, int) {}',
        '"f(x: int, y: int = 1, z: int) -> None"_sig, [](int, int, int) {}',
        "a parameter without a default follows one that has a default",
    ),
    "a default is a literal": (
        "\"f(x: int = -12, y: str = 'a') -> None\"_sig, [](int, nb::handle) {}",
        '"f(x: int = -12, y: str = [1]) -> None"_sig, [](int, nb::handle) {}',
        "a default has to be None, True, False, a number, a text, bytes or",
    ),
    "a mark for None stands behind a type": (
        '"f(x: int? = 1) -> None"_sig, [](nb::handle) {}',
        '"f(x: int | None? = 1) -> None"_sig, [](nb::handle) {}',
        "`[?]` stands elsewhere than behind a type without None",
    ),
    "a signature has as many parameters as the function": (
        '"f(x: int, y: int) -> None"_sig, [](int, int) {}',
        '"f(x: int, y: int) -> None"_sig, [](int) {}',
        "the signature has another number of parameters than the function",
    ),
    "a signature has the arguments of the function that have no names": (
        '"f(x: int, *more: int) -> None"_sig, [](int, nb::args) {}',
        '"f(x: int, *more: int) -> None"_sig, [](int, int) {}',
        "the signature has `[*]args` where the function has no nb::args",
    ),
}

# name: (right, wrong, what the compiler says)
CASES = {
    "a typed view comes from a check, not from a conversion": (
        "usmx::view<float, 2> f(const usmx::any_view& a)"
        " { usmx::view<float, 2> v; if (a.typed(v) != usmx::fault::none) throw 1; return v; }",
        "usmx::view<float, 2> f(const usmx::any_view& a) { return a; }",
        "could not convert|no viable conversion",
    ),
    "an unchecked pointer is not an any_view": (
        "usmx::any_view f() { return {}; }",
        "usmx::any_view f(float* p) { return {p}; }",
        "could not convert|no matching constructor",
    ),
    "one index for each dimension": (
        "float f(usmx::view<const float, 2> v) { return v(1, 2); }",
        "float f(usmx::view<const float, 2> v) { return v(1); }",
        "one index for each dimension",
    ),
    "no more indices than dimensions": (
        "float f(usmx::view<const float, 2> v) { return v(1, 2); }",
        "float f(usmx::view<const float, 2> v) { return v(1, 2, 3); }",
        "one index for each dimension",
    ),
    "const elements are not written": (
        "void f(usmx::view<float, 1> v) { v(0) = 1; }",
        "void f(usmx::view<const float, 1> v) { v(0) = 1; }",
        "read-only|not assignable",
    ),
    "more dimensions than an array can have": (
        "usmx::view<float, 64> v;",
        "usmx::view<float, 65> v;",
        "static assertion failed: a rank|static_assert failed.*a rank",
    ),
    "fewer dimensions than none": (
        "usmx::view<float, 0> v;",
        "usmx::view<float, -1> v;",
        "static assertion failed: a rank|static_assert failed.*a rank",
    ),
    "long double is not a type of a device": (
        "auto f() { return usmx::dtype::of<double>(); }",
        "auto f() { return usmx::dtype::of<long double>(); }",
        "long double has no type on a device",
    ),
    "an element is trivially copyable": (
        "struct pair { int a, b; }; auto f() { return usmx::dtype::of<pair>(); }",
        "auto f() { return usmx::dtype::of<std::string>(); }",
        "trivially copyable",
    ),
    "a resource is not copied": (
        "void f(usmx::memory_resource& r) { usmx::memory_resource& s = r; (void)s; }",
        "void f(usmx::usm_resource& r) { usmx::usm_resource s = r; }",
        "deleted function",
    ),
    "an owner is not copied": (
        "usmx::shared_owner f(const usmx::array& a) { return a.keep_alive(); }",
        "void f(const usmx::array& a) { auto o = *a.keep_alive(); }",
        "deleted function|abstract",
    ),
    "what is allocated is not dropped": (
        "void f(usmx::memory_resource& r) { void* p = r.allocate(8); r.deallocate(p, 8); }",
        "void f(usmx::memory_resource& r) { r.allocate(8); }",
        "nodiscard",
    ),
    "copy takes the destination first, and only arrays": (
        "void f(const usmx::array& a, const usmx::array& b) { usmx::copy(a, b); }",
        "void f(const usmx::array& a, const float* b) { usmx::copy(a, b); }",
        "usmx::array",
    ),
    "the array of a Python object is not replaced behind its back": (
        'NB_MODULE(m, m) { m.def("f", [](const usmx::array&) {}); }',
        'NB_MODULE(m, m) { m.def("f", [](usmx::array& a) { a = {}; }); }',
        "error",
    ),
    "a function does not return a view, which owns nothing": (
        'NB_MODULE(m, m) { m.def("f", [](usmx::array a) { return a; }); }',
        'NB_MODULE(m, m) { m.def("f", [](usmx::view<float, 1> v) { return v; }); }',
        "from_cpp",
    ),
    **{
        name: (
            f"void f(nb::module_& m) {{ def(m, {right}); }}",
            f"void f(nb::module_& m) {{ def(m, {wrong}); }}",
            message,
        )
        for name, (right, wrong, message) in SIGNATURES.items()
    },
}


def sycl_include() -> str:
    runtime = importlib.metadata.distribution("intel-sycl-rt")
    (header,) = (f for f in runtime.files or [] if str(f).endswith("include/sycl/version.hpp"))
    return str(Path(str(runtime.locate_file(header))).resolve().parents[1])


def compile_errors(source: str, folder: Path) -> str:
    file = folder / "case.cpp"
    header = next(text for words, text in HEADERS.items() if re.search(words, source))
    header += OF_SIGNATURES if "_sig" in source else ""
    file.write_text(header + source + "\n")
    system = (sycl_include(), nanobind.include_dir(), sysconfig.get_path("include"))
    done = subprocess.run(
        [
            os.environ.get("CXX", "g++"),
            *("-std=c++20", "-fsyntax-only", "-Wall", "-Werror=unused-result"),
            "-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING",
            "-I" + usmx.get_include(),
            f"-I{BINDINGS}",
            *(part for path in system for part in ("-isystem", path)),
            str(file),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


def test_every_right_line_compiles(tmp_path: Path) -> None:
    right = (
        re.sub(r"NB_MODULE\(m,", f"NB_MODULE(m{n},", line)
        for n, (line, _, _) in enumerate(CASES.values())
    )
    source = "\n".join(f"namespace n{n} {{ {line} }}" for n, line in enumerate(right))
    assert compile_errors(source, tmp_path) == ""


@pytest.mark.parametrize("name", CASES)
def test_the_mistake_does_not_compile(name: str, tmp_path: Path) -> None:
    _, wrong, message = CASES[name]
    errors = compile_errors(wrong, tmp_path)
    assert re.search(message, errors), errors or "it compiled"
