"""What the lessons and their tests cost on this machine; prints, and asserts nothing.

python tests/tools/measure.py lessons    # seconds to the first output and of each section, memory
python tests/tools/measure.py suite      # the tests against the floor, starting torch once a lesson
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
import kernels
from lessons import NOTEBOOKS, ROOT

PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
TIMES = 5


def lessons() -> None:
    for path in NOTEBOOKS:
        with kernels.ready(forked=False):
            seconds, first, peak = run(path)
        print(
            f"\n{path.stem}: {sum(seconds.values()):.1f} s, the first output after {first:.1f} s, "
            f"peak {peak / 1e6:.2f} GB"
        )
        for section, spent in seconds.items():
            print(f"{spent:6.1f} s  {section}")


def run(path: Path) -> tuple[dict[str, float], float, float]:
    """Seconds for each section of a lesson, seconds until a cell after the setup has printed
    something, and the kernel's peak memory in kB (on Linux)."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, resources={"metadata": {"path": path.parent}})
    seconds: dict[str, float] = {}
    first = 0.0
    section = "start of the kernel"
    begin = time.perf_counter()
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                client.execute_cell(cell, index)
            seconds[section] = seconds.get(section, 0.0) + time.perf_counter() - begin
            begin = time.perf_counter()
            if not first and cell.get("outputs") and cell.id != "setup":
                first = sum(seconds.values())
            for heading in re.findall(r"^## (.*)$", cell.source, re.M)[:1]:
                section = heading
        notebook.cells.append(nbformat.v4.new_code_cell(PEAK))
        last = client.execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
    return seconds, first, float(last.outputs[0].text)


def suite() -> None:
    """Medians of a few runs in turn, so that a busy machine slows all alike; compiled modules
    are kept between runs, as they are by default."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    torch = [sys.executable, "-c", "import torch"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-m", "not browser"]
    spent: dict[str, list[float]] = {"floor": [], "notebooks": [], "all but the browser": []}
    for _ in range(TIMES):
        spent["floor"].append(sum(timed(torch) for _ in NOTEBOOKS))
        spent["notebooks"].append(timed([*pytest, "notebooks"]))
        spent["all but the browser"].append(timed(pytest))
    floor = statistics.median(spent["floor"])
    for what, times in spent.items():
        middle = statistics.median(times)
        spread = f"{min(times):.1f} to {max(times):.1f} s"
        print(f"{what:<20} {middle:5.1f} s ({spread})  {middle / floor:.2f} x the floor")


def timed(command: list[str]) -> float:
    begin = time.perf_counter()
    run = subprocess.run(
        command, cwd=ROOT, env=kernels.own_options(), capture_output=True, text=True
    )
    spent = time.perf_counter() - begin
    if run.returncode:
        sys.exit(f"{run.stdout}{run.stderr}\n{' '.join(command)} failed, so nothing is measured")
    return spent


if __name__ == "__main__":
    wanted = {"lessons": lessons, "suite": suite}
    if len(sys.argv) != 2 or sys.argv[1] not in wanted:
        sys.exit(__doc__)
    wanted[sys.argv[1]]()
