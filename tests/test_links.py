"""One place names repository and ref, in every badge, link and setup cell."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from lessons import NOTEBOOKS, ROOT, load, source

from helpers.project import links

SETUP = links.SETUP_FILE.read_text(encoding="utf-8")
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


# ------------------------------------------------------------------ one source, everywhere
@each_notebook
def test_the_setup_cell_is_the_one_source(path):
    first = next(cell for cell in load(path)["cells"] if cell["cell_type"] == "code")
    assert first["id"] == links.SETUP_ID
    assert source(first) + "\n" == SETUP
    assert first["metadata"] == {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert len(SETUP.splitlines()) <= 15
    assert SETUP.startswith("# @title Setup: run this cell first\n")


@each_notebook
def test_each_badge_opens_its_own_notebook(path):
    title = source(load(path)["cells"][0])
    assert f"]({links.badge_url(path.name)})" in title
    assert f"]({links.badge_url(path.name)})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_no_other_address_of_the_project_is_named():
    repository, ref = links.place()
    for path in [*NOTEBOOKS, ROOT / "README.md"]:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"colab\.research\.google\.com/github/([^/]+/[^/]+)/", text)) == {
            repository
        }
        assert set(re.findall(rf"{re.escape(repository)}/blob/([^/]+)/", text)) == {ref}


def test_the_placeholder_is_no_possible_account():
    assert not re.fullmatch(r"[A-Za-z0-9-]+", links.PLACEHOLDER_OWNER)
    assert links.PLACEHOLDER_OWNER in SETUP.split("raise")[0].split("wrong =")[1]


# ------------------------------------------------------------------ moving the project
@pytest.fixture
def copied(tmp_path):
    """A copy of what `links` rewrites, with the helpers that do it."""
    for name in ("helpers", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", tmp_path)
    return tmp_path


def move(root, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "helpers.links", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def texts(root):
    files = [*map(root.joinpath, ("README.md", "helpers/project/setup_cell.py"))]
    files += root.glob("notebooks/*.ipynb")
    return {path.name: path.read_bytes() for path in files}


def test_moving_there_and_back_changes_every_file_and_then_nothing(copied):
    before = texts(copied)
    away = move(copied, "some-one/lessons", "v1.2")
    assert away.returncode == 0, away.stderr
    moved = texts(copied)
    for name, text in moved.items():
        assert b"some-one/lessons" in text, name
        if name != "setup_cell.py" and not name.endswith(".ipynb"):
            assert b"not.published.yet" not in text, name
    assert b'REPOSITORY, REF = "some-one/lessons", "v1.2"' in moved["setup_cell.py"]
    for path in copied.glob("notebooks/*.ipynb"):
        (cell,) = (c for c in json.loads(path.read_bytes())["cells"] if c["id"] == links.SETUP_ID)
        assert source(cell) + "\n" == moved["setup_cell.py"].decode()
    assert all(b"some-one/lessons/blob/v1.2/" in t for n, t in moved.items() if "ipynb" in n)
    assert b"https://some-one.github.io/lessons/" in moved["README.md"]
    assert move(copied, "some-one/lessons", "v1.2").stdout == "nothing to change\n"
    repository, ref = links.place()
    move(copied, repository, ref)
    assert texts(copied) == before


def test_the_first_publication_is_moved_once_only(copied):
    move(copied, f"{links.PLACEHOLDER_OWNER}/lessons", "main")
    assert "rewritten" in move(copied, "--if-unpublished", "some-one/lessons", "main").stdout
    assert "nothing to do" in move(copied, "--if-unpublished", "other/fork", "main").stdout
    assert b"other/fork" not in texts(copied)["README.md"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(("lessons", "main"), "'lessons' is no repository"), (("a/b", "x/y"), "'x/y' is no ref")],
)
def test_bad_places_are_refused_and_change_nothing(copied, arguments, told):
    before = texts(copied)
    run = move(copied, *arguments)
    assert run.returncode != 0
    assert told in run.stderr
    assert texts(copied) == before


STAND_IN = "Tensor = object\ndef __getattr__(name):\n    return type(name, (), {})\n"


def test_a_published_copy_passes_the_tests_that_know_the_place(tmp_path):
    """Under another name and at a tag, as the workflow rewrites it at the first push; without
    torch, which would take longer than the tests."""
    published = tmp_path / "renamed"
    ignore = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build")
    shutil.copytree(ROOT, published, ignore=ignore)
    move(published, f"{links.PLACEHOLDER_OWNER}/lessons", "main")
    workflow = (ROOT / ".github/workflows/links.yml").read_text(encoding="utf-8")
    (command,) = re.findall(r"python -m helpers\.links (.+)", workflow)
    command = command.replace("$GITHUB_REPOSITORY", "Some-One/other.name")
    moved = move(published, *shlex.split(command.replace("$GITHUB_REF_NAME", "v1.2")))
    assert "README.md" in moved.stdout, moved.stderr
    assert links.PLACEHOLDER_OWNER not in (published / "README.md").read_text(encoding="utf-8")
    (tmp_path / "torch.py").write_text(STAND_IN, encoding="utf-8")
    tests = [f"tests/test_{name}.py" for name in ("links", "readme", "ready", "prose")]
    how = ["-q", "--override-ini=addopts=", "-pno:cacheprovider"]
    how += ["-k", "not published and not number"]
    alone = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *how, *tests],
        cwd=published,
        env={**os.environ, **alone, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stdout
