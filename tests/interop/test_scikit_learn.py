# scikit-learn-intelex on arrays of usmx: its estimators read the memory in place, on the device,
# and the results are those of scikit-learn with NumPy.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

import usmx
import usmx.counters


def blobs(n=600, features=5, dtype="float64"):
    choose = np.random.default_rng(7)
    centers = choose.normal(size=(3, features)) * 20
    points = centers[np.arange(n) % 3] + choose.normal(size=(n, features))
    return points.astype(dtype)


def same_groups(a, b):
    """Whether labels name the same groups, in any numbering."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


def as_numpy(result):
    return result.to_numpy() if isinstance(result, usmx.ndarray) else np.asarray(result)
