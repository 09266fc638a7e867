# Libraries that send objects to other processes: arrays of every kind arrive with their elements,
# on the same device.
# SPDX-License-Identifier: Apache-2.0
import sys

import dask
import numpy as np
import pytest
import ray

import usmx


def doubled(v):
    """In the other process: the array is USM there, and kernels take it."""
    usmx.ElementwiseKernel("T x", "T y", "y = 2 * x")(v, v)
    v.queue.wait()
    return v


@pytest.fixture(params=["device", "shared", "host"])
def x(request):
    return usmx.asarray(np.arange(1000, dtype="f4"), usm_type=request.param)


def check(y, x, factor):
    assert isinstance(y, usmx.ndarray)
    assert y.usm_type == x.usm_type
    assert y.queue.device == x.queue.device
    assert (y.to_numpy() == factor * np.arange(1000, dtype="f4")).all()


def test_dask_sends_arrays_to_processes_and_back(x):
    y = dask.delayed(doubled)(x).compute(scheduler="processes", num_workers=1)
    check(y, x, 2)
    check(x, x, 1)


@pytest.fixture(scope="module")
def cluster():
    # The workers do not find the modules of the tests.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_ray_keeps_arrays_in_its_store(x):
    check(ray.get(ray.put(x)), x, 1)


@pytest.mark.usefixtures("cluster")
def test_ray_sends_arrays_to_its_workers_and_back(x):
    y = ray.get(ray.remote(doubled).remote(x), timeout=300)
    check(y, x, 2)
    check(x, x, 1)
