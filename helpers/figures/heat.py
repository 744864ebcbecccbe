"""Matrices as colored cells, with their numbers where they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from helpers.figures.canvas import (
    INSIDE,
    SIGNED,
    WEIGHTS,
    by_name,
    colors,
    column_names,
    drawing,
    frame,
    in_lines,
    plain,
    write,
)
from helpers.shapes import rounded

# Inches: a row with numbers written in, one without, a panel's title, the column labels,
# the color legend of matrices without numbers.
WRITTEN_ROW, PLAIN_ROW, TITLE_HEIGHT, AXIS_HEIGHT, LEGEND_HEIGHT = 0.4, 0.3, 0.35, 0.75, 0.6
MAX_WRITTEN = 8  # numbers are written into matrices up to 8 x 8
LETTERS_ACROSS = 56  # that stand beside each other under a whole picture
HATCHED = {"facecolor": "white", "edgecolor": "#8a8a8a", "hatch": "///", "linewidth": 0}


def heat_map(
    matrices: Mapping[str, Tensor],
    *,
    picture: str,
    rows: Sequence[str],
    columns: Sequence[str],
    row_axis: str = "query",
    column_axis: str = "key",
    blocked: Mapping[str, Tensor] | None = None,
    dropped: Mapping[str, Tensor] | None = None,
    signed: bool = False,
    beside: bool = False,
    decimals: int = 2,
) -> None:
    """Display matrices on one color scale, one under the other, or `beside` each other.

    `matrices` maps a title to a matrix `[rows, columns]`; `blocked` and `dropped` map a title to a
    matrix of the same shape, whose nonzero cells are left empty and hatched, or marked with a
    cross. `signed` takes the two-sided colors (blue below zero, gray at zero, yellow above) instead
    of those for weights from 0 up. Raises `ValueError` when labels or masks do not fit.
    """
    matrices = by_name("heat_map", matrices)
    blocked, dropped = (
        {title: plain(mask) for title, mask in (masks or {}).items()}
        for masks in (blocked, dropped)
    )
    for title, matrix in matrices.items():
        if tuple(matrix.shape) != (len(rows), len(columns)):
            raise ValueError(
                f"{title!r} has shape {tuple(matrix.shape)}, but there are "
                f"{len(rows)} row labels and {len(columns)} column labels"
            )
        for masks in (blocked, dropped):
            mask = masks.setdefault(title, torch.zeros_like(matrix))
            if mask.shape != matrix.shape:
                raise ValueError(
                    f"the mask for {title!r} has shape {tuple(mask.shape)}, "
                    f"its matrix {tuple(matrix.shape)}"
                )
    unknown = {*blocked, *dropped} - set(matrices)
    if unknown:
        raise ValueError(f"a mask for {unknown.pop()!r}, which is not drawn")
    finite = [0.0, *(x for m in matrices.values() for x in m[m.isfinite()].tolist())]
    high = max(*map(abs, finite), 1e-9)
    low = -high if signed else min(finite)
    facts = [[f"colors from {rounded(low, decimals)} to {rounded(high, decimals)}"]]
    for title, matrix in matrices.items():
        hidden, fallen = blocked[title], dropped[title]
        facts.append([title, *columns])
        for i, label in enumerate(rows):
            cells = [label]
            for j, value in enumerate(matrix[i].tolist()):
                mark = " blocked" if hidden[i, j] else " dropped" if fallen[i, j] else ""
                cells.append(rounded(value, decimals) + mark)
            facts.append(cells)

    across = len(matrices) if beside else 1
    written = max(len(rows), len(columns) * across) <= MAX_WRITTEN * (1 + beside)
    row_height = WRITTEN_ROW if written else PLAIN_ROW
    height = (len(matrices) // across) * (row_height * len(rows) + TITLE_HEIGHT) + AXIS_HEIGHT
    height += 0 if written else LEGEND_HEIGHT
    digits = 11 if across * len(columns) <= MAX_WRITTEN else 9
    columns = [*map(in_lines, columns)]
    longest = max(len(line) for label in columns for line in label.splitlines())
    upright = across * len(columns) * (1 + longest) <= LETTERS_ACROSS
    turned = {} if upright else {"rotation": 90} if beside else {"rotation": 35, "ha": "right"}
    with drawing(height, picture, facts, panels=len(matrices), beside=beside) as axes:
        palette, scale = colors(SIGNED if signed else WEIGHTS, low, high)
        for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
            ax.imshow(matrix.numpy(), cmap=palette, norm=scale, aspect="auto")
            ax.set_title(title, fontsize=13)
            ax.set_xticks([])
            ax.set_yticks(range(len(rows)), rows)
            ax.tick_params(labelsize=11 if beside else 12, length=0)
            if ax is axes[0] or not beside:
                ax.set_ylabel(row_axis, fontsize=13)
            if ax is axes[-1] or beside:
                if "\n" in "".join(columns) and not turned:
                    room = column_names(ax, columns, 11 if beside else 12)
                    ax.set_xlabel(column_axis, fontsize=13, labelpad=room)
                else:
                    ax.set_xticks(range(len(columns)), columns, **turned)
                    ax.set_xlabel(column_axis, fontsize=13)
            for i, j in product(range(len(rows)), range(len(columns))):
                value = matrix[i, j].item()
                if blocked[title][i, j]:
                    frame(ax, (j - 0.5, i - 0.5), 1, 1, **HATCHED, **INSIDE)
                elif dropped[title][i, j]:
                    frame(ax, (j - 0.5, i - 0.5), 1, 1, facecolor="white", **INSIDE)
                    ax.text(j, i, "✕", ha="center", va="center", fontsize=16, **INSIDE)
                elif written:
                    write(ax, i, j, rounded(value, decimals), palette(scale(value)), digits)
        if not written:
            shades = axes[-1].images[0]
            legend = shades.figure.colorbar(shades, ax=axes, orientation="horizontal", aspect=40)
            legend.ax.tick_params(labelsize=11)
