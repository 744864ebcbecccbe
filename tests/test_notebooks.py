"""The notebook files: what GitHub, Colab, JupyterLab and screen readers rely on."""

import ast
import asyncio
import json
import re
from itertools import pairwise

import nbformat
import pytest
from lessons import DETAILS, NOTEBOOKS, answers, cells, lesson, load, solutions, source
from rewrite import METADATA, rewrite_all
from shape_comments import false_comments

import helpers
from helpers import LESSONS
from helpers.exercises import NOT_ATTEMPTED
from helpers.hints import hints_of
from helpers.project import links

MEGABYTE = 1_000_000
LONGEST_CELL = 25
# What may be said of a cell beside its contents: folded away with Colab's form, or not compared.
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
ANSWER_FOLDED = {"jupyter": {"outputs_hidden": True}}
ROOM_FOLDED = {"jp-MarkdownHeadingCollapsed": True}
ALLOWED_METADATA = {
    "setup": [FOLDED],
    "guards": [{}, FOLDED],
    "speed": [{"tags": ["nbval-ignore-output"]}],
}
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def prose(notebook):
    """Markdown without code: fenced blocks and `code` words stand for themselves."""
    for cell in cells(notebook, "markdown"):
        yield cell["id"], re.sub(r"```.*?```|`[^`\n]*`", "", source(cell), flags=re.DOTALL)


@each_notebook
def test_file_is_what_every_front_end_reads(path):
    notebook = load(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == METADATA
    assert path.stat().st_size < MEGABYTE
    text = path.read_text(encoding="utf-8")
    as_stored = json.loads(nbformat.writes(nbformat.reads(text, as_version=4)))
    assert text == links.dump(as_stored), "not as tests/tools/rewrite.py stores it"


def test_a_stale_output_is_stored_anew_and_storing_again_changes_nothing_to_the_byte(tmp_path):
    def notebook(first):
        cell = {"cell_type": "code", "metadata": {}}
        one = {**cell, "id": "one", "execution_count": 1, "source": ["print(1)\n", "print(2)"]}
        two = {**cell, "id": "two", "execution_count": 2, "source": ["print(3)"]}
        printed = {"name": "stdout", "output_type": "stream"}
        one["outputs"] = [{**printed, "text": lines} for lines in first]
        two["outputs"] = [{**printed, "text": ["3\n"]}]
        return links.dump(
            {"cells": [one, two], "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
        )

    stored = notebook([["1\n", "2\n"]])
    before = {"stale": notebook([["7\n"]]), "stored": stored}
    paths = [tmp_path / f"{name}.ipynb" for name in before]
    for path, text in zip(paths, before.values(), strict=True):
        path.write_bytes(text.encode())
    assert asyncio.run(rewrite_all(paths)) == [True, False]
    assert [path.read_bytes() for path in paths] == 2 * [stored.encode()]


@each_notebook
def test_cell_ids_are_readable_and_unique(path):
    ids = [cell["id"] for cell in load(path)["cells"]]
    assert len(set(ids)) == len(ids)
    assert [i for i in ids if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", i)] == []


@each_notebook
def test_ran_once_from_top_to_bottom_without_traces_of_the_run(path):
    for due, cell in enumerate(cells(load(path), "code"), 1):
        assert cell["execution_count"] == due, f"{cell['id']}: In[{due}] was due here"
    for cell in load(path)["cells"]:
        a_room = source(cell).startswith("## Deeper")
        usual = [ROOM_FOLDED] if a_room else [{}, ANSWER_FOLDED]
        allowed = ALLOWED_METADATA.get(cell["id"], usual)
        assert cell["metadata"] in allowed, cell["id"]


@each_notebook
def test_no_cell_is_empty_or_raw(path):
    for cell in load(path)["cells"]:
        assert cell["cell_type"] in ("markdown", "code"), cell["id"]
        assert source(cell).strip(), cell["id"]


@each_notebook
def test_every_code_cell_shows_something(path):
    assert [cell["id"] for cell in cells(load(path), "code") if not cell["outputs"]] == []


@each_notebook
def test_no_error_and_no_warning_is_stored(path):
    for cell in cells(load(path), "code"):
        for output in cell["outputs"]:
            assert output["output_type"] in ("stream", "display_data"), cell["id"]
            assert output.get("name", "stdout") == "stdout", cell["id"]


@each_notebook
def test_an_uncompared_cell_says_why(path):
    for cell in cells(load(path), "code"):
        assert "NBVAL" not in source(cell).upper(), f"{cell['id']}: use a cell tag"
        tags = cell["metadata"].get("tags", [])
        assert set(tags) <= {"nbval-ignore-output"}, cell["id"]
        if tags:
            assert source(cell).startswith("# Not compared by the tests: "), cell["id"]
            (ratio,) = re.findall(r" (\d+) times as long", "".join(cell["outputs"][0]["text"]))
            assert int(ratio) > 1, f"{cell['id']}: what is stored says the contrary of the text"


@each_notebook
def test_every_picture_has_alt_text_its_numbers_in_text_and_a_caption(path):
    for cell in cells(load(path), "code"):
        for place, output in enumerate(cell["outputs"]):
            if "image/png" not in output.get("data", {}):
                continue
            alt = output["metadata"].get("image/png", {}).get("alt", "")
            assert len(alt.split()) >= 10, f"{cell['id']}: say what the picture shows"
            twin = "".join(output["data"]["text/plain"])
            assert re.match(r"Figure in numbers\n[\s\S]*\| -?\d", twin), cell["id"]
            following = " ".join(cell["outputs"][place + 1]["text"]).split()
            assert " ".join(following).startswith(f"Figure: {alt}"), f"{cell['id']}: no caption"


@each_notebook
def test_no_stored_number_is_minus_zero_or_scientific(path):
    for cell in cells(load(path), "code"):
        for output in cell["outputs"]:
            text = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
            assert not re.search(r"(?<![\d.])-0\.?0*(?![\d.])|\de[-+]\d", text), cell["id"]
            assert not re.search(r"0x[0-9a-f]{6}|/home/|/tmp/|<Figure", text), cell["id"]
            assert not re.search(r"[\x00-\x09\x0b-\x1f]", text), f"{cell['id']}: control characters"


@each_notebook
def test_markdown_renders_everywhere(path):
    for cell_id, text in prose(load(path)):
        assert not re.search(r"<(?!/?(details|summary)>)[a-z]", text), f"{cell_id}: HTML"
        assert not re.search(r"\\\(|\\\[|\\\$|mermaid|attachment:", text), cell_id
        assert "$" not in "".join(DETAILS.findall(text)), f"{cell_id}: math inside <details>"
        assert text.count("$") % 2 == 0, f"{cell_id}: math that does not end"
        tags = re.findall(r"</?details>|</?summary>", text)
        whole = ["<details>", "<summary>", "</summary>", "</details>"]
        assert tags == len(tags) // 4 * whole, f"{cell_id}: <details> that does not end"
        assert not re.search(r"</summary>(?!\n\n)", text), f"{cell_id}: no blank line after summary"
        for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text):
            assert alt.strip(), f"{cell_id}: an image without alternative text"
            assert target.startswith("https://"), f"{cell_id}: relative image {target}"
        for target in re.findall(r"(?<!!)\[[^\]]+\]\(([^)]*)\)", text):
            another_lesson = target in [lesson.name for lesson in NOTEBOOKS]
            assert target.startswith("https://") or another_lesson, f"{cell_id}: link to {target}"


@each_notebook
def test_headings_never_skip_a_level(path):
    levels = [
        len(marks) for _, text in prose(load(path)) for marks in re.findall(r"^(#+) ", text, re.M)
    ]
    assert levels[:1] == [1]
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@each_notebook
def test_prose_never_belittles(path):
    for cell_id, text in prose(load(path)):
        found = re.findall(r"\b(simply|just|obviously|obvious|trivial\w*|of course)\b", text, re.I)
        assert found == [], cell_id


@each_notebook
def test_cells_are_short(path):
    code = [cell for cell in cells(load(path), "code") if cell["id"] != links.SETUP_ID]
    lengths = sorted(len(cell["source"]) for cell in code)
    too_long = [
        cell["id"]
        for cell in code
        if len(cell["source"]) > LONGEST_CELL and "class " not in source(cell)
    ]
    assert too_long == []
    assert [c["id"] for c in code if max(map(len, c["source"])) > 101] == []
    assert lengths[len(lengths) // 2] <= 10


@pytest.mark.parametrize("number", LESSONS)
def test_untouched_exercises_say_so_and_the_last_cell_keeps_the_tally(number):
    code = cells(lesson(number), "code")
    names = answers(number)
    for cell in code:
        for name in re.findall(r'check\("([\w-]+)"', source(cell)):
            told = cell["outputs"][-1]["data"]
            assert f"{name}: {NOT_ATTEMPTED}" in "".join(told["text/plain"]), name
            assert f"{name}: {NOT_ATTEMPTED}" in "".join(told["text/html"]), name
    last = "".join(code[-1]["outputs"][0]["text"])
    assert last.startswith(f"{len(names) * '○'} 0 of {len(names)} done; next: {number}.1 ")


@pytest.mark.parametrize("number", LESSONS)
def test_every_comment_that_tells_a_shape_is_true(number):
    assert false_comments(number) == {}


def form(code, name):
    """The parameters and the dictionary keys in what a piece of code calls `name`."""
    (node,) = (
        node
        for node in ast.parse(code).body
        if name == getattr(node, "name", None)
        or (isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets))
    )
    inside = list(ast.walk(node))
    parameters = [(n.name, ast.unparse(n.args)) for n in inside if isinstance(n, ast.FunctionDef)]
    return parameters, [[*map(ast.unparse, n.keys)] for n in inside if isinstance(n, ast.Dict)]


@pytest.mark.parametrize("number", LESSONS)
def test_an_exercise_asks_for_what_its_solution_gives(number):
    for cell in cells(lesson(number), "code"):
        for name, answer in re.findall(r'check\("([\w-]+)", (\w+)\)', source(cell)):
            assert form(source(cell), answer) == form(solutions(number)[name], answer), name


@pytest.mark.parametrize("number", LESSONS)
def test_every_exercise_has_a_hint_and_a_solution(number):
    numbers = helpers._numbers(number)
    assert list(answers(number)) == [*numbers]
    assert [name for name, code in solutions(number).items() if not code] == []
    text = "\n".join(source(cell) for cell in cells(lesson(number), "markdown"))
    for exercise in numbers.values():
        heading = re.search(rf"^### Exercise {exercise} · .* \((\w+), \d+ minutes\)$", text, re.M)
        assert heading, f"no heading for {exercise} with difficulty and minutes"
        assert heading[1] in ("easy", "medium", "hard")
        assert hints_of(number, exercise)
