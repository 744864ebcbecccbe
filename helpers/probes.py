"""What the lessons' demands have in common when they look at a learner's answer."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from helpers.exercises import is_blank

TOLERANCE = 1e-4  # right answers in other forms round differently


def differs(a: Tensor, b: Tensor, tolerance: float = TOLERANCE) -> bool:
    """True when two tensors of one shape differ by more than rounding; nan equals nan."""
    return not torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def first(mask: Tensor) -> tuple[int, ...]:
    """The place of the first true entry."""
    return tuple(mask.nonzero()[0].tolist())


def no_module_class(answer: Any) -> str | None:
    """What is wrong with an answer that should be a class made from `nn.Module`."""
    if isinstance(answer, type) and issubclass(answer, nn.Module):
        return None
    return f"the answer is {type(answer).__name__!r}, not a class made from nn.Module"


def incomplete_shapes(answer: Any, names: Any) -> str | None:
    """What is missing from an answer that should map each name to a shape."""
    if not isinstance(answer, dict):
        return f"the answer is a {type(answer).__name__}, not the dictionary of the stub"
    for name in names:
        if is_blank(answer.get(name)):
            return f"there is no shape for {name!r} yet"
        if not isinstance(answer[name], tuple | list):
            return f"the shape for {name!r} is {answer[name]!r}, not a tuple such as (2, 6, 3)"
    return None
