# Our pools as the allocators of the libraries that are there: as far as they go without a GPU.
# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

import usmx.interop


def test_pytorch_for_cuda_finds_the_functions():
    made = usmx.interop.torch_allocator("cuda")
    assert isinstance(made, torch.cuda.memory.CUDAPluggableAllocator)


def test_pytorch_without_a_backend_says_so():
    with pytest.raises(ValueError, match=r"built without 'xpu'"):
        usmx.interop.torch_allocator("xpu")
