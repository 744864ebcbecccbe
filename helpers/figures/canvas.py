"""What all pictures share: the sheet, colors, marks, and how a picture is displayed.

The settings of matplotlib are the default ones while we draw, whatever the learner has set, and
theirs again after.
"""

from __future__ import annotations

import base64
import contextlib
import io
import re
import reprlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from helpers.figures.alt_texts import ALT_TEXTS
from helpers.shapes import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

PIXELS_WIDE = 520  # as displayed; fits a phone after scaling, and a laptop beside text
PIXELS_PER_INCH = 100
SHARPNESS = 1.5  # stored pixels for each displayed one
INDEXED_COLORS = 256
CAPTION_WIDTH = 78  # characters
TITLE_WIDTH = 13  # characters, over one of four panels beside each other
INSIDE = {"in_layout": False}  # what lies inside the axes cannot move them; not to ask saves time

# Both maps grow steadily lighter or darker, so that they survive greyscale printing. That of signed
# values runs between blue and yellow, which color-blind readers tell apart. What is new (what a
# layer has written, a second line, new letters) stands out from the ends of the map for weights, in
# grey too.
NEW = "#c8700a"
FAINT = "#767676"  # for zeros and notes: 4.5 times as dark as white
WEIGHTS = ["#ffffff", "#c9dcec", "#7fb2d5", "#2f7ab5", "#08306b"]
SIGNED = ["#0b2a5b", "#3f6ea8", "#a9b1ba", "#f0cf78", "#fff3c4"]


def by_name(tool: str, drawn: Mapping[str, Any]) -> dict[str, Tensor]:
    if not isinstance(drawn, Mapping) or not drawn:
        raise ValueError(f"{tool} draws by name: give a dict, as in {{'weights': weights}}")
    return {name: plain(values) for name, values in drawn.items()}


def plain(values: Tensor | Sequence[float]) -> Tensor:
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
def drawing(
    height: float,
    picture: str,
    facts: Sequence[Sequence[Any]],
    *,
    panels: int = 1,
    beside: bool = False,
) -> Iterator[list[Axes]]:
    """The axes of so many panels, one under the other or side by side, to draw in.

    `height` is that of the whole picture, in inches of `PIXELS_PER_INCH`. What was drawn is
    displayed when the context ends, with `facts`, rows of cells, as its twin.
    """
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
        grid = (1, panels) if beside else (panels, 1)
        yield list(figure.subplots(*grid, squeeze=False, sharey=beside).flat)
        display(figure, picture, facts)


def colors(shades: Sequence[str], low: float, high: float) -> tuple[Colormap, Normalize]:
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    return LinearSegmentedColormap.from_list("ours", shades), Normalize(low, high)


def frame(ax: Axes, corner: tuple[float, float], width: float, height: float, **look: Any) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle(corner, width, height, **{"facecolor": "none", **look}))


def in_lines(label: str) -> str:
    """A label broken at its first hyphen or space, where it is longer than eight letters."""
    return re.sub(r"(-)| ", r"\1\n", label, count=1) if len(label) > 8 else label


def column_names(ax: Axes, names: Sequence[str], size: float, above: bool = False) -> float:
    """Name columns 0, 1, … line by line, and return the height of the names in points.

    Each line stands at a set distance, and the layout is told of none: matplotlib measures texts of
    several lines otherwise from one version to the next, and the whole picture would move.
    """
    line = 1.2 * size
    lines = [name.split("\n") for name in names]
    most = max(map(len, lines), default=1)
    ax.set_xticks(range(len(names)), [""] * len(names))
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    look = {"ha": "center", "va": "bottom" if above else "top", "fontsize": size}
    for column, parts in enumerate(lines):
        for k, part in enumerate(parts):
            points = 4 + line * (len(parts) - 1 - k) if above else -4 - line * k
            ax.annotate(part, (column, int(above)), (0, points), **place, **look, **INSIDE)
    return 4 + line * most


def short(value: float) -> str:
    """A number with two decimals, or none where both are zero: "1", not "1.00"."""
    return rounded(value, 2).removesuffix(".00")


def write(ax: Axes, row: int, column: int, text: str, background: Any, size: float = 11) -> None:
    """Write into a cell in black or white, whichever stands out; a zero faintly."""
    red, green, blue = (part**2.2 for part in background[:3])  # from sRGB to linear light
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    color = "black" if luminance > 0.18 else "white"  # there both stand out alike
    if luminance > 0.95 and not float(text):
        color = FAINT
    ax.text(column, row, text, ha="center", va="center", fontsize=size, color=color, **INSIDE)


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
    indexed = picture.quantize(INDEXED_COLORS, method=Image.Quantize.MEDIANCUT)
    indexed.save(stored, format="png", pnginfo=made_by)
    return stored.getvalue()


def display(figure: Figure, picture: str, facts: Sequence[Sequence[Any]]) -> None:
    from IPython.display import display as show

    alt = ALT_TEXTS.get(picture, picture)
    told = [" | ".join(map(str, row)) for row in facts]
    show(
        {
            "image/png": base64.b64encode(_png(figure)).decode("ascii"),
            "text/plain": "\n".join(["Figure in numbers", *told]),
        },
        metadata={"image/png": {"alt": alt, "width": PIXELS_WIDE}},
        raw=True,
    )
    print(textwrap.fill(f"Figure: {alt}", CAPTION_WIDTH))
