"""Words that are written step by step: a row for each step, new letters standing out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from helpers.figures.canvas import FAINT, NEW, WEIGHTS, drawing, frame

ROW_HEIGHT = 0.27  # inches
STEPS_WIDTH, BETWEEN = 3.2, 1.0  # letters: the words on the left, and between two columns
GAP, HIDDEN = "_", "#e4e4e4"
WRITTEN = {"edgecolor": NEW, "linewidth": 2, "zorder": 2}
STANDING = {"edgecolor": FAINT, "linewidth": 0.5, "zorder": 1}


def word_steps(
    panels: Mapping[str, Sequence[Sequence[str]]], *, known: Collection[str], picture: str
) -> None:
    """Display the steps in which words were written, one panel under the other.

    `panels` maps a title to its steps; a step holds one word for each column, with `_` for a
    letter that is hidden. A letter that a step has written is framed. Below the last step stands
    a check mark under each word that is `known`, and a cross under each other. Raises `ValueError`
    when the steps of a panel differ in their number of words, or in the words' lengths.
    """
    facts = []
    for title, steps in panels.items():
        if len({tuple(map(len, words)) for words in steps}) != 1:
            raise ValueError(f"the steps of {title!r} differ in their words, or in their lengths")
        facts += [[f"{title}, step", k, *words] for k, words in enumerate(steps)]
        facts.append([f"{title}, known", sum(word in known for word in steps[-1])])
    rows = sum(len(steps) + 2 for steps in panels.values())
    across = max(sum(len(word) + BETWEEN for word in steps[0]) for steps in panels.values())
    with drawing(ROW_HEIGHT * rows, picture, facts) as (ax,):
        ax.set(xlim=(-STEPS_WIDTH, across - BETWEEN), ylim=(rows, 0))
        ax.axis("off")
        top = 0
        for title, steps in panels.items():
            centered = {"ha": "center", "va": "center", "fontsize": 11}
            ax.text(-STEPS_WIDTH, top + 0.5, title, va="center", fontsize=12, weight="bold")
            for k, words in enumerate(steps):
                before, row, column = steps[max(k - 1, 0)], top + 1 + k, 0.0
                ax.text(-STEPS_WIDTH, row + 0.5, f"step {k}", va="center", fontsize=11)
                for word, old in zip(words, before, strict=True):
                    for letter, was in zip(word, old, strict=True):
                        ground = HIDDEN if letter == GAP else "white"
                        look = {"facecolor": ground, **(STANDING if letter == was else WRITTEN)}
                        frame(ax, (column + 0.06, row + 0.06), 0.88, 0.88, **look)
                        shown = letter.replace(GAP, "")
                        ax.text(column + 0.5, row + 0.5, shown, color=WEIGHTS[-1], **centered)
                        column += 1
                    column += BETWEEN
            column, top = 0.0, top + len(steps) + 1
            for word in steps[-1]:
                mark = "✓ a word" if word in known else "✗ no word"
                ax.text(column + len(word) / 2, top + 0.4, mark, **centered)
                column += len(word) + BETWEEN
            top += 1
