"""What has to be done before the libraries are used."""
# SPDX-License-Identifier: Apache-2.0

import gc
import os

# Lets scikit-learn compute with other arrays than NumPy's.
os.environ["SCIPY_ARRAY_API"] = "1"

# What libraries do with memory that the host must not touch, also on a processor; for the processes
# of tests too.
os.environ["USMX_USM_TYPE"] = "device"

from rows import ROWS, USES

import usmx.counters

# The runtime counts its copies from its first use in the process.
usmx.counters.enable()


def pytest_collection_finish() -> None:
    """Import all libraries, and let `gc.collect()` pass over the million objects that they made."""
    for row in (*ROWS, *USES):
        exec(row.imports, {})
    gc.collect()
    gc.freeze()
