# The texts that expressions become: short kernels that a person can read, which call device code
# that stands in files of its own.
# SPDX-License-Identifier: Apache-2.0
import re

import lab
import numpy as np
import pytest
from backend_row import needs

import usmx

KERNELS = lab.ROOT / "kernels"
HEADERS = sorted(
    str(path.relative_to(KERNELS))
    for path in [KERNELS / "cast.hpp", KERNELS / "expression.hpp", *KERNELS.glob("expression/*")]
)

X = np.arange(24, dtype="float32").reshape(4, 6)


def sources(kernel, *calls):
    for arguments, keywords in calls:
        kernel(*arguments, **keywords)
    return kernel.sources


def elementwise():
    k = usmx.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "muladd")
    x = usmx.asarray(X)
    return sources(k, ((x, x), {}), ((x[:, ::2], x[0, ::2]), {}), ((x, 2), {}))


def reductions():
    k = usmx.ReductionKernel("T x, raw T y", "T z", "x * y[0] + i", "a + b", "z = a + i", 0, "dot")
    x = usmx.asarray(X)
    y = x.reshape(-1)
    calls = [((x, y), {"axis": axis}) for axis in (None, 0, 1)]
    return sources(k, *calls, ((usmx.ones(100_000, "float32"), y), {}), ((x[:, :0], y), {}))


def scans():
    k = usmx.ScanKernel("T x", "T z", "x", "a + b", name="running", identity=0, exclusive=True)
    x = usmx.asarray(X)
    calls = [((x,), {"axis": axis}) for axis in (0, 1)]
    return sources(k, *calls, ((usmx.ones(100_000, "float32"),), {}))


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_compiles_by_itself(header):
    text = f'#include "usmx/{header}"\nUSMX_KERNEL(1) k(int* p) {{ *p = sizeof(p); }}'
    p = usmx.zeros(1, "int32")
    usmx.RawKernel(text, "k")[1](p)
    assert p.to_numpy().tolist() == [8]


@pytest.mark.parametrize(
    ("texts", "call"),
    [
        (elementwise, None),
        (reductions, r"expression::reduce::(along|across|scattered|nothing)\b"),
        (scans, r"expression::scan::(along|across|once)\b"),
    ],
    ids=["elementwise", "reductions", "scans"],
)
def test_texts_are_kernels_that_a_person_can_read(texts, call):
    for text in texts():
        assert text.count("USMX_KERNEL(1)") == 1
        assert len(text.splitlines()) < 50
        assert max(map(len, text.splitlines())) < 160
        assert "usmx_" not in text
        assert not re.search(r"\b(for|while)\b", text), "loops stand in the files of kernels/"
        if call is not None:
            assert len(re.findall(call, text)) == 1


@needs("row_groups")
def test_names_of_parameters_say_what_they_are():
    text = next(t for t in elementwise() if "_x_step" in t)
    declared = re.search(r"\(uint64_t _size, (.*?)\) \{", text, re.DOTALL)
    assert declared is not None
    names = [p.split()[-1] for p in declared[1].split(",")]
    assert names == [
        "_row_length",
        "_row_parts",
        "_rows_a_group",
        "_x_data",
        "_x_step0",
        "_x_column",
        "_y_data",
        "_y_step0",
        "_y_column",
        "_z_data",
    ]
