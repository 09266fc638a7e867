"""The simulated discrete device reports every defect it is there for, and nothing else.

Each program has one planted defect: without these tests a checker that checks nothing would be the
most successful of all.
"""

# SPDX-License-Identifier: Apache-2.0
import os
import re
import signal
import subprocess

import lab
import pytest

CRASHES = {
    "host_reads_device_memory": "the host touched byte 0 of device memory of 256 bytes",
    "host_reads_device_memory_after_a_kernel": "the host touched byte 0 of device memory",
    "host_reads_device_memory_while_a_copy_runs": "the host touched byte 0 of device memory",
    "host_writes_past_the_end": "access 0 bytes past shared memory of 256 bytes",
    "host_reads_freed_memory": "access to memory that was freed or never allocated",
    "kernel_writes_past_the_end": "access 0 bytes past device memory of 256 bytes",
    "kernel_writes_freed_memory": "kernel argument 0x[0-9a-f]+ was freed or never allocated",
}
REPORTS = {
    "host_writes_before_the_beginning": "something wrote before shared memory .* of 256 bytes",
    "kernel_writes_into_the_gap": "something wrote past device memory .* of 100 bytes",
    "copy_from_freed_memory": r"a copy \(from\) uses 0x[0-9a-f]+, which was freed",
    "copy_past_the_end": r"a copy \(from\) of 257 bytes at byte 0 of shared memory that has 256",
    "copy_in_a_foreign_context": r"a copy \(from\) uses .* context that it does not belong to",
    "fill_past_the_end": "a fill of 257 bytes at byte 0 of device memory that has 256",
    "free_twice": "free of 0x[0-9a-f]+, which was freed before",
    "free_the_inside": "free of 0x[0-9a-f]+, which is 64 bytes inside an allocation",
    "free_foreign_memory": "free of 0x[0-9a-f]+, which is not USM",
    "free_in_a_foreign_context": "free of .* context that it does not belong to",
}


def totals(stderr):
    """The numbers of the line that ends a report."""
    line = re.search(r"^simulated device: live=.*", stderr, re.MULTILINE)
    assert line, stderr
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line[0])}


def defects(stderr):
    return [line for line in stderr.splitlines() if line.startswith("simulated device: DEFECT")]


def test_a_right_program_is_left_in_peace():
    result = lab.planted("none", lab.simulated("report", "early-free"))
    assert result.returncode == 0, result.stderr
    assert not defects(result.stderr)
    seen = totals(result.stderr)
    assert (seen["live"], seen["in_flight"], seen["defects"]) == (0, 0, 0)
    assert (seen["alloc_device"], seen["alloc_shared"], seen["alloc_host"]) == (1, 1, 1)
    assert (seen["fill"], seen["memcpy"], seen["kernel"]) == (1, 2, 1)


@pytest.mark.parametrize("defect", CRASHES)
def test_a_touch_of_forbidden_memory_crashes_and_is_explained(defect):
    result = lab.planted(defect, lab.simulated())
    assert result.returncode == -signal.SIGSEGV, result.stdout
    assert re.search(CRASHES[defect], result.stderr), result.stderr


@pytest.mark.parametrize("defect", REPORTS)
def test_a_misuse_of_the_runtime_is_reported(defect):
    result = lab.planted(defect, lab.simulated("report"))
    assert len(defects(result.stderr)) == 1, result.stderr
    assert re.search(REPORTS[defect], result.stderr), result.stderr
    assert totals(result.stderr)["defects"] == 1


@pytest.mark.parametrize("defect", [*CRASHES, *REPORTS])
def test_the_cpu_device_alone_does_not_explain_it(defect):
    """If it did, the simulated device would not be needed."""
    result = lab.planted(defect)
    assert not re.search((CRASHES | REPORTS)[defect], result.stderr)


def test_reads_before_the_beginning_crash_when_allocations_begin_at_a_page():
    result = lab.planted("host_writes_before_the_beginning", lab.simulated("left"))
    assert result.returncode == -signal.SIGSEGV
    assert "access 1 bytes before shared memory of 256 bytes" in result.stderr


def test_a_free_while_a_command_runs_is_reported_on_request():
    result = lab.planted("free_while_a_command_runs", lab.simulated("report", "early-free"))
    assert "memory is freed while 1 commands run" in result.stderr
    quiet = lab.planted("free_while_a_command_runs", lab.simulated("report"))
    assert quiet.returncode == 0
    assert not defects(quiet.stderr)


def test_a_leak_is_listed():
    result = lab.planted("leak", lab.simulated("report"))
    assert totals(result.stderr)["live"] == 1
    assert re.search("LEAK: device memory .* of 256 bytes, allocation number 1", result.stderr)


@pytest.mark.parametrize("defect", ["leak", "copy_in_a_foreign_context"])
def test_a_defect_that_changes_nothing_else_can_change_the_exit_code(defect):
    assert lab.planted(defect, lab.simulated()).returncode == 0
    assert lab.planted(defect, lab.simulated("strict")).returncode == 99
    assert lab.planted("none", lab.simulated("strict")).returncode == 0


def test_a_defect_can_stop_the_program_for_its_stack():
    result = lab.planted("free_twice", lab.simulated("abort"))
    assert result.returncode == -signal.SIGABRT


@pytest.mark.parametrize("word", ["USMX_SIMULATED_DEVICE", "USMX_FAULTS"])
def test_a_setting_that_is_not_understood_is_not_ignored(word):
    result = lab.planted("none", lab.simulated() | {word: "memcopy:1"})
    assert result.returncode == 2
    assert f"cannot understand 'memcopy:1' in {word}" in result.stderr


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("alloc_device:1", ""),
        ("memcpy:2", "UR_RESULT_ERROR_OUT_OF_RESOURCES"),
        ("fill:1+", "UR_RESULT_ERROR_OUT_OF_RESOURCES"),
        ("kernel:1", "UR_RESULT_ERROR_OUT_OF_RESOURCES"),
        ("build:1", "The program was built for 1 devices"),
        ("wait:1", "IN_EVENT_LIST_EXEC_STATUS"),
        ("queue:1", "OUT_OF_HOST_MEMORY"),
        ("lost:1+", ""),
    ],
)
def test_a_call_can_be_made_to_fail(fault, message):
    result = lab.planted("none", lab.simulated("report", faults=fault))
    assert result.returncode != 0
    assert message in result.stdout, result.stdout + result.stderr


def test_memory_is_described_as_by_the_driver(run_python):
    run_python(
        """
        import lab, usmx
        from usmx.memory import MemoryUSMDevice, MemoryUSMShared, MemoryUSMHost
        class Producer:
            def __init__(self, d): self.__sycl_usm_array_interface__ = d
        for make, kind in ((MemoryUSMDevice, "device"), (MemoryUSMShared, "shared"),
                           (MemoryUSMHost, "host")):
            m = make(1000)
            assert m.get_usm_type() == kind
            assert m[10:20].get_usm_type() == kind
            good = m.__sycl_usm_array_interface__
            usmx.memory.as_usm_memory(Producer(good))
            try:
                usmx.memory.as_usm_memory(Producer(dict(good, shape=(1001,))))
            except usmx.InteropError as error:
                assert "is not inside its allocation" in str(error), error
            else:
                raise AssertionError("a view past the end was taken")
        assert lab.SimulatedDevice().defects == 0
        """,
        env=on_the_device(),
    )


def on_the_device(*options):
    path = os.pathsep.join(filter(None, [str(lab.HERE), os.environ.get("PYTHONPATH", "")]))
    return {**lab.simulated(*options), "PYTHONPATH": path}


def test_four_threads_leave_nothing_behind_and_no_defect(run_python):
    result = run_python(
        """
        import threading, lab
        from usmx.memory import MemoryUSMDevice
        wrong = []
        def work(t):
            for i in range(100):
                n = 64 + i * 37 % 5000
                a, b = MemoryUSMDevice(n), MemoryUSMDevice(n)
                a.memset(t + 1)
                b.copy_from_device(a)
                if bytes(b.copy_to_host()) != bytes([t + 1]) * n:
                    wrong.append((t, i))
        threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not wrong, wrong
        """,
        env=on_the_device("report"),
    )
    seen = totals(result.stderr)
    assert (seen["live"], seen["defects"]) == (0, 0), result.stderr
    assert seen["alloc_device"] == 800


def test_python_touching_device_memory_by_its_address_crashes(run_python):
    result = run_python(
        """
        import ctypes
        from usmx.memory import MemoryUSMDevice
        m = MemoryUSMDevice(64)
        m.memset(1)
        ctypes.string_at(m._pointer, 4)
        """,
        env=on_the_device(),
        check=False,
    )
    assert result.returncode == -signal.SIGSEGV
    assert "the host touched byte 0 of device memory of 64 bytes" in result.stderr


def test_the_layer_must_be_there_to_be_asked():
    with pytest.raises(RuntimeError, match="was not started"):
        lab.SimulatedDevice()


def test_a_handle_that_the_runtime_keeps_is_reported_by_its_leak_check():
    """The other half of leaks: queues, contexts and events, by the runtime's own check."""
    checked = lab.leak_checked()
    kept = lab.planted("leak_nothing_but_a_queue", checked)
    assert re.search(r"Retained 1 reference\(s\) to handle", kept.stderr), kept.stderr
    assert "Retained" not in lab.planted("none", checked).stderr


def test_programs_without_a_name_list_the_names():
    result = subprocess.run(
        [lab.built("planted_defects")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert {*CRASHES, *REPORTS} <= set(result.stdout.split())
