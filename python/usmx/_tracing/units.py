"""Bytes and times as people read them."""

# SPDX-License-Identifier: Apache-2.0


def amount(count: int | None) -> str:
    """``1536`` -> "1.5 KiB"; None -> "-"."""
    return "-" if count is None else _shown(count, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def duration(nanoseconds: int) -> str:
    """``1500`` -> "1.5 us"."""
    return _shown(nanoseconds, 1000, ("ns", "us", "ms", "s"))


def _shown(count: int, step: int, units: tuple[str, ...]) -> str:
    value = float(count)
    for unit in units:
        if value < step or unit == units[-1]:
            break
        value /= step
    return f"{count} {unit}" if unit == units[0] else f"{value:.1f} {unit}"
