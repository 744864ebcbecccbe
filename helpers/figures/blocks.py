"""Broadcasting: tensors as blocks, what each holds drawn full, what is stretched dashed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill

import torch
from torch import Tensor

from helpers.figures.canvas import FAINT, TITLE_WIDTH, WEIGHTS, drawing, frame
from helpers.shapes import by

HEIGHT = 2.6  # inches
ROW, GAP, SHIFT = 0.25, 0.55, 0.16  # of a block's width: a row, between blocks, to the sheet behind
FILLS = [WEIGHTS[1], "#f6d3a8", "#dddddd", WEIGHTS[2]]


def broadcast_blocks(
    parts: Mapping[str, Tensor],
    total: str,
    *,
    picture: str,
    axes: Sequence[str] = ("texts", "places", "numbers"),
) -> None:
    """Display how up to three tensors of at most three axes are stretched when they are added.

    Each is drawn in the shape of the sum: a sheet for each index of the first axis, in it a row for
    each of the second. What a tensor holds is drawn full, what broadcasting repeats is dashed.
    Raises `ValueError` for shapes that cannot be added, or too many.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in parts.items()}
    try:
        whole = tuple(torch.broadcast_shapes(*shapes.values()))
    except RuntimeError:
        raise ValueError(f"shapes {list(shapes.values())} cannot be added") from None
    if len(whole) != len(axes) or len(shapes) >= len(FILLS):
        raise ValueError(f"{len(shapes)} shapes of {len(whole)} axes: give three of three at most")
    shapes[total] = whole
    texts, places, _ = whole
    facts = [" | ".join(["tensor", *axes])]
    signs = ["", *"+" * (len(parts) - 1), "="]
    with drawing(HEIGHT, picture, facts) as (ax,):
        for k, (name, shape) in enumerate(shapes.items()):
            left, own = k * (1 + GAP), (1,) * (len(axes) - len(shape)) + shape
            shared = [f"one for all {a}" for a, o, w in zip(axes, own, whole, strict=True) if o < w]
            told = [
                str(o) if o == w else f"{o} for all {w}" for o, w in zip(own, whole, strict=True)
            ]
            facts.append(" | ".join([name, *told]))
            for text, place in product(reversed(range(texts)), range(places)):
                full = text < own[0] and place < own[1]
                corner = (left + SHIFT * text, ROW * (places - 1 - place) + SHIFT * text)
                look = {"facecolor": FILLS[k], "edgecolor": "black"}
                ghost = {"facecolor": "white", "edgecolor": FAINT, "linestyle": "--"}
                frame(ax, corner, 1, ROW, **(look if full else ghost))
            middle, top = left + 0.5 + SHIFT / 2, ROW * places + SHIFT * (texts - 1)
            ax.text(
                middle, top + 0.06, fill(name, TITLE_WIDTH), ha="center", va="bottom", fontsize=11
            )
            below = "\n".join([by(shape), *shared])
            ax.text(middle, -0.08, below, ha="center", va="top", fontsize=10)
            ax.text(left - 0.2, top / 2, signs[k], ha="center", va="center", fontsize=18)
        ax.set(xlim=(-0.1, len(shapes) * (1 + GAP) - GAP + 0.2), ylim=(-0.55, top + 0.45))
        ax.axis("off")
