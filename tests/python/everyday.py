"""The functions of NumPy that test_everyday_programs.py calls; tables of rows leave them out."""

# SPDX-License-Identifier: Apache-2.0

#: What array/test_numpys_rarer_functions.py compares with NumPy.
RARER = {
    "asarray_chkfinite", "common_type", "einsum_path", "isfortran", "linalg.tensorinv",
    "linalg.tensorsolve", "mask_indices", "matvec", "min_scalar_type", "packbits", "polydiv",
    "real_if_close", "require", "sort_complex", "spacing", "unpackbits", "vecmat",
}  # fmt: skip
IN_EVERYDAY_PROGRAMS = {
    "apply_along_axis", "apply_over_axes", "array", "array2string", "array_repr",
    "array_str", "asanyarray", "ascontiguousarray", "asfortranarray", "bartlett",
    "blackman", "block", "choose", "compress", "copyto", "diag_indices",
    "diag_indices_from", "diagflat", "fix", "frombuffer", "fromfile", "fromfunction",
    "fromiter", "fromstring", "genfromtxt", "geomspace", "hamming", "hanning",
    "histogram2d", "histogramdd", "i0", "indices", "iscomplex", "isneginf", "isposinf",
    "isrealobj", "ix_", "kaiser", "loadtxt", "ndim", "place", "poly", "polyadd", "polyder",
    "polyfit", "polyint", "polymul", "polysub", "putmask", "ravel_multi_index", "resize",
    "rollaxis", "roots", "row_stack", "savetxt", "shape", "size", "tril_indices",
    "tril_indices_from", "trim_zeros", "triu_indices", "triu_indices_from", "vander",
}  # fmt: skip
