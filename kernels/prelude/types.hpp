// The fixed-width types, and the attributes by which the compiler knows device functions and
// kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

using int8_t = __INT8_TYPE__;
using int16_t = __INT16_TYPE__;
using int32_t = __INT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint8_t = __UINT8_TYPE__;
using uint16_t = __UINT16_TYPE__;
using uint32_t = __UINT32_TYPE__;
using uint64_t = __UINT64_TYPE__;
using size_t = __SIZE_TYPE__;
using ptrdiff_t = __PTRDIFF_TYPE__;
using half = _Float16;

/// A function that lives outside of this source: one of the device's own.
#define USMX_DEVICE __attribute__((sycl_device))

/// Begins a kernel over a range of `rank` dimensions: USMX_KERNEL(2) blur(const float* in, float*
/// out) {...}
#define USMX_KERNEL(rank)                                     \
  extern "C" __attribute__((sycl_device)) USMX_BACKEND_KERNEL \
      [[__sycl_detail__::add_ir_attributes_function("sycl-nd-range-kernel", rank)]] void

/// Put before USMX_KERNEL where items add to local memory by atomic operations again and again: a
/// processor then makes vectors of 8 items, not of 16. Lanes add one after the other, and each one
/// of 16 asks first whether it takes part: a histogram of 1e7 numbers takes an EPYC 20 ms with 16
/// lanes and 5 ms with 8. Not where sub-groups are used, whose size it changes.
#ifdef USMX_SHORT_VECTOR
#define USMX_SHORT_VECTORS __attribute__((intel_reqd_sub_group_size(USMX_SHORT_VECTOR)))
#else
#define USMX_SHORT_VECTORS
#endif

/// Put in the place of USMX_KERNEL where a kernel takes what no kernel can everywhere. Launched is
/// then a kernel of the same name that takes the parts, makes the whole of them and calls this one.
#define USMX_CALLED(rank) [[gnu::always_inline]] inline void

namespace usmx {

/// How floats are stored: the bits of the fraction, and the exponent that 1 is stored with.
template <class T>
struct float_layout;
template <>
struct float_layout<float> {
  using bits = uint32_t;
  static constexpr int fraction = 23, bias = 127;
};
template <>
struct float_layout<double> {
  using bits = uint64_t;
  static constexpr int fraction = 52, bias = 1023;
};

}  // namespace usmx
