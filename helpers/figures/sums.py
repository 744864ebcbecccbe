"""A sum of matrices as an equation: panel + panel = panel, row beside row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

import torch
from torch import Tensor

from helpers.figures.canvas import (
    FAINT,
    INSIDE,
    SIGNED,
    TITLE_WIDTH,
    by_name,
    colors,
    drawing,
    frame,
)
from helpers.shapes import rounded

ROW, AROUND = 0.34, 1.7  # inches: a row; titles, notes and the color legend
GAP, LABELS = 0.42, 0.85  # of a panel's width: between panels; at both ends, for the row labels


def sum_map(
    parts: Mapping[str, Tensor],
    total: Mapping[str, Tensor],
    *,
    picture: str,
    rows: Mapping[str, Sequence[str]],
) -> None:
    """Display matrices that are added, and their sum, side by side on one color scale.

    `parts` maps titles to matrices `[rows, columns]`, or `[1, columns]` for a row that is added to
    every row; `total` maps one title to their sum. `rows` maps a title to the labels of its rows;
    a panel that it leaves out has none. Exact zeros are white, gray is near zero, blue below,
    yellow above. A row of zeros and a row for all are noted below their panel. Raises `ValueError`
    when the labels or the sum do not fit.
    """
    panels = {**by_name("sum_map", parts), **by_name("sum_map", total)}
    *added, whole = panels.values()
    if not torch.allclose(sum(added).expand_as(whole), whole, atol=1e-4):
        raise ValueError(f"{', '.join(parts)} do not add up to {', '.join(total)}")
    height, width = whole.shape
    for title, labels in rows.items():
        if title not in panels or len(labels) != height:
            raise ValueError(f"{len(labels)} labels for {title!r}: give {height} for each panel")
    high = max(matrix.abs().max().item() for matrix in panels.values())
    facts = [[f"colors from {rounded(-high, 2)} to {rounded(high, 2)}"]]
    signs = ["", *"+" * (len(added) - 1), "="]
    with drawing(ROW * height + AROUND, picture, facts) as (ax,):
        palette, scale = colors(SIGNED, -high, high)
        for k, (title, matrix) in enumerate(panels.items()):
            left, labels = k * (1 + GAP), rows.get(title, [""] * height)
            notes = [
                f"{label}:\nall zero"
                for label, row in zip(labels, matrix, strict=False)
                if not row.any()
            ]
            notes += ["the same row\nat every place"] * (len(matrix) < height)
            facts.append([title, *range(width)])
            for label, row in zip(labels, matrix.tolist(), strict=False):
                facts.append([label, *(rounded(x, 2) for x in row)])
            facts += [["note", note.replace("\n", " ")] for note in notes]
            shades = ax.imshow(
                matrix.masked_fill(matrix == 0, torch.nan).expand(height, width).numpy(),
                cmap=palette,
                norm=scale,
                extent=(left, left + 1, height, 0),
                aspect="auto",
                interpolation="nearest",
            )
            ax.hlines(range(1, height), left, left + 1, color="white", linewidth=1)
            frame(ax, (left, 0), 1, height, edgecolor=FAINT, linewidth=1)
            ax.text(left - 0.27, height / 2, signs[k], ha="center", va="center", fontsize=18)
            middle = {"x": left + 0.5, "ha": "center"}
            ax.text(**middle, y=-0.2, s=fill(title, TITLE_WIDTH), va="bottom", fontsize=11)
            ax.text(**middle, y=height + 0.2, s="\n".join(notes), va="top", fontsize=10)
            at_the_end = {"x": left + 1.05, "ha": "left"}
            beside = at_the_end if title in total else {"x": left - 0.05, "ha": "right"}
            for i, label in enumerate(labels):
                ax.text(**beside, y=i + 0.5, s=label, va="center", fontsize=10, **INSIDE)
        ax.set(xlim=(-LABELS, left + 1 + LABELS), ylim=(height + 1.3, -1.4))
        ax.axis("off")
        legend = ax.figure.colorbar(shades, ax=ax, orientation="horizontal", aspect=40)
        legend.ax.tick_params(labelsize=10)
