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
GAP, LABELS = 0.42, 0.85  # of a panel's width: between panels, and at both ends for the row labels


def sum_map(
    parts: Mapping[str, Tensor],
    total: Mapping[str, Tensor],
    *,
    picture: str,
    rows: Mapping[str, Sequence[str]],
    decimals: int = 2,
) -> None:
    """Display matrices that are added, and their sum, side by side on one color scale.

    `parts` maps titles to matrices `[rows, columns]`, or `[1, columns]` for a row that is added to
    every row; `total` maps one title to their sum. `rows` maps a title to the labels of its rows;
    a panel without labels has none. Exact zeros are white, gray is near zero, blue below, yellow
    above. What is special (a row of zeros, one row for all) is noted below the panel. Raises
    `ValueError` when the labels or the sum do not fit.
    """
    parts, total = by_name("sum_map", parts), by_name("sum_map", total)
    ((_, whole),) = total.items()
    if not torch.allclose(sum(parts.values()).expand_as(whole), whole, atol=1e-4):
        raise ValueError(f"the sum of {', '.join(parts)} is not what is given as the sum")
    for title, labels in rows.items():
        if title not in {**parts, **total} or len(labels) != len(whole):
            raise ValueError(f"{len(labels)} labels for {title!r}: give {len(whole)} for a panel")
    panels = {**parts, **total}
    high = max(matrix.abs().max().item() for matrix in panels.values())
    facts = [f"colors from {rounded(-high, decimals)} to {rounded(high, decimals)}"]
    height, width = whole.shape
    signs = ["", *"+" * (len(parts) - 1), "="]
    with drawing(ROW * height + AROUND, picture, facts) as (ax,):
        palette, scale = colors(SIGNED, -high, high)
        for k, (sign, (title, matrix)) in enumerate(zip(signs, panels.items(), strict=True)):
            left = k * (1 + GAP)
            labels = rows.get(title, [""] * height)
            notes = [f"{labels[i]}: all zero" for i, row in enumerate(matrix) if not row.any()]
            notes += ["one row for\nevery place"] * (len(matrix) < height)
            facts += [f"{title} | " + " | ".join(map(str, range(width)))]
            for label, row in zip(labels, matrix, strict=False):
                numbers = (rounded(value, decimals) for value in row.tolist())
                facts.append(" | ".join([label, *numbers]))
            facts += [f"note | {note}".replace("\n", " ") for note in notes]
            drawn = matrix.masked_fill(matrix == 0, torch.nan).expand(height, width)
            shades = ax.imshow(
                drawn.numpy(),
                cmap=palette,
                norm=scale,
                extent=(left, left + 1, height, 0),
                aspect="auto",
                interpolation="nearest",
            )
            frame(ax, (left, 0), 1, height, edgecolor=FAINT, linewidth=1)
            ax.hlines(range(1, height), left, left + 1, color="white", linewidth=1)
            lines = fill(title, TITLE_WIDTH)
            ax.text(left + 0.5, -0.2, lines, ha="center", va="bottom", fontsize=11, **INSIDE)
            ax.text(left - 0.27, height / 2, sign, ha="center", va="center", fontsize=18)
            ax.text(left + 0.5, height + 0.2, "\n".join(notes), ha="center", va="top", fontsize=10)
            last = title in total
            for i, label in enumerate(labels):
                at = {"x": left + 1.05, "ha": "left"} if last else {"x": left - 0.05, "ha": "right"}
                ax.text(**at, y=i + 0.5, s=label, va="center", fontsize=10, **INSIDE)
        ax.set(xlim=(-LABELS, len(panels) * (1 + GAP) - GAP + LABELS), ylim=(height + 1.3, -1.4))
        ax.axis("off")
        legend = ax.figure.colorbar(shades, ax=ax, orientation="horizontal", aspect=40)
        legend.ax.tick_params(labelsize=10)
