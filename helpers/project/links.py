"""Where the project is published: rewrites every badge, link and setup cell at once.

    python -m helpers.links OWNER/NAME REF

`REF` is a branch or a tag. The one place that knows both is the line `REPOSITORY, REF =`
in `setup_cell.py`, the source of the first code cell of every lesson.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETUP_FILE = Path(__file__).with_name("setup_cell.py")
SETUP_ID = "setup"
# No GitHub account can have this name: theirs hold letters, digits and hyphens only.
PLACEHOLDER_OWNER = "not.published.yet"
PLACE = re.compile(r'^REPOSITORY, REF = "([^"]+)", "([^"]+)"$', re.MULTILINE)


def place() -> tuple[str, str]:
    """The repository ("OWNER/NAME") and the ref that the project names now."""
    return PLACE.search(SETUP_FILE.read_text(encoding="utf-8")).groups()


def badge_url(notebook: str) -> str:
    """The address that opens `notebook`, a file name in `notebooks/`, in Colab."""
    repository, ref = place()
    return f"https://colab.research.google.com/github/{repository}/blob/{ref}/notebooks/{notebook}"


def pages_url(repository: str) -> str:
    """The address of the web pages that the workflow *pages* makes of `repository`."""
    owner, name = repository.split("/")
    return f"https://{owner}.github.io/{name}/"


def rewrite(repository: str, ref: str) -> list[str]:
    """Point the whole project at `repository` and `ref`; return the files changed.

    Raises `ValueError` when either cannot be a GitHub repository or ref in a badge.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise ValueError(f"{repository!r} is no repository: write it as OWNER/NAME")
    if not re.fullmatch(r"[\w.-]+", ref):
        raise ValueError(
            f"{ref!r} is no ref that a badge can hold: use a branch or tag made of letters, "
            "digits, dots, hyphens and underscores"
        )
    old_repository, old_ref = place()

    def moved(text: str) -> str:
        text = text.replace(f"{old_repository}/blob/{old_ref}/", f"{repository}/blob/{ref}/")
        text = text.replace(pages_url(old_repository), pages_url(repository))
        text = text.replace(
            f"/gh/{old_repository}/{old_ref}?", f"/gh/{repository}/{ref}?"
        )  # Binder
        return text.replace(old_repository, repository)

    setup = SETUP_FILE.read_text(encoding="utf-8")
    setup = PLACE.sub(f'REPOSITORY, REF = "{repository}", "{ref}"', setup)
    changed = _write(SETUP_FILE, setup)
    readme = ROOT / "README.md"
    changed += _write(readme, moved(readme.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["id"] == SETUP_ID:
                cell["source"] = setup.rstrip("\n").splitlines(keepends=True)
            elif cell["cell_type"] == "markdown":
                cell["source"] = [moved(line) for line in cell["source"]]
        changed += _write(path, dump(notebook))
    return changed


def dump(notebook: dict) -> str:
    """A notebook's JSON, byte for byte as Jupyter writes it."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _write(path: Path, text: str) -> list[str]:
    if path.read_text(encoding="utf-8") == text:
        return []
    path.write_text(text, encoding="utf-8", newline="\n")
    return [path.relative_to(ROOT).as_posix()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Say where the project is published.")
    parser.add_argument("repository", metavar="OWNER/NAME")
    parser.add_argument("ref", metavar="REF", help="branch or tag")
    parser.add_argument(
        "--if-unpublished",
        action="store_true",
        help="do nothing unless the project still names its placeholder",
    )
    arguments = parser.parse_args()
    if arguments.if_unpublished and not place()[0].startswith(f"{PLACEHOLDER_OWNER}/"):
        print("nothing to do: already at", *place())
        return
    try:
        changed = rewrite(arguments.repository, arguments.ref)
    except ValueError as error:
        parser.error(str(error))
    print("\n".join(["rewritten:", *changed] if changed else ["nothing to change"]))
