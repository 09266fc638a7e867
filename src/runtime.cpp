// SPDX-License-Identifier: Apache-2.0
#include "usmx/runtime.hpp"
