/* What the call counter answers: a C interface, so that Python reads it with ctypes and a C++ test
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
