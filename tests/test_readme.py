"""The README's commands are the ones that CI runs, and its picture is the lesson's."""

import base64
import re

from lessons import ROOT, lesson, pictures

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
    for path in ("README.md", ".github/workflows/tests.yml"):
        named = re.findall(r"torch==([\d.]+)", (ROOT / path).read_text(encoding="utf-8"))
        assert set(named) == {version}, path


def test_the_picture_is_the_one_that_lesson_2_stores():
    stored = {cell: output["data"]["image/png"] for cell, output in pictures(lesson(2))}
    png = base64.b64decode(stored["before-after"])
    assert png == (ROOT / ".github/attention.png").read_bytes(), "extract it from the lesson again"
    assert re.search(r"!\[[^\]]{40,}\]\(\.github/attention\.png\)", README)
