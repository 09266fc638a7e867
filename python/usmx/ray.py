"""Actors of Ray on one machine hand arrays to each other without a copy.

After `register`, an actor's method with ``@ray.method(tensor_transport="usmx")`` returns arrays
that stay where they are: the actor that takes the reference opens their memory by `usmx.ipc`.
Actors on other machines, and devices whose memory is opened by no other process, get a copy
through Ray's store.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _explained, _usmx, ipc

if TYPE_CHECKING:
    from collections.abc import Sequence

    ray: Any = None

    @dataclass
    class _CommunicatorMetadata:
        """Ray's class, which type checkers know only where Ray is installed."""

    @dataclass
    class _TensorTransportMetadata:
        """The same for what is known of arrays."""

        tensor_meta: list[Any]
        tensor_device: str | None = None

    class _TensorTransportManager:
        """The same for ways between actors."""

    def _register(
        name: str, devices: list[str], manager: type[Any], data_type: type[Any]
    ) -> None: ...

    _registered: dict[str, Any] = {}
else:
    try:
        import ray
        from ray.experimental import register_tensor_transport as _register
        from ray.experimental.rdt.tensor_transport_manager import (
            CommunicatorMetadata as _CommunicatorMetadata,
        )
        from ray.experimental.rdt.tensor_transport_manager import (
            TensorTransportManager as _TensorTransportManager,
        )
        from ray.experimental.rdt.tensor_transport_manager import (
            TensorTransportMetadata as _TensorTransportMetadata,
        )
        from ray.experimental.rdt.util import transport_manager_info as _registered
    except ImportError as _error:
        raise ImportError(
            "usmx.ray: Ray with tensor transports is not installed; install it with: "
            "pip install 'ray>=2.55'"
        ) from _error

__all__ = ["Communicator", "Metadata", "Transport", "register", "wait"]

#: What Ray calls the transport.
NAME = "USMX"
#: What Ray calls the place of the elements: one for all devices, because the way is chosen here.
_PLACE = "usm"


def register() -> None:
    """Let actors that are made from now on use ``tensor_transport="usmx"``.

    Call it in the process that makes the actors, before their classes are defined; a second call
    does nothing.

    Examples
    --------
    >>> import usmx.ray
    >>> usmx.ray.register()
    """
    if NAME not in _registered:
        _register(NAME, [_PLACE], Transport, _usmx.ndarray)


def wait(reference: Any, timeout: float = 60.0) -> Any:
    """Wait until a result of the transport may be passed on to another actor.

    Parameters
    ----------
    reference : ray.ObjectRef
        What a method with ``tensor_transport="usmx"`` gave.
    timeout : float
        Seconds.

    Returns
    -------
    ray.ObjectRef
        The same reference.

    Raises
    ------
    TimeoutError
        If it is not there in time.
    """
    # ray.wait returns before this is known: docs/upstream/ray.md.
    found, _ = ray.wait([reference], timeout=timeout)
    manager = ray._private.worker.global_worker.rdt_manager
    known = found and manager.wait_for_tensor_transport_metadata(reference.hex(), timeout)
    if not known:
        raise TimeoutError(f"reference: the result is not there after {timeout:g} s")
    return reference


def _machine() -> str:
    """The same in all processes whose memory this one can open."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')} {os.getuid()}"


@dataclass
class Metadata(_TensorTransportMetadata):
    """What a receiver needs to know of the arrays of one result.

    Attributes
    ----------
    tensor_meta : list of tuple
        Shape and type of each array.
    tensor_device : str
        Ray's name of the place of the elements.
    handles : list of Handle, optional
        One for each array; None if their memory is opened by no other process.
    machine : str
        Where they can be opened.
    """

    handles: list[ipc.Handle] | None = None
    machine: str = ""


@dataclass
class Communicator(_CommunicatorMetadata):
    """Which actor a receiver asks for a copy, where it cannot open the memory.

    Attributes
    ----------
    source : ray.actor.ActorHandle, optional
        The actor that has the arrays; None for the process that made the actors.
    """

    source: Any = None


def _copies(_self: Any, obj_id: str) -> list[_usmx.ndarray]:
    """Runs in the actor that has the arrays: Ray's store takes their pickles."""
    from ray.experimental.rdt.util import get_tensor_transport_manager

    manager: Any = get_tensor_transport_manager(NAME)
    return list(manager.kept[obj_id])


class Transport(_TensorTransportManager):
    """What Ray calls when a result with arrays goes from one actor to another.

    Attributes
    ----------
    kept : dict
        The arrays of each result that Ray may still ask for, by its number.
    """

    def __init__(self) -> None:
        self.kept: dict[str, list[_usmx.ndarray]] = {}

    @property
    def tensor_transport_backend(self) -> str:
        """``"USMX"``."""
        return NAME

    @staticmethod
    def is_one_sided() -> bool:
        """Whether receivers open memory by themselves: always.

        Returns
        -------
        bool
        """
        return True

    @staticmethod
    def can_abort_transport() -> bool:
        """Whether a transfer can be given up: always, because nothing is on its way.

        Returns
        -------
        bool
        """
        return True

    def actor_has_tensor_transport(self, actor: Any) -> bool:
        """Whether the actor can receive: each can, at worst a copy.

        Parameters
        ----------
        actor : ray.actor.ActorHandle
            Any.

        Returns
        -------
        bool
        """
        del actor
        return True

    def extract_tensor_transport_metadata(
        self, obj_id: str, rdt_object: Sequence[_usmx.ndarray]
    ) -> Metadata:
        """Keep the arrays of a result, and make handles of their memory.

        Parameters
        ----------
        obj_id : str
            Ray's number of the result.
        rdt_object : sequence of ndarray
            Arrays that `usmx.ipc` cannot share as they are, are copied once, for all receivers.

        Returns
        -------
        Metadata
            Travels to the receivers.
        """
        arrays = self.kept.get(obj_id)
        if arrays is None:
            arrays = self.kept[obj_id] = [_shareable(x) for x in rdt_object]
        made = Metadata(
            tensor_meta=[(tuple(x.shape), x.dtype) for x in arrays], tensor_device=_PLACE
        )
        try:
            made.handles = [ipc.Handle(x) for x in arrays]
        except ValueError:
            made.handles = None
        made.machine = _machine()
        return made

    def get_communicator_metadata(
        self, src_actor: Any, dst_actor: Any, backend: str | None = None
    ) -> Communicator:
        """Name the sender.

        Parameters
        ----------
        src_actor : ray.actor.ActorHandle
            The sender.
        dst_actor : ray.actor.ActorHandle
            Without effect.
        backend : str, optional
            Without effect.

        Returns
        -------
        Communicator
        """
        del dst_actor, backend
        return Communicator(src_actor)

    def recv_multiple_tensors(
        self,
        obj_id: str,
        tensor_transport_metadata: Metadata,
        communicator_metadata: Communicator,
        target_buffers: Sequence[_usmx.ndarray] | None = None,
    ) -> list[_usmx.ndarray]:
        """Give the arrays of a result in this process.

        Parameters
        ----------
        obj_id : str
            Ray's number of the result.
        tensor_transport_metadata : Metadata
            What the sender made.
        communicator_metadata : Communicator
            Who is asked where the memory cannot be opened.
        target_buffers : sequence of ndarray, optional
            Arrays of the same shapes, into which the elements are copied.

        Returns
        -------
        list of ndarray
            Over the sender's memory on the same machine; what one writes, the other sees.

        Raises
        ------
        usmx.ipc.GoneError
            If the sender ended before.
        """
        of = tensor_transport_metadata
        if of.handles is not None and of.machine == _machine():
            arrays = [handle.open() for handle in of.handles]
        else:
            asked = communicator_metadata.source.__ray_call__.options(
                concurrency_group="_ray_system"
            )
            arrays = ray.get(asked.remote(_copies, obj_id))
        if target_buffers:
            for to, x in zip(target_buffers, arrays, strict=True):
                to[...] = x
                to.wait()
            return list(target_buffers)
        return arrays

    def send_multiple_tensors(
        self,
        tensors: Sequence[_usmx.ndarray],
        tensor_transport_metadata: Metadata,
        communicator_metadata: _CommunicatorMetadata,
    ) -> None:
        """Refuse: receivers fetch, so Ray does not call it.

        Parameters
        ----------
        tensors, tensor_transport_metadata, communicator_metadata : object
            As Ray has them.

        Raises
        ------
        NotImplementedError
            Always.
        """
        del tensors, tensor_transport_metadata, communicator_metadata
        raise NotImplementedError("usmx.ray: receivers open the memory; nothing is sent")

    def garbage_collect(
        self,
        obj_id: str,
        tensor_transport_meta: Metadata,
        tensors: Sequence[_usmx.ndarray],
    ) -> None:
        """Let go of the arrays of a result to which no reference is left.

        Receivers that have opened the memory keep it by themselves.

        Parameters
        ----------
        obj_id : str
            Ray's number of the result.
        tensor_transport_meta : Metadata
            What the sender made.
        tensors : sequence of ndarray
            The arrays.
        """
        del tensor_transport_meta, tensors
        self.kept.pop(obj_id, None)

    def abort_transport(self, obj_id: str, communicator_metadata: _CommunicatorMetadata) -> None:
        """Let go of the arrays of a result whose transfer failed.

        Parameters
        ----------
        obj_id : str
            Ray's number of the result.
        communicator_metadata : Communicator
            Who was asked.
        """
        del communicator_metadata
        self.kept.pop(obj_id, None)


def _shareable(x: _usmx.ndarray) -> _usmx.ndarray:
    """The array where other processes open its memory: itself, a copy, or itself if none can."""
    if x.size == 0:
        return x
    try:
        return ipc.share(x)
    except NotImplementedError:
        return x


_explained.explain(globals())
