"""The functions of arrays: the Array API standard and what NumPy's users expect in addition.

Each topic is a module that is imported when one of its names is first used. To add a
function, write it in the module of its topic and name it in `MODULES`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ._elementwise_names import ELEMENTWISE

#: Module -> the names that it gives to `usmx`.
MODULES: dict[str, tuple[str, ...]] = {
    "elementwise": ELEMENTWISE,
    "files": ("NpzFile", "load", "save", "savez", "savez_compressed"),
    "numbers": ("allclose", "around", "clip", "isclose", "nan_to_num", "round"),
    "statistics": (
        "all",
        "amax",
        "amin",
        "any",
        "argmax",
        "argmin",
        "cumprod",
        "cumsum",
        "cumulative_prod",
        "cumulative_sum",
        "diff",
        "max",
        "mean",
        "min",
        "prod",
        "ptp",
        "std",
        "sum",
        "var",
    ),
    "sorting": ("argpartition", "argsort", "partition", "searchsorted", "sort"),
    "linear_algebra": ("matmul", "matrix_transpose", "outer", "vecdot"),
    "evaluation": ("Explanation", "PlannedKernel", "eager", "explain"),
    "creation": (
        "diag",
        "eye",
        "identity",
        "linspace",
        "logspace",
        "meshgrid",
        "tri",
        "tril",
        "triu",
    ),
    "data_types": (
        "astype",
        "bool",
        "can_cast",
        "e",
        "finfo",
        "iinfo",
        "inf",
        "isdtype",
        "nan",
        "newaxis",
        "pi",
        "promote_types",
        "result_type",
    ),
    "inspection": (
        "__array_api_version__",
        "__array_namespace_info__",
    ),
    "manipulation": (
        "array_split",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "broadcast_arrays",
        "broadcast_shapes",
        "column_stack",
        "concat",
        "concatenate",
        "dsplit",
        "dstack",
        "expand_dims",
        "flip",
        "fliplr",
        "flipud",
        "hsplit",
        "hstack",
        "moveaxis",
        "pad",
        "permute_dims",
        "ravel",
        "repeat",
        "reshape",
        "roll",
        "rot90",
        "split",
        "squeeze",
        "stack",
        "swapaxes",
        "tile",
        "transpose",
        "unstack",
        "vsplit",
        "vstack",
    ),
    "selection": (
        "argwhere",
        "count_nonzero",
        "extract",
        "flatnonzero",
        "nonzero",
        "put",
        "put_along_axis",
        "take",
        "take_along_axis",
    ),
}

NAMES = [name for names in MODULES.values() for name in names]
#: Name -> its module; none is in two.
WHERE = {name: module for module, names in MODULES.items() for name in names}
