"""The rules in `notebooks/conftest.py`: each kind of damage fails and names its cell."""

import base64
import io
import json
import re
import shutil
import subprocess
import sys

import pytest
from lessons import ROOT
from PIL import Image, ImageDraw


def png(dark_part):
    """A white picture, in base64, with a dark square of a given size."""
    picture = Image.new("RGB", (320, 160), "white")
    ImageDraw.Draw(picture).rectangle((20, 20, 20 + dark_part, 20 + dark_part), fill="black")
    out = io.BytesIO()
    picture.save(out, format="png")
    return base64.b64encode(out.getvalue()).decode()


SHOW = """from IPython.display import display
data = {{"image/png": "{0}", "text/plain": "twin"}}
display(data, metadata={{"image/png": {{"alt": "a square"}}}}, raw=True)"""


def stream(text):
    return {"name": "stdout", "output_type": "stream", "text": [text]}


def picture(part, alt="a square"):
    return {
        "data": {"image/png": png(part), "text/plain": ["twin"]},
        "metadata": {"image/png": {"alt": alt}},
        "output_type": "display_data",
    }


def code(cell_id, count, text, *outputs, tags=()):
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": cell_id,
        "metadata": {"tags": list(tags)} if tags else {},
        "outputs": list(outputs),
        "source": [text],
    }


ERROR = {"ename": "ValueError", "evalue": "no", "output_type": "error", "traceback": []}
HEADING = {"cell_type": "markdown", "id": "heading", "metadata": {}, "source": ["# Part one"]}
PRINT = 'print("weights", 0.3300, 0.6700)'
FINE = stream("weights 0.33 0.67\n")

# What is in the notebook, and what the report must say.
DAMAGE = {
    "intact": ([code("a", 1, PRINT, FINE), code("b", 2, SHOW.format(png(60)), picture(60))], None),
    "redrawn-slightly": ([code("a", 1, SHOW.format(png(61)), picture(60))], None),
    "digit": (
        [code("a", 1, PRINT, stream("weights 0.33 0.66\n"))],
        r"cell 'a' \(In\[1\], section 'Part one'\)[\s\S]*"
        r"line 1, number 2: stored 0.66, computed 0.67",
    ),
    "cleared": ([code("a", None, PRINT), code("b", 1, PRINT, FINE)], r"cell 'a'.*never run"),
    "order": (
        [code("a", 2, PRINT, FINE), code("b", 1, PRINT, FINE)],
        r"cell 'a'.*not run once, from top to bottom: counts \[2, 1\]",
    ),
    "no-longer-raises": (
        [code("a", 1, "pass", ERROR, tags=["raises-exception"])],
        r"cell 'a'.*Cell outputs differ[\s\S]*'ename'",
    ),
    "error-not-stored": (
        [code("a", 1, 'raise ValueError("no")', tags=["raises-exception"])],
        r"cell 'a'.*no error is stored",
    ),
    "picture-replaced": (
        [code("a", 1, SHOW.format(png(60)), picture(110))],
        r"cell 'a'.*the picture looks different",
    ),
    "picture-dropped": (
        [
            code("a", 1, SHOW.format(png(60)), {**picture(60), "data": {"text/plain": ["twin"]}}),
        ],
        r"cell 'a'.*outputs: stored \['text/plain'\], computed \['image/png \+ ",
    ),
    "no-alt-text": (
        [code("a", 1, SHOW.format(png(60)), picture(60, ""))],
        r"cell 'a'.*without alt",
    ),
    "other-alt-text": (
        [code("a", 1, SHOW.format(png(60)), picture(60, "a circle"))],
        r"cell 'a'.*stored 'a circle', computed 'a square'",
    ),
    "uncompared-number": (
        [code("a", 1, PRINT, stream("weights 9.9 0.1\n"), tags=["nbval-ignore-output"])],
        None,
    ),
    "uncompared-text": (
        [code("a", 1, PRINT, stream("weight 9.9 0.1\n"), tags=["nbval-ignore-output"])],
        r"cell 'a'.*apart from numbers: stored .*weight #",
    ),
    "raises": (
        [code("a", 1, "1 / 0", FINE), code("b", 2, "print(1)", FINE)],
        r"cell 'a'.*exception[\s\S]*ZeroDivisionError",
    ),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What the suite says about one notebook for each kind of damage, in one run."""
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copy(ROOT / "notebooks" / "conftest.py", folder)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for name, (cells, _) in DAMAGE.items():
        notebook = {"cells": [HEADING, *cells], "metadata": {"kernelspec": kernel}}
        text = json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5})
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-rs", "."]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-o", "addopts=", "--color=no"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return run.stdout


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_noticed_and_its_place_is_named(report, name):
    told = DAMAGE[name][1]
    parts = re.findall(rf"_+ {name}.ipynb::Cell (?:.|\n)*?(?=\n_{{5,}} |\n=====)", report)
    failures = [part for part in parts if "failed" in part]
    heading = f" {name}.ipynb"
    if told is None:
        assert failures == []
        assert f"FAILED{heading}" not in report
    else:
        assert re.search(told, "\n".join(failures)), report


def test_the_rest_of_a_broken_notebook_is_skipped(report):
    assert "cell 'a' (In[1], section 'Part one') raised, so the rest" in report
