"""How long a lesson takes, counted in its notebook. `python -m helpers.project.minutes`

The pace is that of someone who reads everything for the first time and runs the cells: so many
words a minute, and seconds for each code cell, each **Predict** and each ten lines of output. An
exercise takes the minutes that its heading says.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from helpers.project.links import ROOT

WORDS_A_MINUTE = 180
SECONDS_A_CODE_CELL, SECONDS_A_PREDICT, SECONDS_TEN_LINES = 35, 30, 15
LONGEST_SITTING = 45  # minutes
PAUSE = "**Pause here.**"
NOT_READ = re.compile(r"<details>.*?</details>|\]\([^)]*\)|[|#>*$`-]+", re.DOTALL)


@dataclass
class Minutes:
    """The minutes of a lesson, without exercises: by section of the core path, by side room, and
    by sitting of the core path. Then those of the exercises, on the core path and in side rooms.

    Sections are known by the first word of their heading, such as "1"; what stands before the
    first is "opening".
    """

    sections: dict[str, float] = field(default_factory=dict)
    rooms: dict[str, float] = field(default_factory=dict)
    sittings: list[float] = field(default_factory=lambda: [0.0])
    exercises: int = 0
    exercises_in_rooms: int = 0

    def promise(self) -> str:
        """What the lesson's first cell says of its time."""
        sittings = f" in {len(self.sittings)} sittings" if len(self.sittings) > 1 else ""
        rooms = sum(up(minutes, 1) for minutes in self.rooms.values())
        in_rooms = self.exercises_in_rooms
        return (
            f"core path {up(sum(self.sittings))} minutes{sittings}, "
            f"exercises on it {self.exercises}; "
            f"side rooms {rooms}" + (f", their exercises {in_rooms}" if in_rooms else "")
        )


def up(minutes: float, step: int = 5) -> int:
    """Rounded up to whole steps."""
    return math.ceil(minutes / step) * step


def count(notebook: dict) -> Minutes:
    """The minutes of a lesson from its cells."""
    found, section, room, in_exercise = Minutes(), "opening", "", False
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if heading := re.match(r"## (Deeper: )?(.*)", text):
                room = heading[2] if heading[1] else ""
                number = re.match(r"(\d+) ·", heading[2])
                section = number[1] if number else "opening" if section == "opening" else "end"
            exercise = re.search(r"^### Exercise .*, (\d+) minutes\)", text, re.MULTILINE)
            in_exercise = bool(exercise)
            if exercise and room:
                found.exercises_in_rooms += int(exercise[1])
            elif exercise:
                found.exercises += int(exercise[1])
        if not in_exercise:
            minutes = _minutes(cell, text)
            if room:
                found.rooms[room] = found.rooms.get(room, 0.0) + minutes
            else:
                found.sections[section] = found.sections.get(section, 0.0) + minutes
                found.sittings[-1] += minutes
        if PAUSE in text and not room:
            found.sittings.append(0.0)
    return found


def _minutes(cell: dict, text: str) -> float:
    if cell["cell_type"] == "markdown":
        words = len(NOT_READ.sub(" ", text).split())
        predicts = len(re.findall(r"^> \*\*Predict", text, re.MULTILINE))
        return words / WORDS_A_MINUTE + predicts * SECONDS_A_PREDICT / 60
    if cell["metadata"].get("jupyter", {}).get("source_hidden"):
        return 0.0
    printed = "".join("".join(o.get("text", "")) for o in cell["outputs"])
    lines = sum(bool(line.strip()) for line in printed.splitlines())
    return (SECONDS_A_CODE_CELL + lines / 10 * SECONDS_TEN_LINES) / 60


def lessons() -> dict[Path, Minutes]:
    """The minutes of each lesson, by its file."""
    paths = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    return {path: count(json.loads(path.read_text(encoding="utf-8"))) for path in paths}


if __name__ == "__main__":
    for path, minutes in lessons().items():
        print(f"{path.stem}: {minutes.promise()}")
        for kind in ("sections", "rooms"):
            counted = getattr(minutes, kind).items()
            print(f"  {kind}: " + ", ".join(f"{name} {spent:.1f}" for name, spent in counted))
        print("  sittings: " + ", ".join(f"{spent:.1f}" for spent in minutes.sittings))
