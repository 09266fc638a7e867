"""What programs use to write kernels: functions, kinds of memory, device functions."""
# SPDX-License-Identifier: Apache-2.0
