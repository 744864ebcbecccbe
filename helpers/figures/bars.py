"""One row of numbers through several steps, as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from torch import Tensor

from helpers.figures.canvas import FAINT, WEIGHTS, drawing, plain
from helpers.shapes import rounded

STEP_HEIGHT, LABELS_HEIGHT = 0.7, 0.8  # inches
SPAN = 0.4  # from the lowest bar's end to the highest's; steps are 1 apart
HIDDEN = "#e4e4e4"
LETTERS_ACROSS = 36  # that stand beside each other under half a picture


def step_bars(
    columns: Mapping[str, Mapping[str, Tensor | Sequence[float]]],
    *,
    picture: str,
    names: Sequence[str],
    hidden: Tensor | Sequence[float] | None = None,
) -> None:
    """Display columns of steps side by side, each step a row of bars with their numbers.

    `columns` maps a title to its steps, from top to bottom: a name and one number for each of
    `names`. Steps whose names begin with one word have one scale. `hidden` marks with a gray ground
    the places where it is nonzero. An infinite number is written without a bar. Raises
    `ValueError` when a step, or `hidden`, has another length than `names`.
    """
    drawn = {
        title: {step: plain(values).tolist() for step, values in steps.items()}
        for title, steps in columns.items()
    }
    hidden = [0] * len(names) if hidden is None else plain(hidden).tolist()
    lengths = {step: len(values) for steps in drawn.values() for step, values in steps.items()}
    for step, length in {**lengths, "hidden": len(hidden)}.items():
        if length != len(names):
            raise ValueError(f"{step!r} has {length} numbers, but there are {len(names)} names")
    if not drawn:
        raise ValueError("there are no steps to draw")
    facts, ranges = [], {}
    for title, steps in drawn.items():
        facts.append([title, *names])
        for step, values in steps.items():
            cells = [
                rounded(value, 2) + (" hidden" if hide else "")
                for value, hide in zip(values, hidden, strict=True)
            ]
            facts.append([step, *cells])
            finite = [*filter(isfinite, values), *ranges.get(_kind(step), [0.0])]
            ranges[_kind(step)] = min(finite), max(finite)
    most = max(map(len, drawn.values()))
    height = STEP_HEIGHT * most + LABELS_HEIGHT
    turned = len(names) * (1 + max(map(len, names))) > LETTERS_ACROSS
    with drawing(height, picture, facts, panels=len(drawn), beside=True) as axes:
        for ax, (title, steps) in zip(axes, drawn.items(), strict=True):
            ax.set_title(title, fontsize=12)
            ax.set_xticks(range(len(names)), names, rotation=90 if turned else 0)
            ax.set_yticks([])
            ax.tick_params(labelsize=10, length=0)
            ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(0.85 - most, 0.95))
            for place, hide in enumerate(hidden):
                if hide:
                    ax.axvspan(place - 0.5, place + 0.5, color=HIDDEN, linewidth=0)
            for k, (step, values) in enumerate(steps.items()):
                low, high = ranges[_kind(step)]
                unit = SPAN / max(high - low, 1e-9)
                zero = -k - low * unit
                ax.axhline(zero, color=FAINT, linewidth=1)
                ax.text(-0.4, 0.78 - k, step, fontsize=11, weight="bold", va="center")
                for place, value in enumerate(values):
                    tall = value * unit if isfinite(value) else 0.0
                    ax.bar(place, tall, bottom=zero, width=0.7, color=WEIGHTS[3])
                    text = rounded(value, 2).replace("inf", "∞")
                    above = zero + max(tall, 0.0) + 0.02
                    ax.text(place, above, text, ha="center", va="bottom", fontsize=9)


def _kind(step: str) -> str:
    return step.replace(",", " ").split()[0]
