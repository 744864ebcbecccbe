"""What the lessons need but do not teach: checks, pictures, shape tables, links."""

from __future__ import annotations

import importlib
from typing import Any

from helpers.exercises import Exercise, Tally, Verdict

__all__ = ["check", "judge", "tally"]

LESSONS = {1: "helpers.lesson1", 2: "helpers.lesson2", 3: "helpers.lesson3"}
_tally = Tally()


def judge(name: str, answer: Any) -> Verdict:
    """The verdict on an answer; never prints, and raises only for an unknown name.

    Raises `KeyError`, naming the exercises that exist, when `name` is none of them.
    """
    return _exercise(name).judge(answer)


def check(name: str, answer: Any) -> None:
    """Print the verdict on an answer and keep it for the lesson's tally.

    Raises `KeyError`, naming the exercises that exist, when `name` is none of them.
    """
    exercise = _exercise(name)
    verdict = exercise.judge(answer)
    _tally.record(name, verdict)
    print(f"{exercise.number} {name}: {verdict.state}")
    for line in verdict.message.splitlines():
        print(f"    {line}")


def tally(lesson: int) -> None:
    """Print how many of a lesson's exercises are right, and which one comes next.

    Raises `KeyError`, naming the lessons that exist, for any other number.
    """
    if lesson not in LESSONS:
        raise KeyError(f"no exercises for lesson {lesson!r}; there are: {[*LESSONS]}")
    print(_tally.summary(_exercises(lesson)))


def _exercises(lesson: int) -> list[Exercise]:
    return importlib.import_module(LESSONS[lesson]).EXERCISES


def _exercise(name: str) -> Exercise:
    known = {e.name: e for lesson in LESSONS for e in _exercises(lesson)}
    if name not in known:
        raise KeyError(f"no exercise is called {name!r}; there are: {', '.join(known)}")
    return known[name]
