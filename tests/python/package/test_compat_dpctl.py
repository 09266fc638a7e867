# Programs for dpctl after a change of their import.
# SPDX-License-Identifier: Apache-2.0
import inspect

import dpctl as theirs
import dpctl.program
import dpctl.utils
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
    assert dpt.dldevice_to_sycl_device((kind, number)) == device
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


def parameters_of(function):
    """Names that a call may say, and the names of its places: first those without names."""
    taken = inspect.signature(function).parameters.values()
    named = [p.name for p in taken if p.kind == inspect.Parameter.POSITIONAL_OR_KEYWORD]
    only = [p.name for p in taken if p.kind == inspect.Parameter.POSITIONAL_ONLY]
    return {p.name for p in taken if p.kind == p.KEYWORD_ONLY} | {*named}, only, named


def test_each_argument_of_the_functions_is_taken_by_name_and_by_place():
    lacking = {}
    for name in dir(dpnp.tensor):
        function = getattr(dpnp.tensor, name)
        if name.startswith("_") or isinstance(function, type) or not callable(function):
            continue
        try:
            wanted, only, named = parameters_of(function)
        except (TypeError, ValueError):
            continue
        own = getattr(dpt, name)
        kinds = {p.kind for p in inspect.signature(own).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD in kinds:
            own = getattr(usmx, name, own)
        own_names, own_only, own_named = parameters_of(own)
        # Operations are objects in dpctl, with names of their own for their operands.
        missing = wanted - own_names - {"o1", "o2"}
        missing -= {"sycl_queue"} if dpt._takes_queue(own) else set()
        by_place = (own_only + own_named)[len(only) : len(only) + len(named)]
        if missing or (inspect.isfunction(function) and by_place != named):
            lacking[name] = sorted(missing), named, by_place
    assert lacking == {}


@pytest.mark.parametrize("mode", ["wrap", "clip"])
@pytest.mark.parametrize("type_", ["i1", "i8", "u1", "u8"])
def test_places_outside_are_those_of_dpctl(mode, type_):
    given = np.arange(12, dtype="f4").reshape(3, 4)
    far = [0, 1, 2, 3, 100, 7] + ([] if type_[0] == "u" else [-1, -3, -4, -100])
    places = np.array(far, type_)
    for axis in (0, 1):
        want = dpnp.tensor.take(
            dpnp.tensor.asarray(given), dpnp.tensor.asarray(places), axis=axis, mode=mode
        )
        found = dpt.take(dpt.asarray(given), dpt.asarray(places), axis=axis, mode=mode)
        np.testing.assert_array_equal(found.to_numpy(), dpnp.tensor.asnumpy(want))
    theirs_, ours = dpnp.tensor.asarray(given), dpt.asarray(given)
    values = np.full((3, 1), 5, "f4")
    dpnp.tensor.put(theirs_, dpnp.tensor.asarray(places[-1:]), dpnp.tensor.asarray(values), axis=1,
                    mode=mode)  # fmt: skip
    dpt.put(ours, dpt.asarray(places[-1:]), dpt.asarray(values), axis=1, mode=mode)
    np.testing.assert_array_equal(ours.to_numpy(), dpnp.tensor.asnumpy(theirs_))
    at = places[None, -2:].repeat(3, 0)
    want = dpnp.tensor.take_along_axis(theirs_, dpnp.tensor.asarray(at), mode=mode)
    found = dpt.take_along_axis(ours, dpt.asarray(at), mode=mode)
    np.testing.assert_array_equal(found.to_numpy(), dpnp.tensor.asnumpy(want))


def test_copies_orders_and_new_arrays():
    x = dpt.asarray(np.arange(6.0).reshape(2, 3))
    copied = dpt.copy(x, order="F")
    assert (copied.flags["F"], copied.flags["C"]) == (True, False)
    assert (copied == x).all()
    assert dpt.astype(x, "float64", copy=False) is x
    with pytest.raises(TypeError, match="int32"):
        dpt.astype(x, "int32", casting="safe")
    assert dpt.where(x > 2, x, x, order="F").flags["F"]
    assert dpt.clip(x, 1, 2).to_numpy().max() == 2
    assert dpt.matmul(x, x.T, dtype="float32").dtype == np.float32
    made = dpt.usm_ndarray((2, 3), dtype="i4", buffer="shared", buffer_ctor_kwargs={})
    assert isinstance(made, dpt.usm_ndarray)
    assert made.usm_type == "shared"
    assert isinstance(dpt.__array_namespace_info__().dtypes(), dict)
    made.flags["W"] = False
    assert not made.flags["WRITEABLE"]
    assert made.flags != x.flags
    assert dpt.take(dpt.asarray(7), dpt.asarray([0, 3])).to_numpy().tolist() == [7, 7]


def test_each_name_of_dpctl_is_there_or_says_what_to_write():
    refused = {"LocalAccessor", "RawKernelArg", "WorkGroupMemory"}
    pairs = (
        (theirs, dpctl),
        (theirs.program, dpctl.program),
        (theirs.utils, dpctl.utils),
        (theirs.enum_types, dpctl.enum_types),
    )
    for module, ours in pairs:
        names = {n for n in dir(module) if n[0] != "_"} - {"os", "Enum", "auto"}
        assert {n for n in names if not hasattr(ours, n)} <= refused
    for name in refused:
        with pytest.raises(AttributeError, match=rf"{name}'; kernels of usmx take \w"):
            getattr(dpctl, name)


@pytest.mark.parametrize("name", ["Queue", "Device", "Context", "Platform", "Event"])
def test_each_method_of_dpctl_is_there_or_says_what_to_write(name):
    queue = dpctl.SyclQueue()
    made = {"Queue": queue, "Device": queue.device, "Context": queue.context,
            "Platform": queue.device.platform, "Event": queue.submit_barrier()}[name]  # fmt: skip
    refused = set()
    for method in dir(getattr(theirs, f"Sycl{name}")):
        if method[0] != "_":
            try:
                getattr(made, method)
            except AttributeError as error:
                assert str(error).startswith(f"{name}.{method}: ")  # noqa: PT017
                refused.add(method)
            except RuntimeError:  # times of an event of a queue that takes none
                assert method.startswith("profiling_info")
    assert len(refused) <= {"Device": 6, "Event": 2, "Queue": 1, "Context": 1}.get(name, 0)


def test_copies_of_bytes():
    queue = dpctl.SyclQueue()
    memory = dpctl.memory.MemoryUSMDevice(16, queue=queue)
    queue.memcpy(memory, b"0123456789abcdef", 16)
    x = dpt.zeros(4, dtype="u4", usm_type="shared", sycl_queue=queue)
    first = queue.memcpy_async(x, memory, 8)
    back = bytearray(8)
    queue.memcpy_async(back, x, 8, [first]).wait()
    assert back == b"01234567"
    assert x.to_numpy()[2:].tolist() == [0, 0]
    queue.prefetch(memory, 8)
    queue.prefetch(x)
    queue.mem_advise(memory, 16, 0)
    with pytest.raises(ValueError, match="count: 17; src has 16 bytes"):
        queue.memcpy(bytearray(20), memory, 17)
    with pytest.raises(ValueError, match="dest: is not contiguous"):
        queue.memcpy(x[::2], memory, 4)
    with pytest.raises(ValueError, match="count: -1"):
        queue.memcpy(x, memory, -1)
    with pytest.raises(TypeError, match=r"^usmx\.Queue\.memcpy: missing the argument 'count'$"):
        queue.memcpy(x, memory)


def test_kernels_of_programs():
    import ctypes

    queue = dpctl.SyclQueue()
    text = "USMX_KERNEL(1) scale(float* x, float by) { x[usmx::global_id()] *= by; }"
    program = dpctl.program.create_program_from_source(queue, text)
    assert program.has_sycl_kernel("scale")
    assert not program.has_sycl_kernel("other")
    kernel = program.get_sycl_kernel("scale")
    x = dpt.ones(8, dtype="f4", sycl_queue=queue)
    queue.submit(kernel, [x, ctypes.c_float(3)], [8], [4])
    done = queue.submit_async(kernel, [x, 2.0], [8])
    queue.submit_async(kernel, [x, 2.0], [4], None, [done]).wait()
    assert x.to_numpy().tolist() == [12] * 4 + [6] * 4
    with pytest.raises(ValueError, match="is OpenCL C, which usmx does not compile; write"):
        dpctl.program.create_program_from_source(queue, "__kernel void f(__global int* x) {}")
    with pytest.raises(NotImplementedError, match=r"takes no SPIR-V; write"):
        dpctl.program.create_program_from_spirv(queue, b"")
    with pytest.raises(TypeError, match=r"kernel: is of type str; expected a usmx\.RawKernel"):
        queue.submit("scale", [x, 2.0], [8])


def test_tools_of_dpctl():
    import os

    queue = dpctl.SyclQueue()
    assert dpctl.utils.intel_device_info(queue.sycl_device).keys() <= {*dpctl.utils._FACTS}
    with dpctl.utils.onetrace_enabled():
        assert os.environ["PTI_ENABLE_COLLECTION"] == "1"
    assert "PTI_ENABLE_COLLECTION" not in os.environ
    manager = dpctl.utils.SequentialOrderManager[queue]
    assert dpctl.utils.SequentialOrderManager[queue] is manager
    x = dpt.ones(8)
    event = usmx.copy_async(x, dpt.zeros(8))
    manager.add_event_pair(event, event)
    manager.wait()
    assert (manager.num_submitted_events, manager.num_host_task_events) == (0, 0)
    dpctl.utils.SequentialOrderManager.clear()
    assert dpctl.utils.get_execution_queue([queue, queue]) == queue
    assert dpctl.utils.get_execution_queue([queue, usmx.Queue(in_order=False)]) is None
    assert dpctl.utils.get_coerced_usm_type(["host", "shared"]) == "shared"
    assert dpctl.utils.get_coerced_usm_type(["device", "shared"]) == "device"
    with pytest.raises(ValueError, match="usm_types: 'x'; expected"):
        dpctl.utils.get_coerced_usm_type(["x"])
    device = queue.sycl_device
    assert device.backend == dpctl.backend_type[device.backend]
    assert dpctl.get_devices(backend=device.backend, device_type=dpctl.device_type.all)
    assert dpctl.get_device_cached_queue(device) is dpctl.get_device_cached_queue(device)
    assert dpctl.get_device_cached_queue((queue.context, device)).device == device
    assert usmx.Device(device.get_filter_string()) == device
    assert usmx.Device(device.get_filter_string(include_backend=False)) == device
    assert dpctl.get_devices()[device.get_device_id()] == device
    assert device.get_unpartitioned_parent_device() == device
    event.wait()
    assert event.execution_status == dpctl.event_status_type.complete
