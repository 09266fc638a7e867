"""The compiled half of the package. Written by `make stubs`; do not edit."""
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa

import builtins
from collections.abc import Callable, Generator, Mapping
from os import PathLike
from typing import Any, ClassVar, Never, NoReturn, Self, SupportsIndex
from typing_extensions import Buffer, CapsuleType
from usmx import LocalMemory
from usmx.typing import ArrayLike, ArrayOrNumber, CopySide, DTypeLike, DeviceLike, EventLike, EventsLike, Index, KernelArgument, LaunchRange, Number, NumpyArray, NumpyDType, Order, OrderLike, OutputLike, QueueLike, ShapeLike, SupportsDLPack, SupportsUSM, UsmKind
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import usmx


class InteropError(ValueError):
    """
    Memory of another library cannot be used as described: the message names the field,
    what it held and what was expected.
    """

class ExecutionPlacementError(ValueError):
    """
    No kernel can use these arrays together, or on this queue: the message says which live
    where, and the call that moves them.
    """

class AllocationError(MemoryError):
    """
    USM could not be allocated: the message says bytes, kind, device and free memory.
    """

class BuildError(RuntimeError):
    """
    Kernel source could not be built: the message carries the compiler's log.
    """

class DeviceError(RuntimeError):
    """
    No matching SYCL device, platform or driver: the message says which are available and what to install.
    """

def _raise_again() -> None:
    """Raises what a slot caught."""

class Platform:
    """
    A driver and the devices that it serves. Equal if SYCL knows them as one.
    """

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

    @property
    def name(self) -> str: ...

    @property
    def vendor(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def backend(self) -> str:
        """"opencl", "level_zero", "cuda", "hip", ..."""

    @property
    def devices(self) -> list[Device]:
        """Its root devices."""

    @property
    def default_context(self) -> Context:
        """The context that libraries share by default."""

    @property
    def native(self) -> int:
        """cl_platform_id or ze_driver_handle_t as an integer, borrowed."""

    def __repr__(self) -> str: ...

class Device:
    """
    A device, found by name or taken from another library.

    Parameters
    ----------
    source : str, Device, Queue, object with filter_string or _get_capsule(), or None
        A filter string ``backend:type:index`` with any part left out (``"cpu"``,
        ``"level_zero:gpu:1"``, ``"0"``), alternatives separated by commas; or an object that
        names a device. None is the default device of the runtime.

    Raises
    ------
    ValueError
        If the filter string is malformed: which part, and what is expected.
    DeviceError
        If there is no such device: with those there are, or what to install.
    """

    def __init__(self, source: DeviceLike = None) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

    @property
    def sycl_queue(self) -> Any: ...

    @property
    def sycl_device(self) -> Any: ...

    @property
    def sycl_context(self) -> Any: ...

    @property
    def filter_string(self) -> str | None:
        """
        The full filter string, "opencl:cpu:0"; None for a sub-device, which has none.
        """

    @property
    def backend(self) -> str:
        """"opencl", "level_zero", "cuda", "hip", ..."""

    @property
    def device_type(self) -> str:
        """"cpu", "gpu", "accelerator" or "custom"."""

    @property
    def is_cpu(self) -> bool: ...

    @property
    def is_gpu(self) -> bool: ...

    @property
    def is_accelerator(self) -> bool: ...

    @property
    def platform(self) -> Platform: ...

    @property
    def sycl_platform(self) -> Platform:
        """dpctl's name of platform."""

    @property
    def parent_device(self) -> Device | None:
        """The device that this sub-device is a part of; None for a root device."""

    @property
    def usm_kinds(self) -> tuple[str, ...]:
        """Kinds of USM that it can allocate: of "device", "shared" and "host"."""

    @property
    def native(self) -> int:
        """
        cl_device_id, ze_device_handle_t or CUdevice as an integer. Borrowed: valid as long as this object lives; retain it with the driver to keep it longer.
        """

    def create_sub_devices(self, partition: int | Sequence[int] | str) -> list[Device]:
        """
        Divide the device.

        Parameters
        ----------
        partition : int, sequence of int, or str
            Compute units of each of as many parts as fit; or of each part in turn; or what the
            parts shall share: "numa", "L4_cache" ... "L1_cache", "next_partitionable".

        Returns
        -------
        list of Device

        Raises
        ------
        ValueError
            If the device cannot be divided so.

        Notes
        -----
        On the CPU driver a copy between memory of two sub-devices that share a context can hang
        now and then (a defect of the runtime: it frees inside a callback). Give each sub-device
        its own context, as Queue(sub_device) does, and copy through host memory.
        """

    def can_access_peer(self, peer: Device, value: str = 'access_supported') -> bool:
        """
        Whether kernels of this device can use device memory of the peer (or atomics on it).
        """

    def enable_peer_access(self, peer: Device) -> None: ...

    def disable_peer_access(self, peer: Device) -> None: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str: ...

    @property
    def name(self) -> str:
        """Name given by the vendor."""

    @property
    def vendor(self) -> str:
        """Name of the vendor."""

    @property
    def vendor_id(self) -> int:
        """Number of the vendor, of PCI for GPUs."""

    @property
    def driver_version(self) -> str:
        """Version of the driver."""

    @property
    def version(self) -> str:
        """Version of the backend's interface."""

    @property
    def is_available(self) -> bool:
        """Whether commands can be submitted."""

    @property
    def max_compute_units(self) -> int:
        """Parallel compute units."""

    @property
    def max_clock_frequency(self) -> int:
        """Highest clock, in MHz."""

    @property
    def address_bits(self) -> int:
        """Bits of an address: 32 or 64."""

    @property
    def max_work_item_dims(self) -> int:
        """Dimensions that work-item ids can have."""

    @property
    def max_work_item_sizes(self) -> tuple[int, int, int]:
        """Most work-items of a work-group in each of three dimensions."""

    @property
    def max_work_group_size(self) -> int:
        """Most work-items of a work-group."""

    @property
    def max_num_sub_groups(self) -> int:
        """Most sub-groups of a work-group."""

    @property
    def sub_group_sizes(self) -> tuple[int, ...]:
        """Work-items that a sub-group can have."""

    @property
    def max_parameter_size(self) -> int:
        """Bytes that all arguments of a kernel can have."""

    @property
    def global_mem_size(self) -> int:
        """Global memory, in bytes."""

    @property
    def free_memory(self) -> int | None:
        """
        Global memory that is free now, in bytes; None if the driver does not tell (Level Zero needs ZES_ENABLE_SYSMAN=1). For a CPU what the system gives without swapping.
        """

    @property
    def max_mem_alloc_size(self) -> int:
        """Largest allocation, in bytes."""

    @property
    def global_mem_cache_type(self) -> str:
        """"none", "read_only" or "read_write"."""

    @property
    def global_mem_cache_size(self) -> int:
        """Cache, in bytes."""

    @property
    def global_mem_cache_line_size(self) -> int:
        """Cache line, in bytes."""

    @property
    def local_mem_type(self) -> str:
        """"none", "local" (of its own) or "global"."""

    @property
    def local_mem_size(self) -> int:
        """Local memory of a work-group, in bytes."""

    @property
    def mem_base_addr_align(self) -> int:
        """Least alignment of sub-buffers, in bits."""

    @property
    def error_correction_support(self) -> bool:
        """Whether all memory corrects errors."""

    @property
    def memory_clock_rate(self) -> int | None:
        """Clock of the memory, in MHz; None if unknown."""

    @property
    def memory_bus_width(self) -> int | None:
        """Width of the memory bus, in bits; None if unknown."""

    @property
    def max_mem_bandwidth(self) -> int | None:
        """Highest memory bandwidth, in bytes a second; None if unknown."""

    @property
    def preferred_vector_width_char(self) -> int:
        """Elements of a vector that suits the device."""

    @property
    def preferred_vector_width_short(self) -> int:
        """Elements of a vector that suits the device."""

    @property
    def preferred_vector_width_int(self) -> int:
        """Elements of a vector that suits the device."""

    @property
    def preferred_vector_width_long(self) -> int:
        """Elements of a vector that suits the device."""

    @property
    def preferred_vector_width_float(self) -> int:
        """Elements of a vector that suits the device."""

    @property
    def preferred_vector_width_double(self) -> int:
        """Elements of a vector that suits the device; 0 without fp64."""

    @property
    def preferred_vector_width_half(self) -> int:
        """Elements of a vector that suits the device; 0 without fp16."""

    @property
    def native_vector_width_char(self) -> int:
        """Elements of a vector register."""

    @property
    def native_vector_width_short(self) -> int:
        """Elements of a vector register."""

    @property
    def native_vector_width_int(self) -> int:
        """Elements of a vector register."""

    @property
    def native_vector_width_long(self) -> int:
        """Elements of a vector register."""

    @property
    def native_vector_width_float(self) -> int:
        """Elements of a vector register."""

    @property
    def native_vector_width_double(self) -> int:
        """Elements of a vector register; 0 without fp64."""

    @property
    def native_vector_width_half(self) -> int:
        """Elements of a vector register; 0 without fp16."""

    @property
    def half_fp_config(self) -> tuple[str, ...]:
        """What float16 arithmetic does."""

    @property
    def single_fp_config(self) -> tuple[str, ...]:
        """What float32 arithmetic does."""

    @property
    def double_fp_config(self) -> tuple[str, ...]:
        """What float64 arithmetic does."""

    @property
    def atomic_memory_order_capabilities(self) -> tuple[str, ...]:
        """Memory orders of atomic operations."""

    @property
    def atomic_memory_scope_capabilities(self) -> tuple[str, ...]:
        """Memory scopes of atomic operations."""

    @property
    def atomic_fence_order_capabilities(self) -> tuple[str, ...]:
        """Memory orders of fences."""

    @property
    def atomic_fence_scope_capabilities(self) -> tuple[str, ...]:
        """Memory scopes of fences."""

    @property
    def profiling_timer_resolution(self) -> int:
        """Resolution of profiling times, in ns."""

    @property
    def partition_max_sub_devices(self) -> int:
        """Most sub-devices that it can be divided into."""

    @property
    def partition_properties(self) -> tuple[str, ...]:
        """
        Ways to divide it: "equally", "by_counts", "by_affinity_domain", "by_cslice".
        """

    @property
    def partition_affinity_domains(self) -> tuple[str, ...]:
        """
        What create_sub_devices takes: "numa", "L1_cache", ..., "next_partitionable".
        """

    @property
    def partition_type(self) -> str:
        """How this sub-device was made; "no_partition" for a root device."""

    @property
    def max_read_image_args(self) -> int:
        """Images a kernel can read."""

    @property
    def max_write_image_args(self) -> int:
        """Images a kernel can write."""

    @property
    def image_2d_max_width(self) -> int:
        """In pixels."""

    @property
    def image_2d_max_height(self) -> int:
        """In pixels."""

    @property
    def image_3d_max_width(self) -> int:
        """In pixels."""

    @property
    def image_3d_max_height(self) -> int:
        """In pixels."""

    @property
    def image_3d_max_depth(self) -> int:
        """In pixels."""

    @property
    def image_max_buffer_size(self) -> int:
        """In pixels."""

    @property
    def max_samplers(self) -> int:
        """Samplers a kernel can use."""

    @property
    def device_id(self) -> int | None:
        """Number of the device in PCI; None if it has none."""

    @property
    def uuid(self) -> str | None:
        """Unique id, 32 hexadecimal digits; None if unknown."""

    @property
    def pci_address(self) -> str | None:
        """"bus:device:function"; None if it has none."""

    @property
    def gpu_eu_count(self) -> int | None:
        """Execution units of an Intel GPU; None for others."""

    @property
    def gpu_eu_simd_width(self) -> int | None:
        """SIMD width of an Intel GPU's execution unit; None for others."""

    @property
    def gpu_slices(self) -> int | None:
        """Slices of an Intel GPU; None for others."""

    @property
    def gpu_subslices_per_slice(self) -> int | None:
        """Sub-slices in a slice of an Intel GPU; None for others."""

    @property
    def gpu_eu_count_per_subslice(self) -> int | None:
        """Execution units in a sub-slice of an Intel GPU; None for others."""

    @property
    def gpu_hw_threads_per_eu(self) -> int | None:
        """Hardware threads of an Intel GPU's execution unit; None for others."""

    @property
    def has_aspect_cpu(self) -> bool: ...

    @property
    def has_aspect_gpu(self) -> bool: ...

    @property
    def has_aspect_accelerator(self) -> bool: ...

    @property
    def has_aspect_custom(self) -> bool: ...

    @property
    def has_aspect_fp16(self) -> bool: ...

    @property
    def has_aspect_fp64(self) -> bool: ...

    @property
    def has_aspect_image(self) -> bool: ...

    @property
    def has_aspect_online_compiler(self) -> bool: ...

    @property
    def has_aspect_online_linker(self) -> bool: ...

    @property
    def has_aspect_queue_profiling(self) -> bool: ...

    @property
    def has_aspect_usm_device_allocations(self) -> bool: ...

    @property
    def has_aspect_usm_host_allocations(self) -> bool: ...

    @property
    def has_aspect_usm_shared_allocations(self) -> bool: ...

    @property
    def has_aspect_usm_system_allocations(self) -> bool: ...

    @property
    def has_aspect_ext_intel_pci_address(self) -> bool: ...

    @property
    def has_aspect_ext_intel_gpu_eu_count(self) -> bool: ...

    @property
    def has_aspect_ext_intel_gpu_eu_simd_width(self) -> bool: ...

    @property
    def has_aspect_ext_intel_gpu_slices(self) -> bool: ...

    @property
    def has_aspect_ext_intel_gpu_subslices_per_slice(self) -> bool: ...

    @property
    def has_aspect_ext_intel_gpu_eu_count_per_subslice(self) -> bool: ...

    @property
    def has_aspect_ext_intel_max_mem_bandwidth(self) -> bool: ...

    @property
    def has_aspect_usm_atomic_host_allocations(self) -> bool: ...

    @property
    def has_aspect_usm_atomic_shared_allocations(self) -> bool: ...

    @property
    def has_aspect_atomic64(self) -> bool: ...

    @property
    def has_aspect_ext_intel_device_info_uuid(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_srgb(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_native_assert(self) -> bool: ...

    @property
    def has_aspect_host_debuggable(self) -> bool: ...

    @property
    def has_aspect_ext_intel_gpu_hw_threads_per_eu(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_cuda_async_barrier(self) -> bool: ...

    @property
    def has_aspect_ext_intel_free_memory(self) -> bool: ...

    @property
    def has_aspect_ext_intel_device_id(self) -> bool: ...

    @property
    def has_aspect_ext_intel_memory_clock_rate(self) -> bool: ...

    @property
    def has_aspect_ext_intel_memory_bus_width(self) -> bool: ...

    @property
    def has_aspect_emulated(self) -> bool: ...

    @property
    def has_aspect_ext_intel_legacy_image(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images_shared_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images_1d_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images_2d_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_external_memory_import(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_external_semaphore_import(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_mipmap(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_mipmap_anisotropy(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_mipmap_level_reference(self) -> bool: ...

    @property
    def has_aspect_ext_intel_esimd(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_fragment(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_chunk(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_tangle(self) -> bool: ...

    @property
    def has_aspect_ext_intel_matrix(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_is_composite(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_is_component(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_graph(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_limited_graph(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_private_alloca(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_cubemap(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_cubemap_seamless_filtering(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_sampled_image_fetch_1d_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_sampled_image_fetch_1d(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_sampled_image_fetch_2d_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_sampled_image_fetch_2d(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_sampled_image_fetch_3d(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_queue_profiling_tag(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_virtual_mem(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_cuda_cluster_group(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_image_array(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_unique_addressing_per_dim(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images_sample_1d_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images_sample_2d_usm(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_atomic16(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_virtual_functions(self) -> bool: ...

    @property
    def has_aspect_ext_intel_spill_memory_size(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_bindless_images_gather(self) -> bool: ...

    @property
    def has_aspect_ext_intel_current_clock_throttle_reasons(self) -> bool: ...

    @property
    def has_aspect_ext_intel_fan_speed(self) -> bool: ...

    @property
    def has_aspect_ext_intel_power_limits(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_async_memory_alloc(self) -> bool: ...

    @property
    def has_aspect_ext_intel_device_info_luid(self) -> bool: ...

    @property
    def has_aspect_ext_intel_device_info_node_mask(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_exportable_device_mem(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_clock_sub_group(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_clock_work_group(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_clock_device(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_is_integrated_gpu(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_ipc_memory(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_device_wait(self) -> bool: ...

    @property
    def has_aspect_ext_intel_xe_stack_count(self) -> bool: ...

    @property
    def has_aspect_ext_intel_xe_regions_per_stack(self) -> bool: ...

    @property
    def has_aspect_ext_intel_xe_clusters_per_region(self) -> bool: ...

    @property
    def has_aspect_ext_intel_xe_cores_per_cluster(self) -> bool: ...

    @property
    def has_aspect_ext_intel_eus_per_xe_core(self) -> bool: ...

    @property
    def has_aspect_ext_intel_max_lanes_per_hw_thread(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_ipc_physical_memory(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_register_host_memory(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_per_event_profiling(self) -> bool: ...

    @property
    def has_aspect_ext_oneapi_ipc_event(self) -> bool: ...

    @property
    def aspects(self) -> frozenset[str]:
        """Names of all aspects that the device has."""

    def has_aspect(self, name: str) -> bool:
        """
        Whether the device has an aspect, "fp64" or "usm_shared_allocations".

        Raises
        ------
        ValueError
            If there is no aspect of that name: with those there are.
        """

    def properties(self) -> dict[str, object]:
        """All properties by name, None where the driver does not know."""

class Event:
    """
    What a submitted command will have done. That of a kernel on an in-order queue may be
    made only when it is asked for, and then comes after what other libraries submitted meanwhile.

    Parameters
    ----------
    source : Event of usmx or dpctl, "SyclEventRef" capsule, or None
        None makes an event that is complete.
    """

    def __init__(self, source: EventLike | None = None) -> None: ...

    def wait(self) -> None:
        """Wait until the command has finished. Raises its asynchronous errors."""

    @staticmethod
    def wait_for(events: EventLike | Sequence[EventLike]) -> None:
        """Wait for an event, or for all of a sequence."""

    def __await__(self) -> Generator[Any, None, None]:
        """
        In a coroutine of asyncio: wait until the command has finished while others run.
        Raises its asynchronous errors. Cancelling the task leaves the command alone.
        """

    @property
    def is_done(self) -> bool:
        """Whether the command has finished, failed or not."""

    def _watch(self) -> int:
        """A file descriptor that becomes readable when the command has finished."""

    @property
    def status(self) -> str:
        """"submitted", "running" or "complete"."""

    @property
    def execution_status(self) -> str:
        """dpctl's name of status."""

    @property
    def profiling_info_submit(self) -> int:
        """
        When the command was submitted, in ns. RuntimeError if its queue does not profile.
        """

    @property
    def profiling_info_start(self) -> int:
        """
        When the command began, in ns. Waits for it. RuntimeError if its queue does not profile.
        """

    @property
    def profiling_info_end(self) -> int:
        """
        When the command ended, in ns. Waits for it. RuntimeError if its queue does not profile.
        """

    @property
    def backend(self) -> str: ...

    def _get_capsule(self) -> object:
        """A fresh "SyclEventRef" capsule."""

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

class Context:
    """
    What memory belongs to: one or more devices of a platform.

    Parameters
    ----------
    source : Device, str, list of these, Context, Queue, capsule, or None
        One device (also as a filter string) gives the default context, the one that other
        libraries use too; None that of the default device. A list of devices gives a new one.
        Anything else names a context that exists: an object with ``_get_capsule()`` such as
        ``dpctl.SyclContext``, or a fresh "SyclContextRef" or "SyclQueueRef" capsule.

    Raises
    ------
    TypeError, ValueError
        If it names no context: what it was, and what to pass.
    DeviceError
        If there is no such device.
    """

    def __init__(self, source: QueueLike | Sequence[DeviceLike] = None) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

    @property
    def devices(self) -> list[Device]: ...

    @property
    def device_count(self) -> int: ...

    @property
    def platform(self) -> Platform: ...

    @property
    def backend(self) -> str: ...

    @property
    def native(self) -> int:
        """
        cl_context or ze_context_handle_t as an integer. Borrowed: valid as long as this object lives; retain it with the driver to keep it longer. RuntimeError for CUDA and HIP, where SYCL works in the devices' primary contexts.
        """

    def _get_capsule(self) -> object:
        """A fresh "SyclContextRef" capsule."""

    def __repr__(self) -> str: ...

class Queue:
    """
    Where commands are submitted to.

    Without options this is the shared queue of the device: in order, made once, the same object
    for every library that asks usmx. With an option it is a new one.

    Parameters
    ----------
    source : str, Device, Context, Queue, capsule, or None
        A device or filter string; a context (its first device, or the second argument); a queue
        that exists: any object with ``_get_capsule()`` such as ``dpctl.SyclQueue``, or a fresh
        "SyclQueueRef" capsule. None is the default device. A pair is (context, device).
    device : Device or str, optional
        Then ``source`` is its context.
    in_order : bool, optional
        A new queue whose commands run in order (the default) or may overtake each other.
    enable_profiling : bool, optional
        A new queue whose events know when their commands ran.

    Raises
    ------
    TypeError, ValueError
        If the arguments name no queue: what they were, what to pass.
    DeviceError
        If there is no such device.
    """

    def __init__(self, source: QueueLike | tuple[Context, DeviceLike] = None, device: DeviceLike = None, *, in_order: bool | None = None, enable_profiling: bool = False) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

    @property
    def device(self) -> Device: ...

    @property
    def context(self) -> Context: ...

    @property
    def sycl_device(self) -> Device:
        """dpctl's name of device."""

    @property
    def sycl_context(self) -> Context:
        """dpctl's name of context."""

    @property
    def backend(self) -> str: ...

    @property
    def is_in_order(self) -> bool: ...

    @property
    def has_enable_profiling(self) -> bool: ...

    @property
    def is_idle(self) -> bool:
        """Whether no command is waiting or running."""

    @property
    def native(self) -> int:
        """
        cl_command_queue, ze_command_queue_handle_t (or an immediate command list) or CUstream as an integer. Borrowed: valid as long as this object lives; retain it with the driver to keep it longer.
        """

    def wait(self) -> None:
        """
        Wait until all commands have finished. Raises their asynchronous errors.
        """

    def submit_barrier(self, depends_on: Sequence[EventLike] = ()) -> Event:
        """
        An event that is complete when all commands submitted so far are, or the given events; later commands wait for it.
        """

    def __reduce__(self) -> tuple[Any, ...]: ...

    def _get_capsule(self) -> object:
        """A fresh "SyclQueueRef" capsule."""

    def __repr__(self) -> str: ...

def devices() -> list[Device]:
    """
    All devices, best first: GPUs, accelerators, CPUs. Empty without a driver.
    """

def platforms() -> list[Platform]:
    """
    Every platform that has a device, in the order of devices(). Empty without a driver.
    """

def default_queue(device: DeviceLike = None) -> Queue:
    """
    The shared in-order queue of a device in its default context, made once.

    Parameters
    ----------
    device : Device, str or None
        None is the default device.

    Raises
    ------
    DeviceError
        If there is no such device: with those there are, or what to install.
    """

def _cpu_driver() -> dict[str, Any]:
    """The CPU driver of this environment, and what was loaded before usmx."""

def _drain() -> None:
    """
    Wait for all memory that was freed while commands were running on it, and give all free memory back to the driver.
    """

def _collect() -> int:
    """
    Free the memory that no command uses any more; return how many allocations still wait.
    """

class NotUSMError(TypeError, ValueError):
    """
    An object that describes no USM: the wrong type, and a wrong value
    for programs that expect the ValueError of dpctl.memory.
    """

class _Memory:
    """A run of bytes in USM; base of the three classes."""

    @property
    def nbytes(self) -> int:
        """Bytes."""

    @property
    def size(self) -> int:
        """Bytes."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str: ...

    def __getitem__(self, key: slice) -> Self: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]: ...

    def __sizeof__(self) -> int:
        """
        For `sys.getsizeof`: with the bytes that this object owns; views own none.
        """

    def __enter__(self) -> Self: ...

    def __exit__(self, *args: object) -> None: ...

    def free(self) -> None:
        """
        Give the bytes back now; commands that still run on them are waited for in the background.
        After it every use of this object and of its slices raises ValueError. What took the
        address through `__sycl_usm_array_interface__` must be done with it.

        Raises
        ------
        BufferError
            A memoryview, a NumPy array or another buffer still shows the bytes, or an array
            or a call in another thread still uses them.
        """

    @property
    def freed(self) -> bool:
        """True after `free()`."""

    @property
    def readonly(self) -> bool:
        """True if the bytes must not be written through this object."""

    def as_readonly(self) -> Self:
        """The same bytes as an object that cannot write them."""

    @property
    def reference_obj(self) -> Any:
        """The object that owns the bytes if this one does not, otherwise None."""

    @property
    def queue(self) -> Queue:
        """The queue that work on these bytes goes to."""

    @property
    def _queue(self) -> Queue:
        """The queue that work on these bytes goes to."""

    @property
    def device(self) -> Device:
        """The device the bytes were allocated for."""

    @property
    def context(self) -> Context:
        """The context the bytes belong to."""

    @property
    def _context(self) -> Context:
        """The context the bytes belong to."""

    @property
    def sycl_queue(self) -> Any: ...

    @property
    def sycl_device(self) -> Any: ...

    @property
    def sycl_context(self) -> Any: ...

    @property
    def _pointer(self) -> int:
        """The address of the first byte."""

    @property
    def usm_type(self) -> UsmKind:
        """"device", "shared" or "host"."""

    def get_usm_type(self, syclobj: QueueLike = None) -> str:
        """
        "device", "shared", "host", or "unknown" where the context of `syclobj` does not know
        the memory. On the class it takes an address: ``MemoryUSMShared.get_usm_type(address, syclobj)``.
        """

    def get_usm_type_enum(self, syclobj: QueueLike = None) -> int:
        """The same as a number: unknown 0, device 1, shared 2, host 3."""

    __sycl_usm_exchange_api__: ClassVar[CapsuleType] = ...

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]: ...

    def __arrow_c_schema__(self) -> CapsuleType:
        """
        The element type and the inner lengths as an Arrow schema, in a capsule.
        """

    def __arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> tuple[CapsuleType, CapsuleType]:
        """
        The elements as an Arrow array of the host, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            A type that the consumer would like; elements keep theirs.

        Returns
        -------
        tuple
            Capsules of the type and of the elements.

        Raises
        ------
        BufferError
            Arrow cannot describe the array: complex numbers, records, elements that are not
            contiguous, device memory.
        """

    def __arrow_c_device_array__(self, requested_schema: CapsuleType | None = None, **kwargs: object) -> tuple[CapsuleType, CapsuleType]:
        """
        The elements as an Arrow array of their device, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            A type that the consumer would like; elements keep theirs.

        Returns
        -------
        tuple
            Capsules of the type and of the elements.

        Raises
        ------
        BufferError
            Arrow cannot describe the array: complex numbers, records, elements that are not
            contiguous.
        """

    def __dlpack__(self, *, stream: QueueLike | int = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> CapsuleType:
        """
        The elements as a DLPack capsule, for `from_dlpack` of other libraries.

        Parameters
        ----------
        stream : Queue or int, optional
            Where the consumer submits next. A queue waits for what was submitted on the
            memory; for None or a number this call waits.
        max_version : tuple of int, optional
            The newest version that the consumer reads; None asks for the form before 1.0.
        dl_device : tuple of int, optional
            ``(1, 0)`` asks for host memory: without a copy unless it is device memory.
        copy : bool, optional
            True copies always, False never, None if needed.

        Raises
        ------
        BufferError
            DLPack cannot describe the memory as asked.
        """

    __dlpack_c_exchange_api__: ClassVar[CapsuleType] = ...

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of device in DLPack's numbers (14: oneAPI), and its number."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

    def copy_to_host(self, obj: Buffer | None = None) -> Any:
        """
        Copy the bytes into a writable buffer and return it.

        Parameters
        ----------
        obj : buffer, optional
            At least `nbytes` bytes, of any type and shape; elements that are not contiguous are
            filled in C order. Default: a new NumPy array of uint8, shape (nbytes,).

        Raises
        ------
        ValueError
            The buffer is too small.
        BufferError
            The buffer is read-only.
        """

    def copy_from_host(self, obj: Buffer) -> None:
        """
        Copy a buffer of the host, of any type and shape, to the beginning of this memory.

        Raises
        ------
        ValueError
            The buffer has more bytes than the memory, or the memory is read-only.
        TypeError
            `obj` has no buffer.
        """

    def copy_from_device(self, obj: SupportsUSM) -> None:
        """
        Copy the elements of an object with `__sycl_usm_array_interface__`, in C order, to the
        beginning of this memory.

        Raises
        ------
        ValueError
            It has more bytes than the memory, or the memory is read-only.
        NotUSMError
            `obj` does not speak the protocol.
        """

    def memset(self, val: SupportsIndex = 0) -> None:
        """Set every byte to `val`, an integer 0 to 255."""

    def tobytes(self) -> bytes:
        """A copy of the bytes as a `bytes` object."""

    def __bytes__(self) -> bytes: ...

def get_usm_type(ptr: SupportsUSM | int, syclobj: QueueLike = None) -> str:
    """
    The kind of USM at an address, or of a memory object.

    Returns
    -------
    str
        "device", "shared", "host" or "unknown".
    """

class MemoryUSMShared(_Memory):
    """USM that moves between host and device."""

    def __init__(self, nbytes_or_object: int | SupportsUSM, *, alignment: int = 0, queue: QueueLike = None, copy: bool = False) -> None: ...

    def __buffer__(self, flags: int, /) -> memoryview: ...

class MemoryUSMHost(_Memory):
    """USM that lives on the host; devices reach into it."""

    def __init__(self, nbytes_or_object: int | SupportsUSM, *, alignment: int = 0, queue: QueueLike = None, copy: bool = False) -> None: ...

    def __buffer__(self, flags: int, /) -> memoryview: ...

class MemoryUSMDevice(_Memory):
    """USM that lives on the device, out of the host's reach."""

    def __init__(self, nbytes_or_object: int | SupportsUSM, *, alignment: int = 0, queue: QueueLike = None, copy: bool = False) -> None: ...

    def __array__(self, *args: object, **kwargs: object) -> NoReturn: ...

def as_usm_memory(obj: SupportsUSM) -> MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost:
    """
    The memory behind an object with `__sycl_usm_array_interface__`, without a copy: the bytes
    from its lowest to its highest element.

    Raises
    ------
    NotUSMError
        `obj` does not speak the protocol.
    InteropError
        What it describes is not valid.
    """

class MemoryResource:
    """
    A memory resource: base of the classes that can be stacked on each other, of which
    ``set_resource`` and ``using`` choose one. Equal objects mean the same resource.
    """

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def kind(self) -> UsmKind:
        """"device", "shared" or "host"."""

    @property
    def device(self) -> Device:
        """The device that the bytes are for."""

    @property
    def context(self) -> Context:
        """The context that the bytes belong to."""

    @property
    def upstream(self) -> MemoryResource | None:
        """The resource that this one allocates from, None for the driver's."""

    def allocate(self, nbytes: int, *, alignment: int = 0, queue: QueueLike = None) -> MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost:
        """
        Allocate from this resource, regardless of the default.

        Parameters
        ----------
        nbytes : int
            Bytes.
        alignment : int
            A power of two in bytes; 0 asks for 64.
        queue : optional
            The queue that work on the bytes goes to, of the same context.

        Returns
        -------
        MemoryUSMDevice, MemoryUSMShared or MemoryUSMHost
            Goes back when the last object that shows it is gone, or at ``free()``.

        Raises
        ------
        AllocationError
            There is not enough memory.
        """

    def deallocate(self, memory: MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost) -> None:
        """
        Give memory back to where it came from, as its ``free()`` does.

        Raises
        ------
        BufferError
            A buffer still shows the bytes.
        """

class UsmResource(MemoryResource):
    """
    The driver itself: each request is a call of the driver.

    Parameters
    ----------
    kind : {'device', 'shared', 'host'}
        The kind of USM.
    queue : Queue, Device, str or None
        Whose context and device.

    Raises
    ------
    DeviceError
        The device lacks this kind of USM.
    """

    def __init__(self, kind: UsmKind = 'device', queue: QueueLike = None) -> None: ...

class PoolResource(MemoryResource):
    """
    Divides large pieces of the upstream into blocks and keeps what comes back.

    Parameters
    ----------
    upstream : MemoryResource
        Where the pieces come from.
    most : int, optional
        Bytes: never more than this from the upstream.
    release_above : int, optional
        Bytes: above this, pieces go back as soon as they are free.
    """

    def __init__(self, upstream: MemoryResource, *, most: int | None = None, release_above: int | None = None) -> None: ...

    def stats(self) -> dict[str, int]:
        """
        What the pool holds at this moment.

        Returns
        -------
        dict
            `used`: bytes of the blocks alive; `blocks`: how many are; `held`: bytes from the
            upstream; `chunks`: in how many pieces; `peak`: the most bytes held.
        """

    def trim(self, keep: int = 0) -> int:
        """
        Give free pieces back to the upstream until at most `keep` bytes are held; returns how
        many bytes went back. A piece with a block alive in it stays.
        """

    def reserve(self, nbytes: int) -> None:
        """
        Take from the upstream until at least `nbytes` bytes are held.

        Raises
        ------
        AllocationError
            There is not so much, or it is above `most`.
        """

    @property
    def most(self) -> int | None:
        """Bytes that are never passed; None without a limit."""

    @property
    def release_above(self) -> int | None:
        """Bytes above which free pieces go back; None without a limit."""

class QueueOrderedResource(MemoryResource):
    """
    Keeps what is freed while a queue works on it, and gives it to the next who allocates on that
    queue; to others only after the work. What serves by default is one on a pool.
    """

    def __init__(self, upstream: MemoryResource) -> None: ...

    def stats(self) -> dict[str, int]:
        """
        What waits at this moment.

        Returns
        -------
        dict
            `bytes`, `blocks`: came back and wait; `queues`: for how many; `reused`: blocks that were
            given out again without waiting, ever; `passed`: those that went to the upstream.
        """

    def collect(self) -> int:
        """
        Return what no queue works on any more to the upstream; how many blocks still wait.
        """

    def drain(self) -> None:
        """Wait for all that wait, and return them to the upstream."""

class StatisticsResource(MemoryResource):
    """Counts what passes through to the upstream."""

    def __init__(self, upstream: MemoryResource) -> None: ...

    def stats(self) -> dict[str, int]:
        """
        The figures of this moment.

        Returns
        -------
        dict
            `bytes`, `blocks`: alive; `peak_...`: the most at once; `total_...`: ever;
            `failures`: requests that raised.
        """

    def reset_peaks(self) -> None:
        """Peaks begin anew from what is alive."""

class LimitingResource(MemoryResource):
    """
    Lets no more than `most` bytes be alive at once; above that it raises AllocationError.
    """

    def __init__(self, upstream: MemoryResource, most: int) -> None: ...

    @property
    def most(self) -> int:
        """The limit in bytes."""

    @property
    def used(self) -> int:
        """Bytes alive."""

class BinningResource(MemoryResource):
    """
    Serves each request from the resource for its size.

    Parameters
    ----------
    upstream : MemoryResource
        Serves what is larger than every bin.
    bins : dict
        From the largest number of bytes that a bin serves to its resource.
    """

    def __init__(self, upstream: MemoryResource, bins: Mapping[int, MemoryResource]) -> None: ...

class AlignedResource(MemoryResource):
    """
    Aligns every block of at least `least_size` bytes to `alignment` bytes or more.
    """

    def __init__(self, upstream: MemoryResource, alignment: int, least_size: int = 0) -> None: ...

class PrefetchResource(MemoryResource):
    """
    Moves shared memory to the device as soon as it is there, on a queue; other kinds pass.
    """

    def __init__(self, upstream: MemoryResource, queue: QueueLike = None) -> None: ...

class TrackingResource(MemoryResource):
    """
    Knows which blocks are alive and which lines of Python asked for them: for finding leaks.
    """

    def __init__(self, upstream: MemoryResource) -> None: ...

    def alive(self) -> list[dict[str, Any]]:
        """
        What is alive, the oldest first.

        Returns
        -------
        list of dict
            `pointer`, `nbytes`, `alignment`, `number` of the request, `thread`, `stack`.
        """

    def report(self) -> str:
        """The same as text."""

class LoggingResource(MemoryResource):
    """
    Writes a line of CSV for each request, which ``bench/replay.cpp`` gives to other resources:
    nanoseconds,thread,action,pointer,bytes,alignment.

    Raises
    ------
    OSError
        The file cannot be written.
    """

    def __init__(self, upstream: MemoryResource, path: str | PathLike[str]) -> None: ...

    def flush(self) -> None:
        """
        Write the lines that are kept in memory.

        Raises
        ------
        OSError
            One was lost.
        """

class FailureCallbackResource(MemoryResource):
    """
    Calls a function to free something when there is no memory left, and tries again as long as
    it returns True. The function gets the number of bytes, runs on the thread that allocates, and
    may itself allocate and free; what it raises is the cause of an AllocationError.
    """

    def __init__(self, upstream: MemoryResource, callback: Callable[[int], bool]) -> None: ...

def get_resource(queue: QueueLike = None, kind: UsmKind = 'device') -> MemoryResource:
    """
    The resource that serves by default, here and now.

    Parameters
    ----------
    queue : Queue, Device, str or None
        Whose context and device.
    kind : {'device', 'shared', 'host'}
        The kind of USM.
    """

def set_resource(resource: MemoryResource) -> MemoryResource | None:
    """
    From now on `resource` serves its context, device and kind by default, for all threads and
    all libraries of the process that are built on usmx. What was allocated before goes back to
    where it came from.

    Returns
    -------
    MemoryResource or None
        The previous default; None if it was not used yet.
    """

class using:
    """
    In a ``with`` block, `resource` serves its context, device and kind by default on this thread,
    for all libraries that are built on usmx; other threads are left alone. Blocks may lie in
    each other: the innermost counts. The block has the resource as its value.

    Raises
    ------
    RuntimeError
        The block is left on another thread than it was entered on.
    """

    def __init__(self, resource: MemoryResource) -> None: ...

    def __enter__(self) -> MemoryResource: ...

    def __exit__(self, *args: object) -> None: ...

def _stats() -> list[dict[str, Any]]:
    """The rows of ``usmx.memory.stats()``."""

def trim() -> int:
    """
    Give free memory of all default resources back to the driver.

    Returns
    -------
    int
        Bytes that went back. Pieces with a block alive in them stay.
    """

class numpy_memory:
    """
    In a ``with`` block, NumPy allocates its arrays from the pools of usmx on this thread: they are USM.

    ``asarray(a)`` of such an array is a view without a copy, on every device. Arrays may outlive
    the block. Blocks may lie in each other: the innermost counts. NumPy knows nothing about commands:
    wait for the queue before NumPy reads what a kernel writes.

    Parameters
    ----------
    kind : {'shared', 'host'}
        The kind of USM.
    queue : Queue, Device, str or None
        Where commands on the arrays run, unless another queue is named.

    Raises
    ------
    ValueError
        `kind` is 'device', which NumPy cannot read.
    DeviceError
        The device has no USM of that kind.
    RuntimeError
        The block is left on another thread than it was entered on.
    """

    def __init__(self, kind: UsmKind = 'shared', *, queue: QueueLike = None) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *args: object) -> None: ...

class dtype:
    """
    An element type: what `float32` is. Equal to every other spelling of itself.

    Parameters
    ----------
    obj : str, type, numpy.dtype, dtype or list of tuple
        A name ('float32'), a type string ('<f4'), a Python or NumPy type, or the fields
        of a record: ``[('x', '<f4'), ('n', '<i4')]``.

    Raises
    ------
    TypeError
        `obj` names no element type.
    InteropError
        A type string that cannot be used: a byte order or a size.
    """

    def __init__(self, obj: DTypeLike) -> None: ...

    @property
    def name(self) -> builtins.str:
        """NumPy's name: 'float32'."""

    @property
    def str(self) -> builtins.str:
        """The type string of the array protocols: '<f4'."""

    @property
    def kind(self) -> builtins.str:
        """One letter of 'biufcV'."""

    @property
    def char(self) -> builtins.str:
        """NumPy's letter of the type: 'f'; of bfloat16 'E', that of ml_dtypes."""

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""

    @property
    def alignment(self) -> int:
        """Bytes of which the address of an element is a multiple."""

    @property
    def descr(self) -> list[tuple[Any, ...]]:
        """The fields as a list of tuples."""

    @property
    def names(self) -> tuple[builtins.str, ...] | None:
        """Names of the fields of a record, otherwise None."""

    @property
    def __numpy_dtype__(self) -> NumpyDType: ...

    @property
    def dtype(self) -> NumpyDType:
        """The same as a numpy.dtype; imports NumPy."""

    @property
    def type(self) -> Any:
        """NumPy's type of a single element; imports NumPy."""

    def __eq__(self, other: object, /) -> bool: ...

    def __ne__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> builtins.str: ...

    def __repr__(self) -> builtins.str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

bool_: dtype = ...

int8: dtype = ...

int16: dtype = ...

int32: dtype = ...

int64: dtype = ...

uint8: dtype = ...

uint16: dtype = ...

uint32: dtype = ...

uint64: dtype = ...

float16: dtype = ...

float32: dtype = ...

float64: dtype = ...

complex64: dtype = ...

complex128: dtype = ...

bfloat16: dtype = ...

class _Flags:
    """Layout and access of an array."""

    __iter__: None = None

    __contains__: None = None

    @property
    def c_contiguous(self) -> bool:
        """True if the elements are C-contiguous."""

    @property
    def f_contiguous(self) -> bool:
        """True if the elements are Fortran-contiguous."""

    @property
    def contiguous(self) -> bool:
        """As `c_contiguous`."""

    @property
    def forc(self) -> bool:
        """True if the elements are contiguous in either order."""

    @property
    def fnc(self) -> bool:
        """Fortran order only."""

    @property
    def aligned(self) -> bool:
        """Always True."""

    @property
    def writeable(self) -> bool:
        """False for read-only memory; can be set to False."""

    @writeable.setter
    def writeable(self, arg: bool, /) -> None: ...

    @property
    def writable(self) -> bool:
        """As `writeable`."""

    @writable.setter
    def writable(self, arg: bool, /) -> None: ...

    def __getitem__(self, name: str, /) -> bool: ...

    def __repr__(self) -> str: ...

class ndarray:
    """
    An n-dimensional array in USM: elements, the queue on which they are computed, and the memory
    they keep alive. Slices, transposed and reshaped arrays are views of the same memory.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    dtype : optional
        The element type; float64 by default.
    buffer : {'device', 'shared', 'host'} or memory
        The kind of memory to allocate, or memory to lie in: a ``usmx.memory`` object or any with
        `__sycl_usm_array_interface__`. Contents of new memory are undefined.
    strides : tuple of int, optional
        Steps along each axis in elements; may be zero or negative.
    offset : int
        Elements from the beginning of the buffer to the first element.
    order : {'C', 'F'}
        The order of the elements where no strides are given.
    queue : optional
        The queue on which the array is computed; by default that of the memory.

    Raises
    ------
    InteropError
        The elements do not lie inside the buffer, or shape or strides overflow.
    AllocationError
        There is not enough memory.
    """

    def __lt__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self<value."""

    def __le__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self<=value."""

    def __eq__(self, other: object, /) -> ndarray:  # type: ignore[override]
        """Return self==value."""

    def __ne__(self, other: object, /) -> ndarray:  # type: ignore[override]
        """Return self!=value."""

    def __gt__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self>value."""

    def __ge__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self>=value."""

    def __iter__(self, /) -> Iterator[ndarray]:
        """Implement iter(self)."""

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = None, buffer: UsmKind | SupportsUSM = 'device', strides: Sequence[int] | None = None, offset: SupportsIndex = 0, order: Order = 'C', queue: QueueLike = None) -> None: ...

    def __add__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self+value."""

    def __radd__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value+self."""

    def __sub__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self-value."""

    def __rsub__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value-self."""

    def __mul__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self*value."""

    def __rmul__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value*self."""

    def __mod__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self%value."""

    def __rmod__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value%self."""

    def __divmod__(self, other: ArrayOrNumber, /) -> tuple[ndarray, ndarray]:
        """Return divmod(self, value)."""

    def __rdivmod__(self, other: ArrayOrNumber, /) -> tuple[ndarray, ndarray]:
        """Return divmod(value, self)."""

    def __pow__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return pow(self, value, mod)."""

    def __rpow__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return pow(value, self, mod)."""

    def __neg__(self, /) -> ndarray:
        """-self"""

    def __pos__(self, /) -> ndarray:
        """+self"""

    def __abs__(self, /) -> ndarray:
        """abs(self)"""

    def __invert__(self, /) -> ndarray:
        """~self"""

    def __lshift__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self<<value."""

    def __rlshift__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value<<self."""

    def __rshift__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self>>value."""

    def __rrshift__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value>>self."""

    def __and__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self&value."""

    def __rand__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value&self."""

    def __xor__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self^value."""

    def __rxor__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value^self."""

    def __or__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self|value."""

    def __ror__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value|self."""

    def __iadd__(self, other: ArrayOrNumber, /) -> Self:
        """Return self+=value."""

    def __isub__(self, other: ArrayOrNumber, /) -> Self:
        """Return self-=value."""

    def __imul__(self, other: ArrayOrNumber, /) -> Self:
        """Return self*=value."""

    def __imod__(self, other: ArrayOrNumber, /) -> Self:
        """Return self%=value."""

    def __ipow__(self, other: ArrayOrNumber, /) -> Self:
        """Return self**=value."""

    def __ilshift__(self, other: ArrayOrNumber, /) -> Self:
        """Return self<<=value."""

    def __irshift__(self, other: ArrayOrNumber, /) -> Self:
        """Return self>>=value."""

    def __iand__(self, other: ArrayOrNumber, /) -> Self:
        """Return self&=value."""

    def __ixor__(self, other: ArrayOrNumber, /) -> Self:
        """Return self^=value."""

    def __ior__(self, other: ArrayOrNumber, /) -> Self:
        """Return self|=value."""

    def __floordiv__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self//value."""

    def __rfloordiv__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value//self."""

    def __truediv__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self/value."""

    def __rtruediv__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value/self."""

    def __ifloordiv__(self, other: ArrayOrNumber, /) -> Self:
        """Return self//=value."""

    def __itruediv__(self, other: ArrayOrNumber, /) -> Self:
        """Return self/=value."""

    def __matmul__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return self@value."""

    def __rmatmul__(self, other: ArrayOrNumber, /) -> ndarray:
        """Return value@self."""

    def __len__(self, /) -> int:
        """Return len(self)."""

    def __getitem__(self, key: Index, /) -> ndarray:
        """Return self[key]."""

    def __contains__(self, value: ArrayOrNumber, /) -> bool:
        """Return key in self."""

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def _getitem(self, key: Index) -> ndarray: ...

    def __setitem__(self, key: Index, value: ArrayLike) -> None: ...

    def __repr__(self) -> str: ...

    def _repr_html_(self) -> str: ...

    def __str__(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths."""

    @property
    def strides(self) -> tuple[int, ...]:
        """
        Steps along each axis in elements, as the protocol counts them (NumPy counts bytes).
        """

    @property
    def offset(self) -> int:
        """Elements from the beginning of `usm_data` to the first element."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, as if they were contiguous."""

    @property
    def dtype(self) -> NumpyDType:
        """
        The element type: a numpy.dtype where NumPy is installed, otherwise a dtype.
        """

    @property
    def _typestr(self) -> str:
        """
        The element type as the protocols spell it; reading it exports nothing.
        """

    @property
    def usm_type(self) -> UsmKind:
        """
        'device', 'shared' or 'host'; 'unknown' for foreign arrays without elements.
        """

    @property
    def flags(self) -> _Flags:
        """Layout and access."""

    @property
    def queue(self) -> Queue:
        """The queue on which it is computed."""

    @property
    def device(self) -> Device:
        """The device of its queue."""

    @property
    def context(self) -> Context:
        """The context that its memory belongs to."""

    @property
    def sycl_queue(self) -> Any: ...

    @property
    def sycl_device(self) -> Any: ...

    @property
    def sycl_context(self) -> Any: ...

    @property
    def usm_data(self) -> MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost:
        """The memory behind the array, all of it, without a copy."""

    @property
    def base(self) -> MemoryUSMDevice | MemoryUSMShared | MemoryUSMHost:
        """The memory behind the array, all of it, without a copy."""

    @property
    def pointer(self) -> int:
        """The address of the first element."""

    @property
    def _pointer(self) -> int:
        """The address of the first element."""

    def _compute(self) -> None:
        """
        Submits what was put off. `pointer` does that too, but lets others use the memory.
        """

    @property
    def _is_deferred(self) -> bool:
        """Whether the elements may still be put off."""

    def wait(self) -> None:
        """
        Wait until the elements are there: what was put off is computed, and commands on the memory have
        ended. It costs nothing where nothing is pending; `queue.wait()` waits for all of a queue.

        Raises
        ------
        DeviceError
            A command failed.
        """

    def _is_aligned(self) -> bool:
        """Whether the address of the first element is a multiple of its size."""

    __sycl_usm_exchange_api__: ClassVar[CapsuleType] = ...

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]: ...

    def __arrow_c_schema__(self) -> CapsuleType:
        """
        The element type and the inner lengths as an Arrow schema, in a capsule.
        """

    def __arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> tuple[CapsuleType, CapsuleType]:
        """
        The elements as an Arrow array of the host, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            A type that the consumer would like; elements keep theirs.

        Returns
        -------
        tuple
            Capsules of the type and of the elements.

        Raises
        ------
        BufferError
            Arrow cannot describe the array: complex numbers, records, elements that are not
            contiguous, device memory.
        """

    def __arrow_c_device_array__(self, requested_schema: CapsuleType | None = None, **kwargs: object) -> tuple[CapsuleType, CapsuleType]:
        """
        The elements as an Arrow array of their device, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            A type that the consumer would like; elements keep theirs.

        Returns
        -------
        tuple
            Capsules of the type and of the elements.

        Raises
        ------
        BufferError
            Arrow cannot describe the array: complex numbers, records, elements that are not
            contiguous.
        """

    def __dlpack__(self, *, stream: QueueLike | int = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> CapsuleType:
        """
        The elements as a DLPack capsule, for `from_dlpack` of other libraries.

        Parameters
        ----------
        stream : Queue or int, optional
            Where the consumer submits next. A queue waits for what was submitted on the
            memory; for None or a number this call waits.
        max_version : tuple of int, optional
            The newest version that the consumer reads; None asks for the form before 1.0.
        dl_device : tuple of int, optional
            ``(1, 0)`` asks for host memory: without a copy unless it is device memory.
        copy : bool, optional
            True copies always, False never, None if needed.

        Raises
        ------
        BufferError
            DLPack cannot describe the memory as asked.
        """

    __dlpack_c_exchange_api__: ClassVar[CapsuleType] = ...

    def __dlpack_device__(self) -> tuple[int, int]:
        """The kind of device in DLPack's numbers (14: oneAPI), and its number."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex], order: OrderLike = 'C', copy: bool | None = None) -> ndarray:
        """
        The elements in another shape; a view wherever the layout allows it.

        Parameters
        ----------
        *shape : int or tuple of int
            One length may be -1: it takes what the others leave.
        order : {'C', 'F', 'A'}
            The order in which elements are read and placed.
        copy : bool, optional
            True copies always, False never, None if needed.

        Raises
        ------
        ValueError
            The sizes differ, or a copy is needed and forbidden.
        """

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> ndarray:
        """A view with the axes in another order; without arguments in reverse."""

    def permute(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> ndarray:
        """A view whose axis i is axis ``axes[i]`` of this."""

    def view(self, dtype: DTypeLike = None) -> ndarray:
        """
        The same bytes as elements of another type; None is the type that they have.

        Parameters
        ----------
        dtype : optional
            Of another size only if the last axis is contiguous; its length changes then.

        Raises
        ------
        ValueError
            The bytes are not a whole number of such elements, or are not aligned for them.
        """

    def _part(self, part: int) -> ndarray:
        """A view of the real (0) or imaginary (1) parts of complex numbers."""

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray:
        """A view with two axes exchanged."""

    @property
    def T(self) -> ndarray:
        """A view with the axes in reverse."""

    @property
    def mT(self) -> ndarray:
        """A view with the last two axes exchanged."""

    def squeeze(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> ndarray:
        """A view without dimensions of length one."""

    def ravel(self, order: OrderLike = 'C') -> ndarray:
        """
        The elements contiguous in one dimension; a view if they are contiguous already.
        """

    def flatten(self, order: OrderLike = 'C') -> ndarray:
        """A copy of the elements in one dimension."""

    def to_numpy(self) -> NumpyArray:
        """
        A copy of the elements as a NumPy array, in C order.

        Raises
        ------
        ImportError
            NumPy is not installed.
        """

    def to_host(self) -> ndarray:
        """
        The elements in host USM, which NumPy sees in place; the array itself if they are there.
        """

    def to_device(self, device: DeviceLike, *, stream: Any = None) -> ndarray:
        """
        The elements on another device or queue; copied unless device and context stay the same.

        Parameters
        ----------
        device : str, Device, Queue, dpctl.SyclQueue or capsule
            Where to.
        stream : Queue, dpctl.SyclQueue or capsule, optional
            The queue of `device` on which the result is; None is `device` if that is a queue, and
            its default queue if not.

        Raises
        ------
        ValueError
            `stream` is a queue of another device.
        """

    def astype(self, dtype: DTypeLike, order: OrderLike = 'K', *, copy: bool = True) -> ndarray:
        """
        A copy with another element type, cast as NumPy's 'unsafe' casting does.

        Parameters
        ----------
        dtype
            The element type.
        order : {'K', 'C', 'F', 'A'}
            The order of the elements in memory.
        copy : bool
            False gives the array itself if the type is the same.
        """

    def copy(self, order: OrderLike = 'C', *, usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
        """A copy, of the same kind on the same queue unless others are given."""

    def __copy__(self) -> ndarray: ...

    def __deepcopy__(self, memo: object) -> ndarray: ...

    def item(self, *index: SupportsIndex | tuple[SupportsIndex, ...]) -> Any:
        """One element as a Python number: the only one, or the one at `index`."""

    def tolist(self) -> Any:
        """The elements as nested lists of numbers."""

    def tobytes(self) -> bytes:
        """The bytes of the elements in C order."""

    def __bool__(self) -> bool: ...

    def __int__(self) -> int: ...

    def __float__(self) -> float: ...

    def __complex__(self) -> complex: ...

    def __index__(self) -> int: ...

    def __round__(self, ndigits: int | None = None) -> Any: ...

    def __floor__(self) -> int: ...

    def __ceil__(self) -> int: ...

    def __trunc__(self) -> int: ...

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> NumpyArray: ...

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

    @property
    def __usm_ndarray__(self) -> Any: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """
        Since protocol 5 the elements are a buffer, which `buffer_callback` of pickle takes out of band.
        """

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **keywords: object) -> Any:
        """What NumPy's ufuncs do with the array: they compute on its device."""

    def __array_function__(self, *args: Any) -> Any:
        """
        What NumPy's functions do with the array: those of the same name in `usmx`.
        """

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The functions of the Array API standard: `usmx` itself."""

    def abs(self, *args: Any, **keywords: Any) -> ndarray: ...

    def all(self, *args: Any, **keywords: Any) -> ndarray: ...

    def any(self, *args: Any, **keywords: Any) -> ndarray: ...

    def argmax(self, *args: Any, **keywords: Any) -> ndarray: ...

    def argmin(self, *args: Any, **keywords: Any) -> ndarray: ...

    def argpartition(self, *args: Any, **keywords: Any) -> ndarray: ...

    def argsort(self, *args: Any, **keywords: Any) -> ndarray: ...

    def clip(self, *args: Any, **keywords: Any) -> ndarray: ...

    def conj(self, *args: Any, **keywords: Any) -> ndarray: ...

    def conjugate(self, *args: Any, **keywords: Any) -> ndarray: ...

    def cumprod(self, *args: Any, **keywords: Any) -> ndarray: ...

    def cumsum(self, *args: Any, **keywords: Any) -> ndarray: ...

    def diagonal(self, *args: Any, **keywords: Any) -> ndarray: ...

    def dot(self, *args: Any, **keywords: Any) -> ndarray: ...

    def max(self, *args: Any, **keywords: Any) -> ndarray: ...

    def mean(self, *args: Any, **keywords: Any) -> ndarray: ...

    def min(self, *args: Any, **keywords: Any) -> ndarray: ...

    def nonzero(self, *args: Any, **keywords: Any) -> Any: ...

    def prod(self, *args: Any, **keywords: Any) -> ndarray: ...

    def ptp(self, *args: Any, **keywords: Any) -> ndarray: ...

    def put(self, *args: Any, **keywords: Any) -> Any: ...

    def repeat(self, *args: Any, **keywords: Any) -> ndarray: ...

    def round(self, *args: Any, **keywords: Any) -> ndarray: ...

    def searchsorted(self, *args: Any, **keywords: Any) -> ndarray: ...

    def std(self, *args: Any, **keywords: Any) -> ndarray: ...

    def sum(self, *args: Any, **keywords: Any) -> ndarray: ...

    def take(self, *args: Any, **keywords: Any) -> ndarray: ...

    def var(self, *args: Any, **keywords: Any) -> ndarray: ...

    def fill(self, *args: Any, **keywords: Any) -> None: ...

    def partition(self, *args: Any, **keywords: Any) -> None: ...

    def sort(self, *args: Any, **keywords: Any) -> None: ...

    def trace(self, *args: Any, **keywords: Any) -> ndarray: ...

    @property
    def real(self) -> ndarray: ...
    @real.setter
    def real(self, values: ArrayOrNumber, /) -> None: ...

    @property
    def imag(self) -> ndarray: ...
    @imag.setter
    def imag(self, values: ArrayOrNumber, /) -> None: ...

    def __buffer__(self, flags: int, /) -> memoryview: ...

def broadcast_to(x: ArrayLike, shape: ShapeLike) -> ndarray:
    """
    A read-only view in which dimensions of length one are repeated by a stride of zero.
    """

def _rebuild_array(data: Buffer, shape: tuple[int, ...], dtype: DTypeLike, usm_type: str, device: str, readonly: bool, order: str, /) -> ndarray: ...

def asarray(obj: ArrayLike, *, dtype: DTypeLike = None, usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None, copy: bool | None = None, order: OrderLike | None = None) -> ndarray:
    """
    Anything as an array: without a copy if it is USM already, of any library.

    Parameters
    ----------
    obj : object
        An ndarray, an array of another library (`__sycl_usm_array_interface__`, DLPack,
        Arrow, `__cuda_array_interface__`), a buffer, a NumPy array, a number, or nested
        sequences of numbers. What is not USM is copied into it. Arrays in nested lists are
        joined where the first of them is.
    dtype : optional
        The element type; None keeps it.
    copy : bool, optional
        True copies always, None if needed. False never: memory of the host is then used in
        place by devices that read it, and `usm_type` is 'unknown'.
    order : {'K', 'C', 'F', 'A'}, optional
        The order of the elements in memory. None and 'K' keep it; another one may need a
        copy.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A copy is needed and ``copy=False``; sequences that are ragged.
    InteropError
        What `obj` says about its memory is not valid.
    TypeError
        `obj` holds no elements that a dtype describes.
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def from_numpy(obj: ArrayLike, *, usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    A copy of a NumPy array, or of any other buffer, in USM.

    Parameters
    ----------
    obj : numpy.ndarray or buffer
        Elements in host memory.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def empty(shape: ShapeLike, dtype: DTypeLike = None, *, order: Order = 'C', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    An array with uninitialised elements.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    dtype : optional
        The element type; None is float64 (float32 on devices without float64).
    order : {'C', 'F'}
        The order of the elements in memory.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def zeros(shape: ShapeLike, dtype: DTypeLike = None, *, order: Order = 'C', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    An array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    dtype : optional
        The element type; None is float64 (float32 on devices without float64).
    order : {'C', 'F'}
        The order of the elements in memory.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def ones(shape: ShapeLike, dtype: DTypeLike = None, *, order: Order = 'C', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    An array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    dtype : optional
        The element type; None is float64 (float32 on devices without float64).
    order : {'C', 'F'}
        The order of the elements in memory.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def empty_like(x: ArrayLike, dtype: DTypeLike = None, *, order: OrderLike = 'K', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    An array with uninitialised elements in the shape of another array.

    Parameters
    ----------
    x : ndarray or object
        Of any library; an array of the host gives shape and dtype.
    dtype : optional
        The element type; None is that of `x`.
    order : {'K', 'C', 'F', 'A'}
        The order of the elements in memory; 'K' is that of `x`.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def zeros_like(x: ArrayLike, dtype: DTypeLike = None, *, order: OrderLike = 'K', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    Zeros in the shape of another array.

    Parameters
    ----------
    x : ndarray or object
        Of any library; an array of the host gives shape and dtype.
    dtype : optional
        The element type; None is that of `x`.
    order : {'K', 'C', 'F', 'A'}
        The order of the elements in memory; 'K' is that of `x`.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def ones_like(x: ArrayLike, dtype: DTypeLike = None, *, order: OrderLike = 'K', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    Ones in the shape of another array.

    Parameters
    ----------
    x : ndarray or object
        Of any library; an array of the host gives shape and dtype.
    dtype : optional
        The element type; None is that of `x`.
    order : {'K', 'C', 'F', 'A'}
        The order of the elements in memory; 'K' is that of `x`.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def full(shape: ShapeLike, fill_value: ArrayLike, dtype: DTypeLike = None, *, order: Order = 'C', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    An array of one value, or of an array that is broadcast.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths.
    fill_value : number or array
        What the elements are set to.
    dtype : optional
        The element type; None is that of the value.
    order : {'C', 'F'}
        The order of the elements in memory.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    OverflowError
        The value does not fit into `dtype`.
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, *, order: OrderLike = 'K', usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    One value in the shape of another array.

    Parameters
    ----------
    x : ndarray or object
        Of any library; an array of the host gives shape and dtype.
    fill_value : number or array
        What the elements are set to.
    dtype : optional
        The element type; None is that of `x`.
    order : {'K', 'C', 'F', 'A'}
        The order of the elements in memory; 'K' is that of `x`.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    OverflowError
        The value does not fit into `dtype`.
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

def arange(start: float | SupportsIndex, stop: float | SupportsIndex | None = None, step: float | SupportsIndex = 1, dtype: DTypeLike = None, *, usm_type: UsmKind | None = None, device: DeviceLike = None, queue: QueueLike = None) -> ndarray:
    """
    Numbers from `start` up to but without `stop`, as range() counts.

    Parameters
    ----------
    start, stop, step : number
        A single number is `stop`.
    dtype : optional
        None is int64 for integers, otherwise float64.
    usm_type : {'device', 'shared', 'host'}, optional
        The kind of memory.
    device : str, Device or Queue, optional
        Where the array lives; its cached queue is taken.
    queue : Queue, str, dpctl.SyclQueue or capsule, optional
        The queue on which the array is computed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A step of zero, or numbers that are not finite.
    AllocationError
        There is not enough memory.
    DeviceError
        No device fits, or it lacks this kind of memory.
    """

usm_ndarray: TypeAlias = ndarray

def _imported(obj: object, host: bool = False) -> Any:
    """
    The array that another library's object describes, None if it describes none. Asks once.
    With `host`, memory of the host is one too, where the default device uses it.
    """

def _expected_protocols() -> str:
    """The objects that memory can be imported from, for messages."""

def from_dlpack(x: SupportsDLPack | CapsuleType, /, *, device: DeviceLike = None, copy: bool | None = None) -> ndarray:
    """
    An array of another library through DLPack, without a copy where the device can use its memory.

    Memory of the host is shared on devices whose kernels read it, as CPUs do: `usm_type` is then
    'unknown'. On other devices it is copied into USM.

    Parameters
    ----------
    x : object or capsule
        An object with `__dlpack__` and `__dlpack_device__`.
    device : str, Device or Queue, optional
        Where the array is used; by default where it is.
    copy : bool, optional
        True copies always, False never, None if needed.

    Returns
    -------
    ndarray

    Raises
    ------
    BufferError
        The memory is on a device that SYCL does not know here.
    InteropError
        What `x` says about its memory is not valid.
    ValueError
        A copy is needed and ``copy=False``; a capsule that was consumed.
    """

def _exchange_as(backend: str, waited: Any = None) -> None:
    """
    Treat all devices as those of a backend when memory is exchanged, and call `waited` instead of
    waiting for streams and events; "" ends it.
    """

def get_execution_queue(*arrays: Any) -> Queue | None:
    """
    The queue that a computation with these arrays runs on, as kernels choose it.

    That is the queue of the first array in USM. Memory of the host, such as a NumPy array,
    follows the others.

    Parameters
    ----------
    *arrays : array
        Of any library; one list or tuple of them is taken too.

    Returns
    -------
    Queue or None
        None without arrays.

    Raises
    ------
    ExecutionPlacementError
        No queue can use all of them: the message says where each is.
    TypeError
        One of them is not an array.
    """

def get_coerced_usm_type(*usm_types: Any) -> UsmKind | None:
    """
    The kind of memory for the result of a computation with operands of these kinds.

    'device' if one of them is, otherwise 'shared' if one is, otherwise 'host'.

    Parameters
    ----------
    *usm_types : str or array
        Kinds, or arrays of any library that have one; one list or tuple of them is
        taken too. Memory of the host without USM counts as 'host'.

    Returns
    -------
    str or None
        None without operands, and if one of the texts is not a kind.
    """

class KernelLimits:
    """
    What a kernel needs of a device as it was compiled for it, and what it allows there.

    A figure that the driver does not have is 0.
    """

    @property
    def max_work_group_size(self) -> int:
        """The most work-items that a work-group of this kernel may have."""

    @property
    def preferred_work_group_size_multiple(self) -> int:
        """Work-groups of a multiple of this many items use the device best."""

    @property
    def required_work_group_size(self) -> tuple[int, ...] | None:
        """
        An int for each dimension if the source demands a size, otherwise None.
        """

    @property
    def private_memory(self) -> int:
        """Bytes of private memory for each work-item; 0 if registers suffice."""

    @property
    def max_sub_group_size(self) -> int:
        """The most work-items that a sub-group may have."""

    @property
    def max_sub_groups(self) -> int:
        """The most sub-groups that a work-group may have."""

    @property
    def required_sub_group_size(self) -> int:
        """The size that the source demands, otherwise 0."""

    def __repr__(self) -> str: ...

class _Launch:
    """A kernel with its range, waiting for arguments."""

    def __call__(self, *args: KernelArgument, queue: QueueLike = None, depends_on: EventsLike = None) -> Event:
        """
        Submits the kernel and returns its Event: without waiting, unless memory of the host is
        among the arguments.

        Parameters
        ----------
        *args
            One for each parameter of the kernel. Pointers take usmx arrays and memory, any object with
            ``__sycl_usm_array_interface__`` or ``__dlpack__``, and on devices that read the host's memory,
            as CPUs do, NumPy arrays and other buffers; contiguous, of the declared element type; views,
            ``usmx::strided<T, N>`` and ``usmx::dense<T, N>``, take the same with N dimensions, the first with
            any strides. ``usmx::local_view<T, N>`` takes usmx.LocalMemory with N lengths, each size compiled
            for itself. A struct of the source takes a NumPy record, a ctypes.Structure or bytes. Scalars
            take Python and NumPy numbers, checked against the range of the declared
            type.
        queue : Queue, optional
            Where to run; any form that names a queue. By default the queue of the first array, without one
            the default queue.
        depends_on : Event or sequence of Event, optional
            What must have finished before. By default everything pending on the memory of the arguments;
            with an explicit value, ``()`` too, the order is the caller's.

        Raises
        ------
        TypeError
            Wrong number of arguments, a scalar for a pointer or the reverse, another element type.
        ValueError
            A scalar out of range, strided or read-only memory, memory of another context, a local range
            that does not fit.
        KeyError
            The source has no kernel of that name.
        BuildError
            The source does not compile.
        """

class RawKernel:
    """
    A kernel written in SYCL C++, compiled at run time.

    Without SYCL headers in the source, it sees the prelude of usmx, which needs no C++ compiler on the
    machine: ``USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }``. It is compiled at its first
    launch for a device, once in the process for equal source and options.

    Parameters
    ----------
    source : str
        The C++ text. It may contain several kernels.
    name : str
        Which of them; of a template with its arguments, ``"scale<float>"``.
    options : sequence of str, optional
        For the compiler, such as ``("-DN=8",)``.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy.

    Examples
    --------
    >>> k = RawKernel("USMX_KERNEL(1) f(float* x) { x[usmx::global_id()] += 1; }", "f")
    >>> k[x.size](x).wait()         # k[global](...); k[global, local](...); k[(64, 32), (8, 8)](...)
    """

    def __init__(self, source: str, name: str, options: Sequence[str] = (), *, contract: bool = False) -> None: ...

    @property
    def name(self) -> str:
        """Name of the kernel in its source."""

    @property
    def source(self) -> str:
        """The C++ text."""

    @property
    def options(self) -> tuple[str, ...]:
        """Options for the compiler."""

    def compile(self, queue: QueueLike = None) -> None:
        """
        Compiles now instead of at the first launch, for the device of `queue`.
        """

    def limits(self, queue: QueueLike = None, local: LocalMemory | Sequence[LocalMemory] = ()) -> KernelLimits:
        """
        Private memory, and limits of work-groups and sub-groups, on the device of `queue`.

        Compiles the kernel if that did not happen yet. For one with ``usmx::local_view``,
        `local` says their sizes: a LocalMemory or a sequence of them.

        Returns
        -------
        KernelLimits
        """

    def __getitem__(self, range: LaunchRange) -> _Launch:
        """
        Binds a range: [global] or [global, local], each an int or a tuple of up to three.

        Two ints are a global and a local range if the source declares USMX_KERNEL(1), a range
        of two dimensions otherwise; [n, (m,)] and [(n, m), None] say it themselves.
        """

    def __call__(self, *args: Never, **keywords: Never) -> Event:
        """Raises TypeError: a range is missing."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

    __iter__: None = None

    __contains__: None = None

class RawModule:
    """
    C++ source with several kernels, compiled at run time.

    Parameters
    ----------
    source : str
        The C++ text; see RawKernel.
    options : sequence of str, optional
        For the compiler.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once; see RawKernel.
    """

    def __init__(self, source: str, options: Sequence[str] = (), *, contract: bool = False) -> None: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name as a RawKernel; looked up at its first launch."""

    def names(self, queue: QueueLike = None) -> tuple[str, ...]:
        """
        Compiles for the device of `queue` and returns the names of all kernels.
        """

    @property
    def source(self) -> str:
        """The C++ text."""

    @property
    def options(self) -> tuple[str, ...]:
        """Options for the compiler."""

def _program_counts() -> tuple[int, int, int]:
    """
    How many programs were compiled in this process, found in memory and read from disk.
    """

class _TraceRecorder:
    def __init__(self, most: int, latest: bool) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    @property
    def on(self) -> bool: ...

    @property
    def started(self) -> int: ...

    @property
    def stopped(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    def records(self) -> list[tuple[object, ...]]: ...

    def blocks(self) -> list[tuple[object, ...]]: ...

def _find_places_outside(folder: str) -> None: ...

def _trace_now() -> int: ...

def _held_pools() -> list[tuple[object, ...]]: ...

def _trace_sink() -> int: ...

def _program_cache_settings() -> dict[str, Any]:
    """
    Where compiled programs are kept: enabled, folder, most (bytes), why the folder is not used.
    """

def _cached_programs() -> list[dict[str, Any]]:
    """
    The compiled programs on disk, what was used last first; times in seconds since 1970.
    """

def _cached_texts() -> dict[str, int]:
    """The C++ of Python kernels on disk: count of files, bytes."""

def _load_texts(key: bytes) -> list[bytes] | None:
    """What _store_texts kept under exactly this key, or None."""

def _store_texts(key: bytes, texts: Sequence[bytes]) -> None:
    """
    Keeps bytes on disk for other processes. What cannot be kept is made again.
    """

def program_memory() -> dict[str, int]:
    """
    The compiled programs in the memory of this process.

    Returns
    -------
    dict
        ``programs``: how many; ``bytes``: what their code takes, estimated from the sizes of their binaries; ``limit``: bytes.
    """

def set_program_memory(limit: int) -> int:
    """
    Limit the memory of compiled programs.

    Above the limit the code used longest ago leaves memory. Kernels stay usable: the next launch reads the code from disk, or compiles it.

    Parameters
    ----------
    limit : int
        Bytes; ``USMX_PROGRAM_MEMORY`` or 256 MiB until it is set.

    Returns
    -------
    int
        The limit before.
    """

def _clear_cached_programs() -> int:
    """
    Removes the compiled programs and the texts from the disk; how many programs.
    """

class _ConstantTable:
    """Where kernels have the values of a table from."""

    def __init__(self) -> None: ...

    def update(self, values: ArrayLike) -> None:
        """Replace them for all launches that follow."""

    @property
    def is_updated(self) -> bool:
        """Whether kernels are given the values, and not made for them."""

class _BoundKernel:
    """A Python kernel with its range."""

    def __call__(self, *args: KernelArgument, queue: QueueLike = None, depends_on: EventsLike = None) -> Event:
        """
        Submits the kernel and returns its Event: without waiting, unless memory of the host is
        among the arguments.
        """

class _KernelDispatcher:
    """What launches a kernel made from a Python function."""

    def __init__(self) -> None: ...

    __iter__: None = None

    __contains__: None = None

    def __getitem__(self, range: LaunchRange) -> _BoundKernel:
        """Binds a range: [global] or [global, local]."""

    @property
    def _always_ask(self) -> bool: ...

    @_always_ask.setter
    def _always_ask(self, arg: bool, /) -> None: ...

    @property
    def _count(self) -> int:
        """How many texts were made so far."""

class _LaunchRange:
    """A global and a local range."""

    @property
    def global_range(self) -> object: ...

    @property
    def local_range(self) -> object: ...

    def check_shape(self, kernel: str, argument: int, shape: tuple[int, ...]) -> None: ...

def _launch_range(key: object, rank: int) -> _LaunchRange:
    """What stands in the brackets of a launch."""

def _lie_apart(arguments: list[Any]) -> bool:
    """
    Whether there are several arrays, of which no two have a byte in common.
    """

def _refuse_keywords(kernel: str, keywords: dict[str, Any]) -> None:
    """The error of a launch with keywords."""

def _ask_for_simulation(on: bool) -> None:
    """From now on ask each kernel at its launch whether it is simulated."""

def _result_type(types: object, weak: Sequence[bool]) -> object:
    """
    The type that operands of these type strings meet in; weak ones are Python numbers.
    """

def _can_cast_same_kind(from_: str, to: str) -> bool:
    """Whether elements are cast without being asked to."""

class ElementwiseKernel:
    """
    A kernel made from one expression, computed for each element.

    ``k(*inputs)`` makes its outputs, ``k(*inputs, *outputs)`` and ``k(*inputs, out=...)`` compute into
    given ones; the result is an array, or a tuple of arrays for several outputs. Inputs broadcast, have
    any strides, and are arrays of any library with USM, NumPy arrays and other buffers where the device
    reads the host's memory, NumPy scalars or Python numbers, whose types meet as in NumPy. Outputs are
    allocated as device memory if an input is, otherwise shared, otherwise host memory. The call returns
    before the kernel has run, unless memory of the host is among its arguments; commands on the
    results' queue follow it.

    Parameters
    ----------
    in_params, out_params : str
        Types and names, ``"T x, raw float32 y"``. A single letter, or a word that begins with a capital
        one, is a placeholder: the type that all its operands meet in. A ``raw`` parameter is indexed by
        the expression: ``y[i + 1]``, ``y.size()``.
    operation : str
        C++ statements for one element. ``i`` is its number in C order, ``n`` how many there are, and a
        placeholder names its type. The functions of ``namespace usmx`` need no prefix.
    name : str, optional
        Shown in traces and messages.
    preamble : str, optional
        C++ before the kernel: functions, types, macros.
    options : sequence of str, optional
        For the compiler, such as ``("-DN=8",)``.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy.
    loop_prep, after_loop : str, optional
        Statements before and after `operation`.

    Keywords of a call
    ------------------
    out : array or tuple of arrays, optional
        Outputs to compute into; None in a tuple is one to be made. They may be inputs, and overlap them.
    size : int, optional
        The number of elements, needed if all parameters are raw.
    queue : Queue, optional
        Where to run; by default the queue of the first array.
    depends_on : Event or sequence of Event, optional
        What must have finished before. By default everything pending on the memory of the arguments.

    Raises
    ------
    TypeError
        A wrong number of arguments, an argument without memory for the device, a cast that would lose the class of a
        number.
    ValueError
        Parameters that cannot be read, shapes that do not fit, read-only or overlapping outputs,
        memory of another context.
    OverflowError
        A Python integer that does not fit into the type that it meets.
    BuildError
        The expression does not compile.

    Examples
    --------
    >>> muladd = ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "muladd")
    >>> muladd(arange(3, dtype="float32"), 2).to_numpy()
    array([1., 3., 5.], dtype=float32)
    """

    def __call__(self, *args: ArrayOrNumber, out: OutputLike = None, size: int | None = None, queue: QueueLike = None, depends_on: EventsLike = None) -> ndarray | Any:
        """Call self as a function."""

    def __init__(self, in_params: str, out_params: str, operation: str, name: str = 'kernel', *, preamble: str = '', options: Sequence[str] = (), loop_prep: str = '', after_loop: str = '', contract: bool = False) -> None: ...

    @property
    def operation(self) -> str:
        """The C++ statements."""

    @property
    def in_params(self) -> tuple[str, ...]:
        """The inputs as they were written."""

    @property
    def out_params(self) -> tuple[str, ...]:
        """The outputs as they were written."""

    @property
    def sources(self) -> list[str]:
        """
        The C++ texts that were compiled so far, one for each list of types and kind of layout.
        """

    @property
    def name(self) -> str:
        """As traces show it."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

class Operation:
    """
    A function of arrays, element by element; see `usmx.add` and the others.
    """

    def __call__(self, *args: ArrayOrNumber, out: ndarray | None = None, dtype: DTypeLike = None) -> ndarray:
        """Call self as a function."""

    def __init__(self, name: str) -> None: ...

    @property
    def nin(self) -> int:
        """How many operands it takes."""

    def __repr__(self) -> str: ...

def _explain(x: ndarray) -> list[tuple[str, tuple[int, ...], int, int, int, int]]:
    """The kernels that computing an array would run."""

def _is_eager() -> bool:
    """Whether operations are computed where they are written."""

def _set_eager(eager: bool) -> None:
    """See `usmx.eager`."""

def _reduce(x: ArrayOrNumber, value: DTypeLike, result: DTypeLike, *, map: str = 'x', reduce: str, post_map: str = 'a', identity: str | None = None, reduce_type: str = '', axes: tuple[int, ...] | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """
    A reduction by texts of C++, as `ReductionKernel` takes them, of elements that are cast to `value`
    and called `x`; what was put off is computed on the way.
    """

def _result_types(name: str, *operands: object) -> list[NumpyDType] | None:
    """
    The types that an operation casts operands of these types to, and that of the result.
    """

def _sum(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.sum`."""

def _prod(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.prod`."""

def _mean(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.mean`."""

def _min(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.min`."""

def _max(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.max`."""

def _any(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.any`."""

def _all(x: object, axis: object, keepdims: object) -> ndarray | None:
    """See `usmx.all`."""

def _few_sort(x: object, axis: object, descending: bool) -> ndarray | None:
    """See `usmx.sort`."""

def _few_argsort(x: object, axis: object, descending: bool) -> ndarray | None:
    """See `usmx.argsort`."""

def _few_search(sorted: object, values: object, right: bool) -> ndarray | None:
    """See `usmx.searchsorted`."""

def _few_scan(x: object, axis: object, product: bool) -> ndarray | None:
    """See `usmx.cumulative_sum` and `usmx.cumulative_prod`."""

def _few_take(x: object, indices: object, axis: object) -> ndarray | None:
    """See `usmx.take`."""

def _few_repeat(x: object, times: object, axis: object) -> ndarray | None:
    """See `usmx.repeat`."""

def _few_place(x: object, largest: bool) -> ndarray | None:
    """See `usmx.argmax` and `usmx.argmin`."""

def _few_count(x: object) -> ndarray | None:
    """See `usmx.count_nonzero`."""

def _few_variance(x: object, correction: float) -> ndarray | None:
    """See `usmx.var`."""

def _few_nonzero(x: object) -> tuple[ndarray, ...] | None:
    """See `usmx.nonzero`."""

def _few_unique(x: object, equal_nan: bool, index: bool, inverse: bool, counts: bool) -> tuple[ndarray, ndarray | None, ndarray | None, ndarray | None] | None:
    """
    See `usmx.unique`: values, indices, inverse indices in one dimension, counts.
    """

def _few_join(arrays: object, axis: object, is_new: bool) -> ndarray | None:
    """See `usmx.concat` and, for a new axis, `usmx.stack`."""

class _FusedCall:
    """What calls the kernels of a fused function."""

    def __call__(self, *args: Any, out: OutputLike = None, queue: QueueLike = None, depends_on: EventsLike = None, **keywords: Any) -> ndarray | Any:
        """Call self as a function."""

    def __init__(self) -> None: ...

    def _remember(self, args: tuple[Any, ...], kernel: object) -> None:
        """
        Calls with arguments of these types go to `kernel` from now on, as they are.
        """

def _no_memory_text(obj: object | None, or_else: str = '') -> str:
    """
    What is wrong with an argument that has no memory which kernels use, and what helps.
    """

def _shared_elements(first: object, second: object) -> str:
    """
    Whether two arguments are the "all" same elements, "some" may be, or "none" are.
    """

class ReductionKernel:
    """
    A kernel that makes one number of many along any axes.

    It is made from three expressions. The result is an array, or a tuple of arrays for several outputs,
    allocated as device memory if an input is, otherwise shared, otherwise host memory. The call returns
    before the kernel has run; commands on the results' queue follow it. Results are the same from run
    to run on a device, and sums of floating-point numbers are made of chunks, as NumPy's.

    Parameters
    ----------
    in_params, out_params : str
        Types and names, as those of an elementwise kernel: ``"T x, raw float32 y"``.
    map_expr : str
        C++ that makes the number to reduce from one element of each input. ``i`` is the number of the
        element among those that are reduced together, ``n`` how many those are.
    reduce_expr : str
        Joins ``a`` and ``b``; associative and commutative.
    post_map_expr : str
        Assigns the outputs from ``a``, the reduced number; ``i`` is the number of the result.
    identity : str, int, float, bool or None, optional
        The result for no elements at all. Without one they are an error.
    name : str, optional
        Shown in traces and messages.
    reduce_type : str, optional
        What ``a`` and ``b`` are: a placeholder, ``"float64"``, a type of C++ or a structure of the
        preamble of at most 32 bytes. By default the type of the first output.
    preamble : str, optional
        C++ before the kernel: functions, types, macros. Placeholders are types in it.
    options : sequence of str, optional
        For the compiler, such as ``("-DN=8",)``.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy.

    Raises
    ------
    ValueError
        Parameters that cannot be read, an empty expression.

    Examples
    --------
    >>> l2norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    >>> l2norm(asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1).to_numpy()
    array([ 5., 10.])
    """

    def __init__(self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: str | complex | None = None, name: str = 'kernel', *, reduce_type: str | None = None, preamble: str = '', options: Sequence[str] = (), contract: bool = False) -> None: ...

    def __call__(self, *args: ArrayOrNumber, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, keepdims: bool = False, out: OutputLike = None, queue: QueueLike = None, depends_on: EventsLike = None) -> ndarray | Any:
        """
        Reduces without waiting, unless memory of the host is among the arguments.

        Parameters
        ----------
        *args
            The inputs, which broadcast, have any strides, and are arrays of any library with USM, NumPy
            arrays and other buffers where the device reads the host's memory, or numbers; behind them the outputs, if they are given.
        axis : int or tuple of int, optional
            What is reduced; by default all axes. Negative ones count from the end.
        keepdims : bool, optional
            Whether the results keep those axes with length one.
        out : array or tuple of arrays, optional
            Outputs to reduce into. They may share memory with the inputs.
        queue : Queue, optional
            Where to run; by default the queue of the first array.
        depends_on : Event or sequence of Event, optional
            What must have finished before. By default everything pending on the memory of the arguments.

        Returns
        -------
        ndarray or tuple of ndarray

        Raises
        ------
        TypeError
            A wrong number of arguments, an argument without memory for the device, a cast that would lose the class of a
            number.
        ValueError
            An axis out of range or named twice, shapes that do not fit, nothing to reduce and no identity,
            read-only or overlapping outputs, memory of another context.
        OverflowError
            A Python integer that does not fit into the type that it meets.
        BuildError
            The expressions do not compile.
        """

    @property
    def reduce_expr(self) -> str:
        """How two numbers are joined."""

    @property
    def post_map_expr(self) -> str:
        """What is stored."""

    @property
    def map_expr(self) -> str:
        """What becomes of each element."""

    @property
    def sources(self) -> list[str]:
        """The C++ texts that were compiled so far."""

    @property
    def name(self) -> str:
        """As traces show it."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

class ScanKernel:
    """
    A kernel that scans along one axis: cumulative sums and the like.

    Each result is what the elements up to its own are joined to, in their order. The result is an array,
    or a tuple of arrays for several outputs, allocated as device memory if an input is, otherwise
    shared, otherwise host memory. The call returns before the kernel has run; commands on the results'
    queue follow it. Results are the same from run to run on a device.

    Parameters
    ----------
    in_params, out_params : str
        Types and names, as those of an elementwise kernel: ``"T x, raw float32 y"``.
    map_expr : str
        C++ that makes the number to join from one element of each input. ``i`` is the number of the
        element along the axis, ``n`` how many there are.
    scan_expr : str
        Joins ``a``, what came before, and ``b``; associative.
    post_map_expr : str, optional
        Assigns the outputs from ``a``, what was joined up to element ``i``. By default an only output
        is ``a``.
    identity : str, int, float, bool or None, optional
        What stands before the first element of an exclusive scan; others need none.
    name : str, optional
        Shown in traces and messages.
    exclusive : bool, optional
        Whether each result is of the elements before its own, not of its own too.
    scan_type : str, optional
        What ``a`` and ``b`` are: a placeholder, ``"float64"``, a type of C++ or a structure of the
        preamble of at most 32 bytes. By default the type of the first output.
    preamble : str, optional
        C++ before the kernel: functions, types, macros. Placeholders are types in it.
    options : sequence of str, optional
        For the compiler, such as ``("-DN=8",)``.
    contract : bool, optional
        Whether ``a * b + c`` may be rounded once, which is faster. By default each operation is
        rounded by itself, as in NumPy.

    Raises
    ------
    ValueError
        Parameters that cannot be read, an empty expression, an exclusive scan without an identity.

    Examples
    --------
    >>> running = ScanKernel("T x", "T y", "x", "a + b")
    >>> running(asarray([1, 2, 3, 4])).to_numpy()
    array([ 1,  3,  6, 10])
    """

    def __init__(self, in_params: str, out_params: str, map_expr: str, scan_expr: str, post_map_expr: str | None = None, identity: str | complex | None = None, name: str = 'kernel', *, exclusive: bool = False, scan_type: str | None = None, preamble: str = '', options: Sequence[str] = (), contract: bool = False) -> None: ...

    def __call__(self, *args: ArrayOrNumber, axis: SupportsIndex | None = None, out: OutputLike = None, queue: QueueLike = None, depends_on: EventsLike = None) -> ndarray | Any:
        """
        Scans without waiting, unless memory of the host is among the arguments.

        Parameters
        ----------
        *args
            The inputs, which broadcast, have any strides, and are arrays of any library with USM, NumPy
            arrays and other buffers where the device reads the host's memory, or numbers; behind them the outputs, if they are given.
        axis : int, optional
            Along which to scan; an input of one dimension needs none. Negative ones count from the end.
        out : array or tuple of arrays, optional
            Outputs to scan into. They may share memory with the inputs.
        queue : Queue, optional
            Where to run; by default the queue of the first array.
        depends_on : Event or sequence of Event, optional
            What must have finished before. By default everything pending on the memory of the arguments.

        Returns
        -------
        ndarray or tuple of ndarray

        Raises
        ------
        TypeError
            A wrong number of arguments, an argument without memory for the device, a cast that would lose the class of a
            number.
        ValueError
            No axis where one is needed, an axis out of range, shapes that do not fit, read-only or
            overlapping outputs, memory of another context.
        OverflowError
            A Python integer that does not fit into the type that it meets.
        BuildError
            The expressions do not compile.
        """

    @property
    def scan_expr(self) -> str:
        """How what came before and the next are joined."""

    @property
    def exclusive(self) -> bool:
        """Whether each result leaves its own element out."""

    @property
    def map_expr(self) -> str:
        """What becomes of each element."""

    @property
    def sources(self) -> list[str]:
        """The C++ texts that were compiled so far."""

    @property
    def name(self) -> str:
        """As traces show it."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __copy__(self) -> Self: ...

    def __deepcopy__(self, memo: object) -> Self: ...

def _onemkl_load(path: object) -> str:
    """Loads the adapter; why it could not, or an empty string."""

def _onemkl_multiply(x1: object, x1_turned: bool, x1_step: int, x2: object, x2_turned: bool, x2_step: int, made: object) -> None: ...

def _onemkl_eigh(x: object, values: object, vectors: bool) -> None: ...

def _onemkl_svd(x: object, values: object, u: object | None, vh: object | None, full: bool) -> None: ...

def _onemkl_transform(x: object, made: object, inverse: bool, scale: float) -> None: ...

def copy(dst: CopySide, src: CopySide, *, queue: QueueLike = None, depends_on: EventsLike = (), progress: bool | Callable[[int, int], object] = False) -> None:
    """
    Copy `src` into `dst`, element by element, and wait.

    Parameters
    ----------
    dst, src : array, memory, buffer
        USM of any library (anything with `__sycl_usm_array_interface__`), or anything with a
        buffer, such as NumPy's arrays, of any strides; one of each or two of a kind. The shapes
        must be equal; elements are cast as by NumPy's ``casting="unsafe"``. Memory objects,
        bytes and bytearray have no element type: they hold the other side's elements in C order.
    queue : Queue, optional
        Where the commands go, in any form that names a queue. Default: that of `dst` or, for
        memory of the host, of the other side.
    depends_on : Event or sequence of Event, optional
        What must have finished before, of usmx or dpctl; in addition to all commands pending
        on the memory as far as usmx knows.
    progress : bool or callable, optional
        True shows a bar of tqdm, which must be installed; a callable is called with the bytes
        done and the bytes in all after each part.

    Raises
    ------
    TypeError
        A side is neither USM nor a buffer.
    ValueError
        The shapes differ, `dst` is read-only, or the queue reaches neither side.
    ModuleNotFoundError
        ``progress=True`` without tqdm.
    """

def copy_async(dst: CopySide, src: CopySide, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event:
    """
    Submit a copy of `src` into `dst` and return its Event; see `copy`.

    Both sides are kept until the copy has ended, even if they are dropped; buffers stay
    exported. Do not change memory of the host before that. Commands that are submitted to the
    queue of `dst` later, and every use of the USM through usmx, come after the copy.

    Steps that only the host can do after the device are done before this returns: scattering
    to strided memory of the host, and the way from one context to another. Few bytes within
    reach of the host, on which nothing is pending, are copied at once.

    Parameters
    ----------
    dst, src : array, memory, buffer
        As for `copy`.
    queue : Queue, optional
        Where the commands go, in any form that names a queue. Default: that of `dst` or, for
        memory of the host, of the other side.
    depends_on : Event or sequence of Event, optional
        What must have finished before, of usmx or dpctl; in addition to all commands pending
        on the memory as far as usmx knows.

    Returns
    -------
    Event
        ``event.wait()`` or ``await event`` raises if the copy failed.
    """

def copy_2d(dst: CopySide, dst_pitch: int, src: CopySide, src_pitch: int, width: int, height: int, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> None:
    """
    Copy `height` rows of `width` bytes, `dst_pitch` and `src_pitch` bytes from one row's
    beginning to the next's, and wait. Both sides are seen as bytes from their lowest on.

    Raises
    ------
    ValueError
        The rows leave a side, or a pitch is smaller than the width.
    """

def copy_2d_async(dst: CopySide, dst_pitch: int, src: CopySide, src_pitch: int, width: int, height: int, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event:
    """Submit what `copy_2d` does and return its Event."""

def fill(dst: SupportsUSM, value: Number, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> None:
    """
    Set every element of USM to a number, and wait. The number must fit the element type.

    Raises
    ------
    NotUSMError
        `dst` has no USM.
    OverflowError, TypeError
        The number does not fit the element type.
    ValueError
        `dst` is read-only.
    """

def fill_async(dst: SupportsUSM, value: Number, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event:
    """Submit what `fill` does and return its Event."""

def memset(dst: SupportsUSM, value: SupportsIndex, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> None:
    """
    Set every byte of the elements of USM to `value`, 0 to 255, and wait.

    Raises
    ------
    NotUSMError
        `dst` has no USM.
    ValueError
        The value is not a byte, or `dst` is read-only.
    """

def memset_async(dst: SupportsUSM, value: SupportsIndex, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event:
    """Submit what `memset` does and return its Event."""

def prefetch(obj: SupportsUSM, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> None:
    """
    Move shared memory to the device of `queue` before it is needed there, and wait. Memory of
    other kinds stays where it is.
    """

def prefetch_async(obj: SupportsUSM, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event:
    """Submit what `prefetch` does and return its Event."""

def mem_advise(obj: SupportsUSM, advice: int, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> None:
    """
    Tell the driver how memory will be used, and wait. The meaning of `advice` depends on the
    backend (the numbers of CUDA or Level Zero); 0 takes it back. Other drivers do nothing.
    """

def mem_advise_async(obj: SupportsUSM, advice: int, *, queue: QueueLike = None, depends_on: EventsLike = ()) -> Event:
    """Submit what `mem_advise` does and return its Event."""

def _set_staging(limits: tuple[int, int, int] | None) -> None: ...

_api: object

__version__: str

def _use_forms_of(backend: str) -> None:
    """Write and cut kernels as for the devices of a backend; "" ends it."""

def _keep_compiled_texts(keep: bool) -> None:
    """Start to keep what is compiled, or stop and forget it."""

def _kept_compiled_texts() -> list[tuple[str, list[str]]]:
    """The texts that were compiled and their options."""

def _signature_of(function: object) -> object:
    """The inspect.Signature of a function of this module."""
