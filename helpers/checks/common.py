"""What the lessons' demands have in common when they look at a learner's answer."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from helpers.exercises import Exercise, in_words, is_blank, stops, told
from helpers.shapes import by

STUB = "the dictionary that stood in the cell, filled in"
NOT_FINITE = "Which step makes a number that is no number: a division, a log, an inf?"
TOLERANCE = 1e-4  # right answers in other forms round differently


def differs(a: Tensor, b: Tensor, tolerance: float = TOLERANCE) -> bool:
    """True when two tensors differ in shape or by more than rounding; nan equals nan.

    Their dtypes may differ.
    """
    if a.dtype != b.dtype:
        a, b = a.double(), b.double()
    return a.shape != b.shape or not torch.allclose(
        a, b, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def how_far(found: Tensor, wanted: Tensor) -> str:
    """How far a tensor is from another one, in words that any gap makes true."""
    gap = (found - wanted).abs().max()
    if not gap.isfinite():
        return "is not finite"
    return f"is off by up to {gap:.2f}" if gap > 0.01 else f"is off by up to {gap:.1g}"


def many(number: int, noun: str) -> str:
    """So many of something: "1 text", "2 texts"."""
    return f"{number} {noun}" + "s" * (number != 1)


def seed(number: int) -> None:
    """Seed what is drawn on the CPU. `torch.manual_seed` notes the stack for each GPU as well."""
    torch.default_generator.manual_seed(number)


def with_known_weights(module: nn.Module) -> nn.Module:
    """A module of ours with the same weights each time, however modules begin by default."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) / 2)
    return module


def first(mask: Tensor) -> tuple[int, ...]:
    """The place of the first true entry."""
    return tuple(mask.nonzero()[0].tolist())


def other_parameter(model: nn.Module, own: Sequence[str], *inputs: Tensor) -> str | None:
    """A parameter beside those of a model's `own` layers that has a part in the output."""
    before = model(*inputs)
    for name, weight in model.named_parameters():
        if weight.requires_grad and name.split(".")[0] not in own:
            with torch.no_grad():
                weight.normal_()
            if differs(before, model(*inputs)):
                return f"other numbers in the parameter {name!r} change the output"
    return None


def demand_class(exercise: Exercise, what: str) -> None:
    """Add the first hints of an exercise that asks for a class made from `nn.Module`."""

    @exercise.hint(f"`check` builds the {what} itself: have you handed in the class?")
    def answer_is_a_class(answer: Any) -> str | None:
        if isinstance(answer, type) and issubclass(answer, nn.Module):
            return None
        name = type(answer).__name__
        if isinstance(answer, nn.Module):
            return f"the answer is one {name}, already built, not the class {name}"
        return f"the answer is {name!r}, not a class made from nn.Module"

    @exercise.hint("Which name, attribute or argument does the error's last line miss?")
    def names_exist(answer: type[nn.Module]) -> str | None:
        try:
            exercise.attempt(answer)
        except (NameError, AttributeError, TypeError) as error:
            return stops(error)
        except Exception:
            return None  # shapes, dtypes and numbers: later demands'
        return None


def no_dictionary(answer: Any) -> str | None:
    """What is wrong with an answer that should be the dictionary of its stub."""
    if isinstance(answer, dict):
        return None
    return f"the answer is {in_words(answer)}, not the dictionary that stood in the cell"


def no_truth_value(found: Any) -> str | None:
    """What is wrong with a result that should be True or False, or a number equal to either."""
    with contextlib.suppress(Exception):
        if not isinstance(found, str) and float(found) in (0.0, 1.0):
            return None
    return f"{told(found)}, not True or False"


def too_few_runs(test: Callable[..., Any], model: nn.Module, *lent: Tensor) -> str | None:
    """What to tell of a test of models that runs the lent one less than twice."""
    runs = []
    model.register_forward_hook(lambda *_: runs.append(1))
    test(model, *lent)
    if len(runs) > 1:
        return None
    return (
        "your test runs the model once" if runs else "your test says so without running the model"
    )


def shape_exercise(
    why: str,
    shapes: dict[str, tuple[tuple[int, ...], str]],
    axes: str = "",
    also: dict[str, tuple[int, ...]] | None = None,
    slips: Sequence[tuple[str, Callable[[tuple], bool], str]] = (),
) -> Exercise:
    """An exercise whose answer maps each name to a shape.

    `shapes` maps each name to the right shape and to the question to ask about another. `axes`,
    if given, is asked instead when a shape has too few axes, or too many. `also` holds shapes that
    are right as well; `slips` names, kinds of wrong shapes and a question for each.
    """
    exercise = Exercise(why, STUB, attempt=lambda answer: answer)

    @exercise.hint("One tuple of whole numbers for each name: which is missing, or something else?")
    def all_shapes_are_there(answer: Any) -> str | None:
        if finding := no_dictionary(answer):
            return finding
        for name in shapes:
            given = answer.get(name)
            if is_blank(given):
                return f"there is no shape for {name!r} yet"
            if not isinstance(given, tuple | list) or not all(
                isinstance(size, numbers.Integral) for size in given
            ):
                return f"the shape for {name!r} is {told(given)}, not a tuple such as (2, 6, 3)"
        return None

    for name, (shape, question) in shapes.items():
        if axes:
            _explain_axes(exercise, name, len(shape), axes)
        right = {shape, (also or {}).get(name, shape)}
        for slipped, is_kind, own_question in slips:
            if slipped == name:
                _ask_for_shape(exercise.hint, own_question, name, right, is_kind)
        _ask_for_shape(exercise.must, question, name, right)
    return exercise


def _explain_axes(exercise: Exercise, name: str, wanted: int, question: str) -> None:
    @exercise.hint(question)
    def axes_are_there(answer: dict) -> str | None:
        axes = len(answer[name])
        return None if axes == wanted else f"{name!r} has {axes} axes in yours"


def _ask_for_shape(
    ask: Callable, question: str, name: str, right: set[tuple], is_kind: Callable | None = None
) -> None:
    """Add a must or a hint about a shape, or about a wrong one of a kind."""

    @ask(question)
    def shape_is_right(answer: dict) -> str | None:
        given = tuple(answer[name])
        fits = given in right and not isinstance(answer[name], set)
        if fits or (is_kind and not is_kind(given)):
            return None
        return f"{name!r} does not come out as {by(given)}"


def refused_call(run: Callable[..., Any], *args: Any) -> tuple[str, list[Tensor]]:
    """The name and the tensors of the torch function that stops `run(...)`; of none, "" and []."""
    refused: list[tuple[str, list[Tensor]]] = []

    class Watches(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            given = [*args, *(kwargs or {}).values()]
            try:
                return func(*args, **(kwargs or {}))
            except Exception:
                refused.append(
                    (getattr(func, "__name__", ""), [a for a in given if isinstance(a, Tensor)])
                )
                raise

    with contextlib.suppress(Exception), Watches():
        run(*args)
    return refused[0] if refused else ("", [])
