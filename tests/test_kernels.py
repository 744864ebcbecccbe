"""The kernels of the tests: apart from a user's settings, and told at once what goes wrong."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading

import kernels
import nbformat
import pytest
from lessons import ROOT, cells, load
from nbformat.v4 import new_code_cell, new_notebook
from rewrite import METADATA, rewrite_all

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks its kernels")
LOOK = """import os, sys
print([name for name in globals() if name.startswith("mine")], sys.warnoptions, sys.flags.optimize)
print(os.environ.get("MPLBACKEND") == "svg", repr(open(os.environ["MATPLOTLIBRC"]).read()))
print(os.path.isdir(os.environ["MPLCONFIGDIR"]))
1
2"""


def test_kernels_do_not_read_a_users_settings_nor_need_a_home(monkeypatch, tmp_path):
    files = {
        "ipython/profile_default/startup/mine.py": "mine_at_start = 1",
        "ipython/profile_default/ipython_config.py": """
c.InteractiveShell.ast_node_interactivity = "all"
c.InteractiveShellApp.exec_lines = ["mine_in_profile = 1"]
""",
        "mine.py": "mine_from_python = 1",
        "matplotlibrc": "figure.facecolor: black",
        "kernels/python3/kernel.json": '{"argv": ["mine"], "display_name": "", "language": ""}',
        "look.ipynb": nbformat.writes(new_notebook(cells=[new_code_cell(LOOK)], metadata=METADATA)),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    variables = {
        "IPYTHONDIR": tmp_path / "ipython",
        "PYTHONSTARTUP": tmp_path / "mine.py",
        "MATPLOTLIBRC": tmp_path / "matplotlibrc",
        "JUPYTER_PATH": tmp_path,
        "HOME": tmp_path / "no-such-folder",
        "USERPROFILE": tmp_path / "no-such-folder",
        "MPLBACKEND": "svg",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "2",
    }
    monkeypatch.delenv("OWN_KERNELS", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    asyncio.run(rewrite_all([tmp_path / "look.ipynb"]))
    (look,) = cells(load(tmp_path / "look.ipynb"), "code")
    printed, last = look["outputs"]
    assert "".join(printed["text"]).splitlines() == ["[] [] 0", "False ''", "True"]
    assert last["data"] == {"text/plain": ["2"]}
    assert os.environ["PYTHONOPTIMIZE"] == "2", "what kernels are started with stays with them"


def test_without_assert_statements_nothing_is_run_and_one_line_says_why():
    command = [sys.executable, "-OO", kernels.__file__]
    told = subprocess.run(command, capture_output=True, text=True).stderr
    assert told.startswith("The tests are made of assert statements")
    assert len(told.splitlines()) == 1


@only_linux
def test_a_kernel_does_not_outlive_who_asked_for_it(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("{}")
    with kernels.address(tmp_path) as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(short)
        server.listen()
        monkeypatch.setattr(os, "getppid", iter([7, 1]).__next__)
        asked = (str(tmp_path), "-f", str(tmp_path / "file"))
        asking = threading.Thread(target=kernels.ask, args=asked, daemon=True)
        asking.start()
        asking.join(timeout=20)
        assert not asking.is_alive()


@only_linux
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


@only_linux
def test_a_kernel_that_cannot_start_says_why_and_is_gone():
    run = subprocess.run(
        [sys.executable, "-c", FAILS], cwd=ROOT, capture_output=True, text=True, timeout=20
    )
    assert "OSError: no port for ['it']" in run.stderr
