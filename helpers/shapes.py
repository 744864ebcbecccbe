"""Tensors in print: name, shape and rounded values, and shape comments that are executed."""

from __future__ import annotations

from torch import Tensor


class Trace:
    """Prints one row for each tensor and compares its shape with the promised axes.

    Sizes are given once, by axis name: `Trace(batch=3, tokens=5, d_in=4, d_out=2)`.
    """

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        print("name     shape        promised axes")

    def __call__(self, name: str, tensor: Tensor, axes: str) -> Tensor:
        """Print `tensor`'s row and return it unchanged.

        `axes` names every axis, separated by spaces, as in "batch tokens d_out".
        Raises `ValueError` for an axis name that has no size.
        """
        unknown = [axis for axis in axes.split() if axis not in self.sizes]
        if unknown:
            raise ValueError(
                f"unknown axis {unknown[0]!r}; this trace knows {', '.join(self.sizes)}"
            )
        promised = tuple(self.sizes[axis] for axis in axes.split())
        shape = tuple(tensor.shape)
        row = f"{name:<8} {by(shape):<12} {axes.replace(' ', ', ')}"
        if shape != promised:
            row += f"  <-- should be {by(promised)}"
        print(row)
        return tensor


def show(name: str, tensor: Tensor, decimals: int = 4) -> None:
    """Print a tensor's name, its shape, and its values in columns, `decimals` digits each.

    Works for 1, 2 or 3 axes; with three, item by item along the first. Never prints "-0".
    Raises `ValueError` for any other number of axes.
    """
    if tensor.dim() not in (1, 2, 3):
        raise ValueError(f"{name!r} has {tensor.dim()} axes; show one of its parts instead")
    print(f"{name}: {by(tuple(tensor.shape))}")
    items = tensor.detach() if tensor.dim() == 3 else [tensor.detach()]
    for number, item in enumerate(items):
        if tensor.dim() == 3:
            print(f"item {number}")
        matrix = item.unsqueeze(0) if tensor.dim() == 1 else item
        rows = [[rounded(value, decimals) for value in row] for row in matrix.tolist()]
        width = max((len(text) for row in rows for text in row), default=0)
        for row in rows:
            print("  " + "  ".join(text.rjust(width) for text in row))


def rounded(value: float, decimals: int) -> str:
    """A number with `decimals` digits and no "-0.00"; infinities and nan in letters."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def by(shape: tuple[int, ...]) -> str:
    """A shape in words: `(2, 6, 3)` becomes "2 x 6 x 3"."""
    return " x ".join(map(str, shape))
