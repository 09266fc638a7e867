"""Programs for NumPy print the same with `import usmx as np`, or say in one line what differs."""

# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import re

import numpy
import pytest
import short_programs

import usmx

#: Numbers and words; brackets, commas and the heads of repr are not compared.
WORDS = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?|[A-Za-z_#]+")
HEADS = re.compile(
    r"(usmx\.ndarray|array|np\.\w+)\(|dtype=\w+|usm_type='\w+'|device='[\w:]+'|, *\)"
)


def printed_by(text, np):
    text_out = io.StringIO()
    with contextlib.redirect_stdout(text_out), numpy.printoptions():
        exec(compile(text, "program.py", "exec"), {"np": np})
    return WORDS.findall(HEADS.sub(" ", text_out.getvalue()).replace("j", " "))


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", short_programs.RUN)
def test_a_program_prints_what_it_prints_with_numpy(name):
    text = short_programs.RUN[name]
    wanted, found = printed_by(text, numpy), printed_by(text, usmx)
    assert len(found) == len(wanted), (wanted, found)
    for want, got in zip(wanted, found, strict=True):
        if number(want) is None:
            assert got == want, (wanted, found)
        else:
            near = pytest.approx(number(want), rel=1e-6, abs=1e-9, nan_ok=True)
            assert number(got) == near, (wanted, found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", short_programs.REFUSED)
def test_what_usmx_has_not_says_so_in_one_line(name):
    text, part = short_programs.REFUSED[name]
    printed_by(text, numpy)
    with pytest.raises((TypeError, AttributeError, usmx.InteropError)) as caught:
        printed_by(text, usmx)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_are_thirty():
    assert len(short_programs.RUN) + len(short_programs.REFUSED) >= 30
