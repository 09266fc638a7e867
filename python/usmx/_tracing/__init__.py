"""Traces, snapshots of memory, and how they are shown."""
# SPDX-License-Identifier: Apache-2.0
