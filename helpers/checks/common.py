"""What the lessons' demands have in common when they look at a learner's answer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from helpers.exercises import Exercise, is_blank
from helpers.shapes import by

STUB = "the dictionary of the stub, filled in"
TOLERANCE = 1e-4  # right answers in other forms round differently


def differs(a: Tensor, b: Tensor, tolerance: float = TOLERANCE) -> bool:
    """True when two tensors differ in shape or by more than rounding; nan equals nan."""
    return a.shape != b.shape or not torch.allclose(
        a, b, rtol=tolerance, atol=tolerance, equal_nan=True
    )


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


def no_module_class(answer: Any) -> str | None:
    """What is wrong with an answer that should be a class made from `nn.Module`."""
    if isinstance(answer, type) and issubclass(answer, nn.Module):
        return None
    return f"the answer is {type(answer).__name__!r}, not a class made from nn.Module"


def no_dictionary(answer: Any) -> str | None:
    """What is wrong with an answer that should be the dictionary of its stub."""
    if isinstance(answer, dict):
        return None
    return f"the answer is a {type(answer).__name__}, not the dictionary of the stub"


def shape_exercise(name: str, why: str, shapes: dict[str, tuple[tuple[int, ...], str]]) -> Exercise:
    """An exercise whose answer maps each name to a shape.

    `shapes` maps each name to the right shape and to the question to ask about another.
    """
    exercise = Exercise(name, why, STUB, attempt=lambda answer: answer)

    @exercise.hint("One tuple of whole numbers for each name: which is missing, or something else?")
    def all_shapes_are_there(answer: Any) -> str | None:
        if finding := no_dictionary(answer):
            return finding
        for name in shapes:
            given = answer.get(name)
            if is_blank(given):
                return f"there is no shape for {name!r} yet"
            if not isinstance(given, tuple | list):
                return f"the shape for {name!r} is {given!r}, not a tuple such as (2, 6, 3)"
        return None

    for name, (shape, question) in shapes.items():
        _demand_shape(exercise, name, shape, question)
    return exercise


def _demand_shape(exercise: Exercise, name: str, shape: tuple[int, ...], question: str) -> None:
    @exercise.must(question)
    def shape_is_right(answer: dict) -> str | None:
        given = tuple(answer[name])
        return None if given == shape else f"{name!r} does not come out as {by(given)}"


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
