"""What more than one test file needs: one thread for torch, and a run of pytest inside this one."""

import contextlib
import io
import os
from unittest import mock

import kernels
import pytest

# Before torch is loaded: on small tensors two threads wait for each other, the more the busier the
# machine is, and there is a worker for each core.
os.environ.setdefault("OMP_NUM_THREADS", "1")


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
