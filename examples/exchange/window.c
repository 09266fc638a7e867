/* Windows onto two-dimensional USM of any library: a consumer and a producer of
 * `__sycl_usm_exchange_api__` in plain C. It includes no header of usmx or SYCL: everything it
 * knows is on the page docs/exchange.md.
 * SPDX-License-Identifier: Apache-2.0 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* --- as the page has them ----------------------------------------------------------------------
 */

typedef struct usm_array {
  void* data;
  int64_t offset;
  const int64_t* shape;
  const int64_t* strides;
  int32_t ndim;
  uint32_t itemsize;
  char type;
  uint8_t kind;
  uint16_t reserved;
  uint32_t flags;
  const void* queue;
  const void* context;
  const void* event;
  void* owner;
  void (*release)(struct usm_array* self);
} usm_array;

typedef struct usm_api {
  uint32_t major;
  uint32_t minor;
  uint64_t size;
  int (*view)(PyObject* object, usm_array* out);
  int (*acquire)(PyObject* object, usm_array* out);
  int (*order)(PyObject* object, const void* queue);
  int (*used)(PyObject* object, const void* queue, const void* event);
  int (*wait)(PyObject* object);
  int (*typedescr)(PyObject* object, PyObject** list);
  int (*make)(usm_array* array, PyObject** made);
} usm_api;

enum { READ_ONLY = 1, DEVICE = 2 };

static const char* const attribute = "__sycl_usm_exchange_api__";
static const char* const capsule_name = "sycl_usm_exchange_api";

/* --- the consumer ------------------------------------------------------------------------------
 */

/* The table of an object's type; TypeError if it has none. Programs that are called often keep the
 * last type and its table, see sycl_usm_exchange_of in usmx/exchange.h. */
static const usm_api* api_of(PyObject* object) {
  PyObject* const capsule = PyObject_GetAttrString((PyObject*)Py_TYPE(object), attribute);
  if (capsule == NULL) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Format(PyExc_TypeError, "%s has no %s", Py_TYPE(object)->tp_name, attribute);
    }
    return NULL;
  }
  const usm_api* const api = PyCapsule_GetPointer(capsule, capsule_name);
  Py_DECREF(capsule); /* the table outlives it */
  if (api != NULL && api->major != 1) {
    PyErr_Format(PyExc_TypeError, "%s: version %u is not supported; only 1 is", attribute,
                 api->major);
    return NULL;
  }
  return api;
}

/* Two-dimensional float32 that the host may read, after all commands on it. */
static int borrow(PyObject* object, int writable, usm_array* out) {
  const usm_api* const api = api_of(object);
  if (api == NULL) return -1;
  if (api->wait != NULL && api->wait(object) != 0) return -1;
  if (api->view(object, out) != 0) return -1;
  if (out->type != 'f' || out->itemsize != 4 || out->ndim != 2 || out->strides == NULL) {
    PyErr_SetString(PyExc_TypeError, "expected two dimensions of float32, with strides");
    return -1;
  }
  if (out->kind == DEVICE) {
    PyErr_SetString(PyExc_ValueError, "kind: is device memory, which the host cannot touch");
    return -1;
  }
  if (writable && (out->flags & READ_ONLY) != 0) {
    PyErr_SetString(PyExc_ValueError, "flags: the memory is read-only");
    return -1;
  }
  return 0;
}

static float* element(const usm_array* a, int64_t i, int64_t j) {
  return (float*)a->data + a->offset + i * a->strides[0] + j * a->strides[1];
}

static PyObject* total(PyObject* module, PyObject* object) {
  (void)module;
  usm_array a;
  if (borrow(object, 0, &a) != 0) return NULL;
  double sum = 0;
  for (int64_t i = 0; i < a.shape[0]; ++i) {
    for (int64_t j = 0; j < a.shape[1]; ++j) sum += *element(&a, i, j);
  }
  return PyFloat_FromDouble(sum);
}

static PyObject* add(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* object = NULL;
  float value = 0;
  usm_array a;
  if (!PyArg_ParseTuple(args, "Of", &object, &value) || borrow(object, 1, &a) != 0) return NULL;
  for (int64_t i = 0; i < a.shape[0]; ++i) {
    for (int64_t j = 0; j < a.shape[1]; ++j) *element(&a, i, j) += value;
  }
  Py_RETURN_NONE;
}

/* --- the producer ------------------------------------------------------------------------------
 */

/* Part of another object's memory. It owns that memory, so the object may go. */
typedef struct {
  PyObject_HEAD PyObject* source; /* asked when commands have to be ordered */
  const usm_api* api;             /* of the source */
  usm_array memory;               /* acquired, with the window's own offset, shape and strides */
  int64_t shape[2];
  int64_t strides[2];
} window;

static void window_dealloc(PyObject* object) {
  window* const self = (window*)object;
  if (self->memory.release != NULL) self->memory.release(&self->memory);
  Py_XDECREF(self->source);
  PyTypeObject* const type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyObject* window_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"source", "row", "column", "height", "width", NULL};
  PyObject* source = NULL;
  long long row = 0, column = 0, height = 0, width = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OLLLL", names, &source, &row, &column, &height,
                                   &width)) {
    return NULL;
  }
  const usm_api* const api = api_of(source);
  if (api == NULL) return NULL;
  if (api->acquire == NULL) {
    PyErr_SetString(PyExc_TypeError, "source: its memory cannot be acquired");
    return NULL;
  }
  window* const self = (window*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->api = api;
  if (api->acquire(source, &self->memory) != 0) {
    self->memory.release = NULL;
    Py_DECREF(self);
    return NULL;
  }
  self->source = Py_NewRef(source);
  const usm_array* const m = &self->memory;
  if (m->ndim != 2 || m->strides == NULL || row < 0 || column < 0 || height < 0 || width < 0 ||
      row > m->shape[0] - height || column > m->shape[1] - width) {
    PyErr_SetString(PyExc_ValueError, "the window is not inside of two-dimensional memory");
    Py_DECREF(self);
    return NULL;
  }
  if (height > 0 && width > 0) {
    self->memory.offset += row * m->strides[0] + column * m->strides[1];
  }
  self->shape[0] = height;
  self->shape[1] = width;
  memcpy(self->strides, m->strides, sizeof self->strides);
  self->memory.shape = self->shape;
  self->memory.strides = self->strides;
  return (PyObject*)self;
}

static int window_view(PyObject* object, usm_array* out) {
  window* const self = (window*)object;
  /* What is pending is known to the source alone. */
  usm_array now;
  if (self->api->view(self->source, &now) != 0) return -1;
  *out = self->memory;
  out->flags = (self->memory.flags & READ_ONLY) | (now.flags & ~(uint32_t)READ_ONLY);
  out->event = now.event;
  out->owner = NULL;
  out->release = NULL;
  return 0;
}

static int window_wait(PyObject* object) {
  window* const self = (window*)object;
  return self->api->wait != NULL ? self->api->wait(self->source) : 0;
}

/* The owner of an acquired window is the window. */
static void window_release(usm_array* a) {
  PyGILState_STATE state = PyGILState_Ensure(); /* from any thread */
  Py_DECREF((PyObject*)a->owner);
  a->release = NULL;
  PyGILState_Release(state);
}

static int window_acquire(PyObject* object, usm_array* out) {
  if (window_view(object, out) != 0) return -1;
  if (out->event == NULL && (out->flags & ~(uint32_t)READ_ONLY) != 0) {
    /* An owned struct carries no borrowed state: let what is pending end. */
    if (window_wait(object) != 0) return -1;
    out->flags &= READ_ONLY;
  }
  out->owner = Py_NewRef(object);
  out->release = window_release;
  return 0;
}

static int window_order(PyObject* object, const void* queue) {
  window* const self = (window*)object;
  return self->api->order != NULL ? self->api->order(self->source, queue) : 0;
}

static int window_used(PyObject* object, const void* queue, const void* event) {
  window* const self = (window*)object;
  return self->api->used != NULL ? self->api->used(self->source, queue, event) : 0;
}

static int window_typedescr(PyObject* object, PyObject** list) {
  window* const self = (window*)object;
  if (self->api->typedescr != NULL) return self->api->typedescr(self->source, list);
  *list = Py_NewRef(Py_None);
  return 0;
}

static const usm_api window_api = {
    1,           0,           sizeof(usm_api),  window_view, window_acquire, window_order,
    window_used, window_wait, window_typedescr, NULL,
};

/* An array of the source's library over the window: it keeps the window until it ends. */
static PyObject* window_as_array(PyObject* object, PyObject* unused) {
  (void)unused;
  window* const self = (window*)object;
  if (self->api->make == NULL) {
    PyErr_SetString(PyExc_TypeError, "source: its library makes no arrays");
    return NULL;
  }
  usm_array a;
  PyObject* made = NULL;
  if (window_acquire(object, &a) != 0) return NULL;
  if (self->api->make(&a, &made) != 0) {
    a.release(&a); /* still ours */
    return NULL;
  }
  return made;
}

static PyMethodDef window_methods[] = {
    {"as_array", window_as_array, METH_NOARGS, "An array of the source's library on the window."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot window_slots[] = {
    {Py_tp_doc, "Window(source, row, column, height, width): part of two-dimensional USM"},
    {Py_tp_new, window_new},
    {Py_tp_dealloc, window_dealloc},
    {Py_tp_methods, window_methods},
    {0, NULL},
};
static PyType_Spec window_spec = {"usm_window.Window", sizeof(window), 0, Py_TPFLAGS_DEFAULT,
                                  window_slots};

/* --- the module --------------------------------------------------------------------------------
 */

static PyMethodDef functions[] = {
    {"total", total, METH_O, "The sum of two-dimensional float32 memory."},
    {"add", add, METH_VARARGS, "Add a number to each element, in place."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "usm_window", "Windows onto USM.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_usm_window(void) {
  PyObject* const made = PyModule_Create(&module);
  PyObject* const type = made != NULL ? PyType_FromSpec(&window_spec) : NULL;
  PyObject* const capsule =
      type != NULL ? PyCapsule_New((void*)&window_api, capsule_name, NULL) : NULL;
  if (capsule == NULL || PyObject_SetAttrString(type, attribute, capsule) != 0 ||
      PyModule_AddObjectRef(made, "Window", type) != 0) {
    Py_XDECREF(made);
    Py_XDECREF(type);
    Py_XDECREF(capsule);
    return NULL;
  }
  Py_DECREF(type);
  Py_DECREF(capsule);
  return made;
}
