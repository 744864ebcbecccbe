"""Run the lessons from top to bottom and store what they print and draw now.

    python tests/tools/rewrite.py                 # all notebooks
    python tests/tools/rewrite.py notebooks/02_batched_causal_attention.ipynb

Changes nothing, to the byte, when nothing has changed. Outputs that the tests do not
compare (tagged `nbval-ignore-output`) are kept once they are stored. The picture in the
README is taken from lesson 3 again.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
import kernels
from lessons import NOTEBOOKS, ROOT, load, pictures

from helpers.project import links

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


async def rewrite_all(paths: list[Path]) -> list[bool]:
    """Run notebooks, all at once, and store them; True for each whose file has changed."""
    with kernels.ready(forked=False):
        return await asyncio.gather(*map(rewrite, paths))


async def rewrite(path: Path) -> bool:
    """Run one notebook and store it; True when the file has changed."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    kept = {c.id: c.outputs for c in notebook.cells if "nbval-ignore-output" in tags(c)}
    await NotebookClient(notebook, resources={"metadata": {"path": path.parent}}).async_execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            cell.outputs = kept.get(cell.id) or joined(cell.outputs)
    notebook.metadata = nbformat.from_dict(METADATA)
    after = links.dump(json.loads(nbformat.writes(notebook)))
    path.write_text(after, encoding="utf-8", newline="\n")
    return after != before


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def joined(outputs: list) -> list:
    """Neighboring prints as one output: where they are cut is a matter of timing."""
    found: list = []
    for output in outputs:
        before = found[-1] if found else None
        if before and output.get("name") and output.get("name") == before.get("name"):
            before.text += output.text
        else:
            found.append(output)
    return found


if __name__ == "__main__":
    notebooks = [Path(notebook).resolve() for notebook in sys.argv[1:] or NOTEBOOKS]
    for notebook, changed in zip(notebooks, asyncio.run(rewrite_all(notebooks)), strict=True):
        print("changed  " if changed else "unchanged", notebook.name)
    (lesson_3,) = (path for path in NOTEBOOKS if path.name.startswith("03_"))
    drawn = {cell: output["data"]["image/png"] for cell, output in pictures(load(lesson_3))}
    (ROOT / ".github/two-crows.png").write_bytes(base64.b64decode(drawn["crows-again"]))
