# Programs for dpctl after a change of their import.
# SPDX-License-Identifier: Apache-2.0
import dpctl as theirs
import dpnp.tensor
import numpy as np
import pytest

import usmx
import usmx.compat.dpctl.tensor as dpt
from usmx.compat import dpctl


def test_each_name_of_the_tensor_module_is_there():
    names = [n for n in dir(dpnp.tensor) if not n.startswith("_")]
    assert len(names) > 180
    assert [n for n in names if not hasattr(dpt, n)] == []


def test_arrays_are_made_on_a_queue_of_dpctl():
    queue = theirs.SyclQueue()
    for made in (dpt.zeros(3, sycl_queue=queue), dpt.asarray([1, 2], sycl_queue=queue),
                 dpt.linspace(0, 1, 5, sycl_queue=dpctl.SyclQueue())):  # fmt: skip
        assert isinstance(made, usmx.ndarray)
    assert dpt.sum(dpt.ones((2, 3), sycl_queue=queue), axis=0).to_numpy().tolist() == [2, 2, 2]


def test_functions_that_usmx_lacks():
    values = np.array([[1000.0, 1001, -5], [3, 4, 0]])
    x = dpt.asarray(values)
    wanted = np.logaddexp.reduce(values, axis=1)
    np.testing.assert_allclose(dpt.to_numpy(dpt.logsumexp(x, axis=1)), wanted)
    assert dpt.logsumexp(x, axis=1, keepdims=True).shape == (2, 1)
    np.testing.assert_allclose(dpt.asnumpy(dpt.reduce_hypot(x[1] * 1e200)), 5e200)
    found = dpt.cumulative_logsumexp(x, axis=1, include_initial=True).to_numpy()
    np.testing.assert_allclose(found[:, 1:], np.logaddexp.accumulate(values, axis=1))
    assert (found[:, 0] == -np.inf).all()
    top = dpt.top_k(x, 2, axis=1)
    np.testing.assert_array_equal(top.values.to_numpy(), [[1001, 1000], [4, 3]])
    np.testing.assert_array_equal(top.indices.to_numpy(), [[1, 0], [1, 0]])
    assert dpt.top_k(x, 1, mode="smallest").values.to_numpy().tolist() == [-5]
    z = dpt.proj(dpt.asarray([1 + 2j, complex(-np.inf, -3), complex(2, np.inf)])).to_numpy()
    assert z.tolist() == [1 + 2j, complex(np.inf, -0.0), complex(np.inf, 0)]
    with pytest.raises(ValueError, match="k: 9"):
        dpt.top_k(x, 9)
    with pytest.raises(ValueError, match="usm_type"):
        dpt.validate_usm_type("wrong")


def test_devices():
    device = dpctl.select_default_device()
    kind, number = dpt.sycl_device_to_dldevice(device)
    assert kind == dpt.DLDeviceType.kDLOneAPI
    assert dpt.dldevice_to_sycl_device(kind, number) == device
    assert device in dpctl.get_devices(device_type=device.device_type)
    assert dpctl.get_num_devices() == len(usmx.devices())
    aspects = [name for name in ("fp64", "usm_device_allocations") if device.has_aspect(name)]
    assert dpctl.select_device_with_aspects(aspects) == device
    with pytest.raises(usmx.DeviceError, match="excluded_aspects"):
        dpctl.select_device_with_aspects(aspects, aspects)
    timer = dpctl.SyclTimer(time_scale=1e3)
    with timer(dpctl.SyclQueue()):
        dpt.ones(10).sum()
    assert timer.dt[0] > 0
    with dpt.print_options(precision=2):
        assert dpt.get_print_options()["precision"] == 2
