"""A traced table of named tensors: shape comments that are executed."""

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


def by(shape: tuple[int, ...]) -> str:
    """A shape in words: `(2, 6, 3)` becomes "2 x 6 x 3"."""
    return " x ".join(map(str, shape))
