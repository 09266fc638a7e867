/* The C structs of `__sycl_usm_exchange_api__`, version 1.0: USM of any library in any other, from
 * C, in some ten nanoseconds. C99 and C++; depends on no other header of usmx, so that a library
 * may copy it. The rules are on docs/exchange.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYCL_USM_EXCHANGE_H
#define SYCL_USM_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The attribute of a type, and the name of the capsule that it holds. */
#define SYCL_USM_EXCHANGE_ATTRIBUTE "__sycl_usm_exchange_api__"
#define SYCL_USM_EXCHANGE_CAPSULE "sycl_usm_exchange_api"
#define SYCL_USM_EXCHANGE_MAJOR 1
#define SYCL_USM_EXCHANGE_MINOR 0

/** Kinds of USM. */
enum { SYCL_USM_UNKNOWN = 0, SYCL_USM_HOST = 1, SYCL_USM_DEVICE = 2, SYCL_USM_SHARED = 3 };

/** Flags. */
enum {
  SYCL_USM_READ_ONLY = 1, /**< the consumer must not write */
  SYCL_USM_PENDING = 2    /**< commands that use the memory may be running */
};

struct _object; /* PyObject */

/** Elements in USM. 88 bytes. */
typedef struct sycl_usm_array {
  void* data;             /**< address that `offset` counts from; may be null without elements */
  int64_t offset;         /**< from `data` to the element with all indices zero, in elements */
  const int64_t* shape;   /**< `ndim` lengths */
  const int64_t* strides; /**< `ndim` steps in elements; null for C order */
  int32_t ndim;           /**< 0 to 64 */
  uint32_t itemsize;      /**< bytes of an element */
  char type;           /**< 'b' bool, 'i' int, 'u' unsigned, 'f' float, 'c' complex, 'E' bfloat16,
                            'V' record */
  uint8_t kind;        /**< SYCL_USM_HOST, ...; 0 if the producer does not know */
  uint16_t reserved;   /**< 0 */
  uint32_t flags;      /**< SYCL_USM_READ_ONLY | SYCL_USM_PENDING; others are 0 */
  const void* queue;   /**< sycl::queue*: where to submit; null if only a context is known */
  const void* context; /**< sycl::context*; may be null if `queue` is not */
  const void* event;   /**< sycl::event*: the end of what is pending; may be null */
  void* owner;         /**< the producer's, for `release` */
  void (*release)(struct sycl_usm_array* self); /**< null for a borrowed struct */
} sycl_usm_array;

/** The functions of a type. Those that return an int give 0, or -1 with a Python error set. All
 * need the GIL; those marked (*) may release it and run Python code meanwhile. All but `view` may
 * be null. */
typedef struct sycl_usm_exchange_api {
  uint32_t major; /**< a consumer reads only tables of its own major version */
  uint32_t minor; /**< functions were added at the end */
  uint64_t size;  /**< bytes of the producer's table */

  /** Describes the memory of `object`, borrowed: see the page for how long it is valid. */
  int (*view)(struct _object* object, sycl_usm_array* out);
  /** The same with an owner: valid until `release`, without the object. (*) */
  int (*acquire)(struct _object* object, sycl_usm_array* out);
  /** Commands that are submitted to `queue` (sycl::queue*) later come after all that is pending.
   * (*) */
  int (*order)(struct _object* object, const void* queue);
  /** Commands of the caller on `queue` use the memory until `event` (sycl::event*); with null, any
   * command on that queue, from now on, may use it. (*) */
  int (*used)(struct _object* object, const void* queue, const void* event);
  /** Waits until nothing is pending, for a caller on the host. (*) */
  int (*wait)(struct _object* object);
  /** The fields of a record as the list of the array interface, a new reference; None if there are
   * none. (*) */
  int (*typedescr)(struct _object* object, struct _object** list);
  /** A new object of the producer's library over the memory. Takes `array` over if it succeeds, and
   * sets its `release` to null; the caller keeps it on failure. (*) */
  int (*make)(sycl_usm_array* array, struct _object** made);
} sycl_usm_exchange_api;

#ifdef Py_PYTHON_H

/** The table of an object's type: null without an error if it has none of this major version. The
 * result is valid as long as the process. Needs the GIL. */
static inline const sycl_usm_exchange_api* sycl_usm_exchange_of(PyObject* object) {
  static PyTypeObject* known = NULL; /* the last type with a table, and a reference to it */
  static const sycl_usm_exchange_api* table = NULL;
  PyTypeObject* const type = Py_TYPE(object);
  if (type == known) return table;
  PyObject* const capsule = PyObject_GetAttrString((PyObject*)type, SYCL_USM_EXCHANGE_ATTRIBUTE);
  if (capsule == NULL) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return NULL;
  }
  const sycl_usm_exchange_api* found = NULL;
  if (PyCapsule_IsValid(capsule, SYCL_USM_EXCHANGE_CAPSULE)) {
    found = (const sycl_usm_exchange_api*)PyCapsule_GetPointer(capsule, SYCL_USM_EXCHANGE_CAPSULE);
    if (found->major != SYCL_USM_EXCHANGE_MAJOR) found = NULL;
  }
  Py_DECREF(capsule);
  if (found != NULL) {
    PyTypeObject* const before = known;
    Py_INCREF((PyObject*)type);
    known = type;
    table = found;
    Py_XDECREF((PyObject*)before);
  }
  return found;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
