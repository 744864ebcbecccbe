"""What a verdict looks like: the same words as plain text, and in HTML for notebooks.

Tests compare both. The text alone reads well, for front ends that show no HTML. The HTML brings its
own background, so that it looks the same in light and dark themes; without its styles, as pages
that clean what they show leave it, its paragraphs stand in the same order.
"""

from __future__ import annotations

import html
import re
import sys
import textwrap

from helpers.exercises import NOT_ATTEMPTED, RIGHT, WRONG

SIGNS = {RIGHT: "✓", WRONG: "✗", NOT_ATTEMPTED: "○"}
WIDTH = 80  # characters of a line of text
# The edge, the background, and the color of the first line, which stands out from it by 4.5 : 1.
COLORS = {
    RIGHT: ("#1a7f37", "#e9f6ec", "#11602a"),
    WRONG: ("#c8700a", "#fdf1e3", "#8a4500"),
    NOT_ATTEMPTED: ("#767676", "#f1f2f4", "#474d57"),
}
INK = "#1b1b1b"
BOX = "border-left: 6px solid {}; background-color: {}; color: {}; padding: 8px 14px"


def show_verdict(state: str, heading: str, message: str, progress: str) -> None:
    """Show a verdict as HTML where a notebook can, and print it as text anywhere else.

    `message` is a finding, and perhaps a line with a question below it; `progress` may be empty.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    text = as_text(state, heading, message, progress)
    if shell and hasattr(shell, "kernel"):
        from IPython.display import display

        page = as_html(state, heading, message, progress)
        display({"text/plain": text, "text/html": page}, raw=True)
    else:
        print(text)


def as_text(state: str, heading: str, message: str, progress: str) -> str:
    """The verdict in lines of text, wrapped at words, with the question set apart."""
    finding, *asked = message.splitlines()
    lines = [f"{SIGNS[state]} {heading}", wrapped(finding)]
    for question in asked:
        lines += ["", wrapped(question)]
    return "\n".join([*lines, *([f"    {progress}"] if progress else [])])


def as_html(state: str, heading: str, message: str, progress: str) -> str:
    """The verdict as paragraphs in a box, with code words set as code."""
    edge, background, strong = COLORS[state]
    return "\n".join(
        [
            f'<div style="{BOX.format(edge, background, INK)}">',
            f'<p style="margin: 0; color: {strong}"><strong>{SIGNS[state]} {heading}</strong></p>',
            *(_paragraph(part) for part in (*message.splitlines(), progress) if part),
            "</div>",
        ]
    )


def wrapped(text: str) -> str:
    """Text in indented lines of at most `WIDTH` characters, broken at spaces only."""
    return textwrap.TextWrapper(WIDTH, "    ", "    ", break_on_hyphens=False).fill(text)


def _paragraph(text: str) -> str:
    code = rf'<code style="background-color: transparent; color: {INK}">\1</code>'
    text = re.sub(r"`([^`]+)`", code, html.escape(text, quote=False))
    text = re.sub(r"^Ask yourself:", "<strong>Ask yourself:</strong>", text)
    return f'<p style="margin: 6px 0 0 0">{text}</p>'
