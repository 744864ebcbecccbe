"""Kernels for the tests, forked from one process that has loaded torch and matplotlib.

To start a kernel and load torch costs more than the cells of a lesson do. Where a process can be
forked safely, the tests start one server that loads these modules once; each kernel is a fresh
copy of it. To Jupyter such a kernel is a small process that asks the server for a copy and lives
exactly as long as the copy does. Elsewhere, and when outputs are stored, kernels start as they
do for a learner.

    python tests/kernels.py serve DESCRIPTOR            # a socket that listens
    python tests/kernels.py ask SOCKET ...              # and what a kernel is started with
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

LOADED = (
    *("ipykernel.kernelapp", "ipykernel.debugger", "torch"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "PIL.PngImagePlugin"),
)


def start() -> Callable[[], None] | None:
    """Have Jupyter ask a server for the kernel `python3`; what stops it, None where none can be."""
    if sys.platform != "linux":
        return None
    folder = tempfile.TemporaryDirectory(dir="/tmp")  # a socket's path has 107 characters at most
    address = f"{folder.name}/socket"
    spec = Path(folder.name, "kernels", "python3", "kernel.json")
    spec.parent.mkdir(parents=True)
    ask = [sys.executable, "-S", __file__, "ask", address, "-f", "{connection_file}"]
    what = {"display_name": "Python 3", "language": "python", "interrupt_mode": "message"}
    spec.write_text(json.dumps({"argv": ask, **what}), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = folder.name
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        number = listening.fileno()
        command = [sys.executable, "-Xfrozen_modules=off", __file__, "serve", str(number)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number])

    def stop() -> None:
        server.kill()
        server.communicate()
        folder.cleanup()

    return stop


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


def ask(address: str, *arguments: str) -> None:
    """Ask the server for a kernel, and wait until it is gone.

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
        asking.connect(address)
        asking.sendall(json.dumps([os.getcwd(), arguments]).encode() + b"\n")
        asking.recv(1)


if __name__ == "__main__":
    serve(int(sys.argv[2])) if sys.argv[1] == "serve" else ask(*sys.argv[2:])
