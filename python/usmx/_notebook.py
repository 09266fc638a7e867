"""What notebooks show of arrays, memory, its resources and devices: HTML, with names escaped."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ._tracing.units import amount

if TYPE_CHECKING:
    from ._usmx import Device, ndarray
    from .memory import MemoryResource

__all__ = ["array", "device", "memory", "resource"]


def _facts(title: str, facts: dict[str, object]) -> str:
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def array(a: ndarray) -> str:
    """Values as far as ``str`` shows them, which copies no more than that, and where they are."""
    facts = {
        "shape": tuple(a.shape),
        "dtype": a.dtype,
        "bytes": f"{a.nbytes:,} of {a.usm_type} USM",
        "device": a.device.filter_string or a.device.name,
    }
    return f"<div><pre>{escape(str(a))}</pre>{_facts('usmx.ndarray', facts)}</div>"


def memory(m: Any) -> str:
    """How much memory of which kind is where; its bytes stay there."""
    title = f"usmx.memory.{type(m).__name__}"
    if m.freed:
        return _facts(title, {"bytes": "freed"})
    facts: dict[str, object] = {
        "bytes": f"{m.nbytes:,} of {m.get_usm_type()} USM",
        "device": m.device.filter_string or m.device.name,
    }
    if m.readonly:
        facts["access"] = "read-only"
    return _facts(title, facts)


#: Figures of a resource that are bytes.
_BYTES = {"bytes", "peak_bytes", "total_bytes", "used", "held", "peak", "most"}


def resource(r: MemoryResource) -> str:
    """The figures of a memory resource and of each one below it."""
    rows = []
    below: MemoryResource | None = r
    while below is not None:
        stats = below.stats() if hasattr(below, "stats") else {}
        figures = ", ".join(
            f"{name.replace('_', ' ')} {amount(value) if name in _BYTES else format(value, ',')}"
            for name, value in stats.items()
        )
        cells = (type(below).__name__, figures)
        rows.append(
            "<tr>"
            + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in cells)
            + "</tr>"
        )
        below = below.upstream
    place = r.device.filter_string or r.device.name
    return (
        f"<table><caption>{escape(f'{r.kind} USM on {place}')}</caption>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def device(d: Device) -> str:
    """The few properties that decide what runs where."""
    free = d.free_memory
    memory_text = amount(d.global_mem_size)
    if free is not None:
        memory_text += f", {amount(free)} free"
    return _facts(
        "usmx.Device",
        {
            "filter string": d.filter_string or "sub-device",
            "name": d.name,
            "driver": d.driver_version,
            "compute units": d.max_compute_units,
            "memory": memory_text,
            "USM": " ".join(d.usm_kinds) or "none",
            "floats": " ".join(
                ["fp32", *(name for name in ("fp16", "fp64") if d.has_aspect(name))]
            ),
        },
    )
