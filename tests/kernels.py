"""Kernels for the tests: apart from whoever runs them, and forked from one process.

What a kernel prints must not depend on the settings of this machine's user: the profile of
IPython, matplotlib's settings, what Python runs when it starts, another kernel named `python3`.

To start a kernel and load torch costs more than the cells of a lesson do. Where a process can be
forked safely, the tests start one server that loads these modules once; each kernel is a fresh
copy of it. To Jupyter such a kernel is a small process that asks the server for a copy and lives
exactly as long as the copy does. On two cores this saves 1.6 of 6.6 seconds for the notebooks and
1.5 of 16.2 for all tests (medians of five pairs). Elsewhere, and when outputs are stored, kernels
start as they do for a learner.

    python tests/kernels.py serve DESCRIPTOR            # a socket that listens
    python tests/kernels.py ask FOLDER ...              # and what a kernel is started with
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

if not __debug__:
    sys.exit(
        "The tests are made of assert statements, which Python leaves out: run them without -O "
        "and without PYTHONOPTIMIZE"
    )

# How the file of a lesson is called; any other notebook in their folder is somebody's own.
LESSON = re.compile(r"\d\d_[a-z_]+\.ipynb")
# What would hide figures, run a user's own code in each kernel, or change what it prints.
NOT_OURS = ("MPLBACKEND", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONOPTIMIZE")
LOADED = (
    *("ipykernel.kernelapp", "ipykernel.debugger", "torch"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "PIL.PngImagePlugin"),
)


@contextlib.contextmanager
def ready(forked: bool = sys.platform == "linux") -> Iterator[None]:
    """Have Jupyter start our kernels, not the user's, when it is asked for `python3`."""
    if "OWN_KERNELS" in os.environ:  # started by the process that started this one
        yield
        return
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        stack.enter_context(mock.patch.dict(os.environ, environment(folder), clear=True))
        command = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
        command += ["--log-level=ERROR"]  # or each kernel warns that it talks over TCP
        what = {"display_name": "Python 3", "language": "python"}
        if forked:
            stack.enter_context(server(folder))
            command = [sys.executable, "-S", __file__, "ask", folder]
            what["interrupt_mode"] = "message"
        spec = Path(folder, "kernels", "python3", "kernel.json")
        spec.parent.mkdir(parents=True)
        argv = [*command, "-f", "{connection_file}"]
        spec.write_text(json.dumps({"argv": argv, **what}), encoding="utf-8")
        yield


def environment(folder: str) -> dict[str, str]:
    """The variables for kernels whose settings and files are in a folder of their own."""
    settings = Path(folder, "matplotlibrc")
    settings.touch()
    own = {
        "OWN_KERNELS": folder,
        "JUPYTER_PATH": folder,
        "JUPYTER_RUNTIME_DIR": str(Path(folder, "runtime")),
        "IPYTHONDIR": str(Path(folder, "ipython")),
        "MATPLOTLIBRC": str(settings),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        "CUDA_VISIBLE_DEVICES": "",
    }
    if not os.access(os.path.expanduser("~"), os.W_OK):
        own["MPLCONFIGDIR"] = folder  # where matplotlib would warn, and take a temporary one
    return {**{name: os.environ[name] for name in os.environ if name not in NOT_OURS}, **own}


def own_options() -> dict[str, str]:
    """The variables for a run of pytest inside or below another one: without the options of that
    one, and without the plugins that happen to be installed."""
    kept = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@contextlib.contextmanager
def server(folder: str) -> Iterator[None]:
    """A process that forks a kernel for whoever asks at the socket in a folder."""
    with socket.socket(socket.AF_UNIX) as listening, address(folder) as short:
        listening.bind(short)
        listening.listen()
        number = listening.fileno()
        command = [sys.executable, "-Xfrozen_modules=off", __file__, "serve", str(number)]
        # Not in the user's folder: settings for matplotlib may lie there.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number], cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def address(folder: str) -> Iterator[str]:
    """A socket's address in a folder with a path of any length: 107 characters are the most."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{descriptor}/socket"
    finally:
        os.close(descriptor)


def serve(descriptor: int) -> None:
    """Fork a kernel for each connection, until whoever started this closes its end of stdin."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    gc.disable()  # what is loaded stays: neither this process nor a copy needs to look through it
    for module in LOADED:
        importlib.import_module(module)
    gc.freeze()
    gc.enable()
    with socket.socket(fileno=descriptor) as listening:
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    listening.close()
                    be_a_kernel(connection)
    os._exit(0)  # at once: to take all modules down is of no use


def be_a_kernel(connection: socket.socket) -> None:
    """Run as a kernel, until it is shut down or whoever asked for it is gone."""
    from ipykernel.kernelapp import IPKernelApp

    def leave() -> None:
        connection.recv(1)  # returns when the other end is closed
        os._exit(0)

    with connection.makefile() as asked:
        folder, arguments = json.loads(asked.readline())
    threading.Thread(target=leave, daemon=True).start()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(folder)
    silent, told = os.open(os.devnull, os.O_RDWR), os.dup(2)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    try:
        IPKernelApp.launch_instance(argv=arguments)
    except BaseException:
        os.write(told, traceback.format_exc().encode())
    finally:
        os._exit(0)  # at once, so that Jupyter sees that the kernel is gone


def ask(folder: str, *arguments: str) -> None:
    """Ask the server for a kernel, and wait until it is gone or whoever started this is.

    Jupyter has chosen the kernel's ports and let go of them. The server may still be loading, so
    they are held here: the kernel can bind them and nobody else is given them meanwhile.
    """
    file = Path(arguments[arguments.index("-f") + 1])
    connection = json.loads(file.read_text(encoding="utf-8"))
    with contextlib.ExitStack() as held, socket.socket(socket.AF_UNIX) as asking:
        for port in (connection[key] for key in connection if key.endswith("_port")):
            holder = held.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):  # taken already: the kernel will say so
                holder.bind((connection["ip"], port))
        with address(folder) as short:
            asking.connect(short)
        asking.sendall(json.dumps([os.getcwd(), arguments]).encode() + b"\n")
        parent = os.getppid()
        while os.getppid() == parent and not select.select([asking], [], [], 1)[0]:
            pass


if __name__ == "__main__":
    serve(int(sys.argv[2])) if sys.argv[1] == "serve" else ask(*sys.argv[2:])
