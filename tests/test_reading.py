"""What a lesson promises to its readers: minutes, sittings, and questions without the answer."""

import re

import pytest
from lessons import ROOT, cells, lesson, source

from helpers import LESSONS
from helpers.project.minutes import LONGEST_SITTING, count, up

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKSHOP = (ROOT / ".github/WORKSHOP.md").read_text(encoding="utf-8")
MOST_PREDICTS = 12
each_lesson = pytest.mark.parametrize("number", LESSONS)


@each_lesson
def test_the_first_cell_promises_the_minutes_that_the_cells_take(number):
    minutes = count(lesson(number))
    title = source(lesson(number)["cells"][0])
    assert minutes.promise() in title, f"it takes: {minutes.promise()}"
    assert max(minutes.sittings) <= LONGEST_SITTING, minutes.sittings


@each_lesson
def test_each_side_room_says_its_minutes(number):
    text = "\n".join(map(source, cells(lesson(number), "markdown")))
    said = re.findall(r"^## Deeper: (.*)\n\n\*About (\d+) minutes?\b", text, re.MULTILINE)
    rooms = count(lesson(number)).rooms
    assert said == [(room, str(up(minutes, 1))) for room, minutes in rooms.items()]


@each_lesson
def test_readme_and_run_sheet_promise_the_same_minutes(number):
    minutes = count(lesson(number))
    core = up(sum(minutes.sittings))
    assert re.search(rf"^\| \[{number} · .*\| {core} \+ {minutes.exercises} \|", README, re.M)
    sheet = WORKSHOP.split("\n### ")[number]
    path = minutes.promise().partition(";")[0]
    assert f"\n{path[0].upper()}{path[1:]}; " in sheet
    rows = re.findall(r"^\| (\d+) \| (opening|\d+)\b", sheet, re.MULTILINE)
    spent = {name: str(max(1, round(m))) for name, m in minutes.sections.items() if name != "end"}
    assert {section: said for said, section in rows} == spent


@each_lesson
def test_what_a_predict_asks_is_folded_below_it_and_nothing_else_is(number):
    asked, on_the_path, in_a_room = [], 0, False
    for cell in lesson(number)["cells"]:
        text = source(cell)
        if cell["cell_type"] == "markdown":
            in_a_room = text.startswith("## Deeper") if text.startswith("## ") else in_a_room
            predicts = re.findall(r"^> \*\*Predict", text, re.MULTILINE)
            assert text.count("**Predict") == len(predicts), f"{cell['id']}: in a quote of its own"
            asked += predicts
            on_the_path += 0 if in_a_room else len(predicts)
        elif "check(" not in text:
            hidden = cell["metadata"].get("jupyter", {}).get("outputs_hidden", False)
            assert hidden == bool(asked), cell["id"]
            asked.clear()
    assert on_the_path <= MOST_PREDICTS


@each_lesson
def test_the_first_cell_says_how_to_hide_answers_where_outputs_cannot_be_folded(number):
    assert "*Edit, Clear all outputs*" in source(lesson(number)["cells"][0])
