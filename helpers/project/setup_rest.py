"""The rest of the setup: the first cell of a lesson runs this file with its own names.

The cell finds the project, or clones it where no folder of its name is. This brings a clone that
a setup cell made up to date, puts the lesson's `helpers` in the place of any other module of that
name, and says what it did. Nothing else is touched: a learner's clone stays where it is.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path


def finish(home: Path, repository: str, ref: str, cloned: bool) -> str:
    """Make `import helpers` give those in `home`; the line that says how it went.

    Raises `RuntimeError` when another module stays in their way.
    """
    ours = home / "helpers" / "__init__.py"
    reason, other = "", None
    if not _is(ours, sys.modules.get("helpers")):
        below = home == Path.cwd() / repository.split("/")[1]
        if below and not cloned and made_by_setup(home):
            reason = update(home, repository, ref)
        other = sys.modules.get("helpers") or importlib.util.find_spec("helpers")
        for name in [name for name in sys.modules if name.split(".")[0] == "helpers"]:
            del sys.modules[name]
    sys.path[:] = [str(home), *(folder for folder in sys.path if folder != str(home))]
    importlib.invalidate_caches()
    found = importlib.import_module("helpers")
    if not _is(ours, found):
        raise RuntimeError(f"{_file(found)} hides the lesson's helpers: uninstall it and try again")
    older = f", with an older copy of the helpers (git says: {reason})" if reason else ""
    if other is None or _is(ours, other):
        return f"Setup done{older}."
    return f"Setup done{older}. The lesson's helpers take the place of {_file(other)}."


def _is(ours: Path, found: object) -> bool:
    file = _file(found)
    return os.path.exists(file) and os.path.samefile(file, ours)


def _file(found: object) -> str:
    """Where a module, or what `find_spec` found, is: its file, or the first of its folders."""
    file = getattr(found, "__file__", None) or getattr(found, "origin", None)
    folders = getattr(found, "__path__", None) or getattr(found, "submodule_search_locations", None)
    return file or next(iter(folders or []), "a module without a file")


def made_by_setup(home: Path) -> bool:
    """Whether this is as a setup cell leaves it: one commit, and no branch, remote or stash.

    A learner's clone has a branch; work that is committed in a copy adds a commit.
    """
    refs = _git(home, "for-each-ref", "--format=%(refname)").stdout.split()
    commits = _git(home, "rev-list", "--count", "HEAD").stdout
    return commits == "1\n" and all(ref.startswith("refs/tags/") for ref in refs)


def update(home: Path, repository: str, ref: str) -> str:
    """Bring a copy that a setup cell made to `ref`; what git says when it cannot, else nothing."""
    fetch = ("fetch", "--quiet", "--depth=1", f"https://github.com/{repository}", ref)
    for words in (fetch, ("checkout", "--quiet", "FETCH_HEAD")):
        done = _git(home, *words)
        if done.returncode:
            return in_one_line(done.stderr)
    return ""


def _git(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git on the repository in `home` and on no other; without its hooks."""
    here = {"GIT_DIR": str(home / ".git"), "GIT_WORK_TREE": str(home)}
    command = ["git", "-c", "core.hooksPath=/dev/null", *words]
    how = {"capture_output": True, "encoding": "utf-8", "errors": "replace"}
    try:
        return subprocess.run(command, env={**git_environment(), **here}, **how)
    except OSError as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def git_environment() -> dict[str, str]:
    """The environment without what leads git to other repositories, or has it ask for a password.

    What says how to reach the network stays: configuration, certificates, ssh.
    """
    kept = re.compile("(?!GIT_)|GIT_(CONFIG|SSL|SSH)")
    clean = {name: value for name, value in os.environ.items() if kept.match(name)}
    return {**clean, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": ""}


def in_one_line(text: str) -> str:
    return " ".join(text.split())


if "home" in globals():
    print(finish(home, REPOSITORY, REF, cloned="ran" in globals()))  # noqa: F821
