"""Would a lesson print the same on another processor? Runs its cells with other last digits.

    python tests/tools/noise.py                       # 30 runs, and 30 by place, of each lesson
    python tests/tools/noise.py 3 --runs 2 --units 16  # one lesson

A model of other processors. IEEE 754 fixes sums of two numbers, products, quotients, roots and
copies, so these stay. What a library may add up in another order or approximate moves by up to
`--units` units in the last place of its operands: in the same way for the same operation on the
same numbers and shapes, and in the second half of the runs also depending on the place in the
tensor. Pictures are compared by the numbers that they draw. Trainings are short, as in
`mutate.py`, if not asked otherwise. Ends with exit code 1 when a cell prints or draws something
else than what is stored.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections import Counter
from pathlib import Path

import IPython.display
import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
from lessons import source
from mutate import Lesson, display, same, stored, with_few_steps

from helpers import LESSONS
from helpers.figures import canvas
from helpers.spies import OperationSpy

FIXED = {"add", "sub", "rsub", "mul", "div", "sqrt", "reciprocal", "round"}
FIXED |= {"set", "empty_like", "new_empty"}  # hand out memory
PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot"}
ADDED_UP = PRODUCTS | {"sum", "mean", "cumsum", "embedding_dense_backward"}
FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)  # of splitmix64
DRAWN = {"normal", "randn", "uniform"}
MANTISSA = {torch.float32: 23, torch.float64: 52}


class OtherProcessor(OperationSpy):
    """Gives each operation the last digits that another processor might give."""

    def __init__(self, seed: int, units: float, by_place: bool) -> None:
        super().__init__()
        self.seed, self.units, self.by_place = seed, units, by_place

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, func.overloadpacket.__name__.strip("_")
        inputs = [a for a in tree_leaves((args, kwargs)) if isinstance(a, Tensor)]
        drawn = torch.Tag.nondeterministic_seeded in func.tags and "attention" not in name
        if drawn:  # it cannot be made twice
            result = exact = size = func(*args, **kwargs)
        elif name in FIXED or func.is_view or not inputs or inputs[0].is_meta:
            return func(*args, **kwargs)
        else:
            wide, more = tree_map(widened, (args, kwargs))
            size = func(*tree_map(absolute, wide), **more) if name in ADDED_UP else None
            exact = func(*wide, **more)
            result = func(*args, **kwargs)
        salt = zlib.crc32(repr((name, [(a.shape, a.stride()) for a in inputs], self.seed)).encode())
        size = exact if size is None else size
        for found, right, scale in zip(*map(tree_leaves, (result, exact, size)), strict=True):
            floats = isinstance(found, Tensor) and found.dtype in MANTISSA and not found.is_meta
            if floats and (name in DRAWN or not drawn):
                self.move(found, right, scale, salt)
        return result

    def move(self, found: Tensor, exact: Tensor, size: Tensor, salt: int) -> None:
        """Change the last digits in `found`, apart from what is exact or no number."""
        numbers = exact.detach().double().flatten()
        narrow = exact.dtype != found.dtype
        stays = numbers == (numbers.float().double() if narrow else numbers.round())
        stays |= ~numbers.isfinite()
        if stays.all():
            return
        keys = numbers.numpy().view(np.uint64) + np.array([salt], np.uint64) * FACTORS[0]
        if self.by_place:
            keys ^= np.arange(len(keys), dtype=np.uint64) << np.uint64(20)
        for factor in FACTORS:
            keys = (keys ^ keys >> np.uint64(30)) * factor
        amounts = torch.from_numpy(keys / 2.0**63 - 1)  # from -1 to 1
        units = size.detach().double().flatten().abs().clamp(min=1e-30).log2().floor().exp2()
        noisy = numbers + self.units * amounts * units / 2 ** MANTISSA[found.dtype]
        changed = torch.where(stays, found.flatten(), noisy.to(found.dtype))
        found.copy_(changed.reshape(found.shape))


def widened(value: object) -> object:
    """A float32 tensor in float64, anything else as a copy that an operation may change."""
    if not isinstance(value, Tensor):
        return value
    return value.double() if value.dtype == torch.float32 else value.clone()


def absolute(value: object) -> object:
    return value.abs() if isinstance(value, Tensor) and value.is_floating_point() else value


def rehearse(number: int, seeds: range, units: float, by_place: bool, all_steps: bool) -> bool:
    """Run a lesson once for each seed and tell what differs; True when nothing does."""
    differing, example = Counter(), {}
    for seed in seeds:
        here = Lesson(number) if all_steps else with_few_steps(number)
        with OtherProcessor(seed, units, by_place):
            told = [here.prints(source(cell)) for cell in here.cells]
        for cell, text in zip(here.cells, told, strict=True):
            if not same(cell, text):
                differing[cell["id"]] += 1
                lines = zip(stored(cell).splitlines(), text.splitlines(), strict=False)
                example[cell["id"]] = next((pair for pair in lines if len(set(pair)) > 1), ("", ""))
    how = f"{len(seeds)} runs at {units:g} units{', by place' if by_place else ''}"
    print(f"lesson {number}: {how}: {len(differing)} cells differ", flush=True)
    for cell, times in differing.items():
        before, after = example[cell]
        print(f"  {cell}: in {times}\n    stored   {before}\n    computed {after}")
    return not differing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lesson", type=int, nargs="*", help="numbers of lessons; all, if none")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--units", type=float, default=4)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--all-steps", action="store_true", help="train to the end: minutes a run")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.runs)
    IPython.display.display = display
    canvas._png = lambda figure: b""
    held = [
        rehearse(number, seeds, options.units, by_place, options.all_steps)
        for number in options.lesson or LESSONS
        for by_place in (False, True)
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
