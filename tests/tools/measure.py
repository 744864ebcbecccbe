"""What the lessons cost on this machine: seconds to the first output and of each section, memory.

python tests/tools/measure.py
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
import kernels
from lessons import NOTEBOOKS

PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


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


if __name__ == "__main__":
    lessons()
