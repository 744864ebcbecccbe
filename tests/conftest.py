"""What more than one test file needs: a run of pytest inside this one."""

import contextlib
import io
import os
from unittest import mock

import kernels
import pytest


@pytest.fixture(scope="session")
def inner_run():
    """Runs pytest in a folder, without the options and plugins of this run, and returns what it
    prints."""

    def run(folder, *arguments, plugins=()):
        own_options = mock.patch.dict(os.environ, kernels.own_options(), clear=True)
        with own_options, pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)  # pytest takes no path with brackets as an argument
            with contextlib.redirect_stdout(io.StringIO()) as out:
                pytest.main(["--color=no", "-pno:cacheprovider", *arguments], plugins=plugins)
        return out.getvalue()

    return run
