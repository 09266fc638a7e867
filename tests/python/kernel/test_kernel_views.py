# Arrays of any layout as arguments of kernels from text: usmx::strided and usmx::dense see what
# NumPy sees, what does not fit is refused before the launch, and lines keep their numbers.
# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest
from backend_row import needs
from element_types import TYPES

import usmx
import usmx.memory
from usmx import _usmx

COPY = """
USMX_KERNEL(2) copy(usmx::strided<const {0}, 2> x, usmx::dense<{0}, 2> y) {{
  usmx::nd_item<2> item;
  auto i = item.get_global_id(0), j = item.get_global_id(1);
  y(i, j) = x(i, j);
}}
"""
ADD = """
USMX_KERNEL(1) add(usmx::strided<const float, 1> x, usmx::strided<float, 1> y, float a) {
  auto i = usmx::global_id();
  y[i] += a * x[i];
}
"""
LAYOUTS = {
    "C order": lambda a: a,
    "transposed": lambda a: a.T,
    "rows backwards": lambda a: a[::-1],
    "all backwards": lambda a: a[::-1, ::-1],
    "every second": lambda a: a[1::2, ::3],
    "a part": lambda a: a[2:5, 1:4],
    "one column": lambda a: a[:, 3:4],
    "a row for all": lambda a: (
        usmx.broadcast_to(a[2], (5, 7))
        if isinstance(a, usmx.ndarray)
        else np.broadcast_to(a[2], (5, 7))
    ),
}


def array(values, dtype="f4"):
    return usmx.asarray(np.asarray(values, dtype=dtype), usm_type="shared")


@pytest.mark.parametrize("written", TYPES)
def test_elements_of_every_type_arrive(written):
    expected = (np.arange(35) % 2 if written == "bool" else np.arange(35)).reshape(5, 7)
    x = array(expected, TYPES[written])[::-1, ::2]
    y = usmx.empty(x.shape, dtype=TYPES[written])
    usmx.RawKernel(COPY.format(written), "copy")[x.shape](x, y).wait()
    assert y.to_numpy().dtype == np.dtype(TYPES[written])
    np.testing.assert_array_equal(y.to_numpy(), expected.astype(TYPES[written])[::-1, ::2])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_view_sees_what_numpy_sees(layout):
    expected = np.arange(42, dtype="f4").reshape(6, 7)
    x, seen = LAYOUTS[layout](array(expected)), LAYOUTS[layout](expected)
    assert x.shape == seen.shape
    y = usmx.zeros(seen.shape, dtype="f4")
    usmx.RawKernel(COPY.format("float"), "copy")[seen.shape](x, y).wait()
    np.testing.assert_array_equal(y.to_numpy(), seen)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "a row for all"])
def test_a_view_is_written_where_numpy_writes(layout):
    expected = np.zeros((6, 7), "f4")
    x = array(expected)
    part, seen = LAYOUTS[layout](x), LAYOUTS[layout](expected)
    seen[...] = np.arange(seen.size).reshape(seen.shape) + 1
    fill = usmx.RawKernel(
        """
        USMX_KERNEL(2) fill(usmx::strided<float, 2> x) {
          usmx::nd_item<2> item;
          x(item.get_global_id(0), item.get_global_id(1)) = item.get_global_linear_id() + 1;
        }
        """,
        "fill",
    )
    fill[seen.shape](part).wait()
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_shapes_strides_and_sizes_are_known_on_the_device():
    about = usmx.RawKernel(
        """
        USMX_KERNEL(1) about(usmx::strided<const float, 3> x, usmx::dense<const float, 2> d,
                             usmx::strided<const float, 0> n, int64_t* out) {
          for (int k = 0; k < 3; ++k) { out[k] = x.shape[k]; out[3 + k] = x.strides[k]; }
          out[6] = x.size(); out[7] = d.shape[0]; out[8] = d.shape[1]; out[9] = d.size();
          out[10] = int64_t(n()); out[11] = n.size();
        }
        """,
        "about",
    )
    x = usmx.zeros((2, 3, 4), dtype="f4")[:, ::-1, ::2]
    out = usmx.zeros(12, dtype="i8")
    about[1](x, usmx.zeros((0, 5), dtype="f4"), array(7.0), out).wait()
    assert out.to_numpy().tolist() == [2, 3, 2, 12, -4, 2, 12, 0, 5, 0, 7, 1]


def test_memory_without_a_type_is_a_view_of_one_dimension():
    x, y = usmx.memory.MemoryUSMShared(400), usmx.memory.MemoryUSMShared(400)
    np.frombuffer(x, "f4")[:] = 3
    np.frombuffer(y, "f4")[:] = 1
    usmx.RawKernel(ADD, "add")[100](x, y, 2).wait()
    assert (np.frombuffer(y, "f4") == 7).all()


FORMS = {
    "another name": (
        "using image = usmx::strided<float, 2>;\nUSMX_KERNEL(1) f(image x) { x(0, 1) = 5; }",
        (),
    ),
    "by reference": ("USMX_KERNEL(1) f(const usmx::strided<float, 2>& x) { x(0, 1) = 5; }", ()),
    "numbers from options": (
        "USMX_KERNEL(1) f(usmx::strided<T, N> x) { x(0, 1) = 5; }",
        ("-DN=2", "-DT=float"),
    ),
    "without the scope": (
        "using namespace usmx;\nUSMX_KERNEL(1) f(strided<float, 2> x) { x(0, 1) = 5; }",
        (),
    ),
    "in a namespace": (
        "namespace n {\nUSMX_KERNEL(1) f(usmx::strided<float, 2> x) { x(0, 1) = 5; } }",
        (),
    ),
    "with comments": (
        "USMX_KERNEL(1) // {(\nf /* ( */ (usmx::strided<float, // ,\n 2> x) { x(0, 1) = 5; } // }",
        (),
    ),
    "with an attribute": (
        "USMX_KERNEL(1) f [[sycl::reqd_work_group_size(1)]] (usmx::strided<float, 2> x)"
        "{ usmx::local<float[2]> five; five[1] = 5; x(0, 1) = five[1]; }",
        (),
    ),
    "two kernels on a line": (
        "USMX_KERNEL(1) g(usmx::dense<float, 1> x) {} USMX_KERNEL(1) f(usmx::strided<float, 2> x)"
        "{ x(0, 1) = 5; } USMX_KERNEL(1) h(float* x) {}",
        (),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_view_may_be_declared_in_any_form(form):
    source, options = FORMS[form]
    x = usmx.zeros((2, 2), dtype="f4")
    kernel = usmx.RawKernel(source, "f", options)
    kernel[1, 1](x.T).wait()
    assert x.to_numpy().tolist() == [[0, 0], [5, 0]]
    assert kernel.limits().max_work_group_size >= 1


# --- what is refused ------------------------------------------------------------------------------

ROW = usmx.zeros(8, dtype="f4")
TAKES = "kernel 'f' ("
WRONG = [
    ("usmx::strided<float, 2> x", ROW, ValueError, "has 1 dimensions; expected 2"),
    ("usmx::strided<double, 1> x", ROW, TypeError, "elements of float32; expected float64"),
    ("usmx::dense<float, 1> x", ROW[::2], ValueError, "is not C-contiguous; pass x.copy()"),
    ("usmx::dense<float, 2> x", usmx.zeros((2, 3), dtype="f4").T, ValueError, "not C-contiguous"),
    (
        "usmx::strided<float, 1> x",
        usmx.broadcast_to(ROW, (8,)),
        ValueError,
        "is read-only; the parameter must be a view of const elements",
    ),
    ("usmx::strided<float, 1> x", 2.0, TypeError, "is of type float; expected USM"),
    ("usmx::strided<float, 1> x", [0.0] * 8, TypeError, "expected USM"),
    ("usmx::strided<float, 2> x", usmx.memory.MemoryUSMShared(32), ValueError, "has 1 dimensions"),
    ("float* x", ROW[::2], ValueError, "declare the parameter as usmx::strided<T, N>"),
    (
        "usmx::strided<float, 1 + 1> x",
        ROW,
        ValueError,
        "the number of dimensions must be an integer literal",
    ),
    ("usmx::strided<long double, 1> x", ROW, ValueError, "element type is not supported; expected"),
]


@pytest.mark.parametrize(
    ("declared", "given", "error", "message"),
    WRONG,
    ids=[f"{row[0]}-{n}" for n, row in enumerate(WRONG)],
)
def test_what_does_not_fit_is_refused_with_its_name(declared, given, error, message):
    kernel = usmx.RawKernel(f"USMX_KERNEL(1) f({declared}) {{}}", "f")
    with pytest.raises(error, match=re.escape(message)) as caught:
        kernel[1](given)
    assert "kernel 'f'" in str(caught.value)
    assert declared in str(caught.value)


def test_wrong_counts_speak_of_the_parameters_of_the_source():
    kernel = usmx.RawKernel(ADD, "add")
    with pytest.raises(TypeError, match="takes 3 arguments, got 2"):
        kernel[8](ROW, ROW)


def test_a_macro_that_hides_the_kernel_is_named():
    kernel = usmx.RawKernel(
        "#define MINE USMX_KERNEL(1)\nMINE f(usmx::strided<float, 1> x) { x[0] = 1; }", "f"
    )
    with pytest.raises(ValueError, match=r"'usmx::strided<float, 1> x'.*USMX_KERNEL\(rank\)"):
        kernel[1](ROW)


@needs("structs")
def test_the_lines_of_messages_are_those_of_the_text():
    source = (
        "USMX_KERNEL(1) g(usmx::strided<float, 1> x) {\n}\n"
        "USMX_KERNEL(1) f(usmx::strided<float, 1> x) {\n  x[0] = nothing;\n}\n"
    )
    with pytest.raises(usmx.BuildError, match=r"source:4:10: error") as caught:
        usmx.RawKernel(source, "f")[1](ROW)
    assert "USMX_CALLED" not in caught.value.log + str(caught.value)

    with pytest.raises(usmx.BuildError) as caught:
        usmx.RawKernel("USMX_KERNEL(1) f(usmx::strided<float, 1> x, nothing y) {}", "f")[1](ROW, 1)
    assert "USMX_KERNEL(1) f(usmx::strided<float, 1> x, nothing y)" in caught.value.log
    assert "USMX_CALLED" not in caught.value.log


# --- what a launch promises -----------------------------------------------------------------------


def test_layouts_of_all_kinds_are_one_program():
    kernel = usmx.RawKernel("// one for all\n" + ADD, "add")
    x = array(np.arange(16))
    y = usmx.zeros(4, dtype="f4")
    kernel[4](x[:4], y, 1.0)
    compiled, _, loaded = _usmx._ProgramStore.counts()
    for part in (x[::4], x[::-4], usmx.broadcast_to(x[2], (4,)), x[12:]):
        kernel[4](part, y[::-1], 1.0)
    assert (_usmx._ProgramStore.counts()[0], _usmx._ProgramStore.counts()[2]) == (compiled, loaded)
    assert usmx.RawModule("// one for all\n" + ADD).names() == ("add",)
    expected = np.arange(4.0)
    for part in (np.arange(16)[::4], np.arange(16)[::-4], np.full(4, 2), np.arange(12, 16)):
        expected[::-1] += part
    assert y.to_numpy().tolist() == expected.tolist()


def test_views_keep_their_order_across_queues(queue):
    other = usmx.Queue(queue.device)
    x, y = usmx.zeros(1 << 16, dtype="f4"), usmx.ones(1 << 16, dtype="f4")
    kernel = usmx.RawKernel(ADD, "add")
    for turn in range(20):
        kernel[1 << 15](y[::2], x[::2], 1.0, queue=(queue, other)[turn % 2])
        kernel[1 << 15](x[::-2], x[1::2], 0.0, queue=(queue, other)[turn % 2])
    assert (x.to_numpy()[::2] == 20).all()
    assert (x.to_numpy()[1::2] == 0).all()


def test_memory_of_views_lives_as_long_as_their_kernel():
    kernel = usmx.RawKernel(
        """
        USMX_KERNEL(1) slow(usmx::strided<const int, 1> p, usmx::strided<int, 1> result) {
          int sum = 0;
          for (int n = 0; n < 3000000; ++n) sum += p[n & 1023] ^ n;
          result[0] = sum + 1;
        }
        """,
        "slow",
    )
    expected = np.cumsum(np.arange(3000000) ^ 1, dtype="i4")[-1] + np.int32(1)
    result = usmx.zeros(2, dtype="i4")
    x = usmx.ones(2048, dtype="i4")
    kernel[1](x[::2], result[1:])
    del x
    others = [usmx.full(2048, 7, dtype="i4") for _ in range(8)]
    assert int(result[1]) == int(expected)
    del others
