"""Devices, contexts and queues: found by name, shared, and equal to what they stand for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import pickle
import threading
import weakref

import pytest
from backend_row import ROW, needs

import usmx


@pytest.mark.parametrize(
    "text",
    ["cpu", "opencl:cpu", "opencl:cpu:0", "cpu:0", "CPU", "OpenCL:Cpu:0", "*:cpu:*", "hip:gpu,cpu"],
)
@needs("cpu")
def test_a_filter_string_finds_the_cpu(text):
    assert usmx.Device(text).filter_string == "opencl:cpu:0"


@pytest.mark.parametrize("text", ["", None])
def test_no_name_is_the_default_device(text):
    assert usmx.Device(text) == usmx.Device()


def test_an_index_counts_all_devices():
    for index, device in enumerate(usmx.devices()):
        assert usmx.Device(str(index)) == device
        assert usmx.Device(device.filter_string) == device


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("cpu:opencl", "'opencl' is a backend and must come first"),
        ("0:cpu", "'cpu' is a device type and must come before the index"),
        ("opencl:cpu:0:1", "'1' is one part too many"),
        (":::", "too many parts"),
        ("-1", "'-1' is neither a backend, a device type nor an index"),
        ("1.0", "'1.0' is neither"),
        ("cpu ", "'cpu ' is neither"),
        ("host", "'host' is neither"),
        ("gräfik", "'gräfik' is neither"),
        ("cpu\0", "is neither"),
        ("9" * 40, "too large"),
    ],
)
@pytest.mark.parametrize("make", [usmx.Device, usmx.Queue, usmx.Context, usmx.default_queue])
def test_a_malformed_filter_names_the_wrong_part(make, text, complaint):
    with pytest.raises(ValueError, match=complaint) as raised:
        make(text)
    assert "expected [backend:][type:][index]" in str(raised.value)


@pytest.mark.parametrize("text", ["cpu:77", "hip:accelerator", "cuda:cpu:9", "123456"])
@pytest.mark.parametrize("make", [usmx.Device, usmx.Queue, usmx.Context, usmx.default_queue])
def test_a_missing_device_lists_those_there_are(make, text):
    with pytest.raises(usmx.DeviceError, match=ROW.device) as raised:
        make(text)
    assert text in str(raised.value)
    assert isinstance(raised.value, RuntimeError)


def test_devices_and_platforms_belong_together():
    for device in usmx.devices():
        assert device.platform in usmx.platforms()
        assert device in device.platform.devices
        assert device.platform.backend == device.backend
        assert device.platform.name
        assert device.platform.vendor
        assert device.platform.version
        assert device.platform.default_context == usmx.Context(device)


def test_identity_is_sycls():
    shorter = ROW.device.removeprefix(f"{ROW.backend}:")
    assert usmx.Device(ROW.device) == usmx.Device(shorter)
    assert hash(usmx.Device(ROW.device)) == hash(usmx.Device(shorter))
    assert len({usmx.Device(ROW.device), usmx.Device(shorter), usmx.Queue(ROW.device).device}) == 1
    assert usmx.Device(ROW.device) != ROW.device
    assert usmx.Queue(ROW.device) != usmx.Context(ROW.device)
    assert usmx.Queue(ROW.device) == usmx.Queue(usmx.Device(ROW.device))
    assert len({usmx.Context(ROW.device), usmx.Queue(ROW.device).context}) == 1


def test_reprs_say_what_it_is(device):
    assert repr(device) == f"<usmx.Device {device.filter_string} ({device.name})>"
    assert repr(usmx.Queue(device)) == (
        f"<usmx.Queue on {device.filter_string} ({device.name}), in order>"
    )
    assert "profiling" in repr(usmx.Queue(device, enable_profiling=True))
    assert device.filter_string in repr(usmx.Context(device))
    assert "1 device>" in repr(usmx.Device(ROW.device).platform)
    assert repr(usmx.Event()) == "<usmx.Event complete>"


def test_properties_have_sensible_values():
    cpu = usmx.Device(ROW.device)
    assert cpu.backend == ROW.backend
    assert cpu.device_type == ROW.device.split(":")[1]
    assert cpu.is_cpu == ROW.is_host
    assert cpu.is_gpu == (cpu.device_type == "gpu")
    assert not cpu.is_accelerator
    assert cpu.max_compute_units >= 1
    assert cpu.max_work_group_size >= 1
    assert len(cpu.max_work_item_sizes) == 3
    assert all(size >= 1 for size in cpu.sub_group_sizes)
    assert cpu.address_bits == 64
    assert 0 < cpu.free_memory <= cpu.global_mem_size
    assert 0 < cpu.max_mem_alloc_size <= cpu.global_mem_size
    assert cpu.local_mem_size > 0
    assert cpu.global_mem_cache_type in {"none", "read_only", "read_write"}
    assert cpu.usm_kinds == ("device", "shared", "host")
    assert "round_to_nearest" in cpu.single_fp_config


def test_every_property_is_in_properties_and_readable(device):
    everything = device.properties()
    assert len(everything) > 60
    for name, value in everything.items():
        if name != "free_memory":
            assert getattr(device, name) == value


def test_aspects_agree_with_their_flags(device):
    def is_dpctls(name):  # a second name, which is there once usmx.compat.dpctl was imported
        flag = getattr(type(device), name)
        return str(getattr(flag, "fget", flag).__module__).startswith("usmx.compat")

    flags = {
        name.removeprefix("has_aspect_"): getattr(device, name)
        for name in dir(device)
        if name.startswith("has_aspect_") and not is_dpctls(name)
    }
    assert len(flags) > 80
    assert {name for name, held in flags.items() if held} == device.aspects
    assert all(device.has_aspect(name) == held for name, held in flags.items())
    assert device.has_aspect("usm_shared_allocations")


def test_an_unknown_aspect_is_refused(device):
    with pytest.raises(ValueError, match=r"there is no 'teleport'.*fp64"):
        device.has_aspect("teleport")


@needs("parts")
def test_sub_devices_equally_and_by_counts():
    cpu = usmx.Device(ROW.device)
    units = cpu.max_compute_units
    parts = cpu.create_sub_devices(1)
    assert len(parts) == units
    assert all(part.max_compute_units == 1 for part in parts)
    (part,) = cpu.create_sub_devices([1])
    for divided in (*parts, part):
        assert divided.parent_device == cpu
        assert divided.filter_string is None
        assert divided != cpu
        assert f"sub-device of {ROW.device}" in repr(divided)
        assert usmx.Queue(divided).device == divided
        assert usmx.Queue(divided) == usmx.Queue(divided)
        usmx.Queue(divided).submit_barrier().wait()
    assert cpu.parent_device is None


@pytest.mark.parametrize(
    ("partition", "complaint"),
    [
        (0, "expected at least 1"),
        (-2, "expected at least 1"),
        (2**31, "cannot be divided into parts of 2147483648 compute units; it has"),
        (2**80, "64 bits"),
        ([], "empty"),
        ([1, 0], "expected at least 1"),
        ([10**6, 1], "cannot be divided into parts of \\[1000000, 1\\]"),
        ("nuna", "'nuna' is not an affinity domain; expected one of numa"),
    ],
)
def test_an_impossible_division_says_what_there_is(partition, complaint):
    with pytest.raises(ValueError, match=complaint):
        usmx.Device(ROW.device).create_sub_devices(partition)


@pytest.mark.parametrize("partition", [1.0, True, ["1"], {1}, None, b"numa"])
def test_a_division_by_something_else_is_a_type_error(partition):
    with pytest.raises(TypeError, match="partition"):
        usmx.Device(ROW.device).create_sub_devices(partition)


@pytest.mark.parametrize("domain", ["numa", "L1_cache", "next_partitionable"])
def test_affinity_domains_follow_what_the_device_offers(domain):
    cpu = usmx.Device(ROW.device)
    if domain in cpu.partition_affinity_domains:
        assert len(cpu.create_sub_devices(domain)) >= 1
    else:
        with pytest.raises(ValueError, match=f"cannot be divided by {domain}"):
            cpu.create_sub_devices(domain)


@needs("parts")
def test_contexts_from_one_and_from_several_devices():
    cpu = usmx.Device(ROW.device)
    assert usmx.Context() == usmx.Context(usmx.Device())
    assert usmx.Context(ROW.device) == usmx.Context(cpu) == usmx.Queue(cpu).context
    parts = cpu.create_sub_devices(1)
    both = usmx.Context(parts)
    assert both.devices == parts
    assert both.device_count == len(parts)
    assert both != usmx.Context(parts)
    assert usmx.Queue(both, parts[-1]).device == parts[-1]
    assert usmx.Queue((both, parts[-1])) == usmx.Queue(both, parts[-1])
    with pytest.raises(ValueError, match="empty"):
        usmx.Context([])
    with pytest.raises(ValueError, match="does not belong to the context"):
        usmx.Queue(both, cpu)


def test_a_queue_without_options_is_shared_and_one_with_options_is_new(device):
    shared = usmx.Queue(device)
    assert shared == usmx.Queue(device) == usmx.default_queue(device)
    assert usmx.default_queue() == usmx.Queue() == usmx.Queue("")
    assert shared.is_in_order
    assert not shared.has_enable_profiling
    fresh = usmx.Queue(device, in_order=True)
    assert fresh != shared
    assert fresh.is_in_order
    assert fresh.context == shared.context
    loose = usmx.Queue(device, in_order=False, enable_profiling=True)
    assert not loose.is_in_order
    assert loose.has_enable_profiling
    assert usmx.Queue(usmx.Context(device), in_order=False) != usmx.Queue(usmx.Context(device))
    with pytest.raises(ValueError, match="is a queue already"):
        usmx.Queue(shared, in_order=False)


def test_a_waited_queue_is_idle(queue):
    queue.submit_barrier()
    queue.wait()
    assert queue.is_idle


def test_events_finish_and_can_be_waited_for_together(queue):
    events = [queue.submit_barrier() for _ in range(5)]
    usmx.Event.wait_for(events)
    assert {event.status for event in events} == {"complete"}
    last = queue.submit_barrier(depends_on=events)
    usmx.Event.wait_for(last)
    assert last.status == last.execution_status == "complete"
    usmx.Event.wait_for([])
    assert usmx.Event().status == "complete"
    with pytest.raises((TypeError, RuntimeError)):
        usmx.Event.wait_for([queue])


def test_profiling_times_are_in_order(device):
    queue = usmx.Queue(device, enable_profiling=True)
    event = queue.submit_barrier()
    event.wait()
    times = [event.profiling_info_submit, event.profiling_info_start, event.profiling_info_end]
    assert times == sorted(times)
    assert times[0] > 0


@pytest.mark.parametrize("name", ["submit", "start", "end"])
def test_times_without_profiling_are_an_error(queue, name):
    event = queue.submit_barrier()
    with pytest.raises(RuntimeError, match="enable_profiling=True"):
        getattr(event, f"profiling_info_{name}")


def test_a_device_can_be_pickled_and_a_sub_device_says_why_not(device):
    assert pickle.loads(pickle.dumps(device)) == device
    if ROW.divides:
        with pytest.raises(TypeError, match="parent_device"):
            pickle.dumps(usmx.Device(ROW.device).create_sub_devices(1)[0])


@pytest.mark.parametrize(
    "make", [usmx.Device, usmx.Context, usmx.Event, lambda: usmx.Queue(in_order=True)]
)
def test_weak_references_end_with_the_object(make):
    thing = make()
    ended = weakref.ref(thing)
    del thing
    gc.collect()
    assert ended() is None


@pytest.mark.parametrize("junk", [3, 1.5, b"cpu", [1], {}, object(), usmx.Queue, usmx.Event()])
@pytest.mark.parametrize("make", [usmx.Device, usmx.Queue, usmx.Context])
def test_anything_else_is_refused_with_what_to_pass(make, junk):
    with pytest.raises((TypeError, ValueError)) as raised:
        make(junk)
    assert "expected" in str(raised.value)


def test_threads_share_one_queue_and_waiting_lets_others_run():
    seen: list[usmx.Queue] = []

    def work() -> None:
        for _ in range(200):
            queue = usmx.Queue(ROW.device)
            queue.submit_barrier().wait()
            queue.wait()
        seen.append(queue)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1
