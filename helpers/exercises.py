"""The exercise engine: demands, verdicts and the tally. It knows no lesson."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

NOT_ATTEMPTED, WRONG, RIGHT = "not attempted", "wrong", "right"
CRASHED = "Read the error: in which of your lines does it stop, and what was expected there?"
LONGEST_TEXT = 150  # characters of an error or a finding

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

        `question` is what a good teacher asks when the probe finds something. An error in
        the answer is told with a question of its own, unless the probe catches it.
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
                return Verdict(NOT_ATTEMPTED, "nothing is filled in yet")
            for probe, question in self.demands:
                try:
                    finding = probe(answer)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    finding, question = stops(error), CRASHED
                if finding:
                    return Verdict(WRONG, f"{shorten(finding)}\nAsk yourself: {question}")
        return Verdict(RIGHT, self.why)

    def _is_untouched(self, answer: Any) -> bool:
        try:
            return is_blank(answer) or is_blank(self.attempt(answer))
        except NotImplementedError as error:
            # torch raises the same class when an operation lacks a kernel.
            return not re.search("not implemented for|Could not run", describe(error))
        except KeyboardInterrupt:
            raise
        except BaseException:
            return False


def is_blank(value: Any) -> bool:
    """True for `None`, `...`, `NotImplemented`, and collections of nothing else."""
    if value is None or value is Ellipsis or value is NotImplemented:
        return True
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    return isinstance(value, list | tuple) and all(map(is_blank, value))


def stops(error: BaseException) -> str:
    return f"your code stops with {describe(error)}"


def describe(error: BaseException) -> str:
    """The error's class and the first line of its text."""
    try:
        lines = str(error).splitlines() or [""]
    except Exception:
        lines = [""]
    return shorten(f"{type(error).__name__}: {lines[0]}".removesuffix(": "))


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 2] + " …"


@contextlib.contextmanager
def _quiet():
    import torch

    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    elsewhere = torch.empty(0).device.type != "cpu"
    with (
        torch.device("cpu") if elsewhere else contextlib.nullcontext(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
        torch.random.fork_rng(devices=[]),
        torch.inference_mode(False),
        torch.autocast("cpu", enabled=False),
        torch.enable_grad(),
    ):
        warnings.simplefilter("ignore")
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(1)  # many small products: more threads only wait for each other
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_num_threads(threads)


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
