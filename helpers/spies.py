"""Watching what a piece of code does inside torch, without changing it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

INDEXES = {"index", "index_put", "index_put_"}  # a GPU takes places that are told on the CPU


class OperationSpy(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch's own switch; otherwise it loads its compiler here, for a second


def devices_that_met(run: Callable[..., Any], *args: Any) -> str | None:
    """The first operation in `run(...)` that met tensors on two devices, in words, or None.

    Meant for the meta device, which accepts many such meetings where a GPU refuses them; as
    there, the run ends with the first. Numbers in tensors without axes are left out: torch
    moves those by itself. What is taken off meta arrives as zeros, since meta holds no values.
    A call that raises (a guard that reads values cannot on meta) is watched up to there.
    """
    met: list[str] = []

    class Spy(OperationSpy):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            name = str(func).removeprefix("aten.").split(".")[0]
            parts = [p for a in args for p in (a if isinstance(a, list | tuple) else [a])]
            tensors = [p for p in parts if isinstance(p, Tensor) and p.dim() > 0]
            devices = sorted({tensor.device.type for tensor in tensors})
            if len(devices) > 1 and name not in INDEXES:
                met.append(f"{name}: {' meets '.join(devices)}")
                raise RuntimeError
            if name == "_to_copy" and devices == ["meta"]:
                dtype, device = kwargs.get("dtype", args[0].dtype), kwargs.get("device")
                return torch.zeros(args[0].shape, dtype=dtype, device=device or "meta")
            return func(*args, **kwargs)

    with contextlib.suppress(Exception), Spy():
        run(*args)
    return met[0] if met else None


def largest_tensor(run: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """The size in bytes of the largest tensor that an operation in `run(...)` returns.

    Views count with the bytes that they show. What a fused kernel uses inside itself
    is not seen: that it returns no such tensor is the point.
    """
    sizes = [0]

    class Spy(OperationSpy):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            results = result if isinstance(result, list | tuple) else [result]
            sizes.extend(t.nbytes for t in results if isinstance(t, Tensor))
            return result

    with Spy():
        run(*args, **kwargs)
    return max(sizes)
