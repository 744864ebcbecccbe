"""Break the lessons on purpose, one small change at a time, and list what nobody notices.

    python tests/tools/mutate.py                    # all lessons, all changes
    python tests/tools/mutate.py 3                  # one lesson
    python tests/tools/mutate.py 3 --sample 40      # some of its changes, drawn anew each week
    python tests/tools/mutate.py 3 --cells gather   # the changes of some cells
    python tests/tools/mutate.py --helpers          # the helpers, all changes
    python tests/tools/mutate.py --helpers --sample 60

Two families. *Outputs*: one digit, drawn anew each week, is changed in every stored output, and
the real suite is run: each of these cells must fail. *Code*: constants, axes, operators, dropped
steps, swapped slot names, deleted statements; each changed cell and those after it are run until
one prints something else than is stored. What is left over is compared with `survivors.json`,
where each known survivor has its reason; any other makes the command fail. A changed helper
must fail one of its own tests or, if none of these, a cell of a lesson, or alter what is told of
a solution with a small change in it. Needs a system that can fork.

A lesson that trains does so with few steps here, and is compared with what it prints when it is
unchanged and trains as little. What that costs: a change that acts in later steps only survives.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import datetime
import importlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
import kernels
from lessons import ROOT, cells, few_steps, lesson, source

from helpers import LESSONS

SURVIVORS = ROOT / "tests/survivors.json"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
CONTEXT = 40  # characters shown on either side of a change
SECONDS = 60  # for what a change can leave running
DROPPED = {"T", "mT"}
DROPPED_CALLS = {
    *("transpose", "unsqueeze", "squeeze", "masked_fill", "masked_fill_", "round", "abs", "flip"),
    *("clone", "bool", "float", "double", "softmax", "relu", "triu", "tril", "eval", "cumsum"),
}
PAIRS = [(ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or), (ast.Eq, ast.NotEq)]
PAIRS += [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE)]
SWAPPED = dict(PAIRS) | {other: one for one, other in PAIRS}


# ------------------------------------------------------------------ changes of code
# Not made, since they change nothing: `strict=`, which guards later mistakes only; `<` for `<=`
# where a bound is no whole number; and 1 for -1, the same axis of a matrix (-2 is tried).
TIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def changes(code: str, slots: list[str]) -> Iterator[str]:
    """Each small change of a cell, as code. `slots` are names that are exchanged in pairs."""
    tree = ast.parse(code)
    kept = {id(part) for node in ast.walk(tree) for part in _left_alone(node)}
    seen = {ast.unparse(tree)}
    for place in [k for k, node in enumerate(ast.walk(tree)) if id(node) not in kept]:
        for way in range(3):
            changed = copy.deepcopy(tree)
            node = next(n for k, n in enumerate(ast.walk(changed)) if k == place)
            if not _change(changed, node, way, slots):
                break
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text not in seen:
                seen.add(text)
                yield text


def _left_alone(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement's type hints, and of the value of `strict=`."""
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.keyword) and node.arg == "strict":
        found.append(node.value)
    for part in filter(None, found):
        yield from ast.walk(part)


def changes_of_file(code: str) -> Iterator[str]:
    """Each small change of a longer file, as code: one of its top-level statements changes."""
    statements = [ast.unparse(statement) for statement in ast.parse(code).body]
    for k, statement in enumerate(statements):
        for changed in changes(statement, []):
            yield "\n".join([*statements[:k], changed, *statements[k + 1 :]])


def _change(tree: ast.AST, node: ast.AST, way: int, slots: list[str]) -> bool:
    """Change a node in the first, second or third way that fits it; False when none does."""
    if isinstance(node, ast.Constant) and way == 0:
        return _change_constant(node, slots)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], TIES) and _is_measured(node):
        return False
    if isinstance(node, ast.keyword) and way == 0 and node.arg in slots:
        node.arg = _other(node.arg, slots)
        return True
    if isinstance(node, ast.BinOp):
        if way == 0 and type(node.op) in SWAPPED:
            node.op = SWAPPED[type(node.op)]()
            return True
        if way == 1 or (way == 0 and isinstance(node.op, ast.Pow | ast.MatMult | ast.BitOr)):
            return _replace(tree, node, node.left)
        return way == 2 and not isinstance(node.op, ast.Mod) and _replace(tree, node, node.right)
    if isinstance(node, ast.Compare | ast.BoolOp) and way == 0:
        ops = node.ops if isinstance(node, ast.Compare) else [node.op]
        if type(ops[0]) not in SWAPPED:
            return False
        ops[0] = SWAPPED[type(ops[0])]()
        if isinstance(node, ast.BoolOp):
            node.op = ops[0]
        return True
    if isinstance(node, ast.UnaryOp) and way == 0:
        return ast.unparse(node) != "-1" and _replace(tree, node, node.operand)
    if isinstance(node, ast.Attribute) and way == 0 and node.attr in DROPPED:
        return _replace(tree, node, node.value)
    if isinstance(node, ast.Call) and way == 0 and isinstance(node.func, ast.Attribute):
        if node.func.attr not in DROPPED_CALLS:
            return False
        on_torch = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F")
        return _replace(tree, node, node.args[0] if on_torch else node.func.value)
    if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Return) and way == 0:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return False  # a docstring
        if isinstance(node, ast.Return) and getattr(node.value, "value", ...) is None:
            return False  # what Python returns anyway
        return _replace(tree, node, ast.Pass())
    return False


def _is_measured(node: ast.Compare) -> bool:
    """Whether a number is held against a bound that no measured number hits."""
    parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
    return any(
        isinstance(getattr(part, "value", None), float) or getattr(part, "id", "").isupper()
        for part in parts
    )


def _change_constant(node: ast.Constant, slots: list[str]) -> bool:
    value = node.value
    if isinstance(value, bool):
        node.value = not value
    elif isinstance(value, int):
        node.value = value + 1
    elif isinstance(value, float):
        node.value = value * 1.5 + 0.01
    elif isinstance(value, str) and value in slots:
        node.value = _other(value, slots)
    else:
        return False
    return True


def _other(slot: str, slots: list[str]) -> str:
    return slots[slots.index(slot) - 1]


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> bool:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and any(item is old for item in value):
                value[[item is old for item in value].index(True)] = new
                return True
    return False


# ------------------------------------------------------------------ running cells
class Lesson:
    """A lesson that is run here, cell by cell, without a kernel."""

    def __init__(self, number: int) -> None:
        import torch

        self.number = number
        self.cells = cells(lesson(number), "code")
        self.names: dict = {}
        os.chdir(ROOT / "notebooks")
        torch.set_default_dtype(torch.float32)  # a lesson before this one may have set another

    def prints(self, code: str) -> str:
        """What a cell prints and draws, or the name of the error that stops it."""
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(code, "cell", "exec"), self.names)
        except Exception as error:
            return f"{out.getvalue()}{type(error).__name__}"
        return out.getvalue()

    def notices(self, first: int, changed: str) -> bool:
        """Whether a changed cell, or one after it, prints something else than is stored."""
        for place in range(first, len(self.cells)):
            code = changed if place == first else source(self.cells[place])
            if not same(self.cells[place], self.prints(code)):
                return True
        return False


def with_few_steps(number: int) -> Lesson:
    """A lesson whose trainings are short, as are those of which its outputs tell."""
    unchanged = Lesson(number)
    if all(few_steps(source(cell)) == source(cell) for cell in unchanged.cells):
        return unchanged
    found = copy.deepcopy(unchanged.cells)
    for cell in found[1:]:  # the first is the setup cell
        cell["source"] = [few_steps(source(cell))]
        cell["outputs"] = [{"output_type": "stream", "text": [unchanged.prints(source(cell))]}]
    here = Lesson(number)
    here.cells = found
    return here


def stored(cell: dict) -> str:
    """The text of a cell's outputs, as `Lesson.prints` gives it."""
    return "".join(
        "".join(output.get("text", "")) or "".join(output["data"]["text/plain"]) + "\n"
        for output in cell["outputs"]
    )


def same(cell: dict, printed: str) -> bool:
    if cell["metadata"].get("tags"):
        return NUMBER.sub("#", stored(cell)) == NUMBER.sub("#", printed)
    return stored(cell) == printed


def display(data: dict, metadata: dict, raw: bool) -> None:
    print(data["text/plain"])


def in_a_child(run) -> bool | None:
    """The answer of `run`, made in a copy of this process; None when it takes too long."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os._exit(int(run()))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return bool(code) if code >= 0 else None


# ------------------------------------------------------------------ the helpers
TESTS = {  # what tests a helper, where its name does not tell
    "__init__": ["test_exercises"],
    "hints": ["test_exercises"],
    "verdict_look": ["test_exercises"],
    "minutes": ["test_reading"],
    "hand_built": ["test_disobeys_model", "test_checks_disobeys"],
    "common": [
        "test_checks_common",
        "test_checks_inputs",
        "test_checks_attention",
        "test_checks_disobeys",
        "test_checks_denoiser",
    ],
    "setup_cell": ["test_links", "test_setup_cell"],
    "setup_rest": ["test_setup_cell"],
    "spies": ["test_shapes", "test_checks_inputs", "test_checks_attention"],
    "devices": ["test_shapes", "test_checks_inputs", "test_checks_attention"],
}
ALWAYS_LOADED = ("torch", "torch._dynamo", "hypothesis", "matplotlib.figure", "pytest")


def helper_changes(sample: int | None, draw: random.Random, known: dict[str, str]) -> int:
    """Try changes of the helpers against their tests, then the lessons; print what survives."""
    begin = time.perf_counter()
    unchanged = [
        (path, path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "helpers").rglob("*.py"))
    ]
    planned = [(path, changed) for path, code in unchanged for changed in changes_of_file(code)]
    if sample and sample < len(planned):
        planned = draw.sample(planned, sample)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # what is compiled could be an earlier change
    for module in ALWAYS_LOADED:
        importlib.import_module(module)
    left = planned
    own_options = mock.patch.dict(os.environ, kernels.own_options(), clear=True)
    with own_options, kernels.ready(), tempfile.TemporaryDirectory() as verdicts:
        os.environ["VERDICTS"] = verdicts
        for tests in (own_tests, lambda _: ["notebooks"], changed_solutions):
            each = {str(tests(path)): (path, code) for path, code in unchanged}
            if len(survivors_of([*each.values()], tests)) < len(each):
                sys.exit("the tests fail on helpers that are not changed")
            left = survivors_of(left, tests)
    survivors = [
        f"{path.stem}: {difference(path.read_text(encoding='utf-8'), changed)}"
        for path, changed in left
    ]
    return report("helpers", len(planned), survivors, known, begin, whole=not sample)


def own_tests(path: Path) -> list[str]:
    if path.parent.name == "figures":
        return ["tests/test_figures.py"]
    usual = [f"test_checks_{path.stem}" if path.parent.name == "checks" else f"test_{path.stem}"]
    return [f"tests/{name}.py" for name in TESTS.get(path.stem, usual)]


def changed_solutions(path: Path) -> list[str]:
    """Solutions with small changes, of the helper's own lesson if it has one."""
    lessons = [number for number, (checks, _) in LESSONS.items() if checks == path.stem]
    only = f"[{lessons[0]}]" if lessons else ""
    return [f"tests/tools/changed_solutions.py::test_they_are_judged_as_before{only}"]


Planned = list[tuple[Path, str]]


def survivors_of(planned: Planned, tests: Callable[[Path], list[str]]) -> Planned:
    """The changes that these tests let pass; as many at a time as the machine has cores."""
    left: Planned = []
    running: dict[int, tuple[Path, str, Path]] = {}

    def wait() -> Path:
        child, status = os.wait()
        path, changed, folder = running.pop(child)
        if os.waitstatus_to_exitcode(status) == 0:
            left.append((path, changed))
        return folder

    with tempfile.TemporaryDirectory() as name:
        folders = [copied(Path(name, str(k))) for k in range(os.cpu_count() or 1)]
        for path, changed in planned:
            folder = folders.pop() if folders else wait()
            child = os.fork()
            if child == 0:
                try_change(folder, path, changed, tests(path))
            running[child] = path, changed, folder
        while running:
            wait()
    return left


def copied(folder: Path) -> Path:
    """A copy of the project for one change at a time."""
    for part in ("helpers", "notebooks", "tests", ".github", ".binder", ".ci", ".devcontainer"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "requirements.txt", "LICENSE"):
        shutil.copy(ROOT / part, folder)
    return folder


def try_change(folder: Path, path: Path, changed: str, tests: list[str]) -> None:
    """Run tests on a changed helper and leave this process, with 0 when they pass."""
    import pytest

    signal.alarm(SECONDS)
    sys.dont_write_bytecode = True
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    for module in list(sys.modules):
        if module.split(".")[0] in ("helpers", "lessons", "kernels"):
            del sys.modules[module]
    installed = Path(sys.prefix).resolve()  # an environment may lie in the project's folder
    places = {p: Path(p).resolve() for p in sys.path}
    sys.path[:] = [
        p
        for p, place in places.items()
        if place.is_relative_to(installed) or not place.is_relative_to(ROOT)
    ]
    shutil.copytree(ROOT / "helpers", folder / "helpers", dirs_exist_ok=True)
    (folder / path.relative_to(ROOT)).write_text(changed, encoding="utf-8")
    os.chdir(folder)
    how = ["-q", "-x", "-n", "0", "--assert=plain", "-p", "no:cacheprovider"]
    os._exit(int(pytest.main([*how, *tests])))


# ------------------------------------------------------------------ the command
def digits(number: int, draw: random.Random) -> str:
    """Change one digit in every stored output, run the real suite, and tell who noticed."""
    changed = copy.deepcopy(lesson(number))
    wanted = set()
    for count, cell in enumerate(cells(changed, "code")):
        for output in draw.sample(cell["outputs"], len(cell["outputs"])):
            holder, key = (output, "text") if "text" in output else (output["data"], "text/plain")
            text = "".join(holder[key])
            places = [m.end() - 1 for m in NUMBER.finditer(text)]
            if places and not cell["metadata"].get("tags"):
                at = draw.choice(places)
                holder[key] = [text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]]
                wanted.add(count)
                break
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("helpers", "notebooks"):
            shutil.copytree(ROOT / part, folder / part)
        shutil.copy(ROOT / "pyproject.toml", folder)
        (folder / "tests").mkdir()
        shutil.copy(ROOT / "tests/kernels.py", folder / "tests")
        (path,) = (folder / "notebooks").glob(f"{number:02}_*.ipynb")
        path.write_text(json.dumps(changed), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-rf", "--color=no", str(path)]
        report = subprocess.run(
            command, cwd=folder, env=kernels.own_options(), capture_output=True, text=True
        ).stdout
    failed = set(map(int, re.findall(r"^FAILED .*::Cell (\d+)", report, re.MULTILINE)))
    unseen = [cells(changed, "code")[count]["id"] for count in sorted(wanted - failed)]
    return f"one digit changed in each of {len(wanted)} cells, unseen in: {unseen or 'none'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("lesson", type=int, nargs="*", help="numbers of lessons; all, if none")
    parser.add_argument("--sample", type=int, help="at most so many changes of code a lesson")
    parser.add_argument("--cells", nargs="*", help="only the changes of these cells")
    parser.add_argument("--helpers", action="store_true", help="the helpers, not the lessons")
    arguments = parser.parse_args()
    import IPython.display

    IPython.display.display = display
    known = json.loads(SURVIVORS.read_text(encoding="utf-8")) if SURVIVORS.exists() else {}
    unknown = 0
    week = datetime.date.today().isocalendar()
    draw = random.Random(f"{week.year}-{week.week}")
    if arguments.helpers:
        return 1 if helper_changes(arguments.sample, draw, known.get("helpers", {})) else 0
    for number in arguments.lesson or LESSONS:
        if not arguments.cells:
            print(f"lesson {number}: {digits(number, draw)}")
        unknown += code_changes(number, arguments, known.get(str(number), {}), draw)
    return 1 if unknown else 0


def code_changes(
    number: int, arguments: argparse.Namespace, known: dict[str, str], draw: random.Random
) -> int:
    """Try a lesson's changes of code; print the score and the survivors without a reason."""
    here = with_few_steps(number)
    slots = _slots(here)
    planned = [
        (place, changed)
        for place, cell in enumerate(here.cells)
        if cell["id"] != "setup" and (not arguments.cells or cell["id"] in arguments.cells)
        for changed in changes(source(cell), slots)
    ]
    if arguments.sample and arguments.sample < len(planned):
        planned = draw.sample(planned, arguments.sample)
    begin, survivors = time.perf_counter(), []
    for place, cell in enumerate(here.cells):
        for at, changed in planned:
            if at == place and in_a_child(lambda at=at, c=changed: here.notices(at, c)) is False:
                survivors.append(f"{cell['id']}: {difference(source(cell), changed)}")
        here.prints(source(cell))
    whole = not (arguments.sample or arguments.cells)
    return report(f"lesson {number}", len(planned), survivors, known, begin, whole)


def report(
    what: str, planned: int, survivors: list[str], known: dict[str, str], begin: float, whole: bool
) -> int:
    """Print the score, the survivors without a reason and, of a whole run, reasons without a
    survivor; return the number of the first."""
    new = [survivor for survivor in survivors if survivor not in known]
    caught = planned - len(survivors)
    print(
        f"{what}: {caught} of {planned} changes of code noticed "
        f"({caught / max(planned, 1):.1%}), {len(survivors) - len(new)} known survivors, "
        f"{len(new)} new; {time.perf_counter() - begin:.0f} s"
    )
    for survivor in new:
        print("   ", survivor)
    for survivor in known.keys() - set(survivors) if whole else ():
        print("    noticed now, or gone:", survivor)
    return len(new)


def _slots(here: Lesson) -> list[str]:
    """Slot names that the lesson itself defines, if it has a layout."""
    from helpers.checks.hand_built import SLOTS

    code = "\n".join(source(cell) for cell in here.cells)
    return [slot for slot in SLOTS if re.search(rf"\b{slot}=|\"{slot}\"", code)]


def difference(code: str, changed: str) -> str:
    """The first line that a change touches, before and after, from a little before the place."""
    before, after = (ast.unparse(ast.parse(text)).splitlines() for text in (code, changed))
    pairs = zip(before, after, strict=False)
    return shortened(*next(((a, b) for a, b in pairs if a != b), (before[-1], "(gone)")))


def _in_common(a: str, b: str) -> int:
    """How many characters two texts share at their start."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in pairs if x != y), min(len(a), len(b)))


def shortened(old: str, new: str) -> str:
    old, new = old.strip(), new.strip()
    start = max(_in_common(old, new) - CONTEXT, 0)
    end = _in_common(old[::-1], new[::-1])
    tail = min(max(end - CONTEXT, 0), len(old) - start, len(new) - start)
    return "  ->  ".join(text[start : len(text) - tail] for text in (old, new))


if __name__ == "__main__":
    sys.exit(main())
