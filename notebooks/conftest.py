"""The rules under which nbval compares the lessons: what it would let pass, fails here.

* A picture is opaque, has the stored alt text and width, and looks like the stored picture.
* Outputs are of the stored kinds, none missing and none new.
* A cell tagged `nbval-ignore-output` still prints the same, apart from its numbers.
* A mismatch names the cell, its section, the line and the numbers, stored and computed.
* Once a cell has raised, the rest of its notebook is skipped: one bug, one failure.
* The cells of a notebook stay together and in order, whatever order was asked for.
* A cell is judged on a kernel that has run those before it, whether these were asked for or not.
* A notebook that is none of the lessons is not run unless it is named, and the report says so.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import difflib
import gc
import io
import re
from pathlib import Path

import kernels
import pytest
from nbval.plugin import IPyNbCell, NbCellError, coalesce_streams

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)")
# Pixels of a block, and by how many of 255 shades the means of two may differ: for pictures by
# one matplotlib and by two, where finer differences (fonts, antialiasing) belong to the version.
SAME_MAKER, OTHER_MAKER = (12, 6), (48, 15)
LONGEST_LIST = 12
ADVICE = (
    "What is stored comes from the reference environment in requirements.txt. Does a number differ",
    "in its last digits only, or on this machine only? Then round what is printed, or compare with",
    "a tolerance: to store it would store this machine's digits. If what is computed is right in",
    "the reference environment, store it with: python tests/tools/rewrite.py",
)
_current = {"item": None}


def pytest_configure(config):
    """Have our own kernels, which Linux forks from one warm process, see `tests/kernels.py`."""
    gc.disable()  # until all is loaded: looking through it again and again takes a tenth longer
    config.pluginmanager.register(Loaded())
    if not config.option.collectonly:
        stack = contextlib.ExitStack()
        stack.enter_context(kernels.ready())
        config.add_cleanup(stack.close)


def pytest_ignore_collect(collection_path):
    return True if collection_path in strangers() else None


def pytest_terminal_summary(terminalreporter):
    for path in strangers():
        terminalreporter.write_line(f"not one of the lessons, so run only when named: {path.name}")


def strangers():
    """Notebooks here that are not ours: copies, scratch paper."""
    found = sorted(Path(__file__).parent.glob("*.ipynb"))
    return [path for path in found if not kernels.LESSON.fullmatch(path.name)]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put each notebook's cells back in order where the first of them stands, after all else."""
    yield
    cells = {}
    for item in sorted((i for i in items if isinstance(i, IPyNbCell)), key=lambda i: i.cell_num):
        cells.setdefault(item.parent, []).append(item)
    parts = [cells.pop(i.parent, []) if isinstance(i, IPyNbCell) else [i] for i in items]
    items[:] = [item for part in parts for item in part]


class Loaded:
    """Spares the garbage collector long looks through torch and all else that is loaded."""

    def pytest_collectreport(self):
        gc.freeze()

    def pytest_collection_finish(self):
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if not isinstance(item, IPyNbCell):
        return (yield)
    prepare(item)
    _current["item"] = item
    try:
        result = yield
        if fault := computed_faults(item):
            raise NbCellError(item.cell_num, fault, item.cell.source)
        return result
    except NbCellError as error:
        if raised(error):
            item.parent.kernel.broken_by = place(item)
        text = f"{place(item)}: {error}"
        raise NbCellError(item.cell_num, text, error.source, error.inner_traceback) from None
    finally:
        _current["item"] = None


def prepare(item):
    """Have the kernel in the state in which a cell is run from top to bottom.

    Cells that come before and were not selected, or that another worker has, are run here without
    being judged. A kernel that has run this cell or a later one is replaced.
    """
    if getattr(item.parent.kernel, "cells_run", 0) > item.cell_num:
        item.parent.teardown()
        item.parent.setup()
    kernel = item.parent.kernel
    if hasattr(kernel, "broken_by"):
        pytest.skip(f"{kernel.broken_by} raised, so the rest of this notebook is not run")
    due = getattr(kernel, "cells_run", 0)
    kernel.cells_run = item.cell_num + 1
    if due == item.cell_num:
        return
    for before in list(item.parent.collect())[due : item.cell_num]:
        try:
            before.runtest()
        except NbCellError as error:
            if raised(error):
                kernel.broken_by = place(before)
                text = f"{place(item)} was not run: {kernel.broken_by} comes before, and raised"
                source, trace = before.cell.source, error.inner_traceback
                raise NbCellError(item.cell_num, text, source, trace) from None


def raised(error):
    return "exception" in str(error) or "Timeout" in str(error)


def place(item):
    """Where a maintainer finds the cell: its id, its count in Jupyter, its section."""
    section = "top"
    for cell in item.parent.nb.cells:
        if cell.cell_type == "markdown":
            headings = re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)
            section = headings[-1] if headings else section
        if cell.id == item.cell.id:
            break
    return f"cell '{item.cell.id}' (In[{item.cell.execution_count}], section '{section}')"


def computed_faults(item):
    """What nbval does not compare: the order of outputs, pictures, uncompared text."""
    if item.options["skip"]:
        return None
    stored = coalesce_streams(copy.deepcopy(item.cell.outputs))  # as nbval does with computed
    computed = item.test_outputs or ()
    old, new = kinds(stored), kinds(computed)
    if old != new:
        return f"outputs: stored {old}, computed {new}"
    if not item.options["check"]:
        old, new = (
            [NUMBER.sub("#", o.get("text", "")) for o in side] for side in (stored, computed)
        )
        return None if old == new else f"apart from numbers: stored {old}, computed {new}"
    pairs = zip(pictures(stored), pictures(computed), strict=True)
    return next(filter(None, (picture_fault(old, new) for old, new in pairs)), None)


def pictures(outputs):
    return [output for output in outputs if "image/png" in output.get("data", {})]


def kinds(outputs):
    return [
        output.get("name") or " + ".join(sorted(output.get("data", {}))) or output.output_type
        for output in outputs
    ]


def picture_fault(stored, computed):
    """How two picture outputs differ, in alt text, size or looks; None when they agree."""
    if stored.metadata != computed.metadata:
        return f"a picture's metadata: stored {stored.metadata}, computed {computed.metadata}"
    if stored.data["image/png"].strip() == computed.data["image/png"].strip():
        return None
    try:
        old, new = (opened(output.data["image/png"]) for output in (stored, computed))
    except (OSError, ValueError) as error:
        return f"a stored picture cannot be read: {error}"
    if old.has_transparency_data:
        return "a picture is stored with transparent parts"
    if "Software" not in old.info:
        return "a picture is stored without the name of what drew it"
    same_maker = old.info["Software"] == new.info.get("Software")
    block, largest_difference = SAME_MAKER if same_maker else OTHER_MAKER
    old, new = blocks(old, block), blocks(new, block)
    if old.shape != new.shape:
        return f"picture size in blocks: stored {old.shape}, computed {new.shape}"
    difference = abs(old - new).max()
    if difference > largest_difference:
        told = f"the picture looks different: a part of it by {difference:.0f} of 255 shades"
        return f"{told}. If it should, store it with: python tests/tools/rewrite.py"
    return None


def opened(png):
    """A picture from a PNG in base64, with all that its file says."""
    from PIL import Image  # here: the process that starts the workers need not wait for it

    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    picture.load()
    return picture


def blocks(picture, size):
    """The mean shades of a picture's blocks, `[rows, columns, 3]`."""
    import numpy as np

    return np.asarray(picture.convert("RGB").reduce(size), float)


def pytest_assertrepr_compare(config, op, left, right):
    """nbval asks this hook how to show a mismatch; left is stored, right computed."""
    if _current["item"] is None or not (isinstance(left, str) and isinstance(right, str)):
        return None
    stored, computed = left.split("\n"), right.split("\n")
    if len(stored) == len(computed):
        told = [
            line
            for n, pair in enumerate(zip(stored, computed, strict=True), 1)
            for line in line_differences(n, *pair)
        ][:LONGEST_LIST]
    else:
        told = [f"{len(stored)} lines stored, {len(computed)} computed"]
    diff = difflib.unified_diff(stored, computed, "stored", "computed", lineterm="", n=2)
    return ["what the notebook stores is not what its code prints now", *told, "", *diff, *ADVICE]


def line_differences(n, stored, computed):
    """The differing numbers of one line, or the line when more than numbers differ."""
    if stored == computed:
        return []
    old, new = NUMBER.findall(stored), NUMBER.findall(computed)
    if NUMBER.sub("#", stored).split() == NUMBER.sub("#", computed).split():
        return [
            f"line {n}, number {k}: stored {a}, computed {b}"
            for k, (a, b) in enumerate(zip(old, new, strict=True), 1)
            if a != b
        ]
    return [f"line {n}: stored {stored!r}, computed {computed!r}"]
