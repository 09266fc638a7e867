/* A C program on usmx:
 * gcc squares.c -I$(usmx --include) $(usmx --libs) -o squares && ./squares
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <usmx/usmx.h>

/* Ends the program with the reason if a call failed. */
static void check(usmx_status status) {
  if (status == USMX_OK) return;
  fprintf(stderr, "usmx: %s\n", usmx_error());
  exit(1);
}

int main(void) {
  const int64_t shape[] = {5};
  const float one = 1;
  float host[5];
  usmx_queue* queue = NULL;
  usmx_array *x = NULL, *y = NULL;

  check(usmx_queue_open(NULL, &queue)); /* the default device */
  check(usmx_array_new(queue, "<f4", 1, shape, SYCL_USM_SHARED, &x));
  check(usmx_array_new(queue, "<f8", 1, shape, SYCL_USM_DEVICE, &y));

  check(usmx_array_fill(x, &one, sizeof one));
  float* elements = usmx_array_data(x); /* shared memory: the host may use it */
  for (int i = 0; i < 5; ++i) elements[i] += (float)(i * i);

  check(usmx_array_copy_async(queue, y, x)); /* cast on the device */
  check(usmx_array_copy(x, y));              /* comes after it */
  check(usmx_array_read(x, host, sizeof host));
  for (int i = 0; i < 5; ++i) printf("%g ", host[i]);
  printf("\n");

  usmx_array_free(x);
  usmx_array_free(y);
  usmx_queue_close(queue);
  return 0;
}
