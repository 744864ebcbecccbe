"""The kernels that the tests fork: what goes wrong is told at once, and ports are kept for them."""

import json
import socket
import subprocess
import sys
import threading

import kernels
import pytest
from lessons import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks its kernels")


def test_nobody_else_is_given_a_kernels_ports_while_it_starts(tmp_path):
    with socket.socket() as free, socket.socket(socket.AF_UNIX) as server:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        file, folder = tmp_path / "file", tmp_path / ("long" * 30)
        folder.mkdir()
        file.write_text(json.dumps({"ip": "127.0.0.1", "shell_port": port}))
        with kernels.address(folder) as short:
            server.bind(short)
        server.listen()
        wanted = ["-f", str(file), "--and=more"]
        asking = threading.Thread(target=kernels.ask, args=(str(folder), *wanted))
        asking.start()
        connection, _ = server.accept()
        with connection, socket.socket() as other, socket.socket() as kernel:
            assert json.loads(connection.recv(1000))[1] == wanted
            with pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))
            kernel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            kernel.bind(("127.0.0.1", port))
            kernel.listen()
        asking.join()


FAILS = """
import socket, sys, threading, types
sys.path.insert(0, "tests")
import kernels

class IPKernelApp:
    def launch_instance(argv):
        threading.Thread(target=threading.Event().wait).start()  # keeps a process from ending
        raise OSError(f"no port for {argv}")

sys.modules["ipykernel.kernelapp"] = types.SimpleNamespace(IPKernelApp=IPKernelApp)
here, there = socket.socketpair()
there.sendall(b'[".", ["it"]]\\n')
kernels.be_a_kernel(here)
"""


def test_a_kernel_that_cannot_start_says_why_and_is_gone():
    run = subprocess.run(
        [sys.executable, "-c", FAILS], cwd=ROOT, capture_output=True, text=True, timeout=20
    )
    assert "OSError: no port for ['it']" in run.stderr
