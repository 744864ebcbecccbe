"""A sentence on its way through a transformer of two layers: words, arrows, note, bits, answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from helpers.figures.canvas import (
    FAINT,
    NEW,
    WEIGHTS,
    colors,
    drawing,
    frame,
    in_lines,
    plain,
    short,
    write,
)
from helpers.shapes import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches from the top of a sentence's panel, and from its left end.
WORDS, NOTES, GATHERED, TABLE, HEIGHT = 0.2, 1.03, 1.72, 2.17, 2.58
MARGIN, WIDTH = 1.35, 5.2
ROW, COLUMN = 0.24, 0.7  # of the table of bits
SEEN = 0.05  # a weight below leaves no visible arrow
LOOKS = [(WEIGHTS[-1], "-"), (NEW, (0, (3, 1.5))), (WEIGHTS[3], "-"), ("#555555", (0, (3, 1.5)))]
BITS, ASKED = ("object", "swap", "disobeyed"), ("flies?", "speaks?")


def sentence_map(sentences: Sequence[Mapping[str, Any]], *, picture: str) -> None:
    """Display sentences on their way through two layers, one under the other.

    Each sentence is a dict: its `words`; `asks`, the number of the word that is read in the end;
    `looks`, which maps four heads, two of each layer, to their attention: `[words, words]`, or
    `[words]` for that of the word that asks alone; `note` `[words]`, which layer 1 leaves for
    layer 2; `bits` `[2, 3]`, for flight and speech that of the object, swap, disobeyed; and its
    `answer`. An arrow leads from the word looked at to the one that looks, as opaque as its
    weight. Raises `ValueError` when sizes do not fit.
    """
    drawn = [{**told, **_tensors(told)} for told in sentences]
    if not drawn:
        raise ValueError("there is no sentence to draw")
    facts = [fact for told in drawn for fact in _facts(told)]
    with drawing(HEIGHT * len(drawn), picture, facts, panels=len(drawn)) as axes:
        for ax, told in zip(axes, drawn, strict=True):
            _draw(ax, told)


def _tensors(told: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a sentence as tensors, once they fit each other."""
    size, asks = len(told["words"]), told["asks"]
    if not 0 <= asks < size:
        raise ValueError(f"word {asks} asks, but there are words 0 to {size - 1}")
    looks = {head: plain(weights) for head, weights in told["looks"].items()}
    if len(looks) != len(LOOKS):
        raise ValueError(f"{len(looks)} heads, but two layers of two are drawn")
    note, bits = plain(told["note"]), plain(told["bits"])
    for what, tensor, shapes in (
        *((f"what {head!r} looks at", w, [(size,), (size, size)]) for head, w in looks.items()),
        ("the note", note, [(size,)]),
        ("the bits", bits, [(2, len(BITS))]),
    ):
        if tuple(tensor.shape) not in shapes:
            raise ValueError(f"{what}: shape {tuple(tensor.shape)}, not {shapes[-1]}")
    return {"looks": looks, "note": note, "bits": bits}


def _arrows(told: Mapping[str, Any], head: str) -> Iterator[tuple[int, int, float]]:
    """The word looked at, the word that looks, and the weight, of each arrow that can be seen."""
    weights = told["looks"][head]
    rows = {told["asks"]: weights} if weights.dim() == 1 else dict(enumerate(weights))
    for asks, row in rows.items():
        for seen, weight in enumerate(row.tolist()):
            if weight >= SEEN:
                yield seen, asks, weight


def _sums(bits: Tensor) -> list[str]:
    """For flight and speech: the sum of the bits, odd or even, and what that means."""
    found = []
    for total in bits.sum(dim=-1).tolist():
        sign = "=" if short(total) == f"{round(total)}" else "≈"
        found.append(f"{sign} {round(total)}, {('even: no', 'odd: yes')[round(total) % 2]}")
    return found


def _facts(told: Mapping[str, Any]) -> list[list[str]]:
    words = told["words"]
    facts = [["sentence", " ".join(words)]]
    for head in told["looks"]:
        for seen, asks, weight in _arrows(told, head):
            facts.append([f"{head}: {words[asks]} looks at {words[seen]}", rounded(weight, 2)])
    facts += [["note", *map(short, told["note"].tolist())], ["bits", *BITS, "sum"]]
    for what, row, total in zip(ASKED, told["bits"].tolist(), _sums(told["bits"]), strict=True):
        facts.append([what, *map(short, row), total])
    return [*facts, ["answer", told["answer"]]]


def _draw(ax: Axes, told: Mapping[str, Any]) -> None:
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, -0.05))
    ax.axis("off")
    words, asks = told["words"], told["asks"]
    step = (WIDTH - MARGIN) / len(words)
    places = [MARGIN + step * (k + 0.5) for k in range(len(words))]
    centered = {"ha": "center", "va": "center"}
    for k, (word, x) in enumerate(zip(words, places, strict=True)):
        end = GATHERED if k == asks else NOTES
        ax.plot([x, x], [WORDS, end], color="#bbbbbb", linewidth=1.5, zorder=1)
        box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "black"}
        box |= {"linewidth": 2.0 if k == asks else 0.8}
        size = min(9.5, 13 * step)  # neighboring boxes must not touch
        ax.text(x, WORDS, in_lines(word), fontsize=size, linespacing=0.95, bbox=box, **centered)
    heads = [*told["looks"]]
    for layer, (top, bottom) in enumerate(((WORDS + 0.24, NOTES - 0.13), (NOTES + 0.13, GATHERED))):
        ax.text(0.02, top + 0.08, f"layer {layer + 1}", fontsize=10, weight="bold", va="center")
        for line in (0, 1):
            head, (color, dash) = heads[2 * layer + line], LOOKS[2 * layer + line]
            y = top + 0.3 + 0.2 * line
            ax.plot([0.02, 0.25], [y, y], color=color, linestyle=dash, linewidth=2)
            ax.text(0.31, y, head, fontsize=9, va="center")
            for seen, looks, weight in _arrows(told, head):
                look = {"arrowstyle": "-|>", "color": color, "linestyle": dash, "linewidth": 2}
                look |= {"alpha": min(weight, 1.0), "shrinkA": 0, "shrinkB": 0}
                ax.annotate("", (places[looks], bottom), (places[seen], top), arrowprops=look)
    for x, value in zip(places, told["note"].tolist(), strict=True):
        if short(value) != "0":
            box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": NEW}
            ax.text(x, NOTES, f"note {short(value)}", fontsize=9, bbox=box, zorder=3, **centered)
    _table(ax, told)


def _table(ax: Axes, told: Mapping[str, Any]) -> None:
    """The six bits, their sums, and the answer."""
    palette, scale = colors(WEIGHTS, 0.0, 1.0)
    left, centered = 0.75, {"ha": "center", "va": "center", "fontsize": 9}
    across = [left + COLUMN * (k + 0.5) for k in range(len(BITS) + 1)]
    ax.text(0.02, TABLE - ROW, "six bits", fontsize=10, weight="bold", va="center")
    for x, bit in zip(across, (*BITS, "sum"), strict=True):
        ax.text(x, TABLE - ROW, bit, color=FAINT, **centered)
    rows = zip(ASKED, told["bits"].tolist(), _sums(told["bits"]), strict=True)
    for line, (what, bits, total) in enumerate(rows):
        y = TABLE + ROW * line
        ax.text(0.02, y, what, fontsize=10, va="center")
        for x, bit in zip(across, bits, strict=False):
            shade = palette(scale(bit))
            frame(ax, (x - COLUMN / 2, y - ROW / 2), COLUMN, ROW, facecolor=shade, edgecolor=FAINT)
            write(ax, y, x, short(bit), shade, 9.5)
        ax.text(across[-1] - COLUMN / 2 + 0.1, y, total, fontsize=9.5, va="center")
    box = {"boxstyle": "round,pad=0.3", "facecolor": WEIGHTS[1], "edgecolor": "black"}
    answer = told["answer"].replace(" ", "\n")
    look = {**centered, "fontsize": 11, "weight": "bold", "bbox": box}
    ax.text(WIDTH - 0.5, TABLE + ROW / 2, answer, **look)
