"""Watching what a piece of code does inside torch, without changing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


def largest_tensor(run: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """The size in bytes of the largest tensor that an operation in `run(...)` returns.

    Views count with the bytes that they show. What a fused kernel uses inside itself
    is not seen: that it returns no such tensor is the point.
    """
    sizes = [0]

    class Spy(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            results = result if isinstance(result, list | tuple) else [result]
            sizes.extend(t.nbytes for t in results if isinstance(t, Tensor))
            return result

    with Spy():
        run(*args, **kwargs)
    return max(sizes)
