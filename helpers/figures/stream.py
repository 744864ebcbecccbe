"""A residual stream: a column for each word, a row for each slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from helpers.figures.canvas import INSIDE, NEW, WEIGHTS, colors, drawing, frame, plain, write
from helpers.shapes import rounded

SLOT_ROW = 0.31  # inches: a row of the residual stream


def stream_map(
    stream: Tensor,
    *,
    picture: str,
    words: Sequence[str],
    slots: Sequence[str],
    groups: Mapping[str, int],
    new: Tensor | None = None,
    read: int | None = None,
    decimals: int = 2,
) -> None:
    """Display a residual stream `[words, slots]`: a row for each slot, a column for each word.

    `groups` maps a name to a number of neighboring slots, from the top; lines part the groups.
    Cells where `new` (same shape as `stream`) is nonzero are framed. `read` is the number of the
    word whose column is read in the end. What rounds to zero and is not new is left empty.
    Raises `ValueError` when sizes do not fit.
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
    facts = ["slot | " + " | ".join(words)]
    for j, slot in enumerate(slots):
        cells = [
            rounded(stream[i, j].item(), decimals) + (" new" if new[i, j] else "")
            for i in range(len(words))
        ]
        facts.append(f"{slot} | " + " | ".join(cells))
    if read is not None:
        facts.append(f"read at | {words[read]}")
    with drawing(SLOT_ROW * len(slots) + 1.1, picture, facts) as (ax,):
        palette, scale = colors(WEIGHTS, 0.0, max(stream.max().item(), 1.0))
        ax.imshow(stream.T.numpy(), cmap=palette, norm=scale, aspect="auto")
        read_too = [f"{word} (read)" if i == read else word for i, word in enumerate(words)]
        ax.set_xticks(range(len(words)), read_too, rotation=35, ha="left")
        ax.set_yticks(range(len(slots)), slots)
        ax.xaxis.tick_top()
        ax.tick_params(labelsize=11, length=0)
        for j, i in product(range(len(slots)), range(len(words))):
            value = stream[i, j].item()
            if new[i, j]:
                frame(ax, (i - 0.44, j - 0.4), 0.88, 0.8, edgecolor=NEW, linewidth=2.5, **INSIDE)
            text = rounded(value, decimals)
            if float(text) or new[i, j]:
                write(ax, j, i, text, palette(scale(value)))
        top = 0
        for name, size in groups.items():
            ax.axhline(top - 0.5, color="black", linewidth=1.5)
            middle = top + (size - 1) / 2
            ax.text(len(words) - 0.4, middle, name, rotation=270, va="center", fontsize=12)
            top += size
        if read is not None:
            dashes = {"edgecolor": "black", "linewidth": 2, "linestyle": "--", "clip_on": False}
            frame(ax, (read - 0.5, -0.5), 1, len(slots), **dashes)
