// The example of usmx/usmx.h in the reference: C, and what other languages call.
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <usmx/usmx.h>

#include "check.hpp"

TEST(C, Reference) {
  printf("usmx %s\n", usmx_version());
  usmx_queue *queue = NULL, *same = NULL;
  const usmx_status opened = usmx_queue_open("", &queue);
  if (opened != USMX_OK) {
    printf("%s\n", usmx_error()); /* says what is available */
    return;
  }
  char device[64];
  CHECK(usmx_queue_device(queue, device, sizeof device) == USMX_OK);
  /* The same queue, by the pointer that another library has of it. */
  CHECK(usmx_queue_share(usmx_queue_sycl(queue), &same) == USMX_OK);

  /* An array, its elements, and what they become. */
  const int64_t shape[1] = {4};
  const float one = 1, numbers[4] = {1, 2, 3, 4};
  float back[4];
  usmx_array *x = NULL, *y = NULL, *again = NULL;
  CHECK(usmx_array_new(queue, "<f4", 1, shape, SYCL_USM_SHARED, &x) == USMX_OK);
  CHECK(usmx_array_new(queue, "<f8", 1, shape, SYCL_USM_DEVICE, &y) == USMX_OK);
  CHECK(usmx_array_fill(x, &one, sizeof one) == USMX_OK);
  CHECK(usmx_array_fill_async(queue, x, &one, sizeof one) == USMX_OK);
  CHECK(usmx_array_write(x, numbers, sizeof numbers) == USMX_OK);
  CHECK(usmx_array_copy(y, x) == USMX_OK); /* casts */
  CHECK(usmx_array_copy_async(queue, x, y) == USMX_OK);
  CHECK(usmx_array_wait(x) == USMX_OK); /* before the host looks at it */
  CHECK(((const float*)usmx_array_data(x))[3] == 4);
  CHECK(usmx_array_read(x, back, sizeof back) == USMX_OK && memcmp(back, numbers, 16) == 0);

  /* Another reference, a look at its fields, and the struct that other libraries take. */
  sycl_usm_array fields;
  CHECK(usmx_array_copy_reference(x, &again) == USMX_OK);
  CHECK(usmx_array_describe(x, &fields) == USMX_OK && fields.shape[0] == 4);
  CHECK(usmx_array_share(x, &fields) == USMX_OK);
  usmx_array* taken = NULL;
  CHECK(usmx_array_take(&fields, &taken) == USMX_OK); /* what a receiver does with it */

  /* Around commands of a library of one's own on that queue: after what is pending, and known. */
  CHECK(usmx_array_order(x, usmx_queue_sycl(queue)) == USMX_OK);
  CHECK(usmx_array_used(x, usmx_queue_sycl(queue), NULL) == USMX_OK);
  CHECK(usmx_queue_wait(queue) == USMX_OK);

  usmx_array_free(taken);
  usmx_array_free(again);
  usmx_array_free(y);
  usmx_array_free(x);
  usmx_queue_close(same);
  usmx_queue_close(queue);
}
