"""Bytes and times as people read them."""

# SPDX-License-Identifier: Apache-2.0


def amount(count: int) -> str:
    """``1536`` -> "1.5 KiB"."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def duration(nanoseconds: int) -> str:
    """``1500`` -> "1.5 us"."""
    value = float(nanoseconds)
    for unit in ("ns", "us", "ms", "s"):
        if value < 1000 or unit == "s":
            break
        value /= 1000
    return f"{nanoseconds} ns" if unit == "ns" else f"{value:.1f} {unit}"
