"""From the syntax tree of a Python function to C++."""
# SPDX-License-Identifier: Apache-2.0
