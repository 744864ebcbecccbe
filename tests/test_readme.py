"""What README and workshop page say of commands, versions and lessons is so."""

import base64
import re

import pytest
from lessons import NOTEBOOKS, ROOT, answers, cells, lesson, load, pictures, source
from test_prose import printed, values

from helpers import LESSONS
from helpers.project import ready

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKSHOP = (ROOT / ".github/WORKSHOP.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
TITLES = [source(load(path)["cells"][0]) for path in NOTEBOOKS]


def commands(language):
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


def test_ci_runs_the_readmes_test_command():
    (test_command,) = [c for c in commands("bash") if c.endswith("pytest")]
    assert test_command in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()


def test_the_workflow_runs_the_readmes_commands():
    text = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    runs = set(re.findall(r"^ +run: (.+)$", text.split("\n  test:\n")[1], re.M))
    wanted = {c for c in commands("(?:bash|powershell)") if "pytest" in c or "whl/cpu" in c}
    assert runs == wanted


def test_the_rehearsal_runs_all_tests():
    text = (ROOT / ".github/workflows/rehearsal.yml").read_text(encoding="utf-8")
    assert "- run: .venv/bin/pytest\n" in text


def test_actions_are_pinned_by_commit():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for action in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), f"{path.name}: {action}"


def test_one_torch_is_the_reference():
    requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (version,) = re.findall(r"^torch==(.+)$", requirements, re.M)
    for path in (
        "README.md",
        ".github/workflows/tests.yml",
        ".binder/requirements.txt",
        ".devcontainer/devcontainer.json",
    ):
        named = re.findall(r"torch==([\d.]+)", (ROOT / path).read_text(encoding="utf-8"))
        assert set(named) == {version}, path


def test_the_picture_is_the_one_that_lesson_3_stores():
    stored = {cell: output["data"]["image/png"] for cell, output in pictures(lesson(3))}
    png = base64.b64decode(stored["crows-again"])
    assert png == (ROOT / ".github/two-crows.png").read_bytes(), "extract it from the lesson again"
    assert re.search(r'<img src="\.github/two-crows\.png" width="520" alt="[^"]{40,}">', README)


def test_the_pages_workflow_runs_the_readmes_command_and_ci_installs_the_same():
    (build,) = [c for c in commands("bash") if c.endswith("make_pages.py")]
    workflow = (ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8")
    assert f"run: {build}\n" in workflow
    assert "path: build/html\n" in workflow
    requirements = ".github/pages/requirements.txt"
    assert f"-r {requirements} " in build
    assert f"-r {requirements}\n" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    pins = (ROOT / requirements).read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|[\w-]+==[\d.]+", pin) for pin in pins)


def test_the_run_sheet_has_every_section_and_exercise_of_the_core_path():
    for path, part in zip(NOTEBOOKS, WORKSHOP.split("\n### ")[1:], strict=True):
        markdown = "\n".join(map(source, cells(load(path), "markdown"))).split("\n## Deeper")[0]
        rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ")]
        sections = re.findall(r"^## (\d+) ·", markdown, re.M)
        assert [row[1] for row in rows if row[1].isdigit()] == sections, path.stem
        exercises = re.findall(r"^### Exercise (\S+) · .*\(\w+, (\d+) minutes\)$", markdown, re.M)
        assert re.findall(r"(\d\.\d+) \((\d+)\)", part) == exercises, path.stem
        path_minutes = sum(int(minutes) for _, minutes in exercises)
        assert re.search(rf"exercises on (this path|it) {path_minutes};", part), path.stem


def test_the_run_sheet_answers_with_numbers_that_the_lesson_prints():
    for path, part in zip(NOTEBOOKS, WORKSHOP.split("\n### ")[1:], strict=True):
        for row in (line.split(" | ") for line in part.splitlines() if line.startswith("| ")):
            unshown = values(" ".join(row[3:4] + row[5:6])) - printed(load(path))
            assert unshown <= set(range(10)), f"the lesson does not print {unshown}: {row}"


def test_the_day_before_says_how_many_exercises_each_lesson_has():
    counts = re.findall(r'"0 of (\d+)', WORKSHOP)
    right = [str(len(answers(number))) for number in LESSONS]
    assert counts == right, 'WORKSHOP.md, "The day before": what the last line of each lesson says'


def test_the_readmes_table_says_what_each_lesson_says():
    rows = re.findall(r"^\| \[(\d) · (.+?)\]\(notebooks/(.+?)\) \|", README, re.M)
    assert rows == [
        (*re.findall(r"# Lesson (\d) · (.+)", title)[0], path.name)
        for path, title in zip(NOTEBOOKS, TITLES, strict=True)
    ]
    sheets = re.findall(r"^### Lesson (\d) · (.+)$", WORKSHOP, re.M)
    assert sheets == [row[:2] for row in rows]


PAGES = {"README": README, "WORKSHOP": WORKSHOP, "CONTRIBUTING": CONTRIBUTING}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_module_that_a_page_names_is_there(page):
    text = PAGES[page].replace("%2F", "/")
    files = set(re.findall(r"\b(?:tests|notebooks|helpers)/[\w./-]*\w", text))
    files |= set(re.findall(r"(?:python\d?|-r) ([^-\s;`]+)", text))
    modules = re.findall(r"python\d? -m (helpers\S*?\w)\b(?!\.\w)", text)
    assert [
        file for file in files if not re.search("NN_|_….py", file) and not (ROOT / file).exists()
    ] == []
    assert modules
    assert [m for m in modules if not (ROOT / f"{m.replace('.', '/')}.py").exists()] == []


def test_contributing_tells_where_every_file_of_code_is():
    folders = ("helpers", "helpers/project", "tests/tools")
    code = [p for folder in folders for p in (ROOT / folder).glob("*.py")]
    names = [p.relative_to(ROOT).as_posix() for p in code if p.read_text(encoding="utf-8").strip()]
    doors = {"helpers/links.py", "helpers/ready.py", "helpers/project/__init__.py"}
    assert [name for name in names if name not in CONTRIBUTING and name not in doors] == []


def test_the_oldest_versions_are_named_alike():
    oldest = {name: ".".join(map(str, version)) for name, version in ready.OLDEST.items()}
    python = ".".join(map(str, ready.OLDEST_PYTHON))
    workflows = (ROOT / ".github/workflows/tests.yml", ROOT / ".github/workflows/rehearsal.yml")
    tests, rehearsal = (path.read_text(encoding="utf-8") for path in workflows)
    assert f"torch {oldest['torch']} and newer" in README
    assert f"IPython {oldest['ipython']} " in README
    assert f"torch {oldest['torch']} and matplotlib {oldest['matplotlib']} or newer" in WORKSHOP
    assert f"torch=={oldest['torch']}.0" in rehearsal
    assert f"matplotlib>={oldest['matplotlib']}" in (ROOT / "requirements.txt").read_text("utf-8")
    ((first, newest),) = re.findall(r'python: \["(.+?)", "(.+?)"\]', tests)
    assert first == python
    assert f"You need Python {first} to {newest}. " in README
