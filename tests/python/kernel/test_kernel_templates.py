# Kernels that are templates, found by a name with arguments: "scale<float>".
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from backend_row import needs

import usmx

SOURCE = """
template <class T> struct box { T value; };  // a template, but not of a kernel
template <class T>
T twice(T x) { return x + x; }

/* one for each type */ template <typename T, int N = 1 + 1>
USMX_KERNEL(1) scale(T a, const T* x, T* y) {
  auto i = usmx::global_id();
  y[i] = box<T>{T(a * x[i])}.value * T(N);
}
template <class T, class U = T, int N>
USMX_KERNEL(2) place [[sycl::reqd_work_group_size(1, 2)]] (usmx::strided<const T, 2> x,
                                                           usmx::dense<U, 2> y) {
  usmx::nd_item<2> item;
  auto i = item.get_global_id(0), j = item.get_global_id(1);
  y(i, j) = U(twice(x(i, j))) + N;
}
template <class T>
USMX_KERNEL(1) reverse(T* a, usmx::local_view<T, 1> tile) {
  usmx::nd_item<1> item;
  auto l = item.get_local_id(0);
  tile[l] = a[item.get_global_id(0)];
  item.barrier();
  a[item.get_global_id(0)] = tile[tile.shape[0] - 1 - l];
}
namespace inner {
template <class... T> USMX_KERNEL(1) many(float* x) { x[0] = sizeof...(T); }
template <class T> USMX_KERNEL(1) size(float* x) { x[0] = sizeof(T); }
}
USMX_KERNEL(1) plain(float* x) { x[0] = 42; }  // the last line, with a comment"""


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("scale<float>", "float32"),
        ("scale<double>", "float64"),
        (" scale < int64_t > ", "int64"),
        ("scale<usmx::complex<float>>", "complex64"),
        ("scale<unsigned char>", "uint8"),
    ],
)
def test_an_instance_has_the_parameters_of_its_types(name, dtype):
    x, y = usmx.arange(4, dtype="float32").astype(dtype), usmx.zeros(4, dtype=dtype)
    kernel = usmx.RawKernel(SOURCE, name)
    kernel[4](3, x, y).wait()
    np.testing.assert_array_equal(y.to_numpy(), np.arange(4) * 6)
    assert kernel.name == name


def test_values_are_arguments_of_templates_too():
    x, y = usmx.ones(2, dtype="float32"), usmx.zeros(2, dtype="float32")
    module = usmx.RawModule(SOURCE)
    module.get_function("scale<float, (2 > 1) ? 7 : 8>")[2](1, x, y).wait()
    np.testing.assert_array_equal(y.to_numpy(), [7, 7])
    module.get_function("plain")[1](y).wait()
    assert y.to_numpy()[0] == 42


def test_views_attributes_and_local_memory_work_in_templates():
    x, y = usmx.arange(6, dtype="int32").reshape(3, 2), usmx.zeros((2, 3), dtype="float64")
    place = usmx.RawKernel(SOURCE, "place<int, double, 5>")
    with pytest.raises(RuntimeError, match="required work-group size"):
        place[(2, 4), (2, 2)](x.T, y)
    y = usmx.zeros((2, 2), dtype="float64")
    place[(2, 2), (1, 2)](x[:2].T, y).wait()
    np.testing.assert_array_equal(y.to_numpy(), np.array([[0, 2], [1, 3]]) * 2 + 5)
    a = usmx.arange(8, dtype="int16")
    usmx.RawKernel(SOURCE, "reverse<int16_t>")[8, 4](a, usmx.LocalMemory(4, "int16")).wait()
    np.testing.assert_array_equal(a.to_numpy(), [3, 2, 1, 0, 7, 6, 5, 4])


def test_templates_of_namespaces_are_named_with_them():
    x = usmx.zeros(1, dtype="float32")
    usmx.RawKernel(SOURCE, "inner::size<double>")[1](x).wait()
    assert x.to_numpy()[0] == 8


def test_messages_name_the_instance():
    x = usmx.zeros(4, dtype="float64")
    with pytest.raises(TypeError, match=r"kernel 'scale<float>' \(const float\* x\).*float64"):
        usmx.RawKernel(SOURCE, "scale<float>")[4](1, x, x)
    with pytest.raises(TypeError, match="kernel 'scale<float>' takes 3 arguments, got 1"):
        usmx.RawKernel(SOURCE, "scale<float>")[4](1)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("scale", KeyError, "'scale' is a template; name its arguments too, as in 'scale<float>'"),
        ("scaled<float>", KeyError, "no kernel template named 'scaled'; there are: scale, place"),
        ("plain<float>", KeyError, "no kernel template named 'plain'"),
        ("scale<>", ValueError, r"'scale<>': the template 'scale' takes typename T, int N"),
        ("scale<float, 1, 2>", ValueError, "takes typename T, int N = 1 . 1, got 3"),
        ("inner::many<float>", ValueError, "parameter packs are not supported"),
        pytest.param("scale<flaot>", usmx.BuildError, "flaot", marks=needs("structs")),
    ],
)
def test_names_without_an_instance_are_refused(name, error, message):
    x = usmx.zeros(1, dtype="float32")
    with pytest.raises(error, match=message):
        usmx.RawKernel(SOURCE, name)[1](x)
