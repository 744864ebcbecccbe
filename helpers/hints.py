"""The hints that stand folded under an exercise, read from its lesson's notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
FOLDED = re.compile(r"<details><summary>Hint(?: \d+: )?(.*?)</summary>(.*?)</details>", re.DOTALL)


def hints_of(lesson: int, number: str) -> list[tuple[str, str]]:
    """The hints of the exercise with this number, such as "2.4", in order; none of its solution.

    Each is its title, such as "the mask is too large" (or ""), and its text.

    Raises `ValueError` when no notebook of the lesson has them.
    """
    cells = [
        cell
        for path in NOTEBOOKS.glob(f"{lesson:02}_*.ipynb")
        for cell in json.loads(path.read_text("utf-8"))["cells"]
    ]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    exercise = text.partition(f"\n### Exercise {number} ·")[2].partition("\n### ")[0]
    if found := [(title, " ".join(hint.split())) for title, hint in FOLDED.findall(exercise)]:
        return found
    raise ValueError(f"no notebook of lesson {lesson} in {NOTEBOOKS} has a hint for {number}")
