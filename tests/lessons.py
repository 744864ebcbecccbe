"""What the tests need from a lesson: its cells, its names, its solutions."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from kernels import LESSON
from torch import Tensor

from helpers import LESSONS, figures, judge

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(p for p in (ROOT / "notebooks").iterdir() if LESSON.fullmatch(p.name))
FINDINGS = Path(__file__).with_name("findings.json")
ROOM = {torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}  # as in torch.testing
FEW_STEPS = 16
DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)


COMPUTES_LONG = "computes for long, and tells no shape"
TIMED = "measures a time"


@dataclass(frozen=True)
class Record:
    """What the tests know of a lesson beside the lesson itself.

    `before_solutions` are the cells that the exercises build on; `uncompared` those whose
    numbers differ in each run. Then, each with its reason: by cell, the `given` numbers of the
    prose that no cell prints (single digits are not looked for), and the cells that are
    `not_run_for_shapes` when shape comments are tried. `not_drawn` are numbers in the alt text of
    a cell's picture that it does not draw: a scale's end, a layer, a level.
    """

    before_solutions: tuple[str, ...]
    uncompared: list[str] = field(default_factory=list)
    given: dict[str, dict[str, str]] = field(default_factory=dict)
    not_drawn: set[tuple[str, str]] = field(default_factory=set)
    not_run_for_shapes: dict[str, str] = field(default_factory=dict)


def record(number: int) -> Record:
    """The record of a lesson: it stands in the tests of what checks its answers."""
    checks, _ = LESSONS[number]
    return importlib.import_module(f"test_checks_{checks}").RECORD


@functools.cache
def load(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name} is not JSON: {error}") from None


def lesson(number: int) -> dict:
    found = [path for path in NOTEBOOKS if path.name.startswith(f"{number:02}_")]
    assert len(found) == 1, f"lesson {number} is stored in {found or 'no notebook'}"
    return load(found[0])


def source(cell: dict) -> str:
    return "".join(cell["source"])


def cells(notebook: dict, kind: str) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def pictures(notebook: dict) -> list[tuple[str, dict]]:
    """Each picture output with the id of its cell."""
    return [
        (cell["id"], output)
        for cell in cells(notebook, "code")
        for output in cell["outputs"]
        if "image/png" in output.get("data", {})
    ]


def run_cells(number: int, *ids: str) -> dict:
    """The names that a lesson's cells define, run in order without a kernel, with `FEW_STEPS`."""
    code = {cell["id"]: few_steps(source(cell)) for cell in cells(lesson(number), "code")}
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()), torch_settings_kept():
        for cell_id in ids:
            exec(code[cell_id], names)
    return names


def few_steps(code: str) -> str:
    """A cell's code, training no more steps than a test needs that looks at no trained model."""
    return re.sub(r"^STEPS = \d+$", f"STEPS = {FEW_STEPS}", code, flags=re.MULTILINE)


@contextlib.contextmanager
def torch_settings_kept() -> Iterator[None]:
    """Puts back what a lesson sets for the whole process: lesson 4 computes in float64."""
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)


@functools.cache
def transformer() -> dict:
    """The names of lesson 3 when its core path ends; nothing is checked or drawn."""
    ids = [cell["id"] for cell in cells(lesson(3), "code") if "check(" not in source(cell)]
    undrawn = dict.fromkeys(figures.__all__, mock.DEFAULT)
    with mock.patch.multiple(figures, **undrawn):
        return run_cells(3, *ids[ids.index("tools") : ids.index("explain") + 1])


def solutions(number: int) -> dict[str, str]:
    """The code of each exercise's solution, by the name that its `check` cell uses."""
    found, pending = {}, None
    for cell in lesson(number)["cells"]:
        if cell["cell_type"] == "markdown":
            blocks = [
                block
                for details in DETAILS.findall(source(cell))
                if "<summary>Solution</summary>" in details
                for block in re.findall(r"```python\n(.*?)```", details, re.DOTALL)
            ]
            pending = blocks[0] if blocks else pending
        else:
            for name in re.findall(r'check\("([\w-]+)"', source(cell)):
                found[name], pending = pending, None
    return found


def answers(number: int) -> dict[str, str]:
    """The Python name that each exercise's `check` cell hands in."""
    code = "\n".join(map(source, cells(lesson(number), "code")))
    return dict(re.findall(r'check\("([\w-]+)", (\w+)\)', code))


def assert_close(
    found: Tensor, expected: Tensor, rtol: float | None = None, atol: float | None = None
) -> None:
    """The tensors have one shape and dtype and agree up to rounding, without nan.

    `torch.testing` has the like, but loads half a second of modules when it is first used.
    """
    relative, absolute = ROOM[found.dtype]
    np.testing.assert_allclose(
        found.detach().numpy(),
        expected.detach().numpy(),
        relative if rtol is None else rtol,
        absolute if atol is None else atol,
        equal_nan=False,
        strict=True,
    )


def assert_right(exercise: str, answer: object) -> None:
    """The checker calls an answer right, and tells why it matters as stored."""
    verdict = judge(exercise, answer)
    assert verdict.state == "right", verdict.message
    assert_told_as_stored(exercise, verdict.message)


def assert_wrong(exercise: str, answer: object, question: str) -> None:
    """The checker calls an answer wrong, asks a fitting question, and tells all of it as stored."""
    verdict = judge(exercise, answer)
    assert verdict.state == "wrong", f"judged {verdict.state}: {verdict.message}"
    finding, asked = verdict.message.split("\nAsk yourself: ")
    assert finding
    assert question
    assert question in asked, verdict.message
    assert_told_as_stored(exercise, verdict.message)


def assert_told_as_stored(exercise: str, message: str) -> None:
    """Compare what a learner is told with `findings.json`, where it stands by exercise and by the
    answer's name in the running test, without the words of torch's own errors and the line that
    stops. With the variable STORE_FINDINGS set, what is told now is stored."""
    message = re.sub(r"(\w+Error): .*", r"\1", message)
    message = re.sub(r" in line \d+(, `.*?`,)?", "", message)
    (answer,) = re.findall(r"\[(.*)\] \(call\)$", os.environ["PYTEST_CURRENT_TEST"])
    stored = load(FINDINGS)
    if "STORE_FINDINGS" in os.environ:
        stored.setdefault(exercise, {})[answer] = message
        text = json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False)
        FINDINGS.write_text(text + "\n", encoding="utf-8")
    known = stored.get(exercise, {}).get(answer)
    assert message == known, (
        f"a learner was told, as stored:\n{known}\nand is told now:\n{message}\n"
        "If that is right, store it with: STORE_FINDINGS=1 pytest tests -n 0"
    )


def right_then_changed(right: Callable[..., bool]) -> Callable[..., bool]:
    """A learner's test that says what is so, and then changes what it was lent."""

    def answer(model: object, *lent: Tensor) -> bool:
        verdict = right(model, *(tensor.clone() for tensor in lent))
        lent[-1].add_(1)
        return verdict

    return answer
