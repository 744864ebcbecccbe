"""Tensors in print: name, shape and rounded values, and shape comments that are executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

WIDTH = 80  # characters of a printed line
ROUNDING = 1e-5  # of the largest number compared; a float32 has seven digits


class Trace:
    """Prints one row for each tensor and compares its shape with the promised axes.

    Sizes are given once, by axis name: `Trace(batch=3, tokens=5, d_in=4, d_out=2)`. Raises
    `ValueError` for what is no size.
    """

    def __init__(self, **sizes: int) -> None:
        for axis, size in sizes.items():
            if not isinstance(size, int) or size < 0:
                raise ValueError(f"{axis}={size!r} is no size: give a whole number from 0 up")
        self.sizes = sizes
        print("name     shape        promised axes")

    def __call__(self, name: str, tensor: Tensor, axes: str) -> Tensor:
        """Print `tensor`'s row and return it unchanged.

        `axes` names every axis, separated by spaces or commas, as in "batch tokens d_out".
        Raises `ValueError` for an axis name that has no size, for axes that are no text and for
        anything but a tensor.
        """
        _needs_tensor(name, tensor)
        if not isinstance(axes, str):
            raise ValueError(f'axes={axes!r} is no text: name them as in "batch tokens d_out"')
        names = axes.replace(",", " ").split()
        for axis in names:
            if axis not in self.sizes:
                known = ", ".join(self.sizes)
                raise ValueError(f"unknown axis {axis!r}; this trace knows {known}")
        promised = tuple(self.sizes[axis] for axis in names)
        shape = tuple(tensor.shape)
        row = f"{name:<8} {by(shape):<12} {', '.join(names)}"
        if shape != promised:
            row += f"  <-- should be {by(promised)}"
        print(row)
        return tensor


def show(*nameless: Any, decimals: int = 4, **tensors: Tensor) -> None:
    """Print tensors by name, each with its shape and its values in columns.

    `show(row_sums=sums)` prints "row sums (6 numbers)", or a shape as in "(2 x 6 x 3)", and
    `decimals` digits of each value. Works for 1, 2 or 3 axes; with three, text by text along the
    first. A blank line parts two tensors, and a row too wide for the page goes on, indented,
    below. Never prints "-0".
    Raises `ValueError` for any other number of axes, for a tensor without a name, and for what is
    no tensor.
    """
    if nameless:
        raise ValueError("show prints tensors by name: give each one, as in show(weights=weights)")
    for number, (name, tensor) in enumerate(tensors.items()):
        _needs_tensor(name, tensor)
        if tensor.dim() not in (1, 2, 3):
            raise ValueError(f"{name!r} has {tensor.dim()} axes; show one of its parts instead")
        if number:
            print()
        print(_heading(name.replace("_", " "), tensor))
        if tensor.dim() == 3:
            for text, item in enumerate(tensor.detach()):
                print(f"text {text}")
                _print_rows(item, decimals)
        else:
            _print_rows(tensor.detach(), decimals)


def show_entries(
    name: str,
    matrix: Tensor,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> None:
    """Print a matrix's shape and its entries that are not zero, a line for each.

    A line reads "question [7] -> 0: 8": row, column, value. `rows` and `columns` are the names of
    an axis; an axis without names is told by numbers. Raises `ValueError` when names do not fit,
    and for anything but a matrix.
    """
    _needs_tensor(name, matrix)
    if matrix.dim() != 2:
        raise ValueError(f"{name!r} has {matrix.dim()} axes, not the 2 of a matrix")
    labels = []
    for axis, names in zip(matrix.shape, (rows, columns), strict=True):
        if names is not None and len(names) != axis:
            raise ValueError(f"{len(names)} names for an axis of {axis} in {name!r}")
        labels.append(
            [f"{n} [{k}]" for k, n in enumerate(names)] if names is not None else range(axis)
        )
    print(_heading(name, matrix))
    for i, j in matrix.nonzero().tolist():
        print(f"  {labels[0][i]} -> {labels[1][j]}: {matrix[i, j].item():g}")


def _heading(name: str, tensor: Tensor) -> str:
    """A name and its shape, which nobody takes for a value."""
    numbers = " numbers" if tensor.dim() == 1 else ""
    return f"{name} ({by(tensor.shape)}{numbers})"


def _needs_tensor(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise ValueError(f"{name!r} is of type {kind}, not a tensor: torch.tensor(...) makes one")


def _print_rows(tensor: Tensor, decimals: int) -> None:
    rows = (tensor.unsqueeze(0) if tensor.dim() == 1 else tensor).tolist()
    texts = [[rounded(value, decimals) for value in row] for row in rows]
    width = max((len(text) for row in texts for text in row), default=0)
    in_a_line = max(1, (WIDTH - 2) // (width + 2))
    for row in texts:
        for begin in range(0, max(1, len(row)), in_a_line):
            part = "  ".join(text.rjust(width) for text in row[begin : begin + in_a_line])
            print(("    " if begin else "  ") + part)


def agree(a: Tensor, b: Tensor) -> bool:
    """True when two tensors have one shape and differ nowhere by more than rounding explains.

    That is by no more than a hundred-thousandth of the largest finite number in them. For results
    that may be added up in different orders; what takes the same steps on the same shapes is
    compared with `torch.equal`. Tensors of two dtypes, or on two devices, are compared as float64
    on the CPU. Infinities agree with their like, nan with nothing. Raises `ValueError` for what
    is no tensor.
    """
    _needs_tensor("the first", a)
    _needs_tensor("the second", b)
    if a.shape != b.shape:
        return False
    kind = torch.promote_types(torch.promote_types(a.dtype, b.dtype), torch.float64)
    a, b = a.detach().cpu().to(kind), b.detach().cpu().to(kind)
    sizes = torch.stack((a, b)).abs()
    finite = sizes[sizes.isfinite()].tolist()
    return torch.allclose(a, b, rtol=0, atol=ROUNDING * max(finite, default=0))


def rounded(value: float, decimals: int) -> str:
    """A number with `decimals` digits and no "-0.00"; infinities and nan in letters."""
    if not isinstance(decimals, int) or decimals < 0:
        raise ValueError(f"decimals={decimals!r}: give a whole number from 0 up")
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def by(shape: Sequence[int]) -> str:
    """A shape in words: `(2, 6, 3)` becomes "2 x 6 x 3"."""
    return " x ".join(map(str, shape))
