"""A kernel of pyopencl on our memory, in the context of SYCL."""
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pyopencl as cl

import usmx


def double(x: usmx.ndarray) -> None:
    """Double the elements by a program of OpenCL that gets the address as shared virtual memory."""
    context = cl.Context.from_int_ptr(x.queue.context.native)
    queue = cl.CommandQueue.from_int_ptr(x.queue.native)
    program = cl.Program(
        context, "kernel void twice(global float* v) { v[get_global_id(0)] *= 2; }"
    ).build()
    x.queue.wait()
    program.twice(queue, (x.size,), None, cl.SVM(np.asarray(x)))
    queue.finish()
