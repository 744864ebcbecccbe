"""`python -m helpers.ready`: what it prints, and what it says is missing."""

import importlib.metadata
import subprocess

import pytest

from helpers.project import ready


@pytest.fixture
def everything(monkeypatch):
    """A machine that has all it needs, whatever this one has."""
    versions = {"torch": "2.13.0+cpu", "matplotlib": "3.10.1", "ipython": "9.1.0"}
    monkeypatch.setattr(importlib.metadata, "version", versions.__getitem__)
    monkeypatch.setattr(ready.sys, "version_info", (3, 12, 1, "final", 0))
    monkeypatch.setattr(ready.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setenv("GIT_DIR", "another")

    def run(ask, capture_output, timeout, env):
        assert capture_output, "what git says is not for the screen"
        assert env["GIT_TERMINAL_PROMPT"] == "0", "git must not ask for a password"
        assert "GIT_DIR" not in env, "git must not look into another repository"
        assert timeout == ready.SECONDS
        return subprocess.CompletedProcess(ask, 0)

    monkeypatch.setattr(ready.subprocess, "run", run)
    return versions


def test_a_complete_machine_is_ready(everything, capsys):
    assert ready.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["python 3.12.1", "torch 2.13.0+cpu"]
    assert lines[-2].endswith(": reached")
    assert lines[-1] == "ready"


def test_the_oldest_versions_are_enough_and_older_ones_are_not(everything, monkeypatch, capsys):
    monkeypatch.setattr(ready.sys, "version_info", (3, 10))
    everything.update({"torch": "2.8", "matplotlib": "3.9", "ipython": "7.34"})
    assert ready.main() == 0
    everything.update({"torch": "2.7.9", "matplotlib": "3.8.9", "ipython": "7.33.9"})
    assert ready.main() == 1
    missing = [line for line in capsys.readouterr().out.splitlines() if "missing" in line]
    assert [line.split(" or newer")[0] for line in missing] == [
        "missing: torch 2.8",
        "missing: matplotlib 3.9",
        "missing: ipython 7.34",
    ]


def lacking(name):
    raise importlib.metadata.PackageNotFoundError(name)


def too_late(*_, **__):
    raise subprocess.TimeoutExpired("git", 20)


def fails(said):
    """A git that says why it fails."""
    return lambda ask, **_: subprocess.CompletedProcess(ask, 128, b"", said)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ((ready.sys, "version_info", (3, 9, 7)), "missing: Python 3.10 or newer, not 3.9.7"),
        ((importlib.metadata, "version", lacking), "missing: torch: run `pip install -r"),
        (
            (importlib.metadata, "version", lambda _: "2.7.1"),
            "missing: torch 2.8 or newer, not 2.7",
        ),
        ((ready.shutil, "which", lambda _: None), "missing: git, with which setup cells"),
        (
            (ready.subprocess, "run", lambda ask, **_: subprocess.CompletedProcess(ask, 2)),
            "cannot be reached: connect, or publish it",
        ),
        (
            (ready.subprocess, "run", too_late),
            f"(git says: nothing within {ready.SECONDS} seconds)",
        ),
        (
            (ready.subprocess, "run", fails(b"one\nfatal: no host\n")),
            "(git says: one fatal: no host)",
        ),
        ((ready.subprocess, "run", fails(b"")), f"(git says: there is no {ready.place()[1]})"),
    ],
    ids=["python", "package", "version", "git", "repository", "network", "reason", "ref"],
)
def test_what_is_missing_is_named_with_what_to_do(everything, monkeypatch, capsys, change, told):
    monkeypatch.setattr(*change)
    assert ready.main() == 1
    out = capsys.readouterr().out
    assert told in out
    assert "\nready" not in out
