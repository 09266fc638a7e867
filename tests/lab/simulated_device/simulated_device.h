/* What a test may ask the simulated device while a program runs on it; called through ctypes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the nth call (1 = the next one) of one kind fail; with `onwards` every later one too. Zero
 * takes the fault back. The kind's count starts again. Returns 0 for an unknown kind. */
int simulated_device_fail(const char* kind, long nth, int onwards);
/* Calls of one kind since the start or the last `fail`; -1 for an unknown kind. */
long simulated_device_calls(const char* kind);
/* Name of the kind with this number; NULL past the last. */
const char* simulated_device_kind(size_t index);

/* Allocations that were not freed, and their bytes. */
long simulated_device_live(void);
size_t simulated_device_live_bytes(void);
/* Commands that are submitted and not finished. */
long simulated_device_in_flight(void);
/* Defects found so far. Each was printed on stderr. */
long simulated_device_defects(void);

#ifdef __cplusplus
}
#endif
