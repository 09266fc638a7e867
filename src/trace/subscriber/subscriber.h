/* The interface of the call counter, in C, so that Python reads it with ctypes and a C++ test
 * with dlsym, and neither has to be built with it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 once the SYCL runtime reports its calls to this library; 0 before the runtime's first use, and
 * for ever if the environment was not set before that. */
int usmx_trace_attached(void);

/* What one call did, for listeners that need more than counts. */
enum usmx_trace_what {
  usmx_trace_allocation,
  usmx_trace_free,
  usmx_trace_copy,
  usmx_trace_fill,
  usmx_trace_prefetch,
  usmx_trace_kernel,
  usmx_trace_build
};
struct usmx_trace_call {
  int what;
  int kind;            /* of an allocation: 0 unknown, 1 host, 2 device, 3 shared */
  uint64_t bytes;      /* 0 where the runtime does not say */
  const void* address; /* of the memory; of a copy's destination; NULL for buffers and images */
  const void* source;  /* of a copy */
  const void* queue;   /* the runtime's own handle, NULL without one */
  const char* name;    /* of a kernel, NULL if it is not known; valid during the call */
  int64_t begin;       /* nanoseconds of CLOCK_MONOTONIC */
  int64_t end;
  int failed;
};
/* Called for each such call when it returns, on the thread that made it, maybe with locks of the
 * runtime held: it must neither call the runtime nor wait for a thread that might. */
typedef void (*usmx_trace_sink)(const struct usmx_trace_call* call);
/* From now on calls go to `sink` as well; NULL to stop. One that has begun may still come after. */
void usmx_trace_set_sink(usmx_trace_sink sink);

/* How many counters there are. */
size_t usmx_trace_counters(void);
/* Name of one counter, "copies"; NULL past the end. Static. */
const char* usmx_trace_counter_name(size_t index);
/* Writes the current value of each counter. They only ever grow: subtract two readings. */
void usmx_trace_read(uint64_t* values);

/* The runtime numbers its functions; ids at or above this are not kept apart. */
size_t usmx_trace_functions(void);
/* Name of a function, "urEnqueueUSMMemcpy"; NULL if it was not called yet. */
const char* usmx_trace_function_name(size_t id);
/* Writes how often each function returned, failed calls included. */
void usmx_trace_read_calls(uint64_t* calls);

#ifdef __cplusplus
}
#endif
