# cython: language_level=3
# USM of any library in Cython: typed pointers with strides, and the functions of libusmx.
# SPDX-License-Identifier: Apache-2.0
cimport usmx
from libc.stdint cimport int64_t


def total(x):
    """The sum of a two-dimensional float32 array, on the host."""
    x = usmx.source(x)
    cdef usmx.sycl_usm_array a = usmx.host_view(x, b"f", 4, 2, False)
    cdef double sum = 0
    cdef int64_t i, j
    with nogil:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                sum += (<float*> usmx.at2(&a, i, j))[0]
    return sum


def add_one(x):
    """Add one to each element of a row of int32, in place, with any stride."""
    x = usmx.source(x)
    cdef usmx.sycl_usm_array a = usmx.host_view(x, b"i", 4, 1, True)
    cdef int64_t i
    for i in range(a.shape[0]):
        (<int*> usmx.at(&a, i))[0] += 1


def fill(x, float value):
    """Fill float32 memory of any kind and shape by a command of libusmx."""
    x = usmx.source(x)
    cdef usmx.sycl_usm_array a
    cdef usmx.usmx_array* array = NULL
    usmx.sycl_usm_exchange_of(x).acquire(x, &a)
    if usmx.usmx_array_take(&a, &array) != usmx.USMX_OK:
        a.release(&a)
        raise ValueError(usmx.usmx_error().decode())
    cdef usmx.usmx_status done
    with nogil:
        done = usmx.usmx_array_fill(array, &value, sizeof(value))
        usmx.usmx_array_free(array)
    if done != usmx.USMX_OK:
        raise ValueError(usmx.usmx_error().decode())
