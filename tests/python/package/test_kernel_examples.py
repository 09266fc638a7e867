# The examples of kernels run, and check their results themselves; a second time in the simulator
# where that is quick.
# SPDX-License-Identifier: Apache-2.0
import importlib.util

import lab
import pytest

import usmx

EXAMPLES = sorted((lab.ROOT / "examples" / "kernels").glob("*.py"))
QUICK = {"vector_sum", "atomic_op", "device_func", "kernel_private_memory", "scan", "strided"}


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_right_results(path, capsys):
    load(path).main()
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES if path.stem in QUICK], ids=lambda path: path.stem
)
def test_an_example_gives_right_results_in_the_simulator(path):
    with usmx.simulate():
        load(path).main()
