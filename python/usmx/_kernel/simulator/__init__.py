"""Kernels in Python, work-item by work-item, with checks."""
# SPDX-License-Identifier: Apache-2.0
