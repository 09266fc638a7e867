"""The copies of the runtime are counted from the first use of SYCL in the process."""
# SPDX-License-Identifier: Apache-2.0

import usmx.counters

usmx.counters.enable()
