"""Watching what a piece of code does inside torch, without changing it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# What makes a tensor from nothing, on the CPU unless told otherwise.
MAKERS = {"arange", "empty", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros"}


class _OperationSpy(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch's own switch; otherwise it loads its compiler here, for a second


def devices_that_met(run: Callable[..., Any], *args: Any) -> list[str]:
    """The operations in `run(...)` that met tensors on two devices, in words.

    Meant for the meta device, which accepts many such meetings where a GPU refuses them.
    Numbers in tensors without axes are left out: torch moves those by itself. A call that
    raises (a guard that reads values cannot on meta) is told up to there.
    """
    met: list[str] = []

    class Spy(_OperationSpy):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = str(func).removeprefix("aten.").split(".")[0]
            parts = [p for a in args for p in (a if isinstance(a, list | tuple) else [a])]
            tensors = [p for p in parts if isinstance(p, Tensor) and p.dim() > 0]
            devices = sorted({tensor.device.type for tensor in tensors})
            if len(devices) > 1 and name != "index":  # indexing may: a GPU takes it too
                met.append(f"{name}: {' meets '.join(devices)}")
            return func(*args, **(kwargs or {}))

    with contextlib.suppress(Exception), Spy():
        run(*args)
    return met


def leaves_the_device(run: Callable[..., Any], *args: Any) -> bool:
    """True when `run(...)` makes a tensor without `device=`, or takes one to the CPU.

    Quick, and no proof: what is made without `device=` may be moved in time.
    """
    found = []

    class Spy(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            name = getattr(func, "__name__", "")
            if (name in MAKERS and "device" not in (kwargs or {})) or name in ("cpu", "numpy"):
                found.append(name)
            return func(*args, **(kwargs or {}))

    with contextlib.suppress(Exception), Spy():
        run(*args)
    return bool(found)


def largest_tensor(run: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """The size in bytes of the largest tensor that an operation in `run(...)` returns.

    Views count with the bytes that they show. What a fused kernel uses inside itself
    is not seen: that it returns no such tensor is the point.
    """
    sizes = [0]

    class Spy(_OperationSpy):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            results = result if isinstance(result, list | tuple) else [result]
            sizes.extend(t.nbytes for t in results if isinstance(t, Tensor))
            return result

    with Spy():
        run(*args, **kwargs)
    return max(sizes)
