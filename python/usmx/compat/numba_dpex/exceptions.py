"""numba-dpex's exceptions by its names: the ones that usmx raises instead.

What is an error there and works here is never raised: usmx compiles a kernel for the types of each
call, and signatures change nothing.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ... import _usmx
from ..._kernel.source.diagnostics import KernelError

TypingError = KernelError
KernelHasReturnValueError = KernelError
ExecutionQueueInferenceError = _usmx.ExecutionPlacementError
ComputeFollowsDataInferenceError = _usmx.ExecutionPlacementError
UnsupportedKernelArgumentError = TypeError
SUAIProtocolError = TypeError
InvalidKernelLaunchArgsError = TypeError
UnknownGlobalRangeError = TypeError
IllegalRangeValueError = ValueError
UnmatchedNumberOfRangeDimsError = ValueError
UnsupportedGroupWorkItemSizeError = ValueError
UnsupportedWorkItemSizeError = ValueError


class MissingSpecializationError(Exception):
    """Never raised: kernels are compiled for the types of each call."""


class InvalidKernelSpecializationError(Exception):
    """Never raised: signatures change nothing."""


__all__ = [
    "ComputeFollowsDataInferenceError",
    "ExecutionQueueInferenceError", "IllegalRangeValueError", "InvalidKernelLaunchArgsError",
    "InvalidKernelSpecializationError", "KernelHasReturnValueError", "MissingSpecializationError",
    "SUAIProtocolError", "TypingError", "UnknownGlobalRangeError",
    "UnmatchedNumberOfRangeDimsError", "UnsupportedGroupWorkItemSizeError",
    "UnsupportedKernelArgumentError", "UnsupportedWorkItemSizeError",
]  # fmt: skip
