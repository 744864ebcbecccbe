"""Numbers in the prose are numbers that the lesson prints, and links lead somewhere."""

import re

import pytest
from lessons import NOTEBOOKS, ROOT, cells, lesson, load, pictures, record, source

from helpers import LESSONS
from helpers.project import links

MINUS = "\u2212"
NUMBER = re.compile(rf"(?<![\w.])[-{MINUS}]?\d+(?:[.,]\d+)*(?!\d)")
PROMISES = r"core path \d+ minutes[^|\n]*|, \d+ minutes\)|\*About \d+ minutes"  # see test_reading
NOT_PROSE = re.compile(rf"```.*?```|`[^`\n]*`|\]\([^)]*\)|{PROMISES}", re.DOTALL)
CAPTION = re.compile(r"^Figure: .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


def value(number):
    """A number by its value; anything else with dots, such as a version, as it is written."""
    plain = number.replace(",", "").replace(MINUS, "-")
    return float(plain) if plain.count(".") < 2 else plain


def values(text):
    return {value(number) for number in NUMBER.findall(text)}


def printed(notebook):
    """Every number in the compared outputs of a lesson, captions apart: those are prose."""
    texts = (
        "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        for cell in cells(notebook, "code")
        for output in cell["outputs"]
        if not cell["metadata"].get("tags")
    )
    return set().union(*(values(CAPTION.sub("", text)) for text in texts))


def told(notebook):
    """The numbers of the prose, with the cell, the section and the line that tell them."""
    section = ""
    for cell in cells(notebook, "markdown"):
        for line in NOT_PROSE.sub("", source(cell)).splitlines():
            section = line.strip("# ") if line.startswith("#") else section
            for number in NUMBER.findall(line):
                if len(number.strip(f"-{MINUS}")) > 1:
                    yield number, cell["id"], section, line


@pytest.mark.parametrize("number", LESSONS)
def test_every_number_in_the_prose_is_printed_or_given(number):
    notebook, given = lesson(number), record(number).given
    shown = printed(notebook)
    unshown = {
        (cell, found): f"{found} in cell {cell!r}, section {section!r}: {line}"
        for found, cell, section, line in told(notebook)
        if value(found) not in shown
    }
    excused = {(cell, found) for cell, numbers in given.items() for found in numbers}
    missing = [where for key, where in unshown.items() if key not in excused]
    assert not missing, "\n".join(["no cell prints", *missing])
    assert sorted(excused - unshown.keys()) == [], "given in the lesson's record without need"


@pytest.mark.parametrize("number", LESSONS)
def test_every_number_in_an_alt_text_is_drawn(number):
    undrawn = {
        (cell, found)
        for cell, output in pictures(lesson(number))
        for found in NUMBER.findall(output["metadata"]["image/png"]["alt"])
        if value(found) not in values("".join(output["data"]["text/plain"]))
    }
    assert undrawn == record(number).not_drawn


# ------------------------------------------------------------------ links
def anchors(text):
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["README.md", ".github/WORKSHOP.md"])
def test_links_to_files_and_anchors_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_between_lessons_lead_to_the_lesson_that_they_name(path):
    for cell in cells(load(path), "markdown"):
        for text, target in re.findall(r"\[([^\[\]]*)\]\(([^)]*)\)", source(cell)):
            if target.endswith(".ipynb") and "Open" not in text:
                if text != "in Colab":  # which means the lesson that was linked before
                    (number,) = re.findall(r"lesson (\d)", text.lower())
                (named,) = (p.name for p in NOTEBOOKS if p.name.startswith(f"{int(number):02}_"))
                assert target in (named, links.badge_url(named)), text
