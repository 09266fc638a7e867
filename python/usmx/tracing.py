"""See what a program does to memory: every allocation, copy and kernel, and who asked for it.

    >>> with usmx.trace() as t:
    ...     y = usmx.asarray(x).to_device("gpu")
    >>> t.summary()
    >>> t.export("trace.json")              # open it in https://ui.perfetto.dev

    >>> with usmx.profile() as p:           # which kernel takes the time, and where its line is
    ...     model(x)
    >>> p

    >>> with usmx.expect_zero_copy():       # raises CopyError with the lines that copied
    ...     model(x)

What usmx does is always seen. What other libraries ask the SYCL runtime for (dpctl, dpnp, a native
extension) is seen where the runtime reports its calls: after ``usmx.counters.enable()``, or in a
process that was started with ``USMX_TRACE=1``. Copies that the host makes by itself elsewhere
(NumPy, ``memcpy``) cannot be traced.
"""
# SPDX-License-Identifier: Apache-2.0

from . import _explained
from ._tracing.events import Place, TraceEvent
from ._tracing.profile import KernelRow, Profile, profile
from ._tracing.trace import Trace, trace
from ._tracing.zero_copy import CopyError, expect_zero_copy

__all__ = [
    "CopyError",
    "KernelRow",
    "Profile",
    "Trace",
    "TraceEvent",
    "expect_zero_copy",
    "profile",
    "trace",
]

# Where programs find them, and pickles and messages name them.
for _public in (
    CopyError, KernelRow, Place, Profile, Trace, TraceEvent, expect_zero_copy, profile, trace,
):  # fmt: skip
    _public.__module__ = __name__
del _public

_explained.explain(globals())
