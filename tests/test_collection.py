"""Nothing is left uncompared: every lesson is collected, cell by cell."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest
from lessons import FINDINGS, NOTEBOOKS, ROOT, cells, lesson, load, record

from helpers import LESSONS


@pytest.fixture(scope="session")
def collected(inner_run):
    """The names of all cells and of the tests with stored findings, one a line."""
    quick = ["--collect-only", "-q", "-n", "0", "-p", "no:faulthandler", "--capture=no"]
    exercises = [f"tests/{path.name}" for path in (ROOT / "tests").glob("test_checks_*.py")]
    return inner_run(ROOT, *quick, "notebooks", *exercises).splitlines()


def test_every_code_cell_of_every_notebook_is_collected(collected):
    for path in NOTEBOOKS:
        found = [line for line in collected if line.startswith(f"notebooks/{path.name}::Cell ")]
        assert len(found) == len(cells(load(path), "code")), path.name


def test_the_settings_leave_nothing_out(pytestconfig):
    assert pytestconfig.inipath == ROOT / "pyproject.toml"
    assert pytestconfig.getini("testpaths") == ["notebooks", "tests"]
    options = pytestconfig.getini("addopts")
    leave_out = ("-k", "-m", "--deselect", "--ignore", "--nbval-lax", "--nbval-sanitize-with")
    assert "--nbval" in options
    assert [option for option in options if option.startswith(leave_out)] == []


OURS = [
    *(path.stem for path in (ROOT / "tests").glob("*.py")),
    *(f"helpers.{path.stem}" for path in (ROOT / "helpers").glob("*.py")),
    *("<string>", str(ROOT / "tests" / "lessons"), "torch.nn", "matplotlib.axes", "numpy", "PIL"),
]
OTHERS = ["_pytest.cacheprovider", "pytest_html.plugin", "xdist", "anyio", "coverage.control"]


@pytest.mark.skipif(bool(sys.warnoptions), reason="Python was told what to do with warnings")
@pytest.mark.parametrize("module", [*OURS, *OTHERS])
def test_warnings_are_errors_where_they_are_ours(module):
    with warnings.catch_warnings(record=True):
        error = pytest.raises(UserWarning) if module in OURS else contextlib.nullcontext()
        with error:
            warnings.warn_explicit("new", UserWarning, "file", 1, module)


def test_every_stored_finding_belongs_to_a_test(collected):
    names = {line.partition("[")[2].removesuffix("]") for line in collected}
    stored = {answer for told in load(FINDINGS).values() for answer in told}
    assert sorted(stored - names) == []


@pytest.mark.parametrize("number", LESSONS)
def test_only_the_timed_cells_are_not_compared_to_the_digit(number):
    tagged = [c["id"] for c in cells(lesson(number), "code") if c["metadata"].get("tags")]
    assert tagged == record(number).uncompared


def test_every_lesson_has_its_notebook_and_its_records():
    stored = [int(path.name.split("_")[0]) for path in NOTEBOOKS]
    assert stored == [*LESSONS], "notebooks/ against LESSONS in helpers/__init__.py"
    assert all(record(number) for number in stored)


def test_no_notebook_lies_elsewhere_unseen():
    if not shutil.which("git"):
        pytest.skip("git is not installed, and it tells which notebooks belong to the project")
    own = {name: os.environ[name] for name in os.environ if not name.startswith("GIT_")}
    command = ["git", "-c", "core.quotePath=off", "ls-files", "*.ipynb"]
    run = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, encoding="utf-8")
    if run.returncode:
        pytest.skip(f"git cannot tell which notebooks belong to the project: {run.stderr.strip()}")
    known = {path.relative_to(ROOT).as_posix() for path in NOTEBOOKS}
    assert set(run.stdout.splitlines()) - known == set(), "a lesson is called 04_its_name.ipynb"


def test_every_known_survivor_has_its_reason():
    survivors = json.loads((ROOT / "tests/survivors.json").read_text(encoding="utf-8"))
    helpers = {path.stem for path in (ROOT / "helpers").rglob("*.py")}
    for where, known in survivors.items():
        ids = {c["id"] for c in cells(lesson(int(where)), "code")} if where.isdigit() else helpers
        for survivor, reason in known.items():
            assert survivor.split(":")[0] in ids, survivor
            assert len(reason.split()) >= 4, survivor
