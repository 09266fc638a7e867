// A heap that counts what is asked of it and runs out when told to: how the tests prove that a
// function needs no memory, or that it survives having none. Linked into the std-only tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace heap {

extern std::size_t requests;  // so far
extern long left;             // until std::bad_alloc; negative: as many as are asked for

}  // namespace heap
