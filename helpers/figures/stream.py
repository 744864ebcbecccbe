"""A residual stream: a column for each word, a row for each slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from helpers.figures.canvas import (
    INSIDE,
    NEW,
    WEIGHTS,
    colors,
    column_names,
    drawing,
    frame,
    in_lines,
    plain,
    short,
    write,
)

SLOT_ROW, AROUND = 0.28, 1.35  # inches: a row, and what stands above and below all rows
HIGHEST = 5.2  # inches, so that a picture fits on a screen; many rows are lower for it
GRID = "#dddddd"


def stream_map(
    stream: Tensor,
    *,
    picture: str,
    title: str,
    words: Sequence[str],
    slots: Sequence[str],
    groups: Mapping[str, int],
    new: Tensor | None = None,
    read: int | None = None,
) -> None:
    """Display a residual stream `[words, slots]`: a row for each slot, a column for each word.

    `groups` maps a name to a number of neighboring slots, from the top; a line with its name
    stands above each group. Cells where `new` (same shape as `stream`) is nonzero are framed.
    `read` is the number of the word whose column is read in the end. What rounds to zero and is
    not new is left empty. Raises `ValueError` when sizes do not fit.
    """
    stream = plain(stream)
    new = torch.zeros_like(stream) if new is None else plain(new)
    sizes = {"the stream": stream.shape, "the mask of new cells": new.shape}
    for what, shape in sizes.items():
        if tuple(shape) != (len(words), len(slots)):
            raise ValueError(
                f"{what} has shape {tuple(shape)}, but there are {len(words)} words "
                f"and {len(slots)} slots"
            )
    if not len(words) or not len(slots) or not stream.isfinite().all():
        raise ValueError("a stream needs a word, a slot, and finite numbers")
    if sum(groups.values()) != len(slots):
        raise ValueError(f"the groups hold {sum(groups.values())} slots, not {len(slots)}")
    if read is not None and not 0 <= read < len(words):
        raise ValueError(f"word {read} is to be read, but there are words 0 to {len(words) - 1}")
    facts = [["slot", *words]]
    for slot, values, marks in zip(slots, stream.T.tolist(), new.T, strict=True):
        cells = [short(x) + (" new" if mark else "") for x, mark in zip(values, marks, strict=True)]
        facts.append([slot, *cells])
    if read is not None:
        facts.append(["read at", words[read]])
    names_above = [k for k, size in enumerate(groups.values(), 1) for _ in range(size)]
    rows = [slot + names for slot, names in enumerate(names_above)]
    height = min(SLOT_ROW * (len(slots) + len(groups)) + AROUND, HIGHEST)
    with drawing(height, picture, facts) as (ax,):
        palette, scale = colors(WEIGHTS, 0.0, max(stream.max().item(), 1.0))
        ax.set(xlim=(-0.5, len(words) - 0.5), ylim=(len(slots) + len(groups) - 0.5, -0.5))
        room = column_names(ax, [*map(in_lines, words)], 9.5, above=True)
        ax.set_title(title, fontsize=13, pad=room + 4)
        ax.set_yticks(rows, slots)
        ax.tick_params(labelsize=10, length=0)
        for j, i in product(range(len(slots)), range(len(words))):
            value, row = stream[i, j].item(), rows[j]
            text, shade = short(value), palette(scale(value))
            frame(ax, (i - 0.5, row - 0.5), 1, 1, facecolor=shade, edgecolor=GRID, **INSIDE)
            if new[i, j]:
                look = {"edgecolor": NEW, "linewidth": 2.5, "zorder": 3}
                frame(ax, (i - 0.44, row - 0.4), 0.88, 0.8, **look, **INSIDE)
            if float(text) or new[i, j]:
                write(ax, row, i, text, shade)
        top = 0
        for name, size in groups.items():
            ax.text(-0.5, top, f" {name}", va="center", fontsize=10, weight="bold", **INSIDE)
            ax.axhline(top + 0.5, color="black", linewidth=1.5)
            top += size + 1
        key = ["framed: written by this layer"] if new.any() else []
        if read is not None:
            look = {"edgecolor": "black", "linewidth": 2, "linestyle": "--", "clip_on": False}
            frame(ax, (read - 0.5, -0.5), 1, top, zorder=4, **look)
            key.append("dashed: the word that is read in the end")
        if len(key) == 2:  # each line by itself, as in column_names
            place = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "center"}
            ax.annotate(key[0], (0.5, 0), (0, -10), va="top", fontsize=10, **place, **INSIDE)
        ax.set_xlabel(key[-1] if key else "", fontsize=10, labelpad=21 if len(key) == 2 else 8)
