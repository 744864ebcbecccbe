"""The setup cell finds or fetches the helpers, and touches nothing of a learner's."""

import os
import shutil
import subprocess
import sys

import pytest
from lessons import ROOT

from helpers.project import links

SETUP = links.SETUP_FILE.read_text(encoding="utf-8")
REPOSITORY = "some-one/lessons"
NAME = REPOSITORY.split("/")[1]


def cell(repository=REPOSITORY, ref="main"):
    """The setup cell of a project that is published there."""
    return links.PLACE.sub(f'REPOSITORY, REF = "{repository}", "{ref}"', SETUP)


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


def git(home, *arguments, check=True):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    command = ["git", *map(str, arguments)]
    return subprocess.run(
        command, check=check, capture_output=True, env=environment(home), text=True
    )


def put_helpers(folder, note="ours"):
    """A downloaded copy of the helpers, with a note in them."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "helpers", folder / "helpers", ignore=ignore)
    (folder / "helpers/note.py").write_text(f'NOTE = "{note}"\n', encoding="utf-8")
    return folder


def publish(home, note, tag=None):
    """Commit the helpers, with a note in them, where the setup cell looks for them."""
    repository = home / "github" / REPOSITORY
    if not repository.exists():
        git(home, "init", "-q", put_helpers(repository))
    (repository / "helpers" / "note.py").write_text(f'NOTE = "{note}"\n', encoding="utf-8")
    git(home, "-C", repository, "add", "-A")
    git(home, "-C", repository, "commit", "-qm", note)
    if tag:
        git(home, "-C", repository, "tag", tag)
    return repository


def run_setup(home, folder, then="", setup=None, first="", **more):
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", f"{first}\n{setup or cell()}\n{then}"],
        cwd=folder,
        env=environment(home, **more),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )


READ_NOTE = "from helpers.note import NOTE; from helpers import check; print(NOTE)"


def test_a_lone_notebook_fetches_the_helpers_once_and_refreshes_them(git_home):
    publish(git_home, "old", tag="v1.2")
    alone = git_home / "it's «über» there"
    # Python remembers that this folder, which is still to come, held no modules.
    first = f"""
import sys
sys.path.append({str(alone / NAME)!r})
try: import missing
except ImportError: pass"""
    for expected in ("old", "new"):
        if expected == "new":
            git(git_home, "-C", git_home / "github" / REPOSITORY, "tag", "-d", "v1.2")
            publish(git_home, "new", tag="v1.2")
        run = run_setup(git_home, alone, READ_NOTE, cell(ref="v1.2"), first)
        assert run.stdout.splitlines() == ["Setup done.", expected], run.stderr
    assert len(list(alone.rglob(".git"))) == 1
    assert [path.name for path in alone.iterdir()] == [NAME]


def test_a_copy_that_an_earlier_cell_fetched_is_refreshed(git_home):
    copy = git_home / "Downloads" / NAME
    git(git_home, "init", "-q", copy)
    git(git_home, "-C", copy, "fetch", "-q", "--depth=1", publish(git_home, "old"), "main")
    git(git_home, "-C", copy, "checkout", "-q", "FETCH_HEAD")
    publish(git_home, "new")
    run = run_setup(git_home, git_home / "Downloads", READ_NOTE)
    assert run.stdout.splitlines() == ["Setup done.", "new"], run.stderr


def last_line(home, *arguments):
    """What git itself says last."""
    return git(home, *arguments, check=False).stderr.split("\n")[-2]


def test_an_older_copy_serves_when_github_is_out_of_reach_and_git_says_why(git_home):
    publish(git_home, "old")
    alone = git_home / "Downloads"
    run_setup(git_home, alone)
    (git_home / "github").rename(git_home / "gone")
    done, note = run_setup(git_home, alone, READ_NOTE).stdout.splitlines()
    assert done.startswith("Setup done, with an older copy of the helpers (git says: fatal: ")
    assert done.endswith(f"{last_line(git_home, 'ls-remote', git_home / 'github')}).")
    assert note == "old"


def test_work_in_the_fetched_copy_is_not_overwritten(git_home):
    publish(git_home, "old")
    run_setup(git_home, git_home / "Downloads")
    note = git_home / "Downloads" / NAME / "helpers" / "note.py"
    note.write_text('NOTE = "mine"\n', encoding="utf-8")
    publish(git_home, "new")
    done, read = run_setup(git_home, git_home / "Downloads", READ_NOTE).stdout.splitlines()
    assert "older copy of the helpers (git says: error: Your local changes" in done
    assert read == "mine"


# How a folder of the project's name came to be that no setup cell may move.
THEIRS = {
    "a clone with a commit": ["commit -qam mine"],
    "a clone on no branch": ["checkout -q --detach"],
    "a copy, with a commit": ["checkout -q --detach", "commit -qam mine"],
    "a copy, on a branch": ["checkout -q --detach", "checkout -qb mine"],
}


@pytest.mark.parametrize("steps", THEIRS.values(), ids=THEIRS)
def test_a_learners_clone_stays_where_it_is(git_home, request, steps):
    published = publish(git_home, "old")
    desk = git_home / "desk"
    if " a copy" in f" {request.node.callspec.id}":
        run_setup(git_home, desk)
    else:
        git(git_home, "clone", "-q", published.as_uri(), desk / NAME)
    (desk / NAME / "helpers/note.py").write_text('NOTE = "mine"\n', encoding="utf-8")
    for step in steps:
        git(git_home, "-C", desk / NAME, *step.split())
    before = state(git_home, desk / NAME)
    publish(git_home, "new")
    run = run_setup(git_home, desk, READ_NOTE)
    assert run.stdout.splitlines() == ["Setup done.", "mine"], run.stderr
    assert state(git_home, desk / NAME) == before


def state(home, repository):
    """All that a git command can move in a repository."""
    asked = ("status --porcelain=v2 --branch", "show-ref", "rev-parse --is-shallow-repository")
    return [git(home, "-C", repository, *words.split(), check=False).stdout for words in asked]


def test_neither_variables_nor_hooks_of_git_reach_another_repository(git_home):
    other, hooks = git_home / "other", git_home / "hooks"
    git(git_home, "clone", "-q", publish(git_home, "old").as_uri(), other)
    hooks.mkdir()
    (hooks / "post-checkout").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (hooks / "post-checkout").chmod(0o755)
    git(git_home, "config", "--file", git_home / "gitconfig", "core.hooksPath", hooks)
    variables = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_COMMON_DIR": str(other / ".git"),
    }
    before = state(git_home, other)
    for note in ("old", "new"):
        if note == "new":
            publish(git_home, "new")
        run = run_setup(git_home, git_home / "Downloads", READ_NOTE, **variables)
        assert run.stdout.splitlines() == ["Setup done.", note], run.stderr
        assert state(git_home, other) == before


@pytest.mark.parametrize("place", [f"{NAME}-1.2", f"../{NAME}-main"])
def test_an_unpacked_archive_below_or_beside_is_used_as_it_is(git_home, place):
    desk = git_home / "desk"
    git(git_home, "init", "-q", desk)
    put_helpers(desk / place, "archive")
    before = state(git_home, desk)
    publish(git_home, "new")
    run = run_setup(git_home, desk, READ_NOTE)
    assert run.stdout.splitlines() == ["Setup done.", "archive"], run.stderr
    assert state(git_home, desk) == before
    assert not list((desk / place).rglob(".git"))


def test_a_copy_of_an_earlier_version_is_recognized(git_home):
    earlier = put_helpers(git_home / "earlier" / NAME)
    (earlier / "helpers/project/setup_rest.py").unlink()
    (earlier / "helpers/project/setup_cell.py").rename(earlier / "helpers/setup_cell.py")
    run = run_setup(git_home, earlier.parent, READ_NOTE, PATH="")
    assert run.stdout.splitlines() == ["Setup done.", "ours"], run.stderr
    assert (ROOT / "helpers/links.py").exists(), "lessons that were saved earlier look for it"


@pytest.mark.parametrize(
    ("repository", "more"),
    [(REPOSITORY, {}), (f"{links.PLACEHOLDER_OWNER}/lessons", {"PATH": ""})],
    ids=["no network", "no git, and nowhere to fetch from"],
)
def test_without_network_or_git_one_sentence_says_what_to_do(git_home, repository, more):
    alone = git_home / "Downloads"
    run = run_setup(git_home, alone, setup=cell(repository), **more)
    last = run.stderr.strip().splitlines()[-1]
    assert run.returncode != 0
    assert last.startswith("RuntimeError: The lesson's helpers are not in this folder, and ")
    how = "cannot be reached" if repository == REPOSITORY else "is not published yet"
    assert f"{repository} (main) {how}: connect to the internet and install git, or downl" in last
    why = "not found" if more else last_line(git_home, "ls-remote", git_home / "github")
    assert why in last.split("git says: ")[1]
    assert list(alone.iterdir()) == []


def test_what_is_in_the_way_of_the_copy_is_left_alone_and_named(git_home):
    publish(git_home, "old")
    mine = git_home / "desk" / NAME / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    run = run_setup(git_home, git_home / "desk")
    assert f"'{NAME}' already exists and is not an empty directory" in run.stderr
    assert [*mine.parent.iterdir()] == [mine]


def test_a_ref_that_is_gone_is_named_and_no_folder_stays(git_home):
    publish(git_home, "old")
    run = run_setup(git_home, git_home / "Downloads", setup=cell(ref="gone"))
    assert "Remote branch gone not found" in run.stderr.strip().splitlines()[-1]
    assert list((git_home / "Downloads").iterdir()) == []


# ------------------------------------------------------------------ other modules called helpers
FOREIGN = "raise ImportError('not the lesson\\'s helpers')\n"
LOADED = "import sys, types; sys.modules['helpers'] = types.ModuleType('helpers')"
PACKAGE = "import sys; sys.path.insert(0, '../lib'); import helpers.links"
# Where another module stands, what is done with it before the setup, what is named as replaced.
OTHERS = {
    "a file": ({"desk/helpers.py": FOREIGN}, "", "desk/helpers.py"),
    "a package": ({"desk/helpers/__init__.py": FOREIGN}, "", "desk/helpers/__init__.py"),
    "a folder": ({"desk/helpers/links.py": FOREIGN}, "", "desk/helpers"),
    "above": ({"helpers/__init__.py": FOREIGN, "helpers/links.py": FOREIGN}, "", None),
    "installed": ({"site/helpers/__init__.py": FOREIGN}, "", "site/helpers/__init__.py"),
    "imported": (
        {"lib/helpers/__init__.py": "", "lib/helpers/links.py": "place = 'foreign'\n"},
        PACKAGE,
        "lib/helpers/__init__.py",
    ),
    "made by hand": ({}, LOADED, "a module without a file"),
}


@pytest.mark.parametrize(("files", "first", "named"), OTHERS.values(), ids=OTHERS)
def test_the_lessons_helpers_take_the_place_of_others_and_say_so(tmp_path, files, first, named):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    ours = put_helpers(tmp_path / "desk" / NAME)
    then = f"{READ_NOTE}; import helpers.links; print(helpers.links.main)"
    more = {"PATH": "", "PYTHONPATH": str(tmp_path / "site")}
    done, note, place = run_setup(
        tmp_path, ours.parent, then, first=first, **more
    ).stdout.splitlines()
    assert note == "ours"
    assert place.startswith("<function main")
    if named is None:
        assert done == "Setup done."
    else:
        told = done.replace("\\", "/").replace("/desk/../", "/")
        assert told.startswith("Setup done. The lesson's helpers take the place of ")
        assert told.endswith(f"{named}.")


def test_what_cannot_be_replaced_is_not_called_done(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/helpers.py").write_text("", encoding="utf-8")
    first = """
import importlib.machinery, sys
class Finder:
    def find_spec(name, path, target=None):
        if name == "helpers":
            return importlib.machinery.PathFinder.find_spec(name, ["../lib"])
sys.meta_path.insert(0, Finder)"""
    desk = put_helpers(tmp_path / "desk" / NAME).parent
    run = run_setup(tmp_path, desk, first=first, PATH="")
    assert "helpers.py hides the lesson's helpers: uninstall it" in run.stderr.splitlines()[-1]
    assert run.stdout == ""


def test_run_again_late_it_keeps_what_is_in_use(tmp_path):
    """After a learner has used the helpers, gone elsewhere and put own things on the path."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/helpers.py").write_text(FOREIGN, encoding="utf-8")
    ours = put_helpers(tmp_path / "desk" / NAME)
    then = f"""
import helpers, os
mine, length = helpers, len(sys.path)
os.chdir("../lib")
sys.path.insert(0, os.getcwd())
exec({cell()!r})
import helpers
print(helpers is mine, len(sys.path) - length, sys.path[0] == {str(ours)!r}, os.listdir())"""
    run = run_setup(tmp_path, ours.parent, then, PATH="")
    assert run.stdout.splitlines() == [
        *["Setup done.", "Setup done."],
        "True 1 True ['helpers.py']",
    ], run.stderr


def test_a_clone_needs_neither_git_nor_network(git_home):
    then = "import helpers; print(helpers.__file__)"
    run = run_setup(git_home, ROOT / "notebooks", then, PATH="")
    assert run.stdout.splitlines() == ["Setup done.", str(ROOT / "helpers" / "__init__.py")]
