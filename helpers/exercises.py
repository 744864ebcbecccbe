"""The exercise engine: demands, verdicts and the tally. It knows no lesson."""

from __future__ import annotations

import contextlib
import functools
import io
import random
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NOT_ATTEMPTED, WRONG, RIGHT = "not attempted", "wrong", "right"
CRASHED = "Read the error: in which of your lines does it stop, and what was expected there?"
LONGEST_TEXT = 150  # characters of an error or a finding

Probe = Callable[[Any], "str | None"]
_kept: dict[tuple, Any] = {}


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Computes what several probes look at once for an answer, until another one is judged."""

    @functools.wraps(function)
    def kept(answer: Any, *more: Any) -> Any:
        key = function, id(answer), more
        if key not in _kept:
            _kept[key] = function(answer, *more)
        return _kept[key]

    return kept


@dataclass(frozen=True)
class Verdict:
    """What the checker says: `state` is "not attempted", "wrong" or "right"."""

    state: str
    message: str


@dataclass(frozen=True)
class Demand:
    """A probe returns what differs in an answer, in words and numbers, or `None`; the question is
    what a good teacher asks then. Those that decide are the musts, the others are hints."""

    probe: Probe
    question: str
    decides: bool


@dataclass
class Exercise:
    """One exercise and its demands, in the order in which they are told, weakest first.

    An answer is right when it meets all musts. Otherwise the first demand that finds something
    speaks, be it a must or a hint: so a hint may explain a mistake better, and can never cost a
    right answer.

    `wanted` says what an answer is, to those who hand in something else. `attempt` makes the
    answer produce its first result; a blank result (`None`, `...`) or a stub's
    `NotImplementedError` means that nobody has worked on it yet.
    """

    name: str
    why: str
    wanted: str
    attempt: Callable[[Any], Any]
    demands: list[Demand] = field(default_factory=list)

    def must(self, question: str) -> Callable[[Probe], Probe]:
        """Add a probe that decides whether an answer is right.

        An error in the answer is told with a question of its own, unless the probe catches it.
        """
        return lambda probe: self._add(probe, question, decides=True)

    def hint(self, question: str) -> Callable[[Probe], Probe]:
        """Add a probe that explains a mistake and decides nothing."""
        return lambda probe: self._add(probe, question, decides=False)

    def _add(self, probe: Probe, question: str, decides: bool) -> Probe:
        self.demands.append(Demand(probe, question, decides))
        return probe

    def judge(self, answer: Any) -> Verdict:
        """Try the musts and, when one finds something, tell the first demand that does.

        Prints nothing, raises nothing, and leaves as it was what a learner may have set.
        """
        returned: list = []
        if isinstance(answer, types.FunctionType):
            answer = _noting(answer, returned)
        _kept.clear()
        with _quiet():
            if self._is_untouched(answer):
                return Verdict(NOT_ATTEMPTED, "nothing is filled in yet")
            found = functools.cache(lambda demand: self._found(demand, answer, returned))
            if not any(found(demand) for demand in self.demands if demand.decides):
                return Verdict(RIGHT, self.why)
            return Verdict(WRONG, next(filter(None, map(found, self.demands))))

    def _found(self, demand: Demand, answer: Any, returned: list) -> str | None:
        """What to tell a learner when a demand finds something in an answer."""
        finding, question = None, demand.question
        try:
            finding = demand.probe(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            finding, question = self._stopped(answer, returned, error)
        return f"{shorten(finding)}\nAsk yourself: {question}" if finding else None

    def _stopped(self, answer: Any, returned: list, error: BaseException) -> tuple[str, str]:
        """What to say of an error: in the learner's lines, or here with what they made."""
        if in_learners_code(error):
            return stops(error), CRASHED
        with contextlib.suppress(Exception):
            returned = returned or [self.attempt(answer)]
        by_call = returned and returned[0] is not answer
        yours = f"return {in_words(returned[0])}" if by_call else f"hand in {in_words(answer)}"
        question = f"The exercise wants {self.wanted}: where does yours differ?"
        return f"you {yours}, and the checker stops with {describe(error)}", question

    def _is_untouched(self, answer: Any) -> bool:
        try:
            return is_blank(answer) or is_blank(self.attempt(answer))
        except NotImplementedError as error:
            # torch raises the same class when an operation lacks a kernel.
            return not re.search("not implemented for|Could not run|no data", describe(error))
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


def _noting(function: Callable, returned: list) -> Callable:
    """The function, with its last result noted in `returned`."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        returned[:] = [function(*args, **kwargs)]
        return returned[0]

    return call


def in_learners_code(error: BaseException) -> bool:
    """Whether a line of the learner's had a part in it when the error was raised."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    modules = {frame.f_globals.get("__name__", "").split(".")[0] for frame in frames}
    return not modules <= {"helpers", "numpy", "torch", *sys.stdlib_module_names}


def stops(error: BaseException) -> str:
    who = "your code" if in_learners_code(error) else "using it"
    return f"{who} stops with {describe(error)}"


def in_words(value: Any) -> str:
    """What a value is: its type, and what a tensor or a collection is made of."""
    import torch

    name = type(value).__name__
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, tuple | list):
        return f"a {name} of {len(value)} ({', '.join(type(v).__name__ for v in value[:4])})"
    if isinstance(value, torch.Tensor):
        shape = "nested" if value.is_nested else f"shape {tuple(value.shape)}"
        layout = [] if value.layout == torch.strided else [value.layout]
        return f"a tensor ({', '.join(map(str, [shape, value.dtype, *layout, value.device]))})"
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


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
    import numpy
    import torch

    device = torch.empty(0).device  # torch 2.8 cannot say which is the default once it was reset
    kept = [
        (torch.set_default_dtype, torch.get_default_dtype()),
        (torch.set_num_threads, torch.get_num_threads()),
        (random.setstate, random.getstate()),
        (numpy.random.set_state, numpy.random.get_state()),
    ]
    with (
        torch.device("cpu") if device.type != "cpu" else contextlib.nullcontext(),
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
            for restore, value in kept:
                restore(value)
    if torch.empty(0).device != device:
        torch.set_default_device(device if device.type != "cpu" else None)
