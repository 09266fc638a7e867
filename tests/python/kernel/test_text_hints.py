"""Words of other languages in the text of a kernel: behind the compiler's line, what to write."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest
from backend_row import needs

import usmx

if TYPE_CHECKING:
    from collections.abc import Callable


def _text(body: str) -> Callable[[], object]:
    return lambda: usmx.RawKernel(f"USMX_KERNEL(1) f(float* x) {{ {body} }}", "f").compile()


def _whole(text: str) -> Callable[[], object]:
    return lambda: usmx.RawKernel(text, "f").compile()


def _expression(operation: str) -> Callable[[], object]:
    kernel = usmx.ElementwiseKernel("T x", "T y", operation)
    return lambda: kernel(usmx.ones(2, dtype="float32")).tolist()


def notes_of(build: Callable[[], object]) -> tuple[str, list[str]]:
    with pytest.raises(usmx.BuildError) as caught:
        build()
    notes = [note for note in caught.value.__notes__ if not note.startswith("help: ")]
    return str(caught.value), notes


@pytest.mark.parametrize(
    ("build", "word", "instead"),
    [
        (_text("x[0] = sycl::sqrt(x[0]);"), "sycl", "#include <sycl/sycl.hpp>"),
        (_text("sycl::nd_item<1> item;"), "sycl", "usmx::nd_item<1>"),
        (_text("x[0] = std::sqrt(x[0]);"), "std", "usmx::sqrt(x)"),
        (_text('printf("%g", x[0]);'), "printf", "USMX_PRINT("),
        (_text('usmx::printf("%g", x[0]);'), "printf", "USMX_PRINT("),
        (_text("x[threadIdx.x] = 1;"), "threadIdx", "usmx::global_id()"),
        pytest.param(  # CUDA's compilers know the name
            _text("__syncthreads();"),
            "__syncthreads",
            "usmx.compat.cupy.RawKernel",
            marks=needs("opencl"),
        ),
        (_whole("__global__ void f(float* x) {}"), "__global__", "USMX_KERNEL(1) name("),
        (_whole('extern "C" __global__ void f() {}'), "__global__", "usmx.compat.cupy.RawKernel"),
        (_text("x[0] = np.sqrt(x[0]);"), "np", "usmx::sqrt(x)"),
        (_expression("y = sycl::sqrt(x)"), "sycl", "sqrt(x)"),
        (_expression("y = std::sqrt(x)"), "std", "sqrt(x)"),
        (_expression("y = np.sqrt(x)"), "np", "sqrt(x)"),
        (_expression("y = x + threadIdx.x"), "threadIdx", "'i' is the index of the element"),
        (_expression('printf("%g", x); y = x'), "printf", "USMX_PRINT("),
    ],
)
def test_a_word_of_another_language_gets_the_sentence_that_helps(
    build: Callable[[], object], word: str, instead: str
) -> None:
    message, notes = notes_of(build)
    assert f"'{word}'" in message, "the compiler's own line stays"
    assert len(notes) == 1, notes
    assert notes[0].startswith(f"'{word}' ")
    assert instead in notes[0]
    assert "\n" not in notes[0]


def test_each_subject_is_told_once() -> None:
    body = "x[threadIdx.x] = std::sqrt(x[blockIdx.x]); __syncthreads();"
    _, notes = notes_of(_whole(f"__global__ void f(float* x) {{ {body} }}"))
    assert [note.split("'")[1] for note in notes] == ["__global__", "std"]


def test_other_errors_have_no_such_sentence() -> None:
    assert notes_of(_text("x[0] = nothing;"))[1] == []


def test_the_sentence_stays_with_a_copy_and_is_not_doubled() -> None:
    with pytest.raises(usmx.BuildError) as caught:
        _text("x[0] = std::sqrt(x[0]);")()
    error = caught.value
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert other.__notes__ == error.__notes__
        assert str(other) == str(error)


def test_what_a_sentence_advises_is_true() -> None:
    x = usmx.ones(2, dtype="float32")
    text = "#include <cmath>\nUSMX_KERNEL(1) f(float* x) { x[0] += usmx::sqrt(std::sqrt(16.0f)); }"
    usmx.RawKernel(text, "f")[1](x)
    assert usmx.ElementwiseKernel("T x", "T y", "y = sqrt(x + 6) + i")(x)[0].item() == 3


def test_a_right_program_does_not_import_the_sentences(run_python: Callable[..., object]) -> None:
    run_python(
        "import sys, usmx\n"
        "usmx.RawKernel('USMX_KERNEL(1) f(float* x) { x[0] = 1; }', 'f').compile()\n"
        "assert 'usmx._build_hints' not in sys.modules"
    )
