"""What the lessons need but do not teach: checks, pictures, shape tables.

`check`, `hint`, `judge` and `tally` are the doors to the exercises. They load what checks a
lesson's answers when one of them is handed in, and nothing of the other lessons.
"""

from __future__ import annotations

import importlib
from typing import Any

from helpers.exercises import NOT_ATTEMPTED, RIGHT, Exercise, Verdict
from helpers.hints import hints_of
from helpers.verdict_look import SIGNS, show_verdict, wrapped

__all__ = ["check", "hint", "judge", "tally"]

# For each lesson, the file in helpers/checks that knows what its answers must do, and the names of
# its exercises in order. That file has each under the same name, with _ for -.
LESSONS: dict[int, tuple[str, list[str]]] = {
    1: (
        "inputs",
        [
            *("three-shapes", "three-terms", "denoiser-inputs", "count-parameters"),
            *("noise-axis", "midpoint", "sinusoidal"),
        ],
    ),
    2: (
        "attention",
        ["shape-forecast", "clinic", "future-mask", "causal-attention", "peek-test", "sdpa-mask"],
    ),
    3: (
        "disobeys",
        [
            *("same-words", "previous-word-head", "layer", "flight-head"),
            *("parity", "six-bits", "eight-places", "patch"),
        ],
    ),
    4: ("denoiser", ["padding-mask", "encoder-block", "masked-loss", "unmask-step"]),
}
_states: dict[str, str] = {}  # of the exercises checked so far
_hints_told: dict[str, int] = {}  # how many, by exercise


def judge(name: str, answer: Any) -> Verdict:
    """The verdict on an answer, for tests; prints nothing.

    `name` is an exercise's name, such as "causal-attention", and `answer` what that exercise asks
    for: a class made from `nn.Module` (not an instance), a function, a dictionary, or a tuple of
    tensors with the shapes that its text states. Anything else may be handed in as well: it is
    told what is wanted. The answer runs on the CPU in float32, with random states of its own, and
    whatever the learner has set (default dtype and device, threads, grad mode, warnings) is as
    before afterwards. What the answer prints is not shown.

    The verdict's `state` is "not attempted" (nothing, or the stub), "wrong" (its `message` says
    what differs and asks a question) or "right" (its `message` says why that matters).

    Raises `KeyError`, naming the exercises that exist, when `name` is none of them, and lets
    `KeyboardInterrupt` through; every other error of the answer becomes a verdict.
    """
    return _exercise(name).judge(answer)


def check(name: str, answer: Any) -> None:
    """Show the verdict on an answer, in a notebook, and keep it for the lesson's tally.

    Takes what `judge` takes and raises what it raises. The first line shown is a sign, the
    exercise's number, its name and the verdict's state. Below it stands the message, its question
    set apart; below a right answer, how far the lesson's exercises are.
    """
    verdict = judge(name, answer)
    _states[name] = verdict.state
    lesson = _lesson(name)
    heading = f"{_numbers(lesson)[name]} {name}: {verdict.state}"
    progress = _progress(lesson) if verdict.state == RIGHT else ""
    show_verdict(verdict.state, heading, verdict.message, progress)


def hint(name: str) -> None:
    """Print the next hint for an exercise, and how many are left; after the last, the last again.

    They are those that stand folded under it in the lesson. Raises `KeyError`, naming the
    exercises that exist, when `name` is none of them.
    """
    lesson = _lesson(name)
    number = _numbers(lesson)[name]
    hints = hints_of(lesson, number)
    told = _hints_told[name] = min(_hints_told.get(name, 0) + 1, len(hints))
    left = len(hints) - told
    title, text = hints[told - 1]
    about = f" ({title})" if title else ""
    rest = f"{left} left" if left else "none left; the solution is folded under the exercise"
    print(f"{number} {name}: hint {told} of {len(hints)}{about}, {rest}")
    print(wrapped(text))


def tally(lesson: int) -> None:
    """Print how many of a lesson's exercises are right, and which one comes next.

    For example "✓✗○○○○ 1 of 6 done; next: 2.2 clinic". Raises `KeyError`, naming the lessons that
    exist, for any other number.
    """
    if lesson not in LESSONS:
        raise KeyError(f"no exercises for lesson {lesson!r}; there are: {[*LESSONS]}")
    print(_progress(lesson))


def _progress(lesson: int) -> str:
    numbers = _numbers(lesson)
    states = {name: _states.get(name, NOT_ATTEMPTED) for name in numbers}
    signs = "".join(SIGNS[state] for state in states.values())
    still_open = [name for name, state in states.items() if state != RIGHT]
    if not still_open:
        return f"{signs} all {len(numbers)} done: the lesson's exercises are yours"
    done = f"{len(numbers) - len(still_open)} of {len(numbers)} done"
    return f"{signs} {done}; next: {numbers[still_open[0]]} {still_open[0]}"


def _numbers(lesson: int) -> dict[str, str]:
    """The number of each of a lesson's exercises, such as "2.4", by name."""
    return {name: f"{lesson}.{count}" for count, name in enumerate(LESSONS[lesson][1], 1)}


def _lesson(name: str) -> int:
    for lesson, (_, names) in LESSONS.items():
        if name in names:
            return lesson
    known = ", ".join(name for _, names in LESSONS.values() for name in names)
    raise KeyError(f"no exercise is called {name!r}; there are: {known}")


def _exercise(name: str) -> Exercise:
    checks, _ = LESSONS[_lesson(name)]
    return getattr(importlib.import_module(f"helpers.checks.{checks}"), name.replace("-", "_"))
