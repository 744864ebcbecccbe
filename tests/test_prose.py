"""Numbers in the prose are numbers that the lesson prints, and links lead somewhere."""

import re

import pytest
from lessons import DETAILS, NOTEBOOKS, ROOT, cells, load, source

NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
NOT_PROSE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|^#.*?$|^\|.*?$", re.DOTALL | re.MULTILINE)
# Numbers that no cell computes, and why. Single digits are not looked for.
GIVEN = {
    "01_input_embeddings": {
        "0.000001": "the tolerance of agree",
        "10000": "a constant of the sinusoidal formula",
    },
    "02_batched_causal_attention": {
        "0.000001": "the tolerance of agree",
        "123": "a seed",
        "60": "how many texts are timed",
        "121595": "an issue's number",
    },
    "03_disobeys_transformer": {
        "0.000001": "the tolerance of agree",
        "90": "a question's percentage",
        "2.7": "the number e, roughly",
        "3000": "e to the 8th, roughly",
        "1000": "a gain that the cell sets",
        "120": "orders of five words, in a product",
        "360": "orders of six words with a pair, in a product",
        "0.0005": "what an exercise demands",
        "0.1": "a guess that is offered",
        "1.25": "a step of a sum, done in words",
    },
}


def value(text):
    return float(text.replace(",", ""))


def printed(notebook):
    """Every number in the outputs of a lesson, without its sign."""
    texts = (
        "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        for cell in cells(notebook, "code")
        for output in cell["outputs"]
    )
    return {value(number) for text in texts for number in NUMBER.findall(text)}


def told(notebook):
    """The numbers of the prose, with the cell that tells them."""
    for cell in cells(notebook, "markdown"):
        for number in NUMBER.findall(NOT_PROSE.sub("", DETAILS.sub("", source(cell)))):
            if len(number) > 1:
                yield number, cell["id"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_in_the_prose_is_printed_or_given(path):
    shown = printed(load(path)) | {value(number) for number in GIVEN[path.stem]}
    unshown = [(number, cell) for number, cell in told(load(path)) if value(number) not in shown]
    assert unshown == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_exception_is_left_over(path):
    needed = {value(number) for number, _ in told(load(path))} - printed(load(path))
    assert {value(number) for number in GIVEN[path.stem]} == needed


@pytest.mark.parametrize("page", ["README.md", ".github/WORKSHOP.md"])
def test_links_to_files_and_anchors_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    anchors = {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (ROOT / page).parent.joinpath(target.split("#")[0]).exists(), target
