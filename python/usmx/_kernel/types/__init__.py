"""Types of numbers in kernels, values while compiling, and Python's operators on them."""
# SPDX-License-Identifier: Apache-2.0
