"""What leads to what: boxes with their shapes, joined by arrows, a stack of sheets for a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from helpers.figures.canvas import WEIGHTS, drawing, frame
from helpers.shapes import by

ROW_HEIGHT = 0.85  # inches
HALF_WIDTH, HALF_HEIGHT = 0.39, 0.28  # of a box; columns and rows are 1 apart
SHEET_STEP, MOST_SHEETS = 0.055, 4
UNKNOWN = "?"


def flow_map(
    columns: Sequence[Sequence[str]],
    arrows: Sequence[tuple[str, str]],
    *,
    picture: str,
    shapes: Mapping[str, Tensor | tuple[int, ...]],
    notes: Mapping[str, str] | None = None,
) -> None:
    """Display named boxes in columns from left to right, joined by arrows.

    `columns` holds the names of each column from top to bottom; an empty name leaves its place
    free. `arrows` are pairs of names, from and to. `shapes` maps a name to a tensor or a shape;
    what has three axes or more is drawn as a stack of sheets, one for each item of the first axis
    (4 at most). A box whose shape is not given holds a question mark. `notes` maps a name to words
    below its box. Raises `ValueError` for a name that has no box.
    """
    boxes = {
        name: (x, (len(column) - 1) / 2 - k)
        for x, column in enumerate(columns)
        for k, name in enumerate(column)
        if name
    }
    notes = dict(notes or {})
    unknown = {*shapes, *notes, *(name for arrow in arrows for name in arrow)} - set(boxes)
    if unknown:
        raise ValueError(f"no box is named {min(unknown)!r}; there are {', '.join(boxes)}")
    sizes = {
        name: tuple(shape.shape if isinstance(shape, Tensor) else shape)
        for name, shape in shapes.items()
    }
    facts = [["box", "shape", "note"]]
    for name in boxes:
        shape = by(sizes[name]) if name in sizes else UNKNOWN
        facts.append([*filter(None, (name, shape, notes.get(name)))])
    facts += [[f"{start} leads to {end}"] for start, end in arrows]
    rows = max(map(len, columns))
    with drawing(ROW_HEIGHT * rows, picture, facts) as (ax,):
        ax.set(xlim=(-0.5, len(columns) - 0.4), ylim=(-rows / 2, rows / 2 + 2 * SHEET_STEP))
        ax.axis("off")
        for start, end in arrows:
            (x, y), (to_x, to_y) = boxes[start], boxes[end]
            ends = {"xy": (to_x - HALF_WIDTH, to_y), "xytext": (x + HALF_WIDTH, y)}
            ax.annotate("", **ends, arrowprops={"arrowstyle": "-|>", "color": "black"})
        for name, (x, y) in boxes.items():
            shape = sizes.get(name, ())
            sheets = min(shape[0], MOST_SHEETS) if len(shape) >= 3 else 1
            for k in reversed(range(sheets)):
                corner = (x - HALF_WIDTH + k * SHEET_STEP, y - HALF_HEIGHT + k * SHEET_STEP)
                look = {"facecolor": WEIGHTS[1] if k == 0 else "white", "edgecolor": WEIGHTS[-1]}
                frame(ax, corner, 2 * HALF_WIDTH, 2 * HALF_HEIGHT, zorder=3 - k / 10, **look)
            said = by(shape) if shape else UNKNOWN
            ax.text(x, y, f"{name}\n{said}", ha="center", va="center", fontsize=10.5, zorder=4)
            note = {"ha": "center", "va": "top", "fontsize": 9.5, "zorder": 4}
            ax.text(x, y - HALF_HEIGHT - 0.05, notes.get(name, ""), **note)
