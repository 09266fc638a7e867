// Mistakes that the compiler has to stop. ctest compiles this once for each CASE and looks for the
// words that a user would read; CASE 0 is the control that must compile.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "usmx/view.hpp"

[[maybe_unused]] static auto first(const usmx::view<const float, 2>& v) {
#if CASE == 0
  return v(0, 0);
#elif CASE == 1  // one index too few
  return v(0);
#elif CASE == 2  // one index too many
  return v(0, 0, 0);
#elif CASE == 3  // writing to elements that are const
  v(0, 0) = 1.0f;
  return 0;
#elif CASE == 4  // a rank that is not supported
  return usmx::view<float, usmx::max_rank + 1>().rank;
#elif CASE == 5  // a rank below zero
  return usmx::view<float, -1>().rank;
#elif CASE == 6  // a type that no device has
  return usmx::dtype::of<long double>();
#elif CASE == 7  // an element that cannot be copied byte by byte
  return usmx::dtype::of<std::string>();
#endif
}
