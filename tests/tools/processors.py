"""Do all tests pass on every path that torch and its libraries can take on this processor?

    python tests/tools/processors.py          # one setting at a time, and combined; prints a table
    python tests/tools/processors.py --few    # the two paths that differ most

For each path the whole suite runs, apart from the browser's part. A kernel of the suite is asked
what reached it: ATen's path, the number of MKL's branch (for MKL's own sums), the threads; oneDNN
cannot be asked. Settings that this processor cannot follow are left out.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
# From the plainest instructions to those with the longest vectors.
LEVELS = {
    "MKL_CBWR": ("COMPATIBLE", "AVX2", "AVX512"),
    "ATEN_CPU_CAPABILITY": ("default", "avx2", "avx512"),
    "ONEDNN_MAX_CPU_ISA": ("SSE41", "AVX2", "AVX512_CORE"),
}
HIGHEST = {"AVX512": 2, "AVX2": 1}  # of what ATen says of this processor
THREADS = ("1", "2")
ASK = """
import ctypes, os, torch
library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
try:
    branch = ctypes.CDLL(library).mkl_serv_cbwr_get(1)
except (AttributeError, OSError):
    branch = "-"
print(torch.backends.cpu.get_cpu_capability(), branch, torch.get_num_threads())
"""


def paths(highest: int, few: bool) -> list[dict[str, str]]:
    """The settings of each path: all of one level, one alone, and the ends exchanged."""
    alike = [{name: by[level] for name, by in LEVELS.items()} for level in range(highest + 1)]
    if few:
        return [{**alike[0], "OMP_NUM_THREADS": "2"}, {**alike[-1], "OMP_NUM_THREADS": "1"}]
    single = [{name: by[level]} for name, by in LEVELS.items() for level in range(highest + 1)]
    mixed = [
        {**alike[0], "ATEN_CPU_CAPABILITY": alike[-1]["ATEN_CPU_CAPABILITY"]},
        {**alike[-1], "ATEN_CPU_CAPABILITY": alike[0]["ATEN_CPU_CAPABILITY"]},
    ]
    every = product([{}, *single, *alike, *mixed], THREADS)
    return [{**path, "OMP_NUM_THREADS": threads} for path, threads in every]


def run(path: dict[str, str], *command: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, **path}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def ask() -> None:
    """Print what a kernel of the suite says of the path that it takes."""
    import kernels
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ASK)])
    with kernels.ready():
        NotebookClient(notebook, kernel_name="python3").execute()
    print(notebook.cells[0].outputs[0].text.strip())


def arrived(path: dict[str, str], told: list[str]) -> bool:
    """Does a kernel tell the settings that were made for it?"""
    if len(told) != 3:
        return False
    aten, _, threads = told
    wanted = path.get("ATEN_CPU_CAPABILITY", aten)
    return wanted.lower() == aten.lower() and path["OMP_NUM_THREADS"] == threads


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", action="store_true", help="the two paths that differ most")
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        ask()
        return 0
    told = run({}, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())").stdout
    failed = False
    print("in a kernel: ATen, MKL branch, threads | tests | settings")
    for path in paths(HIGHEST.get(told.strip(), 0), options.few):
        reached = run(path, __file__, "--ask")
        suite = run(path, "-m", "pytest", "-q", "-m", "not browser", "-p", "no:cacheprovider")
        last = suite.stdout.strip().splitlines()[-1] if suite.stdout.strip() else suite.stderr
        settings = " ".join(f"{name}={value}" for name, value in path.items())
        print(f"{reached.stdout.strip() or reached.stderr} | {last} | {settings}", flush=True)
        if not arrived(path, reached.stdout.split()):
            failed = True
            print("these settings did not reach the kernel")
        if suite.returncode:
            failed = True
            print("\n".join(re.findall(r"^(?:FAILED|ERROR) .*", suite.stdout, re.MULTILINE)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
