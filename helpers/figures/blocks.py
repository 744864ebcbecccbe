"""Broadcasting: tensors as stacked sheets, what is stretched dashed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from textwrap import fill

import numpy as np
from torch import Tensor

from helpers.figures.canvas import FAINT, TITLE_WIDTH, WEIGHTS, by_name, drawing, frame
from helpers.shapes import by

HEIGHT = 2.6  # inches
ROW, GAP, SHIFT = 0.25, 0.55, 0.16  # of a sheet's width: a row, between blocks, to the sheet behind
FILLS = [WEIGHTS[1], "#f6d3a8", "#dddddd", WEIGHTS[2]]
AXES = "texts", "places", "numbers"


def broadcast_blocks(parts: Mapping[str, Tensor], total: str, *, picture: str) -> None:
    """Display how three tensors are stretched when they are added to `[texts, places, numbers]`.

    Each is drawn in the shape of the sum, which is named `total`: a sheet for each text, and in it
    a row for each place. What the tensor holds is drawn full, what broadcasting repeats is dashed.
    Raises `ValueError` for shapes that cannot be added to one of three axes.
    """
    shapes = {
        name: tuple(tensor.shape) for name, tensor in by_name("broadcast_blocks", parts).items()
    }
    try:
        whole = np.broadcast_shapes(*shapes.values())
    except ValueError:
        whole = ()
    if len(whole) != len(AXES) or len(shapes) != len(FILLS) - 1:
        told = ", ".join(map(str, shapes.values()))
        raise ValueError(f"{told}: give three shapes that add up to one of three axes")
    shapes[total] = whole
    texts, places, _ = whole
    facts = [["tensor", *AXES]]
    with drawing(HEIGHT, picture, facts) as (ax,):
        for k, (name, shape) in enumerate(shapes.items()):
            left, own = k * (1 + GAP), (1,) * (len(whole) - len(shape)) + shape
            pairs = list(zip(AXES, own, whole, strict=True))
            shared = [f"one for all {axis}" for axis, held, size in pairs if held < size]
            told = [str(o) if o == size else f"{o} for all {size}" for _, o, size in pairs]
            facts.append([name, *told])
            for text, place in product(reversed(range(texts)), range(places)):
                held = text < own[0] and place < own[1]
                full = {"facecolor": FILLS[k], "edgecolor": "black"}
                repeated = {"facecolor": "white", "edgecolor": FAINT, "linestyle": "--"}
                corner = (left + SHIFT * text, ROW * (places - 1 - place) + SHIFT * text)
                frame(ax, corner, 1, ROW, **(full if held else repeated))
            top = ROW * places + SHIFT * (texts - 1)
            middle = {"x": left + 0.5 + SHIFT / 2, "ha": "center"}
            ax.text(**middle, y=top + 0.06, s=fill(name, TITLE_WIDTH), va="bottom", fontsize=11)
            ax.text(**middle, y=-0.08, s="\n".join([by(shape), *shared]), va="top", fontsize=10)
            ax.text(left - 0.2, top / 2, " ++="[k], ha="center", va="center", fontsize=18)
        ax.set(xlim=(-0.1, left + 1.2), ylim=(-0.55, top + 0.45))
        ax.axis("off")
