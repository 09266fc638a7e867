/* usmx for C, and for every language that calls C: queues, arrays in USM, copies, waiting. The
 * functions are in libusmx; this header needs neither C++ nor Python.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef USMX_H
#define USMX_H

#include "usmx/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a function says of itself. The order of the numbers never changes. */
typedef enum usmx_status {
  USMX_OK = 0,
  USMX_INVALID = 1,       /**< an argument, or memory that cannot be used as described */
  USMX_NO_MEMORY = 2,     /**< USM, or memory of the host */
  USMX_NO_DEVICE = 3,     /**< no such device or driver, or it cannot do this */
  USMX_RUNTIME_ERROR = 4, /**< the SYCL runtime failed, or a command did */
  USMX_OTHER_ERROR = 5
} usmx_status;

/** The text of the last function that failed on this thread: field, what it held, what is expected.
 * Never null. Valid until the next one fails. */
const char* usmx_error(void);
/** "major.minor.patch" of the library. */
const char* usmx_version(void);

/* Queues: where commands go. Each call that opens one needs a call that closes it. */

/** A queue, whose fields are not seen from C. */
typedef struct usmx_queue usmx_queue;

/** The default in-order queue of a device: "gpu", "opencl:cpu:0"; null or "" for the default
 * device. */
usmx_status usmx_queue_open(const char* filter, usmx_queue** out);
/** The queue behind a `sycl::queue*` of another library, for instance `sycl_usm_array.queue`. */
usmx_status usmx_queue_share(const void* sycl_queue, usmx_queue** out);
/** Waits for all commands of the queue. */
usmx_status usmx_queue_wait(const usmx_queue* queue);
/** The filter string of its device, "opencl:cpu:0", cut at `size` bytes with the zero. */
usmx_status usmx_queue_device(const usmx_queue* queue, char* text, size_t size);
/** Its `sycl::queue*`, valid until it is closed. */
const void* usmx_queue_sycl(const usmx_queue* queue);
/** Null is allowed. */
void usmx_queue_close(usmx_queue* queue);

/* Arrays: a reference to elements in USM. */

/** A reference to an array, whose fields are not seen from C. */
typedef struct usmx_array usmx_array;

/** New memory for `ndim` lengths in C order; its contents are undefined. `typestr` as NumPy writes
 * it: "<f4", "|b1". `kind` is SYCL_USM_HOST, SYCL_USM_DEVICE or SYCL_USM_SHARED. */
usmx_status usmx_array_new(const usmx_queue* queue, const char* typestr, int32_t ndim,
                           const int64_t* shape, int kind, usmx_array** out);
/** An array over memory of another library. Takes `described` over if it succeeds: its `release` is
 * called once, when no command uses the memory any more, from any thread. A null `release`: the
 * memory outlives the array. A struct of usmx gives the same array, with the commands on it. The
 * caller keeps the struct on failure. */
usmx_status usmx_array_take(sycl_usm_array* described, usmx_array** out);
/** Another reference to the same elements. */
usmx_status usmx_array_copy_reference(const usmx_array* array, usmx_array** out);
/** Where the elements are, borrowed until the array is freed. */
usmx_status usmx_array_describe(const usmx_array* array, sycl_usm_array* out);
/** The same with an owner, for other libraries; call its `release`. */
usmx_status usmx_array_share(const usmx_array* array, sycl_usm_array* out);
/** The element with all indices zero. */
void* usmx_array_data(const usmx_array* array);
/** Ends this reference; the last one frees the memory, after all commands on it. Null is allowed.
 */
void usmx_array_free(usmx_array* array);

/* Commands. They come after all that is pending on their arrays, on any queue. */

/** Copies element by element, casting as NumPy's astype, and waits. Shapes must be equal. */
usmx_status usmx_array_copy(const usmx_array* to, const usmx_array* from);
/** The same, without waiting; on the queue of `to` if `queue` is null. */
usmx_status usmx_array_copy_async(const usmx_queue* queue, const usmx_array* to,
                                  const usmx_array* from);
/** Copies all elements to or from `bytes` bytes of the host in C order, and waits. */
usmx_status usmx_array_read(const usmx_array* from, void* to, size_t bytes);
usmx_status usmx_array_write(const usmx_array* to, const void* from, size_t bytes);
/** Sets every element to the `bytes` bytes at `element`, and waits; _async does not wait. */
usmx_status usmx_array_fill(const usmx_array* to, const void* element, size_t bytes);
usmx_status usmx_array_fill_async(const usmx_queue* queue, const usmx_array* to,
                                  const void* element, size_t bytes);
/** Waits for all commands that use the memory, before the host looks at it. */
usmx_status usmx_array_wait(const usmx_array* array);
/** Commands that are submitted to `sycl_queue` later come after all that is pending. */
usmx_status usmx_array_order(const usmx_array* array, const void* sycl_queue);
/** Commands of another library on `sycl_queue` use the memory until `sycl_event`; with null, any
 * command on that queue may use it from now on. */
usmx_status usmx_array_used(const usmx_array* array, const void* sycl_queue,
                            const void* sycl_event);

#ifdef __cplusplus
}
#endif

#endif
