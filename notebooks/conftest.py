"""The rules under which nbval compares the lessons: what it would let pass, fails here.

* A cell that was never run, or a notebook not run once from top to bottom, fails.
* A cell tagged `raises-exception` has an error stored.
* A picture is opaque, has the stored alt text and width, and looks like the stored picture.
* Outputs are of the stored kinds, none missing and none new.
* A cell tagged `nbval-ignore-output` still prints the same, apart from its numbers.
* A mismatch names the cell, its section, the line and the numbers, stored and computed.
* Once a cell has raised, the rest of its notebook is skipped: one bug, one failure.
* The cells of a notebook stay together and in order, whatever order was asked for.
"""

from __future__ import annotations

import base64
import copy
import difflib
import gc
import io
import os
import re

import kernels
import pytest
from nbval.plugin import IPyNbCell, NbCellError, coalesce_streams

# The kernels inherit these; no MPLBACKEND, which would hide figures.
os.environ.setdefault("PYTHONHASHSEED", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.pop("MPLBACKEND", None)

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)")
# Pixels of a block, and by how many of 255 shades the means of two may differ: for pictures by
# one matplotlib and by two, where finer differences (fonts, antialiasing) belong to the version.
SAME_MAKER, OTHER_MAKER = (12, 6), (48, 15)
LONGEST_LIST = 12
_current = {"item": None}


def pytest_configure(config):
    """Have Linux fork the kernels from one warm process, see `tests/kernels.py`."""
    gc.disable()  # until all is loaded: looking through it again and again takes a tenth longer
    config.pluginmanager.register(Loaded())
    if config.option.collectonly:
        return
    if "WARM_KERNELS" not in os.environ:
        stop = kernels.start()
        os.environ["WARM_KERNELS"] = "yes" if stop else "no"
        if stop:
            config.add_cleanup(stop)
    if os.environ["WARM_KERNELS"] == "yes":
        config.option.nbval_current_env = False  # but the kernel that the notebook names


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
    broken_by = getattr(item.parent, "broken_by", None)
    if broken_by is not None:
        pytest.skip(f"{broken_by} raised, so the rest of this notebook is not run")
    _current["item"] = item
    try:
        complain(item, stored_faults(item))
        result = yield
        complain(item, computed_faults(item))
        return result
    except NbCellError as error:
        if "exception" in str(error) or "Timeout" in str(error):
            item.parent.broken_by = place(item)
        text = f"{place(item)}: {error}"
        raise NbCellError(item.cell_num, text, error.source, error.inner_traceback) from None
    finally:
        _current["item"] = None


def complain(item, fault):
    if fault:
        raise NbCellError(item.cell_num, fault, item.cell.source)


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


def stored_faults(item):
    """What is wrong with the stored cell itself, before running anything."""
    cell = item.cell
    if item.options["skip"] or not cell.source.strip():
        return None
    if cell.execution_count is None:
        return "this cell was never run: nothing is stored to compare with"
    code = [c for c in item.parent.nb.cells if c.cell_type == "code" and c.source.strip()]
    counts = enumerate((c.execution_count for c in code), 1)
    due = next((n for n, count in counts if count not in (n, None)), None)
    if due and cell.id == code[due - 1].id:
        return f"the notebook was not run once, from top to bottom: In[{due}] was due here"
    if item.options["check_exception"] and not has_error(cell.outputs):
        return "its tag says that it raises, but no error is stored"
    return None


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


def has_error(outputs):
    return any(output.output_type == "error" for output in outputs)


def picture_fault(stored, computed):
    """How two picture outputs differ, in alt text, size or looks; None when they agree."""
    old_alt, new_alt = (
        output.metadata.get("image/png", {}).get("alt", "") for output in (stored, computed)
    )
    if not old_alt.strip():
        return "a picture is stored without alt text"
    if old_alt != new_alt:
        return f"alt text: stored {old_alt!r}, computed {new_alt!r}"
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
        return f"the picture looks different: a part of it by {difference:.0f} of 255 shades"
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
    advice = "If what is computed is right, store it with: python tests/rewrite.py"
    return ["what the notebook stores is not what its code prints now", *told, "", *diff, advice]


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
