"""The README's commands are the ones that CI runs, and its picture is the lesson's."""

import base64
import re

from lessons import NOTEBOOKS, ROOT, cells, lesson, load, pictures, source

README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def test_the_picture_is_the_one_that_lesson_2_stores():
    stored = {cell: output["data"]["image/png"] for cell, output in pictures(lesson(2))}
    png = base64.b64decode(stored["before-after"])
    assert png == (ROOT / ".github/attention.png").read_bytes(), "extract it from the lesson again"
    assert re.search(r"!\[[^\]]{40,}\]\(\.github/attention\.png\)", README)


def test_the_pages_workflow_runs_the_readmes_command_and_links_every_lesson():
    (export,) = [c for c in commands("bash") if "--to html" in c]
    workflow = (ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8")
    assert f"run: {export}\n" in workflow
    index = (ROOT / ".github/index.html").read_text(encoding="utf-8")
    titles = [source(load(path)["cells"][0]).splitlines()[0].split(" · ")[1] for path in NOTEBOOKS]
    linked = re.findall(r'<a href="(.+?)\.html">(.+?)</a>', index)
    assert linked == [(path.stem, title) for path, title in zip(NOTEBOOKS, titles, strict=True)]


def test_the_run_sheet_has_every_section_and_exercise_of_the_core_path():
    sheet = (ROOT / ".github/WORKSHOP.md").read_text(encoding="utf-8").split("\n### ")[1:]
    for path, part in zip(NOTEBOOKS, sheet, strict=True):
        markdown = "\n".join(map(source, cells(load(path), "markdown"))).split("\n## Deeper")[0]
        rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ")]
        sections = re.findall(r"^## (\d+) ·", markdown, re.M)
        assert [row[1] for row in rows if row[1].isdigit()] == sections, path.stem
        exercises = re.findall(r"^### Exercise (\S+) · .*\(\w+, (\d+) minutes\)$", markdown, re.M)
        assert re.findall(r"(\d\.\d+) \((\d+)\)", part) == exercises, path.stem
        path_minutes = sum(int(minutes) for _, minutes in exercises)
        assert f"exercises on this path {path_minutes}" in part, path.stem
