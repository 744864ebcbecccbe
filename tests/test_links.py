"""One place names repository and ref; the setup cell finds or fetches the helpers."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from lessons import NOTEBOOKS, ROOT, load, source

from helpers import links

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
    others = [path.name for path in (ROOT / "notebooks").glob("*.ipynb") if path not in NOTEBOOKS]
    ignored = shutil.ignore_patterns("__pycache__", *others)
    for name in ("helpers", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
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
    files = [root / "README.md", root / "helpers/setup_cell.py", *root.glob("notebooks/*.ipynb")]
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
    assert move(copied, "some-one/lessons", "v1.2").stdout == "nothing to change\n"
    repository, ref = links.place()
    move(copied, repository, ref)
    assert texts(copied) == before


def test_the_first_publication_is_moved_once_only(copied):
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


# ------------------------------------------------------------------ the setup cell at work
@pytest.fixture
def git_home(tmp_path):
    """A git configuration in which github.com is a folder of this test."""
    (tmp_path / "gitconfig").write_text(
        f'[url "{(tmp_path / "github").as_uri()}/"]\n\tinsteadOf = https://github.com/\n'
        "[user]\n\tname = test\n\temail = test@localhost\n"
        '[protocol "file"]\n\tallow = always\n[init]\n\tdefaultBranch = main\n'
        "[safe]\n\tdirectory = *\n",
        encoding="utf-8",
    )
    return tmp_path


def environment(home, **more):
    keep = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    config = {"GIT_CONFIG_GLOBAL": str(home / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
    return {**keep, **config, "PYTHONDONTWRITEBYTECODE": "1", **more}


def git(home, *arguments):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    subprocess.run(["git", *arguments], check=True, capture_output=True, env=environment(home))


def publish(home, note):
    """Commit the helpers, with a note in them, where the setup cell looks for them."""
    repository = home / "github" / links.place()[0]
    if not repository.exists():
        shutil.copytree(
            ROOT / "helpers", repository / "helpers", ignore=shutil.ignore_patterns("__pycache__")
        )
        git(home, "init", "-q", str(repository))
    (repository / "helpers" / "note.py").write_text(f'NOTE = "{note}"\n', encoding="utf-8")
    git(home, "-C", str(repository), "add", "-A")
    git(home, "-C", str(repository), "commit", "-qm", note)


def run_setup(home, folder, then="", **more):
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", f"{SETUP}\n{then}"],
        cwd=folder,
        env=environment(home, **more),
        capture_output=True,
        text=True,
    )


READ_NOTE = "from helpers.note import NOTE; from helpers import check; print(NOTE)"


def test_a_lone_notebook_fetches_the_helpers_once_and_refreshes_them(git_home):
    publish(git_home, "old")
    alone = git_home / "Downloads"
    for expected in ("old", "old", "new"):
        if expected == "new":
            publish(git_home, "new")
        run = run_setup(git_home, alone, READ_NOTE)
        assert run.stdout.splitlines() == ["Setup done.", expected], run.stderr
    assert len(list(alone.rglob(".git"))) == 1
    assert [path.name for path in alone.iterdir()] == [links.place()[0].split("/")[1]]


def test_an_older_copy_serves_when_github_is_out_of_reach(git_home):
    publish(git_home, "old")
    run_setup(git_home, git_home / "Downloads")
    (git_home / "github").rename(git_home / "gone")
    run = run_setup(git_home, git_home / "Downloads", READ_NOTE)
    assert run.stdout.splitlines() == ["Setup done, with an older copy of the helpers.", "old"]


def test_work_in_the_fetched_copy_is_not_overwritten(git_home):
    publish(git_home, "old")
    run_setup(git_home, git_home / "Downloads")
    note = git_home / "Downloads" / links.place()[0].split("/")[1] / "helpers" / "note.py"
    note.write_text('NOTE = "mine"\n', encoding="utf-8")
    publish(git_home, "new")
    run = run_setup(git_home, git_home / "Downloads", READ_NOTE)
    assert run.stdout.splitlines()[-1] == "mine"


@pytest.mark.parametrize("more", [{}, {"PATH": ""}], ids=["no network", "no git"])
def test_without_network_or_git_one_sentence_says_what_to_do(git_home, more):
    run = run_setup(git_home, git_home / "Downloads", **more)
    last = run.stderr.strip().splitlines()[-1]
    assert run.returncode != 0
    assert last.startswith("RuntimeError: The lesson's helpers are not in this folder, and ")
    assert "is not published yet: connect to the internet and install git, or download" in last


@pytest.mark.parametrize("folder", ["", "notebooks"])
def test_a_clone_needs_neither_git_nor_network(git_home, folder):
    then = "import helpers; print(helpers.__file__)"
    run = run_setup(git_home, ROOT / folder, then, PATH="")
    assert run.stdout.splitlines() == ["Setup done.", str(ROOT / "helpers" / "__init__.py")]
