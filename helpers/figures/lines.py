"""Lines over a common axis, each named where it ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.figures.canvas import FAINT, NEW, WEIGHTS, by_name, drawing, plain
from helpers.shapes import rounded

LINES = [(WEIGHTS[-1], "o", "-"), (NEW, "s", "--"), ("#555555", "^", ":"), (WEIGHTS[3], "v", "-.")]
HEIGHT = 3.4  # inches
MOST_MARKED = 20  # points of a line that each get a marker
APART = 0.09  # of the height: the names of two lines


def line_plot(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    picture: str,
    title: str,
    x_axis: str,
    y_axis: str,
    levels: Mapping[str, float] | None = None,
    marks: Mapping[str, float] | None = None,
    named_at: Mapping[str, float] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    decimals: int = 2,
) -> None:
    """Display lines over a common `x`, told apart by marker and dash, each named at its end.

    `lines` maps a name to as many values as `x` has; `levels` maps a name to a height at which a
    thin line is drawn across, `marks` a name to a place of `x` at which one is drawn upright.
    `named_at` maps a line to the place of `x` at which its name stands, if not at its end: above
    the line, or below where another line is higher. `log_x` and `log_y` take logarithmic axes.
    Raises `ValueError` when a line is of another length, when a line is to be named at no place
    of `x`, when there are more lines than styles, or when a logarithmic axis meets a number that
    is not above zero.
    """
    x, levels, marks = plain(x).tolist(), dict(levels or {}), dict(marks or {})
    named_at = dict(named_at or {})
    lines = {name: values.tolist() for name, values in by_name("line_plot", lines).items()}
    for name, values in lines.items():
        if len(values) != len(x):
            raise ValueError(f"{name!r} has {len(values)} values, x has {len(x)}")
        if log_y and min(values, default=1) <= 0:
            raise ValueError(f"{name!r} holds {min(values)}, which no logarithmic axis can show")
    if log_x and min(x, default=1) <= 0:
        raise ValueError(f"x holds {min(x)}, which no logarithmic axis can show")
    if len(lines) > len(LINES):
        raise ValueError(f"{len(lines)} lines, but only {len(LINES)} styles")
    for name, place in named_at.items():
        found = [k for k, here in enumerate(x) if math.isclose(here, place, rel_tol=1e-4)]
        if name not in lines or not found:
            raise ValueError(f"no line {name!r} has a point at {place} to be named at")
        named_at[name] = found[0]
    facts = [[x_axis, *lines]]
    for k, place in enumerate(x):
        facts.append([f"{place:g}", *(rounded(ys[k], decimals) for ys in lines.values())])
    facts += [[f"across, {name}", rounded(height, decimals)] for name, height in levels.items()]
    facts += [[f"upright, {name}", f"{place:g}"] for name, place in marks.items()]
    with drawing(HEIGHT, picture, facts) as (ax,):
        marked = {} if len(x) <= MOST_MARKED else {"markevery": len(x)}
        for values, (color, marker, dash) in zip(lines.values(), LINES, strict=False):
            ax.plot(x, values, color=color, marker=marker, linestyle=dash, linewidth=2, **marked)
        for height in levels.values():
            ax.axhline(height, color=FAINT, linewidth=1)
        for name, place in marks.items():
            ax.axvline(place, color=FAINT, linewidth=1)
            upper = {"transform": ax.get_xaxis_transform(), "va": "top", "ha": "right"}
            ax.text(place, 0.98, f"{name} ", fontsize=11, color=FAINT, **upper)
        if log_x:
            ax.set_xscale("log", base=2)
            ax.set_xticks(x, [f"{place:g}" for place in x])
        elif all(place == round(place) for place in x):
            ax.xaxis.get_major_locator().set_params(integer=True)
        if log_y:
            ax.set_yscale("log")
        ax.set_title(title, fontsize=13)
        ax.set_xlabel(x_axis, fontsize=12)
        ax.set_ylabel(y_axis, fontsize=12)
        ax.tick_params(labelsize=11)
        ax.grid(color="#dddddd")
        ax.margins(y=0.05 if not named_at else 0.12)
        ax.autoscale_view()  # or the heights below are those of an empty sheet
        ends = {**{name: values[-1] for name, values in lines.items()}, **levels} if x else {}
        for name, k in named_at.items():
            del ends[name]
            here = {other: values[k] for other, values in lines.items()}
            highest = here[name] == max(here.values())
            side = {"ha": "left", "va": "bottom"} if highest else {"ha": "right", "va": "top"}
            side |= {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
            at = {"xytext": (6, 3) if highest else (-6, -3), "textcoords": "offset points"}
            ax.annotate(name, (x[k], here[name]), fontsize=11, **at, **side)
        to_axes, free = ax.transData + ax.transAxes.inverted(), -math.inf
        heights = {name: to_axes.transform((x[-1], end))[1] for name, end in ends.items()}
        for name in sorted(heights, key=heights.get):
            height = max(heights[name], free)  # moved up as far as the name below it asks for
            ax.text(1.02, height, name, transform=ax.transAxes, va="center", fontsize=11)
            free = height + APART
