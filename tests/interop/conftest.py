"""What has to be set before the libraries are imported."""
# SPDX-License-Identifier: Apache-2.0

import os

# Lets scikit-learn compute with other arrays than NumPy's.
os.environ["SCIPY_ARRAY_API"] = "1"

import usmx.counters

# The runtime counts its copies from its first use in the process.
usmx.counters.enable()
