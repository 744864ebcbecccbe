"""Numbers in the prose are numbers that the lesson prints, and links lead somewhere."""

import re

import pytest
from lessons import NOTEBOOKS, ROOT, cells, load, pictures, source

from helpers import links

MINUS = "\u2212"
NUMBER = re.compile(rf"(?<![\w.])[-{MINUS}]?\d+(?:[.,]\d+)*(?!\d)")
NOT_PROSE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL)
CAPTION = re.compile(r"^Figure: .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
# Numbers that no cell prints, by cell, and why. Single digits are not looked for.
MINUTES = "a promise of minutes"
GIVEN = {
    "01_input_embeddings": {
        "title": {"20": MINUTES},
        "formula-heading": {"10000": "a constant of the sinusoidal formula"},
    },
    "02_batched_causal_attention": {
        "title": {"25": MINUTES, "30": MINUTES},
        "projections-text": {"123": "a seed"},
        "cost-heading": {"60": "how many texts are timed"},
        "carry": {"121595": "an issue's number"},
    },
    "03_disobeys_transformer": {
        "title": {"30": MINUTES, "40": MINUTES},
        "softmax-text": {
            "90": "a question's percentage",
            "2.7": "the number e, roughly",
            "3000": "e to the 8th, roughly",
        },
        "orders-text": {
            "120": "orders of five words, in a product",
            "360": "orders of six words with a pair, in a product",
        },
        "hard-text": {"1000": "a gain that the cell sets"},
        "eight-places-text": {
            "0.0005": "what the exercise demands",
            "9.8": "a step of the hint",
            "0.0004": "what follows from it",
        },
        "first-heading": {"0.1": "a guess that is offered"},
        "missing-after": {"1.25": "a step of a sum, done in words"},
        "peers-text": dict.fromkeys(("47", "25,685", "56", "85,544"), "quoted, as the text says"),
    },
}
# Numbers in the alt text of a picture that it does not draw: a scale's end, a layer, a level.
NOT_DRAWN = {("formula", "-1"), ("layer-two", "2"), ("gains-plot", "0.5")}


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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_in_the_prose_is_printed_or_given(path):
    shown, given = printed(load(path)), GIVEN[path.stem]
    unshown = [
        f"{number} in cell {cell!r}, section {section!r}: {line}"
        for number, cell, section, line in told(load(path))
        if value(number) not in shown and number not in given.get(cell, {})
    ]
    assert not unshown, "\n".join(["no cell prints", *unshown])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_exception_is_left_over(path):
    shown = printed(load(path))
    needed = {(c, number) for number, c, _, _ in told(load(path)) if value(number) not in shown}
    given = {(cell, number) for cell, numbers in GIVEN[path.stem].items() for number in numbers}
    assert sorted(given - needed) == []


def test_every_number_in_an_alt_text_is_drawn():
    undrawn = {
        (cell, number)
        for path in NOTEBOOKS
        for cell, output in pictures(load(path))
        for number in NUMBER.findall(output["metadata"]["image/png"]["alt"])
        if value(number) not in values("".join(output["data"]["text/plain"]))
    }
    assert undrawn == NOT_DRAWN


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
            if links.place()[0] in target:
                (number,) = re.findall(r"lesson (\d)", text.lower())
                (named,) = (p.name for p in NOTEBOOKS if p.name.startswith(f"{int(number):02}_"))
                assert target == links.badge_url(named), text
