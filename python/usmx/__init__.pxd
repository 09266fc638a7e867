# `cimport usmx`: USM of any library in Cython, as a pointer with strides. The structs are those of
# usmx/exchange.h, the functions of libusmx those of usmx/usmx.h; only the latter need linking.
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "usmx/exchange.h" nogil:
    int SYCL_USM_UNKNOWN
    int SYCL_USM_HOST
    int SYCL_USM_DEVICE
    int SYCL_USM_SHARED
    int SYCL_USM_READ_ONLY
    int SYCL_USM_PENDING

    ctypedef struct sycl_usm_array:
        void* data
        int64_t offset
        const int64_t* shape
        const int64_t* strides
        int32_t ndim
        uint32_t itemsize
        char type
        uint8_t kind
        uint16_t reserved
        uint32_t flags
        const void* queue
        const void* context
        const void* event
        void* owner
        void (*release)(sycl_usm_array*)

cdef extern from "usmx/exchange.h":
    ctypedef struct sycl_usm_exchange_api:
        uint32_t major
        uint32_t minor
        uint64_t size
        int (*view)(object, sycl_usm_array*) except -1
        int (*acquire)(object, sycl_usm_array*) except -1
        int (*order)(object, const void* queue) except -1
        int (*used)(object, const void* queue, const void* event) except -1
        int (*wait)(object) except -1

    const sycl_usm_exchange_api* sycl_usm_exchange_of(object) except? NULL


cdef extern from "usmx/usmx.h" nogil:
    ctypedef enum usmx_status:
        USMX_OK
        USMX_INVALID
        USMX_NO_MEMORY
        USMX_NO_DEVICE
        USMX_RUNTIME_ERROR
        USMX_OTHER_ERROR
    ctypedef struct usmx_queue:
        pass
    ctypedef struct usmx_array:
        pass
    const char* usmx_error()
    const char* usmx_version()
    usmx_status usmx_queue_open(const char* filter, usmx_queue** out)
    usmx_status usmx_queue_share(const void* sycl_queue, usmx_queue** out)
    usmx_status usmx_queue_wait(const usmx_queue* queue)
    usmx_status usmx_queue_device(const usmx_queue* queue, char* text, size_t size)
    const void* usmx_queue_sycl(const usmx_queue* queue)
    void usmx_queue_close(usmx_queue* queue)
    usmx_status usmx_array_new(const usmx_queue* queue, const char* typestr, int32_t ndim,
                               const int64_t* shape, int kind, usmx_array** out)
    usmx_status usmx_array_take(sycl_usm_array* described, usmx_array** out)
    usmx_status usmx_array_copy_reference(const usmx_array* array, usmx_array** out)
    usmx_status usmx_array_describe(const usmx_array* array, sycl_usm_array* out)
    usmx_status usmx_array_share(const usmx_array* array, sycl_usm_array* out)
    void* usmx_array_data(const usmx_array* array)
    void usmx_array_free(usmx_array* array)
    usmx_status usmx_array_copy(const usmx_array* to, const usmx_array* source)
    usmx_status usmx_array_copy_async(const usmx_queue* queue, const usmx_array* to,
                                      const usmx_array* source)
    usmx_status usmx_array_read(const usmx_array* source, void* to, size_t bytes)
    usmx_status usmx_array_write(const usmx_array* to, const void* source, size_t bytes)
    usmx_status usmx_array_fill(const usmx_array* to, const void* element, size_t bytes)
    usmx_status usmx_array_fill_async(const usmx_queue* queue, const usmx_array* to,
                                      const void* element, size_t bytes)
    usmx_status usmx_array_wait(const usmx_array* array)
    usmx_status usmx_array_order(const usmx_array* array, const void* sycl_queue)
    usmx_status usmx_array_used(const usmx_array* array, const void* sycl_queue,
                                const void* sycl_event)


# The object itself if C can ask it, otherwise an array of usmx over its memory: what the functions
# below take. Keep it in a variable as long as a struct or pointer from it is used.
cdef inline object source(object x):
    if sycl_usm_exchange_of(x) != NULL:
        return x
    from usmx import asarray
    return asarray(x, copy=False)


# Where the elements are. TypeError for another element type or rank, ValueError for read-only memory
# with `writable`. Valid as long as `x` is not freed or changed; strides are not null.
cdef inline sycl_usm_array view(object x, char type, uint32_t itemsize, int32_t ndim,
                                bint writable) except *:
    cdef sycl_usm_array a
    cdef const sycl_usm_exchange_api* api = sycl_usm_exchange_of(x)
    if api == NULL:
        raise TypeError("the object offers no USM to C; pass usmx.source(x)")
    api.view(x, &a)
    if a.type != type or a.itemsize != itemsize or a.ndim != ndim:
        raise TypeError(f"got elements of type {chr(a.type)}{a.itemsize} with {a.ndim} dimensions; "
                        f"expected {chr(type)}{itemsize} with {ndim}")
    if writable and (a.flags & SYCL_USM_READ_ONLY):
        raise ValueError("data: is read-only, and the function writes to this argument")
    if a.strides == NULL and a.ndim > 1:
        raise ValueError("strides: is null; pass usmx.asarray(x, copy=False)")
    return a


# The same for a loop on the host: shared or host memory, after all commands on it have ended.
cdef inline sycl_usm_array host_view(object x, char type, uint32_t itemsize, int32_t ndim,
                                     bint writable) except *:
    cdef sycl_usm_array a = view(x, type, itemsize, ndim, writable)
    if a.kind == SYCL_USM_DEVICE:
        raise ValueError("data: is USM of kind 'device', which the host cannot touch")
    if sycl_usm_exchange_of(x).wait != NULL:
        sycl_usm_exchange_of(x).wait(x)
        a = view(x, type, itemsize, ndim, writable)
    return a


# The address of an element: `(<float*> usmx.at(&a, i))[0]`. Not checked.
cdef inline void* at(const sycl_usm_array* a, int64_t i) noexcept nogil:
    return <char*> a.data + (a.offset + i * (a.strides[0] if a.strides != NULL else 1)) * a.itemsize


cdef inline void* at2(const sycl_usm_array* a, int64_t i, int64_t j) noexcept nogil:
    return <char*> a.data + (a.offset + i * a.strides[0] + j * a.strides[1]) * a.itemsize
