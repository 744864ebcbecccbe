"""The rules in `notebooks/conftest.py`: each kind of damage fails and names its cell."""

import base64
import io
import json
import re
import shutil

import kernels
import pytest
from lessons import ROOT
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo


def png(dark_part, maker="ours 2.0", mode="RGB"):
    """A white picture, in base64, with a dark square of a given size."""
    picture = Image.new(mode, (320, 160), "white")
    ImageDraw.Draw(picture).rectangle((20, 20, 20 + dark_part, 20 + dark_part), fill="black")
    out, made_by = io.BytesIO(), PngInfo()
    if maker:
        made_by.add_text("Software", maker)
    picture.save(out, format="png", pnginfo=made_by)
    return base64.b64encode(out.getvalue()).decode()


SQUARE = png(60)
SHOW = """from IPython.display import display
data = {{"image/png": "{0}", "text/plain": "twin"}}
display(data, metadata={{"image/png": {{"alt": "a square"}}}}, raw=True)"""


def stream(text):
    return {"name": "stdout", "output_type": "stream", "text": [text]}


def picture(part, alt="a square", **more):
    return {
        "data": {"image/png": png(part), "text/plain": ["twin"]},
        "metadata": {"image/png": {"alt": alt, **more}},
        "output_type": "display_data",
    }


def stored_as(data):
    return {**picture(60), "data": {"image/png": data, "text/plain": ["twin"]}}


def code(cell_id, text, *outputs, tags=()):
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": {"tags": list(tags)} if tags else {},
        "outputs": list(outputs),
        "source": [text],
    }


def drawn(cell_id, stored, now=SQUARE):
    """A cell that draws a picture, with the one that is stored."""
    return code(cell_id, SHOW.format(now), stored)


HEADING = {"cell_type": "markdown", "id": "heading", "metadata": {}, "source": ["# Part one"]}
PRINT = 'print("weights", 0.3300, 0.6700)'
FINE = stream("weights 0.33 0.67\n")

# Damaged cells and what the report must say of each, None when it must pass.
DAMAGED_CELLS = [
    (code("intact", PRINT, FINE), None),
    (drawn("picture", picture(60)), None),
    (drawn("redrawn-by-another", picture(60), png(61, "ours 1.0")), None),
    (
        drawn("redrawn-slightly", picture(60), png(61)),
        "the picture looks different: a part of it by 34 of 255 shades",
    ),
    (
        code("digit", PRINT, stream("weights 0.33 0.66\n")),
        r"differ[\s\S]*line 1, number 2: stored 0.66, computed 0.67[\s\S]*this machine only\?",
    ),
    (drawn("picture-replaced", picture(110)), "the picture looks different"),
    (
        drawn("changed-by-another", picture(60), png(64, "ours 1.0")),
        "the picture looks different: a part of it by 31 of 255 shades",
    ),
    (drawn("picture-cut", stored_as(SQUARE[:400])), "a stored picture cannot be read: "),
    (
        drawn("picture-transparent", stored_as(png(60, mode="RGBA"))),
        "stored with transparent parts",
    ),
    (
        drawn("maker-unknown", stored_as(png(60, maker=None))),
        "stored without the name of what drew it",
    ),
    (
        drawn("other-width", picture(60, width=52)),
        r"a picture's metadata: stored .*'width': 52.*, computed",
    ),
    (
        drawn("picture-dropped", {**picture(60), "data": {"text/plain": ["twin"]}}),
        r"outputs: stored \['text/plain'\], computed \['image/png \+ ",
    ),
    (
        drawn("other-alt-text", picture(60, "a circle")),
        "a picture's metadata: stored .*'a circle'.*, computed .*'a square'",
    ),
    (
        code("uncompared-number", PRINT, stream("weights 9.9 0.1\n"), tags=["nbval-ignore-output"]),
        None,
    ),
    (
        code("uncompared-text", PRINT, stream("weight 9.9 0.1\n"), tags=["nbval-ignore-output"]),
        "apart from numbers: stored .*weight #",
    ),
    (code("cleared", PRINT), r"[\s\S]*Unexpected output fields from running code: {'stdout'}"),
    (code("raises", "1 / 0", FINE), r"exception[\s\S]*ZeroDivisionError"),
    (code("after-the-error", "print(1)", FINE), None),
]
for number, (cell, _) in enumerate(DAMAGED_CELLS, 1):
    cell["execution_count"] = number


def counting(cell_id, *outputs):
    return code(cell_id, "count += 1; print(count)", *outputs)


# Of these only some are asked for, and not in order, as when one is run again or moved to here.
SELECTED_CELLS = [
    code("zero", "count = 0; print(count)", stream("stale, but not asked for\n")),
    counting("one", stream("1\n")),
    counting("two", stream("2\n")),
    counting("three", stream("3\n")),
    code("not-asked-for", "1 / 0"),
    counting("five", stream("4\n")),
    counting("six", stream("5\n")),
]
SELECTED = [5, 6, 1, 3]
DAMAGED, CHOSEN = "01_damaged", "02_chosen"


@pytest.fixture(scope="session")
def report(tmp_path_factory, inner_run):
    """What the suite says about all the damage, in one run."""
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copy(ROOT / "notebooks" / "conftest.py", folder)
    write(folder / f"{DAMAGED}.ipynb", [cell for cell, _ in DAMAGED_CELLS])
    write(folder / f"{CHOSEN}.ipynb", SELECTED_CELLS)
    (folder / "Untitled.ipynb").touch()
    (folder / "test_between.py").write_text("def test_between(): pass\n", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    with kernels.ready(forked=False):
        return inner_run(folder, ".", "-rs", "-pnbval", "--nbval", plugins=[MIXED])


class Mixed:
    """Asks for some cells only, and for another order, as options and plugins do, and tells
    which one it is."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: -getattr(item, "cell_num", 2.5))
        items[:] = [i for i in items if i.path.stem != CHOSEN or i.cell_num in SELECTED]

    def pytest_collection_finish(self, session):
        self.order = [(i.path.stem, i.name) for i in session.items]
        chosen = [f"Cell {number}" for number in SELECTED]
        session.items.sort(key=lambda i: chosen.index(i.name) if i.path.stem == CHOSEN else -1)


MIXED = Mixed()


def write(path, cells):
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    run = [{"execution_count": count, **cell} for count, cell in enumerate(cells, 1)]
    notebook = {"cells": [HEADING, *run], "metadata": {"kernelspec": kernel}}
    text = json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5})
    path.write_text(text, encoding="utf-8")


def told_of(report, cell):
    """The part of the report on one cell, empty when it passed."""
    parts = re.findall(
        r"^_+ [\w-]+.ipynb::Cell (?:.|\n)*?(?=\n_{5,} |\n=====)", report, re.MULTILINE
    )
    return "\n".join(part for part in parts if f"cell '{cell}' (In[" in part)


@pytest.mark.parametrize(("cell", "told"), DAMAGED_CELLS, ids=[c["id"] for c, _ in DAMAGED_CELLS])
def test_damage_to_a_cell_is_noticed_and_its_place_is_named(report, cell, told):
    number = [c for c, _ in DAMAGED_CELLS].index(cell)
    assert f"{DAMAGED}.ipynb::Cell {number} " in report or told is None, report
    part = told_of(report, cell["id"])
    if told is None:
        assert not part
    else:
        place = rf"cell '{cell['id']}' \(In\[{cell['execution_count']}\], section 'Part one'\).*"
        assert re.search(place + told, part), report


def test_the_rest_of_a_broken_notebook_is_skipped(report):
    assert re.search(r"cell 'raises' \(In\[\d+\], section 'Part one'\) raised, so the rest", report)


def test_cells_stay_together_and_in_order(report):
    numbers = {DAMAGED: range(len(DAMAGED_CELLS)), CHOSEN: sorted(SELECTED)}
    assert MIXED.order == [
        *((notebook, f"Cell {n}") for notebook in numbers for n in numbers[notebook]),
        ("test_between", "test_between"),
    ]


def test_a_cell_that_was_not_asked_for_is_told_when_it_raises(report):
    told = told_of(report, "five")
    assert "was not run: cell 'not-asked-for' (In[5], section 'Part one') comes before" in told
    assert "ZeroDivisionError" in told
    assert not told_of(report, "six")


def test_a_notebook_that_is_no_lesson_is_named_and_left_alone(report):
    assert "\nnot one of the lessons, so run only when named: Untitled.ipynb\n" in report


def test_nothing_else_fails(report):
    failed = sum(told is not None for _, told in DAMAGED_CELLS) + len({"five"})
    passed = sum(told is None for _, told in DAMAGED_CELLS) - len({"after-the-error"})
    passed += len({"one", "three", "test_between"})
    skipped = len({"after-the-error", "six"})
    assert f" {failed} failed, {passed} passed, {skipped} skipped in " in report, report
