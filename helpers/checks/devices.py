"""What a model leaves on the CPU when it moves to a GPU, found without one."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from helpers.spies import devices_that_met

# What makes a tensor from nothing, on the default device unless told otherwise.
MAKERS = {"arange", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros"}


class MakesOnMeta(TorchFunctionMode):
    """What is made from nothing without `device=` is on meta, unless it has no axes."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if name in ("triu", "tril") and args and args[0].is_meta:
            return args[0].clone()  # on meta, torch would load its compiler for these
        made = func(*args, **kwargs)
        made_here = name in MAKERS and kwargs.get("device") is None
        if made_here and made.dim() > 0:
            return torch.empty_like(made, device="meta")
        return made


def left_behind(model: nn.Module, *inputs: Tensor) -> str | None:
    """The first operation of a model that meets a tensor which would not move with it, or None.

    What a module holds as a plain attribute and what `forward` makes on the default device is on
    meta here; model and input stay on the CPU. meta itself does not refuse to be looked up in a
    table, so a spy looks at each operation.
    """
    for part in model.modules():
        for name, value in vars(part).items():
            if isinstance(value, Tensor):
                setattr(part, name, value.to("meta"))
    with MakesOnMeta():
        met = devices_that_met(model, *inputs)
    if met is None:
        return None
    operation, _, _ = met.partition(":")
    return f"with model and input on another device, {operation} meets a tensor that stayed behind"
