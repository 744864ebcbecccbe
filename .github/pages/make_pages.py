"""Makes the web pages in build/html, from what the notebooks store.

    python .github/pages/make_pages.py

Nothing is run. What the pages need otherwise than the notebooks have it is changed in a copy of
them, in build/pages: folded cells get the tags that MyST-NB knows, captions become paragraphs,
and badges links of text, so that no page needs another site.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES, PAGES = ROOT / "build/pages", ROOT / "build/html"
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
BADGE = re.compile(r"\[!\[([^\]]+)\]\([^)]+\)\]")
FOLDS = {"source_hidden": "hide-input", "outputs_hidden": "hide-output"}
CARD = """
:::{{grid-item-card}} {title}
:link: {page}
:link-type: doc
{picture}
{what}

```{{card-footer}}
{minutes}
```
:::
"""
FRONT = """---
html_theme.sidebar_secondary.remove: true
myst: {{html_meta: {{description: {quoted}}}}}
---
# {title}

{description}

::::{{grid}} 1 2 2 2
:gutter: 3
{cards}
::::

```{{toctree}}
:hidden:

{pages}
```
"""


def pictures(notebook: dict) -> list[dict]:
    """The outputs that are pictures, in their order."""
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", []))
    return [output for output in outputs if "image/png" in output.get("data", {})]


def png(picture: dict) -> bytes:
    return base64.b64decode("".join(picture["data"]["image/png"]))


def is_wide(picture: dict) -> bool:
    """Whether a picture is wider than it is high, as the head of its file says."""
    head = png(picture)[16:24]
    return int.from_bytes(head[:4], "big") > int.from_bytes(head[4:], "big")


def alt(picture: dict) -> str:
    return picture["metadata"]["image/png"]["alt"]


def for_page(notebook: dict) -> dict:
    """The same notebook as its page needs it."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = BADGE.sub(r"[\1]", "".join(cell["source"]))
            continue
        folded = cell["metadata"].get("jupyter", {})
        tags = [tag for key, tag in FOLDS.items() if folded.get(key)]
        cell["metadata"]["tags"] = cell["metadata"].get("tags", []) + tags
        if title := re.match(r"# @title ([^:\n]+)", "".join(cell["source"])):
            cell["metadata"]["mystnb"] = {"code_prompt_show": f"Show the code: {title[1]}"}
        cell["outputs"] = captioned(cell["outputs"])
    promise = plain(paragraphs(notebook["cells"][0]["source"])[0])
    notebook["metadata"]["myst"] = {"html_meta": {"description": promise}}
    return notebook


def captioned(outputs: list[dict]) -> list[dict]:
    """Outputs in which each text "Figure: ..." below its picture is a paragraph.

    Printed, its lines are as long as a notebook is wide, which is too long for a phone.
    """
    shown, caption = [], None
    for output in outputs:
        if "image/png" in output.get("data", {}):
            caption = f"Figure: {alt(output)}"
        elif caption and output["output_type"] == "stream":
            text = "".join(output["text"])
            anyhow_wrapped = r"\s*".join(map(re.escape, "".join(caption.split()))) + r"\n*"
            if found := re.match(anyhow_wrapped, text):
                data = {"text/html": f'<p class="caption">{html.escape(caption)}</p>'}
                shown.append({"output_type": "display_data", "data": data, "metadata": {}})
                output["text"], caption = text[found.end() :], None
        if output.get("text") != "":
            shown.append(output)
    return shown


def paragraphs(text: str) -> list[str]:
    """The blocks of a text that begin with a word: no heading, table, picture or badge."""
    return [block for block in text.split("\n\n") if block[:1].isalpha()]


def plain(text: str) -> str:
    """A paragraph of Markdown without its signs and the addresses of its links."""
    named = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", " ".join(text.split()))
    return re.sub(r"[*`]", "", named)


def card(path: Path, notebook: dict) -> str:
    """A lesson on the front page: its title, what it builds, its minutes, its first wide picture.

    Writes that picture into build/pages. A lesson that draws none has none.
    """
    title = "".join(notebook["cells"][0]["source"])
    rows = [line.strip("| \n").split(" | ") for line in title.splitlines() if line[:1] == "|"]
    told = dict(zip(rows[0], rows[2], strict=True))
    what, *_ = told
    picture = ""
    for drawn in filter(is_wide, pictures(notebook)):
        (SOURCES / f"{path.stem}.png").write_bytes(png(drawn))
        picture = f":img-top: {path.stem}.png\n:img-alt: {alt(drawn)}\n"
        break
    return CARD.format(
        title=title.splitlines()[0].removeprefix("# "),
        page=path.stem,
        picture=picture,
        what=f"{what}: {told[what]}",
        minutes="; ".join(f"{head}: {entry}" for head, entry in told.items() if "minutes" in entry),
    )


def prepare() -> None:
    """Write into build/pages what Sphinx makes the pages from."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    SOURCES.mkdir(parents=True)
    cards = []
    for path in LESSONS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cards.append(card(path, notebook))
        (SOURCES / path.name).write_text(json.dumps(for_page(notebook)), encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    two_sentences = " ".join(re.split(r"(?<=\.) ", plain(paragraphs(readme)[0]))[:2])
    front = FRONT.format(
        title=readme.splitlines()[0].removeprefix("# "),
        description=two_sentences,
        quoted=json.dumps(two_sentences),
        cards="".join(cards),
        pages="\n".join(path.stem for path in LESSONS),
    )
    (SOURCES / "index.md").write_text(front, encoding="utf-8")


def main() -> None:
    prepare()
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is missing: it fetches the fonts of the formulas. Install Node.js")
    fetch = [npm, "install", "--silent", "--no-package-lock", "--ignore-scripts"]
    formulas = ROOT / "build/formulas"
    formulas.mkdir(exist_ok=True)
    shutil.copy(HERE / "package.json", formulas)
    subprocess.run(fetch, cwd=formulas, check=True)
    shutil.rmtree(PAGES, ignore_errors=True)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
    sphinx += ["-c", HERE, "-d", SOURCES / ".doctrees", SOURCES, PAGES]
    subprocess.run(sphinx, check=True)


if __name__ == "__main__":
    main()
