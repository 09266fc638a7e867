"""Draws the terrain: tints by height, shaded by the light, rivers, contours, scale and heights."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize

INK = "#2b2723"
WATER = "#2f6f9f"
PAPER = "#fbf9f4"
# From valley green over straw and ochre to the pale grey of high ground.
TINTS = LinearSegmentedColormap.from_list(
    "tints",
    [
        "#7fae8b",
        "#9dc08f",
        "#c3d29a",
        "#e6dfa8",
        "#e4c98a",
        "#d0a56b",
        "#b98a63",
        "#b9a392",
        "#e9e4de",
    ],
)


@dataclass
class Relief:
    """Everything that is drawn; all grids have the shape of the elevation."""

    name: str
    elevation: Any
    dx: float
    dy: float
    extent: tuple[float, float, float, float] | None
    lowest: int
    bin_width: int
    histogram: Any
    slope: Any
    shade: Any
    sky: Any
    receiver: Any
    area: Any


def _light(relief: Relief) -> Any:
    """Light and open sky as one factor around 1."""
    level = relief.shade / np.median(relief.shade)
    hollow = relief.sky / np.median(relief.sky)
    return np.clip(0.12 + 0.88 * level, 0.2, 1.45) * np.clip(hollow, 0.4, 1.15) ** 0.9


def _shaded(relief: Relief, norm: Normalize) -> Any:
    colour = TINTS(norm(relief.elevation))[..., :3]
    light = _light(relief)[..., None]
    # Shadows keep a little blue of the sky, light sides a little yellow of the sun.
    dark = colour * light * np.where(light < 1, [0.93, 0.97, 1.06], [1.0, 1.0, 1.0])
    bright = 1 - (1 - colour) * np.clip(2 - light, 0.45, 1) * [0.97, 0.99, 1.03]
    return np.clip(np.where(light < 1, dark, bright), 0, 1)


def _rivers(relief: Relief) -> LineCollection:
    columns = relief.elevation.shape[1]
    area, receiver = relief.area.reshape(-1), relief.receiver.reshape(-1)
    cells = np.flatnonzero((area >= 350) & (receiver != np.arange(area.size)))
    ends = receiver[cells]
    points = np.stack(
        [
            np.stack([cells % columns, cells // columns], axis=1),
            np.stack([ends % columns, ends // columns], axis=1),
        ],
        axis=1,
    ).astype(float)
    # Smooth the steps of the grid: each end moves half-way to the next cell downstream.
    after = receiver[ends]
    points[:, 1] = 0.5 * (points[:, 1] + np.stack([after % columns, after // columns], axis=1))
    points[:, 0] = 0.5 * (points[:, 0] + np.stack([ends % columns, ends // columns], axis=1))
    width = 0.35 + 0.22 * np.log2(area[cells] / 350)
    return LineCollection(
        list(points), linewidths=list(width), colors=WATER, alpha=0.9, capstyle="round", zorder=3
    )


def _contours(axes: Any, relief: Relief) -> None:
    low, high = float(relief.elevation.min()), float(relief.elevation.max())
    step = next(s for s in (5, 10, 20, 25, 50, 100, 200, 500, 1000) if (high - low) / s < 18)
    levels = np.arange(np.ceil(low / step) * step, high, step)
    z = relief.elevation.astype(np.float32)
    kernel = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16  # contours of whole metres would be jagged
    for axis in (0, 1):
        z = np.apply_along_axis(
            lambda line: np.convolve(np.pad(line, 2, mode="edge"), kernel, mode="valid"), axis, z
        )
    axes.contour(z, levels=levels, colors=INK, linewidths=0.25, alpha=0.35, zorder=2)
    major = axes.contour(
        z, levels=levels[levels % (4 * step) == 0], colors=INK, linewidths=0.55, alpha=0.6, zorder=2
    )
    for label in axes.clabel(major, fmt="%d", fontsize=6.5, colors=INK):
        label.set_path_effects([patheffects.withStroke(linewidth=1.6, foreground=PAPER, alpha=0.7)])


def _scale(axes: Any, relief: Relief) -> None:
    rows, columns = relief.elevation.shape
    metres = columns * relief.dx
    length = next(
        n for n in (50e3, 20e3, 10e3, 5e3, 2e3, 1e3, 500, 200, 100, 50, 1) if n < metres / 4
    )
    right, y = columns * 0.95, rows * 0.962
    part = length / relief.dx / 4
    left = right - 4 * part
    axes.add_patch(
        plt.Rectangle(
            (left - columns * 0.025, y - rows * 0.05),
            4 * part + columns * 0.055,
            rows * 0.072,
            facecolor=PAPER,
            alpha=0.82,
            linewidth=0,
            zorder=5,
        )
    )
    for k in range(4):
        axes.add_patch(
            plt.Rectangle(
                (left + k * part, y - rows * 0.006),
                part,
                rows * 0.009,
                facecolor=INK if k % 2 == 0 else PAPER,
                edgecolor=INK,
                linewidth=0.6,
                zorder=6,
            )
        )
    unit, shown = ("km", length / 1000) if length >= 1000 else ("m", length)
    for k, text in ((0, "0"), (2, f"{shown / 2:g}"), (4, f"{shown:g} {unit}")):
        axes.text(left + k * part, y - rows * 0.014, text, ha="center", va="bottom", fontsize=7.5,
                  color=INK, zorder=6)  # fmt: skip


def _north(axes: Any) -> None:
    halo = [patheffects.withStroke(linewidth=2.5, foreground=PAPER, alpha=0.85)]
    axes.annotate(
        "N",
        xy=(0.965, 0.975),
        xytext=(0.965, 0.915),
        xycoords="axes fraction",
        ha="center",
        va="center",
        fontsize=11,
        family="serif",
        color=INK,
        arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.1, "path_effects": halo},
        path_effects=halo,
        zorder=6,
    )


def _degrees(axes: Any, relief: Relief) -> None:
    """Ticks at round degrees, or at kilometres where the model does not say where it lies."""
    rows, columns = relief.elevation.shape
    if relief.extent is None:
        spans = ((0, columns * relief.dx / 1000), (0, rows * relief.dy / 1000))
        texts = (lambda v: f"{v:g} km", lambda v: f"{v:g} km")
        positions = (
            lambda v: v * 1000 / relief.dx - 0.5,
            lambda v: v * 1000 / relief.dy - 0.5,
        )
    else:
        west, east, south, north = relief.extent
        spans = ((west, east), (south, north))
        texts = (
            lambda v: f"{abs(v):.2f}° {'W' if v < 0 else 'E'}",
            lambda v: f"{abs(v):.2f}° {'S' if v < 0 else 'N'}",
        )
        positions = (
            lambda v: (v - west) / (east - west) * columns - 0.5,
            lambda v: (north - v) / (north - south) * rows - 0.5,
        )
    for axis, span, text, position in zip(
        (axes.xaxis, axes.yaxis), spans, texts, positions, strict=True
    ):
        ticks = matplotlib.ticker.MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(*span)
        ticks = [t for t in ticks if span[0] < t < span[1]]
        axis.set_ticks([position(t) for t in ticks], [text(t) for t in ticks])
    axes.tick_params(colors=INK, labelsize=7.5, length=3, width=0.6)
    for label in axes.get_yticklabels():
        label.set(rotation=90, va="center")


def _heights(axes: Any, relief: Relief, norm: Normalize) -> None:
    """The colour bar is the histogram of heights itself."""
    count = len(relief.histogram)
    heights = relief.lowest + relief.bin_width * (np.arange(count) + 0.5)
    share = 100 * np.asarray(relief.histogram) / relief.elevation.size
    axes.barh(heights, share, height=relief.bin_width, color=TINTS(norm(heights)), linewidth=0)
    edges = relief.lowest + relief.bin_width * np.arange(count + 1)
    axes.stairs(share, edges, orientation="horizontal", color=INK, linewidth=0.5)
    strip = np.linspace(norm.vmin, norm.vmax, 256)[:, None]
    width = 0.14 * share.max()
    axes.imshow(
        TINTS(norm(strip)),
        extent=(-1.5 * width, -0.5 * width, norm.vmin, norm.vmax),
        aspect="auto",
        origin="lower",
    )
    axes.set(xlim=(-1.5 * width, 1.05 * share.max()), ylim=(norm.vmin, norm.vmax))
    axes.yaxis.tick_left()
    axes.set_xticks([])
    axes.set_ylabel("elevation [m]", fontsize=8, color=INK)
    axes.set_title("share of the area", fontsize=7.5, color=INK, loc="right", pad=4)
    axes.tick_params(colors=INK, labelsize=7.5, length=3, width=0.6)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def draw(relief: Relief, path: Path) -> None:
    """Write the picture as PNG."""
    norm = Normalize(float(relief.elevation.min()), float(relief.elevation.max()))
    rows, columns = relief.elevation.shape
    aspect = relief.dy / relief.dx
    map_width = 6.9
    map_height = map_width * rows * aspect / columns
    size = (map_width + 2.3, map_height + 1.25)
    figure = plt.figure(figsize=size, facecolor=PAPER, dpi=130)
    box = (0.45 / size[0], 0.5 / size[1], map_width / size[0], map_height / size[1])
    axes = figure.add_axes(box)
    axes.imshow(_shaded(relief, norm), interpolation="bicubic", aspect=aspect)
    _contours(axes, relief)
    axes.add_collection(_rivers(relief))
    _scale(axes, relief)
    _north(axes)
    _degrees(axes, relief)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    for spine in axes.spines.values():
        spine.set(color=INK, linewidth=0.8)
    side = figure.add_axes(((map_width + 1.1) / size[0], box[1], 1.0 / size[0], box[3]))
    side.set_facecolor(PAPER)
    _heights(side, relief, norm)
    top = 1 - 0.22 / size[1]
    figure.text(box[0], top, relief.name, fontsize=15, color=INK, va="top", family="serif")
    figure.text(
        box[0],
        1 - 0.52 / size[1],
        "One elevation model in SYCL shared memory: lit by a usmx kernel, counted by dpctl, "
        "drained by Numba. No copies.",
        fontsize=7.5,
        color=INK,
        alpha=0.8,
        va="top",
    )
    figure.savefig(path, facecolor=PAPER, pil_kwargs={"optimize": True})
    plt.close(figure)
