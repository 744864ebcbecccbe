"""The exercise engine: demands and verdicts. It knows no lesson."""

from __future__ import annotations

import contextlib
import dis
import functools
import io
import linecache
import random
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

NOT_ATTEMPTED, WRONG, RIGHT = "not attempted", "wrong", "right"
CRASHED = "Read the error: in which of your lines does it stop, and what was expected there?"
NOT_RETURNED = "Which line hands the result back to whoever called? Is there a `return`?"
PRINTED = "Can anybody compute with what is printed? Which word hands a result back?"
# The steps of a function that returns a constant.
IDLE = {"RESUME", "NOP", "LOAD_CONST", "LOAD_GLOBAL", "RETURN_CONST", "RETURN_VALUE"}
LONGEST_TEXT = 250  # characters of a finding
LONGEST_ERROR, LONGEST_LINE = 150, 60  # of an error, and of a line that is quoted

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
        with _quiet() as printed:
            blank, written = self._first_try(answer)
            if blank and not written:
                return Verdict(NOT_ATTEMPTED, "nothing is filled in yet")
            if blank:
                return Verdict(WRONG, _nothing_returned(answer, printed.getvalue()))
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
        if _learners_frames(error):
            return stops(error), CRASHED
        with contextlib.suppress(Exception):
            returned = returned or [self.attempt(answer)]
        by_call = returned and returned[0] is not answer
        yours = f"return {in_words(returned[0])}" if by_call else f"hand in {in_words(answer)}"
        question = f"The exercise wants {self.wanted}: where does yours differ?"
        return f"you {yours}, and the checker stops with {describe(error)}", question

    def _first_try(self, answer: Any) -> tuple[bool, bool]:
        """Whether an answer, or what it returns, is blank, and whether code was written for it."""
        try:
            blank = is_blank(answer) or is_blank(self.attempt(answer))
            return blank, not _does_nothing(answer)
        except NotImplementedError as error:
            # torch raises the same class when an operation lacks a kernel.
            return not re.search(
                "not implemented for|Could not run|no data", describe(error)
            ), False
        except KeyboardInterrupt:
            raise
        except BaseException:
            return False, True


def is_blank(value: Any) -> bool:
    """True for `None`, `...`, `NotImplemented`, and collections of nothing else."""
    if value is None or value is Ellipsis or value is NotImplemented:
        return True
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    return isinstance(value, list | tuple) and all(map(is_blank, value))


def _does_nothing(answer: Any) -> bool:
    """Whether no function in an answer does more than to return a constant."""
    own = vars(answer).values() if isinstance(answer, type) else [getattr(answer, "__wrapped__", 0)]
    return all(
        {step.opname for step in dis.get_instructions(function)} <= IDLE
        for function in own
        if isinstance(function, types.FunctionType)
    )


def _nothing_returned(answer: Any, printed: str) -> str:
    """What to tell of code that does something and returns nothing."""
    name = "forward" if isinstance(answer, type) else answer.__name__
    if printed.strip():
        return f"{name} prints, and returns None\nAsk yourself: {PRINTED}"
    return f"{name} returns None\nAsk yourself: {NOT_RETURNED}"


def _noting(function: Callable, returned: list) -> Callable:
    """The function, with its last result noted in `returned`."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        returned[:] = [function(*args, **kwargs)]
        return returned[0]

    return call


def _learners_frames(error: BaseException) -> list[tuple[types.FrameType, int]]:
    """The frames of the learner's code in which the error was raised, each with its line."""
    ours = {"helpers", "numpy", "torch", *sys.stdlib_module_names}
    return [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").split(".")[0] not in ours
    ]


def stops(error: BaseException) -> str:
    """Where the learner's code stops, and with what: the last line of the cell that was called."""
    frames = _learners_frames(error)
    if not frames:
        return f"using it stops with {describe(error)}"
    cell = frames[0][0].f_code.co_filename
    line = [number for frame, number in frames if frame.f_code.co_filename == cell][-1]
    text = linecache.getline(cell, line).strip()
    where = f"line {line}, `{shorten(text, LONGEST_LINE)}`," if text else f"line {line}"
    return f"your code stops in {where} with {describe(error)}"


def told(value: Any) -> str:
    """A short value as it is written, and what any other one is."""
    text = repr(value)
    return text if len(text) <= LONGEST_LINE and "\n" not in text else in_words(value)


def in_words(value: Any) -> str:
    """What a value is: its type, and what a tensor or a collection is made of."""
    import torch

    name = type(value).__name__
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is None:
        return "None"
    if isinstance(value, tuple | list):
        return f"a {name} of {len(value)} ({', '.join(type(v).__name__ for v in value[:4])})"
    if isinstance(value, torch.Tensor):
        shape = "nested" if value.is_nested else f"shape {tuple(value.shape)}"
        layout = [] if value.layout == torch.strided else [value.layout]
        return f"a tensor ({', '.join(map(str, [shape, value.dtype, *layout, value.device]))})"
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"


def describe(error: BaseException) -> str:
    """The error's class and the first line of its text."""
    try:
        lines = str(error).splitlines() or [""]
    except Exception:
        lines = [""]
    return shorten(f"{type(error).__name__}: {lines[0]}".removesuffix(": "), LONGEST_ERROR)


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    return text if len(text) <= longest else text[: longest - 2] + " …"


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    """The conditions under which an answer runs; gives what it prints."""
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
        contextlib.redirect_stdout(io.StringIO()) as printed,
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
            yield printed
        finally:
            for restore, value in kept:
                restore(value)
    if torch.empty(0).device != device:
        torch.set_default_device(device if device.type != "cpu" else None)
