"""The front page of the web pages: a list of the lessons. `python -m helpers.project.front_page`"""

from __future__ import annotations

import json

from helpers.project.links import ROOT

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Transformers, one tensor at a time</title>
</head>
<body>
<main>
<h1>Transformers, one tensor at a time</h1>
<p>The lessons with everything they print and draw, to read without running them.</p>
<ol>
{lessons}
</ol>
</main>
</body>
</html>"""


def page() -> str:
    """The page in HTML; each lesson is linked under the title in its first cell."""
    lines = []
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"][0]
        title = first.strip().partition(" · ")[2]
        lines.append(f'<li><a href="{path.stem}.html">{title}</a></li>')
    return PAGE.format(lessons="\n".join(lines))


if __name__ == "__main__":
    print(page())
