// A typical native library: it returns a pointer, knows nothing of Python or of usmx, and frees its
// memory through its own function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sycl/queue.hpp>

namespace camera {

/// One picture, `height` x `width` in C order, in shared USM of the queue it was taken with.
struct frame {
  std::uint16_t* pixels;
  std::int64_t height;
  std::int64_t width;
};

/// Takes a picture: pixel (i, j) is i * width + j.
frame take(sycl::queue& queue, std::int64_t height, std::int64_t width);
/// Gives a picture back.
void give_back(std::uint16_t* pixels);
/// Pictures that were taken and not given back.
int outstanding();

}  // namespace camera
