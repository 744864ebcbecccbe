"""The exercise engine: demands, verdicts and the tally. It knows no lesson."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

NOT_ATTEMPTED, WRONG, RIGHT = "not attempted", "wrong", "right"

Probe = Callable[[Any], "str | None"]


@dataclass(frozen=True)
class Verdict:
    """What the checker says: `state` is "not attempted", "wrong" or "right"."""

    state: str
    message: str


@dataclass
class Exercise:
    """One exercise: its place in the series and its demands, weakest first.

    `attempt` makes the answer produce its first result; a blank result (`None`, `...`)
    or a stub's `NotImplementedError` means that nobody has worked on it yet.
    """

    number: str
    name: str
    why: str
    attempt: Callable[[Any], Any]
    demands: list[tuple[Probe, str]] = field(default_factory=list)

    def demand(self, question: str) -> Callable[[Probe], Probe]:
        """Add a probe: it returns what differs, in words and numbers, or `None`.

        `question` is what a good teacher asks when the probe finds something.
        """

        def add(probe: Probe) -> Probe:
            self.demands.append((probe, question))
            return probe

        return add

    def judge(self, answer: Any) -> Verdict:
        """Try the demands in order and stop at the first that fails.

        Prints nothing, raises nothing, and leaves torch's random state as it was.
        """
        with _quiet():
            if self._is_untouched(answer):
                return Verdict(NOT_ATTEMPTED, "fill in the stub, then run its cell again")
            for probe, question in self.demands:
                try:
                    finding = probe(answer)
                except (Exception, SystemExit) as error:
                    finding = f"your code stops with {describe(error)}"
                if finding:
                    return Verdict(WRONG, f"{finding}\nAsk yourself: {question}")
        return Verdict(RIGHT, self.why)

    def _is_untouched(self, answer: Any) -> bool:
        if is_blank(answer):
            return True
        try:
            return is_blank(self.attempt(answer))
        except NotImplementedError as error:
            # torch raises the same class when an operation lacks a kernel.
            return "not implemented for" not in str(error)
        except (Exception, SystemExit):
            return False


def is_blank(value: Any) -> bool:
    """True for `None`, `...`, `NotImplemented`, and collections of nothing else."""
    if value is None or value is Ellipsis or value is NotImplemented:
        return True
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    return isinstance(value, list | tuple) and all(map(is_blank, value))


def describe(error: BaseException) -> str:
    """The error's class and the first line of its text."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".removesuffix(": ")


@contextlib.contextmanager
def _quiet():
    import torch

    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
        torch.random.fork_rng(devices=[]),
        torch.enable_grad(),
    ):
        warnings.simplefilter("ignore")
        yield


class Tally:
    """The verdicts of this run of a lesson, by exercise name."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def record(self, name: str, verdict: Verdict) -> None:
        self._states[name] = verdict.state

    def summary(self, exercises: Iterable[Exercise]) -> str:
        """For example "2 of 5 done; next: 2.3 causal-mask"."""
        exercises = list(exercises)
        open_ones = [e for e in exercises if self._states.get(e.name) != RIGHT]
        done = len(exercises) - len(open_ones)
        if not open_ones:
            return f"{done} of {len(exercises)} done: all of them"
        following = open_ones[0]
        return f"{done} of {len(exercises)} done; next: {following.number} {following.name}"
