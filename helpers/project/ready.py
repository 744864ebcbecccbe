"""The day before a workshop: can this machine run the lessons? `python -m helpers.ready`

Prints the versions of what the lessons need and either "ready" or what is missing and what
to do about it. Ends with exit code 1 when something is missing.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys

from helpers.project.links import place
from helpers.project.setup_rest import git_environment, in_one_line

OLDEST_PYTHON = (3, 10)
OLDEST = {"torch": (2, 8), "matplotlib": (3, 9), "ipython": (7, 34)}
SECONDS = 20


def main() -> int:
    missing = [problem for check in (_python, _packages, _source) for problem in check()]
    for problem in missing:
        print(f"missing: {problem}")
    if not missing:
        print("ready")
    return 1 if missing else 0


def _python() -> list[str]:
    found = ".".join(map(str, sys.version_info[:3]))
    print(f"python {found}")
    if sys.version_info >= OLDEST_PYTHON:
        return []
    return [f"Python {_version(OLDEST_PYTHON)} or newer, not {found}: install it and start again"]


def _packages() -> list[str]:
    problems = []
    for name, oldest in OLDEST.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            problems.append(f"{name}: run `pip install -r requirements.txt`")
            continue
        print(f"{name} {found}")
        if tuple(map(int, found.split("+")[0].split(".")[:2])) < oldest:
            problems.append(f"{name} {_version(oldest)} or newer, not {found}: upgrade it")
    return problems


def _source() -> list[str]:
    """Where the badges' setup cells fetch from; a local copy of the project does not need it."""
    repository, ref = place()
    if not shutil.which("git"):
        return ["git, with which setup cells outside this folder fetch the helpers: install it"]
    ask = ["git", "ls-remote", "--exit-code", f"https://github.com/{repository}", ref]
    try:
        done = subprocess.run(ask, capture_output=True, timeout=SECONDS, env=git_environment())
        reached, said = done.returncode == 0, (done.stderr or b"").decode(errors="replace")
    except subprocess.TimeoutExpired:
        reached, said = False, f"nothing within {SECONDS} seconds"
    print(f"lessons from {repository} at {ref}: {'reached' if reached else 'not reached'}")
    if reached:
        return []
    return [
        f"{repository} at {ref} cannot be reached: connect, or publish it "
        "(`python -m helpers.links OWNER/NAME REF`), or work offline in a copy of the project "
        f"(git says: {in_one_line(said) or f'there is no {ref}'})"
    ]


def _version(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))
