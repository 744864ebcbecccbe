"""Pictures of tensors: opaque PNG, alt text, and the drawn numbers as a text twin.

Each public function draws and displays one figure. The display carries the picture,
its alt text in the output's metadata (`{"image/png": {"alt": ...}}`), and, as plain
text, every number that was drawn: the twin that tests compare where pixels cannot be.
The alt text is printed below as a caption, since some front ends (JupyterLab among them)
do not hand it to screen readers.

matplotlib (with Pillow, which it needs) is imported when something is drawn, not before. Its
settings are the default ones while we draw, whatever the learner has set, and theirs again after.
"""

from __future__ import annotations

import base64
import contextlib
import io
import reprlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from helpers.shapes import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

PIXELS_WIDE = 520  # as displayed; fits a phone after scaling, and a laptop beside text
PIXELS_PER_INCH = 100
SHARPNESS = 1.5  # stored pixels for each displayed one
INDEXED_COLORS = 128
# Inches: a row with numbers written in, one without, a panel's title, the column labels,
# the color legend of matrices without numbers.
WRITTEN_ROW, PLAIN_ROW, TITLE_HEIGHT, AXIS_HEIGHT, LEGEND_HEIGHT = 0.48, 0.36, 0.4, 0.85, 0.6
CAPTION_WIDTH = 78  # characters
MAX_WRITTEN = 8  # numbers are written into matrices up to 8 x 8
SLOT_ROW = 0.31  # inches: a row of the residual stream
INSIDE = {"in_layout": False}  # what lies inside the axes cannot move them; not to ask saves time

# Both maps grow steadily lighter or darker, so that they survive greyscale printing. That of signed
# values runs between blue and yellow, which color-blind readers tell apart. The frame around what a
# layer has written stands out from the ends of the map for weights, in grey too.
NEW = "#c8700a"
WEIGHTS = ["#ffffff", "#c9dcec", "#7fb2d5", "#2f7ab5", "#08306b"]
SIGNED = ["#0b2a5b", "#3f6ea8", "#a9b1ba", "#f0cf78", "#fff3c4"]
LINES = [("#08306b", "o", "-"), ("#c8700a", "s", "--"), ("#555555", "^", ":")]


def heat_map(
    matrices: Mapping[str, Tensor],
    *,
    alt: str,
    rows: Sequence[str],
    columns: Sequence[str],
    row_axis: str = "query",
    column_axis: str = "key",
    blocked: Mapping[str, Tensor] | None = None,
    signed: bool = False,
    decimals: int = 2,
) -> None:
    """Display matrices one under the other, on one color scale.

    `matrices` maps a title to a matrix `[rows, columns]`; `blocked` maps a title to a
    matrix of the same shape whose nonzero cells are hatched. `signed` takes the
    two-sided colors (blue below zero, gray at zero, yellow above) instead of those for
    weights from 0 up. `alt` says
    what the picture shows. Raises `ValueError` when labels or masks do not fit.
    """
    matrices = _by_name("heat_map", matrices)
    blocked = {title: _plain(mask) for title, mask in (blocked or {}).items()}
    for title, matrix in matrices.items():
        if tuple(matrix.shape) != (len(rows), len(columns)):
            raise ValueError(
                f"{title!r} has shape {tuple(matrix.shape)}, but there are "
                f"{len(rows)} row labels and {len(columns)} column labels"
            )
        mask = blocked.setdefault(title, torch.zeros_like(matrix))
        if mask.shape != matrix.shape:
            raise ValueError(
                f"the mask for {title!r} has shape {tuple(mask.shape)}, "
                f"its matrix {tuple(matrix.shape)}"
            )
    unknown = set(blocked) - set(matrices)
    if unknown:
        raise ValueError(f"a mask for {unknown.pop()!r}, which is not drawn")
    finite = [0.0, *(x for m in matrices.values() for x in m[m.isfinite()].tolist())]
    high = max(*map(abs, finite), 1e-9)
    low = -high if signed else min(finite)
    facts = [f"colors from {rounded(low, decimals)} to {rounded(high, decimals)}"]
    for title, matrix in matrices.items():
        facts += _table(title, matrix, rows, columns, blocked[title], decimals)

    written = max(len(rows), len(columns)) <= MAX_WRITTEN
    row_height = WRITTEN_ROW if written else PLAIN_ROW
    height = len(matrices) * (row_height * len(rows) + TITLE_HEIGHT) + AXIS_HEIGHT
    height += 0 if written else LEGEND_HEIGHT
    slant, anchor = (35, "right") if max(map(len, columns)) > 3 else (0, "center")
    with _picture(height, len(matrices), alt, facts) as axes:
        colors, scale = _colors(SIGNED if signed else WEIGHTS, low, high)
        for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
            ax.imshow(matrix.numpy(), cmap=colors, norm=scale, aspect="auto")
            ax.set_title(title, fontsize=14)
            ax.set_xticks([])
            ax.set_yticks(range(len(rows)), rows)
            ax.tick_params(labelsize=12, length=0)
            ax.set_ylabel(row_axis, fontsize=13)
            for i, j in product(range(len(rows)), range(len(columns))):
                hatched = bool(blocked[title][i, j])
                if hatched:
                    _hatch(ax, i, j)
                if written:
                    value = matrix[i, j].item()
                    background = (1.0, 1.0, 1.0) if hatched else colors(scale(value))
                    _write(ax, i, j, rounded(value, decimals), background, hatched)
        axes[-1].set_xticks(range(len(columns)), columns, rotation=slant, ha=anchor)
        axes[-1].set_xlabel(column_axis, fontsize=13)
        if not written:
            shades = axes[-1].images[0]
            legend = shades.figure.colorbar(shades, ax=axes, orientation="horizontal", aspect=40)
            legend.ax.tick_params(labelsize=12)


def stream_map(
    stream: Tensor,
    *,
    alt: str,
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
    `alt` says what the picture shows.
    Raises `ValueError` when sizes do not fit.
    """
    stream = _plain(stream)
    new = torch.zeros_like(stream) if new is None else _plain(new)
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
    with _picture(SLOT_ROW * len(slots) + 1.1, 1, alt, facts) as (ax,):
        colors, scale = _colors(WEIGHTS, 0.0, max(stream.max().item(), 1.0))
        ax.imshow(stream.T.numpy(), cmap=colors, norm=scale, aspect="auto")
        read_too = [f"{word} (read)" if i == read else word for i, word in enumerate(words)]
        ax.set_xticks(range(len(words)), read_too, rotation=35, ha="left")
        ax.set_yticks(range(len(slots)), slots)
        ax.xaxis.tick_top()
        ax.tick_params(labelsize=11, length=0)
        for j, i in product(range(len(slots)), range(len(words))):
            value = stream[i, j].item()
            if new[i, j]:
                _frame(ax, (i - 0.44, j - 0.4), 0.88, 0.8, edgecolor=NEW, linewidth=2.5, **INSIDE)
            text = rounded(value, decimals)
            if float(text) or new[i, j]:
                _write(ax, j, i, text, colors(scale(value)), boxed=False)
        top = 0
        for name, size in groups.items():
            ax.axhline(top - 0.5, color="black", linewidth=1.5)
            middle = top + (size - 1) / 2
            ax.text(len(words) - 0.4, middle, name, rotation=270, va="center", fontsize=12)
            top += size
        if read is not None:
            dashes = {"edgecolor": "black", "linewidth": 2, "linestyle": "--", "clip_on": False}
            _frame(ax, (read - 0.5, -0.5), 1, len(slots), **dashes)


def line_plot(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    alt: str,
    title: str,
    x_axis: str,
    y_axis: str,
    decimals: int = 2,
) -> None:
    """Display lines over a common `x`, told apart by marker and dash, and named in a legend.

    `lines` maps a label to as many values as `x` has. Raises `ValueError` when a line is
    of another length, or when there are more lines than styles.
    """
    x = _plain(x).tolist()
    lines = {label: values.tolist() for label, values in _by_name("line_plot", lines).items()}
    for label, values in lines.items():
        if len(values) != len(x):
            raise ValueError(f"{label!r} has {len(values)} values, x has {len(x)}")
    if len(lines) > len(LINES):
        raise ValueError(f"{len(lines)} lines, but only {len(LINES)} styles")
    facts = [f"{x_axis} | " + " | ".join(lines)]
    for k, place in enumerate(x):
        cells = [rounded(values[k], decimals) for values in lines.values()]
        facts.append(f"{place:g} | " + " | ".join(cells))
    with _picture(3.4 + 0.3 * len(lines), 1, alt, facts) as (ax,):
        for (label, values), (color, marker, dash) in zip(lines.items(), LINES, strict=False):
            ax.plot(x, values, color=color, marker=marker, linestyle=dash, label=label)
        ax.set_title(title, fontsize=14)
        ax.set_xlabel(x_axis, fontsize=13)
        ax.set_ylabel(y_axis, fontsize=13)
        ax.tick_params(labelsize=12)
        ax.grid(color="#dddddd")
        ax.figure.legend(fontsize=12, loc="outside lower center")


def _by_name(tool: str, drawn: Mapping[str, Any]) -> dict[str, Tensor]:
    if not isinstance(drawn, Mapping) or not drawn:
        raise ValueError(f"{tool} draws by name: give a dict, as in {{'weights': weights}}")
    return {name: _plain(values) for name, values in drawn.items()}


def _plain(values: Tensor | Sequence[float]) -> Tensor:
    """Numbers as a tensor that matplotlib can draw: on the CPU, without a gradient."""
    if not isinstance(values, Tensor):
        try:
            return torch.tensor(values, dtype=torch.float64, device="cpu")
        except (TypeError, ValueError):
            told = reprlib.repr(values)
            raise ValueError(f"{told} cannot be drawn: give numbers, in rows alike") from None
    if values.is_meta:
        raise ValueError("a tensor on the meta device holds no numbers to draw")
    values = values.detach().cpu()
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values


@contextlib.contextmanager
def _picture(height: float, panels: int, alt: str, facts: Sequence[str]) -> Iterator[list[Axes]]:
    """The axes of so many panels, one under the other, to draw in; then they are displayed."""
    import matplotlib
    from matplotlib.figure import Figure

    ours = {key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"}
    with matplotlib.rc_context(ours):
        figure = Figure(
            figsize=(PIXELS_WIDE / PIXELS_PER_INCH, height),
            dpi=PIXELS_PER_INCH * SHARPNESS,
            facecolor="white",
            layout="constrained",
        )
        yield list(figure.subplots(panels, squeeze=False)[:, 0])
        _display(figure, alt, facts)


def _colors(shades: Sequence[str], low: float, high: float) -> tuple[Colormap, Normalize]:
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    return LinearSegmentedColormap.from_list("ours", shades), Normalize(low, high)


def _frame(ax: Axes, corner: tuple[float, float], width: float, height: float, **look: Any) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle(corner, width, height, **{"facecolor": "none", **look}))


def _hatch(ax: Axes, row: int, column: int) -> None:
    look = {"facecolor": "white", "edgecolor": "#8a8a8a", "hatch": "///", "linewidth": 0}
    _frame(ax, (column - 0.5, row - 0.5), 1, 1, **look, **INSIDE)


def _write(ax: Axes, row: int, column: int, text: str, background: Any, boxed: bool) -> None:
    red, green, blue = (part**2.2 for part in background[:3])  # from sRGB to linear light
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18  # black and white stand out alike
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0} if boxed else None
    ax.text(
        column,
        row,
        text,
        ha="center",
        va="center",
        fontsize=11,
        color="black" if light else "white",
        bbox=box,
        **INSIDE,
    )


def _table(
    title: str,
    matrix: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    blocked: Tensor,
    decimals: int,
) -> list[str]:
    lines = [f"{title} | " + " | ".join(columns)]
    for i, label in enumerate(rows):
        cells = [
            rounded(matrix[i, j].item(), decimals) + (" blocked" if blocked[i, j] else "")
            for j in range(len(columns))
        ]
        lines.append(f"{label} | " + " | ".join(cells))
    return lines


def _png(figure: Figure) -> bytes:
    """The figure as an indexed PNG: a third of the size, so that a lesson stays light.

    It names the matplotlib that drew it: another version may draw a little differently.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    canvas, stored, made_by = FigureCanvasAgg(figure), io.BytesIO(), PngInfo()
    made_by.add_text("Software", f"matplotlib {matplotlib.__version__}")
    canvas.draw()
    size = canvas.get_width_height()
    picture = Image.frombuffer("RGBA", size, canvas.buffer_rgba()).convert("RGB")
    indexed = picture.quantize(INDEXED_COLORS, method=Image.Quantize.FASTOCTREE)
    palette, white = indexed.getpalette(), 3 * indexed.getpixel((0, 0))
    palette[white : white + 3] = [255] * 3  # this quick method makes it 254
    indexed.putpalette(palette)
    indexed.save(stored, format="png", pnginfo=made_by)
    return stored.getvalue()


def _display(figure: Figure, alt: str, facts: Sequence[str]) -> None:
    from IPython.display import display

    display(
        {
            "image/png": base64.b64encode(_png(figure)).decode("ascii"),
            "text/plain": "\n".join(["Figure in numbers", *facts]),
        },
        metadata={"image/png": {"alt": alt, "width": PIXELS_WIDE}},
        raw=True,
    )
    print(textwrap.fill(f"Figure: {alt}", CAPTION_WIDTH))
